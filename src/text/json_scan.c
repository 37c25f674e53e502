#include "text/json_scan.h"

#include "base/limits.h"
#include "text/utf8.h"

JsonScan *json_scan_new(size_t max)
{
    JsonScan *s = mem_alloc(sizeof *s);

    s->stage = json_stage_new(max);
    return s;
}

JsonScan *json_scan_free(JsonScan *s)
{
    if (s) {
        json_stage_free(s->stage);
        mem_free(s->close);
        mem_free(s);
    }
    return NULL;
}

/* -- the check of the grammar -- */

static bool is_scalar(const char *p)
{
    switch (*p) {
    case '"':
    case '-':
        return true;
    case 't':
        return memcmp(p, "true", 4) == 0;
    case 'f':
        return memcmp(p, "false", 5) == 0;
    case 'n':
        return memcmp(p, "null", 4) == 0;
    default:
        return *p >= '0' && *p <= '9';
    }
}

/* Every token once, from left to right, with a stack of open brackets: whether they nest, and where
 * each one closes. The text's end follows the last token and is no token: so every look at
 * the next one is a look at something. */
static bool link_brackets(JsonScan *s)
{
    uint32_t open[LIMIT_JSON_DEPTH], depth = 0, i = 0;
    char c;

#define CHAR(token) (s->p[s->at[token]])
value:
    if (i >= s->n)
        return false;
    c = CHAR(i);
    if (c == '{' || c == '[') {
        if (depth == LIMIT_JSON_DEPTH)
            return false;
        open[depth++] = i++;
        if (i >= s->n)
            return false;
        if (CHAR(i) == (c == '{' ? '}' : ']'))
            goto closed;
        if (c == '[')
            goto value;
        goto key;
    }
    if (!is_scalar(s->p + s->at[i]))
        return false;
after:
    if (depth == 0)
        return i + 1 == s->n;
    if (++i >= s->n)
        return false;
    c = CHAR(open[depth - 1]);
    if (CHAR(i) == (c == '{' ? '}' : ']'))
        goto closed;
    if (CHAR(i) != ',')
        return false;
    i++;
    if (c == '[')
        goto value;
key:
    if (i + 1 >= s->n || CHAR(i) != '"' || CHAR(i + 1) != ':')
        return false;
    i += 2;
    goto value;
closed:
    s->close[open[--depth]] = i;
    goto after;
#undef CHAR
}

ScanResult json_scan(JsonScan *s, Str text)
{
    ScanResult result = json_stage_run(s->stage, text, &s->at, &s->n);

    s->p = text.p;
    if (result != SCAN_OK)
        return result;
    if (s->n > s->close_cap) {
        s->close_cap = s->n + s->n / 2;
        s->close = mem_resize(s->close, s->close_cap, sizeof *s->close);
    }
    return link_brackets(s) ? SCAN_OK : SCAN_BROKEN;
}

/* -- values -- */

Str json_tok_json(const JsonScan *s, JsonTok t)
{
    const char *from, *to;
    char c = json_tok_char(s, t);

    if (!c)
        return STR_NONE;
    from = s->p + s->at[t];
    if (c == '{' || c == '[')
        return (Str){ from, (size_t)(s->p + s->at[s->close[t]] + 1 - from) };
    to = s->p + s->at[t + 1];
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r' || to[-1] == '\n'))
        to--;
    return (Str){ from, (size_t)(to - from) };
}

JsonTok json_tok_get(const JsonScan *s, JsonTok object, Str key)
{
    JsonTok at = json_tok_first(s, object), item, found = JSON_TOK_NONE;
    Str name;

    while (json_tok_next(s, &at, &name, &item))
        if (name.p && str_eq(name, key))
            found = item;
    return found;
}

bool json_tok_bool(const JsonScan *s, JsonTok t, bool *ret)
{
    char c = json_tok_char(s, t);

    if (c != 't' && c != 'f')
        return false;
    *ret = c == 't';
    return true;
}

bool json_tok_int(const JsonScan *s, JsonTok t, int64_t *ret)
{
    char c = json_tok_char(s, t);
    const char *p;
    int64_t n = 0;

    if (c != '-' && (c < '0' || c > '9'))
        return false;
    for (p = s->p + s->at[t] + (c == '-'); *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
            return false;
    *ret = c == '-' ? -n : n;
    return true;
}

/* -- escapes -- */

/* The code unit of \uXXXX at p; -1 where it is none. */
static int unit_at(const char *p, const char *end)
{
    int value = 0;

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        char c = p[i], letter = (char)(c | 0x20);
        int digit = c >= '0' && c <= '9'             ? c - '0'
                    : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                     : -1;

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* What a two-character escape represents; 0 where there is no such escape. */
static char plain_of(char c)
{
    static const char plain[128] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                     ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t' };

    return (unsigned char)c < 128 ? plain[(unsigned char)c] : '\0';
}

/* How long the escape at p is: 2, 6, or 12 for a surrogate pair; 1 where it is none. */
static size_t escape_bytes(const char *p, const char *end)
{
    int unit = unit_at(p, end), low;

    if (unit < 0)
        return end - p > 1 && plain_of(p[1]) ? 2 : 1;
    low = (unit & 0xfc00) == 0xd800 ? unit_at(p + 6, end) : -1;
    return low >= 0 && (low & 0xfc00) == 0xdc00 ? 12 : 6;
}

static size_t put_unit(char *out, const char *p, size_t n, const char *end)
{
    int unit = unit_at(p, end);
    uint32_t code = (uint32_t)unit;

    if (n == 12)
        code = 0x10000 + (((uint32_t)unit & 0x3ff) << 10) + ((uint32_t)unit_at(p + 6, end) & 0x3ff);
    else if ((unit & 0xf800) == 0xd800)
        code = 0xfffd;
    return utf8_put(out, code);
}

Str json_unescape(Arena *a, Str raw)
{
    const char *p, *end;
    char *out, *to;

    if (!raw.n || !memchr(raw.p, '\\', raw.n))
        return raw;
    p = raw.p;
    end = p + raw.n;
    out = to = arena_bytes(a, raw.n);
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((slash ? slash : end) - p);

        memcpy(to, p, n);
        to += n;
        p += n;
        if (!slash)
            break;
        /* Most are line ends and quotes. */
        if (end - p > 1 && plain_of(p[1])) {
            *to++ = plain_of(p[1]);
            p += 2;
            continue;
        }
        n = escape_bytes(p, end);
        if (n > 2)
            to += put_unit(to, p, n, end);
        else
            *to++ = '?';
        p += n;
    }
    return (Str){ out, (size_t)(to - out) };
}

/* Where the run of units that surely is not in the middle of an escape begins: no escape is longer
 * than twelve bytes, but a run of backslashes decides by its length, so all of it is looked at. */
static size_t safe_start(Str raw, size_t at)
{
    size_t from = at > 16 ? at - 16 : 0;

    while (from > 0 && raw.p[from - 1] == '\\')
        from--;
    /* An escape that begins before `from` and reaches over it is \uXXXX or half a pair: its
     * characters are no backslashes, so going on from them as plain text meets the next one. */
    return from;
}

static size_t next_unit(Str raw, size_t at)
{
    if (raw.p[at] == '\\')
        return at + escape_bytes(raw.p + at, raw.p + raw.n);
    do {
        at++;
    } while (at < raw.n && ((unsigned char)raw.p[at] & 0xc0) == 0x80);
    return at;
}

static size_t cut(Str raw, size_t at, bool up)
{
    size_t here, before;

    if (at >= raw.n)
        return raw.n;
    for (here = before = safe_start(raw, at); here < at; here = next_unit(raw, here))
        before = here;
    return here == at || up ? here : before;
}

size_t json_raw_cut_up(Str raw, size_t at)
{
    return cut(raw, at, true);
}

size_t json_raw_cut_down(Str raw, size_t at)
{
    return cut(raw, at, false);
}
