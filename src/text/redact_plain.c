/* Values behind a name that are no secrets: what programs (a variable, a call, a type), sentences
 * and examples (`your-api-key`, `<token>`, `xxxx`) have there. This file has texts,
 * redact_program.c programs.
 *
 * A text in quotes may have a label in it the next time: the answer must be the one it was
 * before. */
#include "text/redact_table.h"

enum {
    MAX_TEXT = 200,  /* of a text in quotes that is looked at */
    MIN_WORDS = 3,   /* of a sentence */
    TAIL_DIGITS = 2, /* parent2 */
    MIN_SAME = 4     /* xxxx */
};

/* -- words -- */

/* `null`, `string`, `true`: what programs and schemas have there. */
bool redact_is_keyword(const Scan *s, size_t from, size_t to)
{
    static const char words[] =
        "null|undefined|true|false|none|nil|string|str|bool|boolean|number|int|object|bytes|"
        "any|void|unknown|required|optional|yes|no|self|this|redacted|hidden|added|removed|changed|"
        "fixed|new|pass|value|option|options|file|path|text|foo|bar|baz|pw|pwd|await|"
        "typeof|async|function|lambda|data|uint8array|uint16array|uint32array|arraybuffer|buffer";
    char low[16];
    size_t n = to - from;

    if (n == 0 || n >= sizeof low)
        return false;
    for (size_t i = 0; i < n; i++)
        low[i] = (char)(s->p[from + i] | 0x20);
    return str_is_one_of((Str){ low, n }, words);
}

/* Where the name of a secret begins that ends at end; end itself where none does. */
static size_t name_before(const Scan *s, size_t end)
{
    static const Str words[] = {
        STR_INIT("key"),      STR_INIT("token"),  STR_INIT("secret"),
        STR_INIT("password"), STR_INIT("passwd"), STR_INIT("authorization")
    };

    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        size_t at = scan_word_before(s, end, words[k]);

        if (at < end)
            return at;
    }
    return end;
}

bool redact_name_ends_at(const Scan *s, size_t end)
{
    return name_before(s, end) < end;
}

static bool has_lower(const Scan *s, size_t from, size_t to)
{
    bool lower = false;

    for (size_t i = from; i < to; i++)
        lower |= redact_is_lower((unsigned char)s->p[i]);
    return lower;
}

static bool all_of(const Scan *s, size_t from, size_t to, uint32_t set)
{
    while (from < to && in_set((unsigned char)s->p[from], set))
        from++;
    return from == to;
}

static bool text_has(const Scan *s, size_t from, size_t to, Str what)
{
    return str_find((Str){ s->p + from, to - from }, what) < to - from;
}

/* -- placeholders -- */

/* `mock-token`, `TotallyRealToken`, `password`: it names what should stand there. */
static bool names_itself(const Scan *s, size_t from, size_t to)
{
    size_t at = name_before(s, to);

    if (at == to || at < from || scan_contains(s, from, to, SET_DIGIT))
        return false;
    return at == from || !in_set((unsigned char)s->p[at - 1], SET_ALPHA) ||
           (in_set((unsigned char)s->p[at], SET_UPPER) ==
                !in_set((unsigned char)s->p[at - 1], SET_UPPER) ||
            redact_is_lower((unsigned char)s->p[from]) || !has_lower(s, from, to));
}

/* AKIAIOSFODNN7EXAMPLE: documentation says so at the end. */
bool redact_is_example(const Scan *s, size_t from, size_t to)
{
    size_t at = scan_word_before(s, to, STR("KEY"));

    at = at >= from ? at : to;
    return scan_word_before(s, at, STR("EXAMPLE")) < at;
}

/* `your-key`, `YOUR_API_KEY`, `example-…`: the first word says that it is no more than that. */
static bool begins_as_example(const Scan *s, size_t from, size_t to)
{
    static const Str words[] = { STR_INIT("your"),        STR_INIT("example"), STR_INIT("dummy"),
                                 STR_INIT("placeholder"), STR_INIT("sample"),  STR_INIT("changeme"),
                                 STR_INIT("change-me"),   STR_INIT("insert"),  STR_INIT("replace"),
                                 STR_INIT("change_me"),   STR_INIT("enter"),   STR_INIT("todo") };

    if (redact_is_example(s, from, to))
        return true;
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        size_t end = from + words[k].n;

        if (end <= to && scan_word_before(s, end, words[k]) == from)
            return end == to || !redact_is_lower((unsigned char)s->p[end]);
    }
    return false;
}

/* xxxx, ****, ---- and `…` in it: somebody took it out already. */
static bool is_masked(const Scan *s, size_t from, size_t to)
{
    size_t same = 1;

    if (text_has(s, from, to, STR("...")) || text_has(s, from, to, STR("\xe2\x80\xa6")))
        return true;
    for (size_t i = from + 1; i < to; i++) {
        same = s->p[i] == s->p[i - 1] && strchr("xX*-_#", s->p[i]) ? same + 1 : 1;
        if (same >= MIN_SAME)
            return true;
    }
    return false;
}

/* %s, {name}, ${NAME}, {{ name }}, #{name}, <name>, $NAME, %(name)s. */
static bool is_template(const Scan *s, size_t from, size_t to)
{
    const char *p = s->p;

    if ((p[from] == '<' && p[to - 1] == '>') || (p[from] == '{' && p[to - 1] == '}') ||
        (p[from] == '[' && p[to - 1] == ']'))
        return true;
    if (p[from] == '$' && to > from + 2 && all_of(s, from + 1, to, SET_SNAKE) &&
        !in_set((unsigned char)p[from + 1], SET_DIGIT))
        return true;
    for (size_t i = from; i + 1 < to; i++) {
        const char *close;

        if (p[i] == '%' && (p[i + 1] == '(' || (in_set((unsigned char)p[i + 1], SET_ALPHA) &&
                                                (i + 2 == to || p[i + 2] == '\\'))))
            return true;
        if (!((p[i] == '$' || p[i] == '#' || p[i] == '{') && p[i + 1] == '{'))
            continue;
        close = memchr(p + i, '}', to - i);
        if (close && in_set((unsigned char)close[-1], SET_ALNUM | SET_BLANK | SET_CLOSER))
            return true;
    }
    return false;
}

bool redact_is_placeholder(const Scan *s, size_t from, size_t to)
{
    return to > from &&
           (redact_is_keyword(s, from, to) || names_itself(s, from, to) ||
            begins_as_example(s, from, to) || is_masked(s, from, to) || is_template(s, from, to));
}

/* -- texts in quotes -- */

/* A sentence: it begins with a capital or has small words, and most of it is letters; a passphrase
 * of plain words does not. Scripts without blanks or cases are taken for words of people. */
static bool is_sentence(const Scan *s, size_t from, size_t to)
{
    static const Str small[] = { STR_INIT(" the "), STR_INIT(" to "),  STR_INIT(" is "),
                                 STR_INIT(" of "),  STR_INIT(" and "), STR_INIT(" your "),
                                 STR_INIT(" for "), STR_INIT(" not "), STR_INIT(" must ") };
    size_t words = 1, letters = 0;
    int first = (unsigned char)s->p[from];

    for (size_t i = from; i < to; i++) {
        int c = (unsigned char)s->p[i];

        words += c == ' ' && i + 1 < to &&
                 (in_set((unsigned char)s->p[i + 1], SET_ALPHA) || s->p[i + 1] & 0x80);
        letters += in_set(c, SET_ALPHA) || c >= 0x80 || c == ' ';
    }
    if (first >= 0x80 && !scan_contains(s, from, to, SET_ALNUM))
        return true;
    if (words < MIN_WORDS || letters * 10 < (to - from) * 8)
        return false;
    for (size_t k = 0; k < ARRAY_LEN(small); k++)
        if (text_has(s, from, to, small[k]))
            return true;
    return first >= 0x80 || in_set(first, SET_UPPER);
}

/* ^6.0.0, >=2.1: what a package asks for. */
static bool is_version(const Scan *s, size_t from, size_t to)
{
    size_t dots = 0;

    while (from < to && strchr("^~<>=v ", s->p[from]))
        from++;
    for (; from < to && (in_set((unsigned char)s->p[from], SET_DIGIT) || s->p[from] == '.'); from++)
        dots += s->p[from] == '.';
    return dots && from == to;
}

/* /etc/app/key.pem, ./key, https://example.org/token: where it is, not what it is. */
static bool is_location(const Scan *s, size_t from, size_t to)
{
    Str text = { s->p + from, to - from };
    size_t digits = 0;

    if (str_starts(text, STR("http://")) || str_starts(text, STR("https://")))
        return !memchr(text.p, '@', text.n);
    if (text.p[0] != '/' && !str_starts(text, STR("./")) && !str_starts(text, STR("../")) &&
        !str_starts(text, STR("~/")))
        return false;
    for (size_t i = from; i < to; i++)
        digits += in_set((unsigned char)s->p[i], SET_DIGIT);
    return digits <= TAIL_DIGITS && !memchr(text.p, '+', text.n) && !memchr(text.p, '=', text.n);
}

/* "@rematch", "delimiter.$S2", "string.sql": what an editor calls a token that it colours. */
static bool is_colouring(const Scan *s, size_t from, size_t to)
{
    size_t digits = 0, letters = 0;

    for (size_t i = from; i < to; i++) {
        int c = (unsigned char)s->p[i];

        if (!in_set(c, SET_DOTTED) && c != '@' && c != '$')
            return false;
        digits += in_set(c, SET_DIGIT);
        letters += redact_is_lower(c);
    }
    return digits <= TAIL_DIGITS && letters * 2 >= to - from &&
           (s->p[from] == '@' || memchr(s->p + from, '.', to - from));
}

/* `keyword.operator`, `auth.form.password-label`, `NextMarker`: words as programs join them, no
 * longer than words are. */
static bool is_joined_words(const Scan *s, const Sign *sign, size_t from, size_t to)
{
    size_t dots = 0, word = 0;

    if (sign->common && memchr(s->p + from, '_', to - from) && all_of(s, from, to, SET_SNAKE) &&
        !has_lower(s, from, to) && !scan_contains(s, from, to, SET_DIGIT)) /* NO_CAPTCHA */
        return true;
    if (sign->common && !sign->quoted && is_colouring(s, from, to))
        return true;
    for (size_t i = from; i < to; i++) {
        int c = (unsigned char)s->p[i];
        bool hump = in_set(c, SET_UPPER) && i + 2 < to &&
                    redact_is_lower((unsigned char)s->p[i + 1]) &&
                    redact_is_lower((unsigned char)s->p[i + 2]);

        if (!redact_is_lower(c) && !hump && !strchr("._-/:", c))
            return false;
        word = redact_is_lower(c) ? word + 1 : 0;
        if (word >= MIN_LETTERS)
            return false;
        dots += c == '.' || c == ':';
    }
    return to - from >= MIN_VALUE && (dots >= 2 || sign->common);
}

bool redact_is_plain_text(Scan *s, const Sign *sign, const Value *v)
{
    size_t from = v->content, to = from;

    for (; to < from + MAX_TEXT; to++) {
        int c = scan_at(s, to);

        if (c < 0 || c == v->skip.closer || in_set(c, SET_LINE_END))
            break;
        if (c == '[' && scan_label_at(s, to))
            return true;
        to += c == '\\' && !v->skip.depth && scan_at(s, to + 1) == v->skip.closer;
    }
    while (v->skip.depth && to > from && s->p[to - 1] == '\\')
        to--;
    if (s->more || to == from)
        return false;
    if (!sign->quoted &&
        (to < from + MIN_VALUE || !(scan_contains(s, from, to, SET_ALNUM) || s->p[to - 1] & 0x80)))
        return true;
    return redact_is_placeholder(s, from, to) || is_sentence(s, from, to) ||
           is_location(s, from, to) || is_version(s, from, to) || s->p[to - 1] == ' ' ||
           is_joined_words(s, sign, from, to);
}
