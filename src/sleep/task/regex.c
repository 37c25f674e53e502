/* The translation walks the pattern once. It keeps apart three places: outside, inside a class, and
 * behind a quantifier, where Python allows no second one. Everything else is left to PCRE2, whose
 * own refusals are passed on. Interpreted, not compiled to machine code: patterns are used a few
 * times each, and the interpreter's match limit counts the same steps on every machine. */
#include "sleep/task/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/buf.h"
#include "base/limits.h"
#include "text/utf8.h"

/* -- translation -- */

typedef struct Scan {
    Str rest;
    Buf *out;
    uint32_t options;
    bool quantified; /* the last thing was a quantifier */
    bool any;        /* something stands before */
    Err *err;
} Scan;

static bool refuse(Scan *s, const char *why)
{
    return err_set(s->err, ERR_INVALID, "%s", why);
}

static int at(const Scan *s, size_t i)
{
    return i < s->rest.n ? (unsigned char)s->rest.p[i] : -1;
}

static void take(Scan *s, size_t n)
{
    buf_add(s->out, str_head(s->rest, n));
    s->rest = str_skip(s->rest, n);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_octal(int c)
{
    return c >= '0' && c <= '7';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Exactly n hexadecimal digits behind \x, \u or \U. */
static bool hex_escape(Scan *s, size_t n)
{
    uint32_t value = 0;

    for (size_t i = 0; i < n; i++) {
        int c = at(s, 2 + i);
        int d = is_digit(c) ? c - '0' : is_letter(c) ? (c | 0x20) - 'a' + 10 : 16;

        if (d > 15)
            return refuse(s, "incomplete escape");
        value = value << 4 | (uint32_t)d;
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return refuse(s, "no such character");
    buf_addf(s->out, "\\x{%x}", value);
    s->rest = str_skip(s->rest, 2 + n);
    return true;
}

/* \0, \012, \777: octal; \1 to \99: a group, which a class cannot hold. */
static bool number_escape(Scan *s, bool in_class)
{
    size_t n = 1;
    uint32_t value = 0;

    if (at(s, 1) == '0' || in_class ||
        (is_octal(at(s, 1)) && is_octal(at(s, 2)) && is_octal(at(s, 3)))) {
        for (; n <= 3 && is_octal(at(s, n)); n++)
            value = value << 3 | (uint32_t)(at(s, n) - '0');
        if (n == 1 || value > 0377)
            return refuse(s, "bad octal escape");
        buf_addf(s->out, "\\x{%x}", value);
    } else {
        for (; n <= 2 && is_digit(at(s, n)); n++)
            value = value * 10 + (uint32_t)(at(s, n) - '0');
        buf_addf(s->out, "\\g{%u}", value);
    }
    s->rest = str_skip(s->rest, n);
    return true;
}

static bool letter_escape(Scan *s, bool in_class)
{
    int c = at(s, 1);

    switch (c) {
    case 'x':
        return hex_escape(s, 2);
    case 'u':
        return hex_escape(s, 4);
    case 'U':
        return hex_escape(s, 8);
    case 'v':
        buf_addz(s->out, "\\x0b");
        s->rest = str_skip(s->rest, 2);
        return true;
    case 'Z':
        if (in_class)
            break;
        buf_addz(s->out, "\\z");
        s->rest = str_skip(s->rest, 2);
        return true;
    default:
        if (strchr(in_class ? "afnrtbdDsSwW" : "afnrtbBdDsSwWA", c)) {
            take(s, 2);
            return true;
        }
    }
    return refuse(s, "bad escape");
}

static bool escape(Scan *s, bool in_class)
{
    int c = at(s, 1);

    if (c < 0)
        return refuse(s, "escape at the end of the pattern");
    if (is_digit(c))
        return number_escape(s, in_class);
    if (is_letter(c))
        return letter_escape(s, in_class);
    if (c < 0x80) {
        take(s, 2);
        return true;
    }
    s->rest = str_skip(s->rest, 1);
    return true;
}

static bool class(Scan *s)
{
    take(s, 1);
    if (at(s, 0) == '^')
        take(s, 1);
    for (bool first = true; at(s, 0) != ']' || first; first = false) {
        int c = at(s, 0);

        if (c < 0)
            return refuse(s, "unterminated character set");
        if (c == '\\') {
            if (!escape(s, true))
                return false;
        } else if (c == '[' || (first && c == ']')) {
            buf_addc(s->out, '\\'); /* no [:alpha:] here */
            take(s, 1);
        } else {
            take(s, 1);
        }
    }
    take(s, 1);
    return true;
}

/* {m}, {m,}, {,n}, {m,n}: its length, and whether the first number is missing; 0: plain text. */
static size_t braces(const Scan *s, bool *ret_open)
{
    size_t i = 1;
    bool first;

    while (is_digit(at(s, i)))
        i++;
    first = i > 1;
    if (at(s, i) == '}')
        return first ? i + 1 : 0;
    if (at(s, i++) != ',')
        return 0;
    while (is_digit(at(s, i)))
        i++;
    if (at(s, i) != '}')
        return 0;
    *ret_open = !first;
    return i + 1;
}

static bool quantifier(Scan *s, size_t n, bool open)
{
    if (s->quantified)
        return refuse(s, "multiple repeat");
    if (!s->any)
        return refuse(s, "nothing to repeat");
    if (open) {
        buf_addz(s->out, "{0");
        s->rest = str_skip(s->rest, 1);
        n--;
        if (n == 2) { /* {,}: any number */
            buf_addz(s->out, ",}");
            s->rest = str_skip(s->rest, 2);
            n = 0;
        }
    }
    take(s, n);
    if (at(s, 0) == '?' || at(s, 0) == '+')
        take(s, 1);
    s->quantified = true;
    return true;
}

/* (?ims), (?i:...), (?i-s:...): the flags of the whole pattern stand at its beginning. */
static bool flags(Scan *s)
{
    size_t i = 2;
    bool ascii = false, minus = false, at_start = s->out->n == 0;
    char kept[16];
    size_t n = 0;

    for (; is_letter(at(s, i)) || at(s, i) == '-'; i++) {
        int c = at(s, i);

        if (!strchr(minus ? "imsx" : "aimsux-", c) || n + 1 >= sizeof kept)
            return refuse(s, "unknown extension of a group");
        minus |= c == '-';
        ascii |= c == 'a';
        if (c != 'a' && c != 'u')
            kept[n++] = (char)c;
    }
    if (at(s, i) == ')') {
        if (!at_start || minus || i == 2)
            return refuse(s, "flags of the whole pattern that do not stand at its beginning");
        if (ascii)
            s->options &= ~(uint32_t)PCRE2_UCP;
    } else if (at(s, i) != ':' || ascii) {
        return refuse(s, "unknown extension of a group");
    }
    if (n || at(s, i) == ':')
        buf_addf(s->out, "(?%.*s%c", (int)n, kept, at(s, i));
    s->rest = str_skip(s->rest, i + 1);
    s->any = false;
    return true;
}

/* (?(1)...) and (?(name)...), never PCRE2's (?(R)...) and (?(DEFINE)...). */
static bool condition(Scan *s)
{
    size_t end = str_find(s->rest, STR(")"));
    Str name = str_skip(str_head(s->rest, end), 3);
    bool number = name.n > 0;

    if (end == s->rest.n || !name.n)
        return refuse(s, "unfinished condition");
    for (size_t i = 0; i < name.n; i++) {
        number &= is_digit((unsigned char)name.p[i]);
        if (!is_digit((unsigned char)name.p[i]) && !is_letter((unsigned char)name.p[i]) &&
            name.p[i] != '_')
            return refuse(s, "bad name in a condition");
    }
    buf_addf(s->out, number ? "(?(%.*s)" : "(?(<%.*s>)", STR_FMT(name));
    s->rest = str_skip(s->rest, end + 1);
    s->any = false;
    return true;
}

static bool comment(Scan *s)
{
    size_t end = str_find(s->rest, STR(")"));

    if (end == s->rest.n)
        return refuse(s, "unterminated comment");
    s->rest = str_skip(s->rest, end + 1);
    return true;
}

static bool group(Scan *s)
{
    static const Str openers[] = { STR_INIT("(?P<"), STR_INIT("(?:"),  STR_INIT("(?="),
                                   STR_INIT("(?!"),  STR_INIT("(?<="), STR_INIT("(?<!"),
                                   STR_INIT("(?>") };

    s->quantified = false;
    if (at(s, 1) == '*')
        return refuse(s, "nothing to repeat");
    if (at(s, 1) != '?') {
        take(s, 1);
        s->any = false;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(openers); i++)
        if (str_starts(s->rest, openers[i])) {
            take(s, openers[i].n);
            s->any = false;
            return true;
        }
    if (str_starts(s->rest, STR("(?P="))) {
        take(s, 4);
        return true;
    }
    if (at(s, 2) == '(')
        return condition(s);
    if (at(s, 2) == '#')
        return comment(s);
    return flags(s);
}

static bool step(Scan *s)
{
    bool open = false;
    int c = at(s, 0);
    size_t n = c == '{' ? braces(s, &open) : strchr("*+?", c) ? 1 : 0;

    if (n)
        return quantifier(s, n, open);
    if (c == '(')
        return group(s);
    s->quantified = false;
    s->any = c != '|';
    if (c == '\\')
        return escape(s, false);
    if (c == '[')
        return class(s);
    if (c == '{')
        buf_addc(s->out, '\\');
    take(s, 1);
    return true;
}

bool regex_translate(Arena *a, Str pattern, Str *ret, uint32_t *ret_options, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_SLEEP_PATTERN * 8);
    Scan s = { .rest = pattern, .out = &out, .err = err };

    s.options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    if (pattern.n > LIMIT_SLEEP_PATTERN)
        return err_set(err, ERR_TOO_LARGE, "a pattern longer than %d bytes", LIMIT_SLEEP_PATTERN);
    if (utf8_valid_prefix(pattern) < pattern.n || memchr(pattern.p, 0, pattern.n))
        return err_set(err, ERR_INVALID, "a pattern that is no text");
    while (s.rest.n)
        if (!step(&s))
            return false;
    *ret = str_dup(a, buf_str(&out));
    *ret_options = s.options;
    return true;
}

/* -- matching -- */

/* A few steps of PCRE2 a microsecond: a runaway pattern costs about a tenth of a second. */
enum { MATCH_STEPS = 1000000, MATCH_DEPTH = 20000, MATCH_KIB = 32768 };

static pcre2_code *compile(Str pattern, Err *err)
{
    AUTO(Arena) *a = arena_new();
    pcre2_compile_context *context;
    pcre2_code *code;
    uint32_t options;
    Str said;
    int problem;
    PCRE2_SIZE where;
    PCRE2_UCHAR why[128];

    if (!regex_translate(a, pattern, &said, &options, err))
        return NULL;
    context = pcre2_compile_context_create(NULL);
    ASSERT(context);
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    code = pcre2_compile((PCRE2_SPTR)said.p, said.n, options, &problem, &where, context);
    pcre2_compile_context_free(context);
    if (!code) {
        (void)pcre2_get_error_message(problem, why, sizeof why);
        err_set_to(err, ERR_INVALID, "%s", (const char *)why);
    }
    return code;
}

bool regex_check(Str pattern, Err *err)
{
    pcre2_code *code = compile(pattern, err);

    pcre2_code_free(code);
    return code != NULL;
}

static int match(const pcre2_code *code, Str text)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int found;

    ASSERT(context && data);
    (void)pcre2_set_match_limit(context, MATCH_STEPS);
    (void)pcre2_set_depth_limit(context, MATCH_DEPTH);
    (void)pcre2_set_heap_limit(context, MATCH_KIB);
    found = pcre2_match(code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, 0, 0, data, context);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    return found;
}

RegexAnswer regex_search(Str pattern, Str text, Err *err)
{
    pcre2_code *code = compile(pattern, err);
    int found;

    if (!code)
        return REGEX_MALFORMED;
    found = match(code, text);
    pcre2_code_free(code);
    if (found >= 0)
        return REGEX_YES;
    if (found == PCRE2_ERROR_NOMATCH)
        return REGEX_NO;
    err_set_to(err, ERR_TOO_LARGE, "the pattern takes too many steps on this text");
    return REGEX_COSTLY;
}

Str regex_quote(Arena *a, Str s)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < 0x80 && !is_letter(c) && !is_digit(c) && c != '_')
            buf_addc(&out, '\\');
        buf_addc(&out, (char)c);
    }
    return str_dup(a, buf_str(&out));
}
