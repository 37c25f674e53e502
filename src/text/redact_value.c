/* Reading the text around a place: what is before it, what sign and what value follow. */
#include "text/redact_rules.h"

enum {
    MAX_BLANKS = 32, /* between a name, its sign and the value */
    MAX_ESCAPES = 16,
    MAX_PEM_NAME = 48,
    MIN_PEM_BODY = 16,
    MAX_LABEL_NAME = 18 /* shorter than _AKIA and its sixteen, so that a label holds no secret */
};

uint32_t redact_sets[256];

static void fill_set(uint32_t set, const char *ranges, const char *without)
{
    for (; *ranges; ranges += 2)
        for (unsigned c = (unsigned char)ranges[0]; c <= (unsigned char)ranges[1]; c++)
            if (!strchr(without, (int)c))
                redact_sets[c] |= set;
}

void redact_fill_sets(void)
{
#define X(set, ranges, without) fill_set(set, ranges, without);
    BYTE_SETS(X)
#undef X
}

/* -- looking around -- */

/* "\n", "%26" and "\u0026" end in letters or digits and are none. */
bool scan_behind_escape(const Scan *s, size_t i)
{
    int c1 = scan_before(s, i, 1), c2 = scan_before(s, i, 2);

    if (c2 == '\\')
        return c1 == 'n' || c1 == 'r' || c1 == 't';
    if (!in_set(c1, SET_HEX) || !in_set(c2, SET_HEX))
        return false;
    return scan_before(s, i, 3) == '%' ||
           (scan_before(s, i, 5) == 'u' && scan_before(s, i, 6) == '\\');
}

bool scan_word_begins(const Scan *s, size_t i)
{
    return i == s->floor || !in_set(scan_before(s, i, 1), SET_ALNUM) || scan_behind_escape(s, i);
}

bool scan_has(Scan *s, size_t i, Str what)
{
    for (size_t k = 0; k < what.n; k++)
        if (scan_upper(scan_at(s, i + k)) != scan_upper((unsigned char)what.p[k]))
            return false;
    return true;
}

/* Where `word` begins if it ends at i, else i. */
size_t scan_word_before(const Scan *s, size_t i, Str word)
{
    for (size_t k = 1; k <= word.n; k++)
        if (scan_upper(scan_before(s, i, k)) != scan_upper((unsigned char)word.p[word.n - k]))
            return i;
    return i - word.n;
}

/* The same with a '_' or '-' allowed between. */
size_t scan_part_before(const Scan *s, size_t i, Str word)
{
    int c = scan_before(s, i, 1);
    size_t end = c == '_' || c == '-' ? i - 1 : i, at = scan_word_before(s, end, word);

    return at < end ? at : i;
}

size_t scan_run_end(Scan *s, size_t i, uint32_t set, size_t max)
{
    size_t end = i + max;

    while (i < end && in_set(scan_at(s, i), set))
        i++;
    return i;
}

size_t scan_blanks_end(Scan *s, size_t i, bool encoded)
{
    i = scan_run_end(s, i, SET_BLANK, MAX_BLANKS);
    for (int max = 4; encoded && max && scan_has(s, i, STR("%20")); max--)
        i += 3;
    return i;
}

size_t scan_backslashes(Scan *s, size_t i)
{
    size_t n = 0;

    while (n < MAX_ESCAPES && scan_at(s, i + n) == '\\')
        n++;
    return n;
}

bool scan_contains(const Scan *s, size_t from, size_t to, uint32_t set)
{
    for (size_t i = from; i < to; i++)
        if (in_set((unsigned char)s->p[i], set))
            return true;
    return false;
}

/* -- [REDACTED...] -- */

bool scan_label_at(Scan *s, size_t i)
{
    size_t n = 0;
    int c;

    if (!scan_has(s, i, STR("[REDACTED")))
        return false;
    for (i += 9; n <= MAX_LABEL_NAME; n++) {
        c = scan_at(s, i + n);
        if (c != '_' && !in_set(c, SET_UPPER))
            return c == ']';
    }
    return false;
}

bool scan_take_out(Scan *s, Str label, size_t start, size_t from, Skip skip)
{
    if (s->more)
        return false;
    buf_add(s->out, (Str){ s->p + s->sent, start - s->sent });
    buf_add(s->out, label);
    s->sent = s->pos = s->floor = from;
    s->skip = skip;
    s->changed = true;
    return true;
}

/* -- private keys -- */

size_t scan_pem_line_end(Scan *s, size_t i, Str word)
{
    size_t name = i + 5 + word.n, end;

    if (!scan_has(s, i, STR("-----")) || !scan_has(s, i + 5, word))
        return 0;
    end = scan_run_end(s, name, SET_PEM_NAME, MAX_PEM_NAME);
    if (!scan_has(s, end, STR("-----")) ||
        str_find((Str){ s->p + name, end - name }, STR("PRIVATE")) == end - name)
        return 0;
    return end + 5;
}

/* A program or a sentence that only mentions the line must not lose all that follows: behind it
 * stands the end of the line, or something that could be the key. */
bool scan_pem_at(Scan *s, size_t i, size_t *ret_end)
{
    size_t end = scan_pem_line_end(s, i, STR("BEGIN"));
    int c = end ? scan_at(s, end) : 0;

    if (!end)
        return false;
    *ret_end = end;
    if (c < 0 || in_set(c, SET_LINE_END) || scan_has(s, end, STR("%0")))
        return true;
    end += scan_backslashes(s, end);
    if (c == '\\' && (scan_at(s, end) == 'n' || scan_at(s, end) == 'r'))
        return true;
    for (int max = 16; max && in_set(c, SET_BLANK | SET_LINE_END | SET_QUOTE); max--)
        c = scan_at(s, ++end);
    return scan_run_end(s, end, SET_BASE64, MIN_PEM_BODY) == end + MIN_PEM_BODY;
}

/* -- values -- */

/* Backslashes before a quote or in "\n" belong to the JSON around the value, not to it. */
static bool escape_ends(Scan *s, size_t i)
{
    int c = scan_at(s, i + scan_backslashes(s, i));

    return c == 'n' || c == 'r' || c == 't' || in_set(c, SET_QUOTE);
}

static bool encoded_ends(Scan *s, size_t i)
{
    static const Str ends[] = {
        STR_INIT("%26"), STR_INIT("%22"), STR_INIT("%2C"), STR_INIT("%20"),
        STR_INIT("%0A"), STR_INIT("%0D"), STR_INIT("%3B"), STR_INIT("%7D")
    };

    for (size_t k = 0; k < ARRAY_LEN(ends); k++)
        if (scan_has(s, i, ends[k]))
            return true;
    return false;
}

bool scan_bare_ends(Scan *s, size_t i, bool encoded)
{
    int c = scan_at(s, i);

    if (in_set(c, SET_CLOSER)) /* f(a)b continues, f(a) does not */
        return !in_set(scan_at(s, i + 1), SET_BARE) || scan_bare_ends(s, i + 1, encoded);
    if (c == '\\')
        return escape_ends(s, i);
    if (c == '%' && encoded)
        return encoded_ends(s, i);
    return !in_set(c, SET_BARE);
}

/* A quote behind i, with the backslashes of JSON in JSON before it; false where there is none. */
bool scan_quote_at(Scan *s, size_t i, unsigned *ret_depth, size_t *ret_end)
{
    size_t depth = scan_backslashes(s, i);

    if (!in_set(scan_at(s, i + depth), SET_QUOTE) || depth > 7 || (depth & (depth + 1)))
        return false;
    *ret_depth = (unsigned)depth;
    *ret_end = i + depth + 1;
    return true;
}

/* : = := => == === and their URL-encoded forms; "::" is a path of a program. */
static size_t sign_end(Scan *s, size_t i, Sign *sign)
{
    int c = scan_at(s, i);

    if (c == '%' && (scan_has(s, i, STR("%3D")) || scan_has(s, i, STR("%3A")))) {
        sign->encoded = true;
        return i + 3;
    }
    if (c == ':')
        return scan_at(s, i + 1) == ':' ? 0 : i + 1 + (scan_at(s, i + 1) == '=');
    if (c != '=')
        return 0;
    for (int max = 2; max && scan_at(s, i + 1) == '='; max--, i++)
        sign->compares = true;
    return i + 1 + (scan_at(s, i + 1) == '>');
}

/* name="TOKEN" value="x", - name: TOKEN\n  value: x, "name": "TOKEN", "value": "x": behind the
 * second name; i where there is none. */
static size_t pair_end(Scan *s, size_t i)
{
    size_t at = i + (scan_at(s, i) == ','), from = at;
    unsigned depth;

    for (int max = 24; max && in_set(scan_at(s, at), SET_BLANK | SET_LINE_END); max--)
        at++;
    if (at == from && at == i)
        return i;
    scan_quote_at(s, at, &depth, &at);
    if (!scan_has(s, at, STR("value")))
        return i;
    at += 5;
    scan_quote_at(s, at, &depth, &at);
    return at;
}

/* const token: string = "x", let token: &str = "x" */
static size_t typed_end(Scan *s, size_t end, Sign *sign)
{
    static const Str types[] = { STR_INIT("string"), STR_INIT("str"), STR_INIT("&str"),
                                 STR_INIT("&'static str") };
    size_t from = scan_blanks_end(s, end, false);

    for (size_t k = 0; s->p[end - 1] == ':' && k < ARRAY_LEN(types); k++)
        if (scan_has(s, from, types[k])) {
            size_t at = scan_blanks_end(s, from + types[k].n, false);

            if (scan_at(s, at) == '=')
                return sign_end(s, at, sign);
        }
    return end;
}

bool scan_sign_at(Scan *s, size_t i, Sign *ret_sign)
{
    Sign sign = { .tight = scan_at(s, i) == '=' };
    unsigned depth;
    size_t end;

    sign.quoted = scan_quote_at(s, i, &depth, &i);
    sign.ticked = sign.quoted && s->p[i - 1] == '`';
    if (!sign.quoted && scan_has(s, i, STR("%22"))) {
        sign.quoted = true;
        i += 3;
    }
    if (sign.quoted && scan_at(s, i) == ']') /* env["TOKEN"] = */
        i++;
    end = sign_end(s, scan_blanks_end(s, pair_end(s, i), false), &sign);
    if (!end)
        return false;
    end = typed_end(s, end, &sign);
    sign.value = scan_blanks_end(s, end, sign.encoded);
    sign.spaced = sign.value > end;
    *ret_sign = sign;
    return true;
}

/* "token: ", x in a program is the end of a text, not the beginning of a value. */
static bool closes_text(Scan *s, size_t i)
{
    int c = scan_at(s, i);

    if (in_set(c, SET_BLANK))
        return !in_set(scan_at(s, i + 1), SET_ALNUM);
    if (c == '+') { /* "token: "+name) */
        size_t end = scan_run_end(s, i + 1, SET_IDENTIFIER | SET_BLANK, MAX_BLANKS);

        c = scan_at(s, end);
        return end > i + 1 && (c == '.' || c == '(' || c == ')' || c == ',' || c == ';');
    }
    return c < 0 || c == ',' || c == ';' || in_set(c, SET_CLOSER | SET_LINE_END);
}

static bool quoted_value_at(Scan *s, const Sign *sign, Value *ret)
{
    Value v = { .skip = { .kind = SKIP_QUOTED } };
    unsigned depth;
    size_t end;

    if (!scan_quote_at(s, sign->value, &v.skip.depth, &v.content))
        return false;
    v.skip.closer = s->p[v.content - 1];
    /* An empty one hides nothing, unless it is the first two of """. */
    if (scan_quote_at(s, v.content, &depth, &end) && s->p[end - 1] == v.skip.closer &&
        depth == v.skip.depth && (depth || scan_at(s, end) != v.skip.closer))
        return false;
    if (!sign->quoted && closes_text(s, v.content))
        return false;
    *ret = v;
    return v.skip.closer != '`' || sign->spaced; /* `password:` in a sentence */
}

bool scan_value_at(Scan *s, const Sign *sign, Value *ret)
{
    size_t i = sign->value;
    int c = scan_at(s, i);

    if (sign->encoded) {
        i += scan_has(s, i, STR("%22")) ? 3 : 0;
        *ret = (Value){ i, { .kind = SKIP_BARE, .encoded = true } };
        return !scan_bare_ends(s, i, true);
    }
    if (in_set(c, SET_QUOTE) || (c == '\\' && escape_ends(s, i)))
        return quoted_value_at(s, sign, ret);
    if (c == '{' || c == '[') {
        *ret = (Value){ i, { .kind = SKIP_BRACED, .closer = c == '{' ? '}' : ']' } };
        return scan_at(s, i + 1) != ret->skip.closer;
    }
    *ret = (Value){ i, { .kind = SKIP_BARE } };
    return !scan_bare_ends(s, i, false);
}
