/* A recursive reader. The items of a list that is still open wait on one stack and move to the
 * arena when it closes, so that every list is one array.
 *
 * The same reader, made strict, finds where a text stops being JSON (json_locate): simdjson refuses
 * without saying where. */
#include "text/pyjson.h"

#include <math.h>

#include "base/hash.h"
#include "base/limits.h"
#include "text/utf8.h"

enum { STRICT_INT_DIGITS = 20 };

typedef struct Reader {
    const char *p, *end;
    Arena *arena;
    PyValue *stack;
    size_t n, cap, values;
    int depth;
    bool strict;             /* JSON as json.h reads it; no values are kept */
    bool mend;               /* half of a surrogate pair is U+FFFD */
    const char *fault, *why; /* where and why the text was refused first */
} Reader;

static bool read_value(Reader *r, PyValue *ret);

static bool refuse(Reader *r, const char *at, const char *why)
{
    if (!r->why) {
        r->fault = at;
        r->why = why;
    }
    return false;
}

static void skip_space(Reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
        r->p++;
}

/* The next character that is no white space, taken if it is c. */
static bool take(Reader *r, char c)
{
    skip_space(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* -- strings -- */

/* Four hex digits at p, -1 where they are none. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t c = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = p[i] >= '0' && p[i] <= '9'   ? p[i] - '0'
                    : p[i] >= 'a' && p[i] <= 'f' ? p[i] - 'a' + 10
                    : p[i] >= 'A' && p[i] <= 'F' ? p[i] - 'A' + 10
                                                 : -1;

        if (digit < 0)
            return -1;
        c = c << 4 | digit;
    }
    return c;
}

/* Takes the escape whose letter is at *p, behind the backslash. */
static bool take_escape(Reader *r, const char **p, const char *end, int32_t *ret)
{
    static const char letters[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    const char *known = *p < end && **p ? strchr(letters, **p) : NULL, *from = *p;
    int32_t low;

    if (known) {
        (*p)++;
        *ret = codes[known - letters];
        return true;
    }
    if (from == end || *from != 'u')
        return refuse(r, from, "unknown escape");
    *ret = hex4(from + 1, end);
    if (*ret < 0)
        return refuse(r, from + 1, "four hexadecimal digits were expected after \\u");
    *p += 5;
    if (*ret >= 0xd800 && *ret <= 0xdbff && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        low = hex4(*p + 2, end);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            *ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    if (*ret >= 0xd800 && *ret <= 0xdfff) {
        if (r->strict)
            return refuse(r, from - 1, "half of a surrogate pair");
        if (r->mend)
            *ret = 0xfffd;
    }
    return true;
}

/* Copies a string with escapes or bad bytes from p up to its quote. */
static bool unescape(Reader *r, const char *p, size_t n, bool bad_bytes, Str *ret)
{
    const char *end = p + n;
    /* A bad byte becomes three; an escape is never shorter than what it represents. */
    char *out = arena_alloc(r->arena, (bad_bytes ? n * 3 : n) + 4), *at = out;

    while (p < end) {
        Str rest = { p, (size_t)(end - p) };

        if (*p == '\\') {
            int32_t c;

            p++;
            if (!take_escape(r, &p, end, &c))
                return false;
            at += utf8_put(at, (uint32_t)c);
        } else if ((unsigned char)*p < 0x80) {
            *at++ = *p++;
        } else {
            at += utf8_put(at, utf8_next(&rest));
            p = rest.p;
        }
    }
    *ret = (Str){ out, (size_t)(at - out) };
    return true;
}

/* Behind the opening quote. */
static bool read_string(Reader *r, PyValue *ret)
{
    const char *from = r->p;
    bool escapes = false, beyond_ascii = false, bad_bytes;
    Str raw;

    for (; r->p < r->end && *r->p != '"'; r->p++) {
        unsigned char c = (unsigned char)*r->p;

        if (c < 0x20)
            return refuse(r, r->p, "a control character in a string");
        if (c == '\\') {
            escapes = true;
            if (++r->p == r->end)
                break;
        }
        beyond_ascii |= c >= 0x80;
    }
    if (r->p == r->end)
        return refuse(r, r->p, "the string is not closed");
    raw = (Str){ from, (size_t)(r->p - from) };
    r->p++;
    bad_bytes = beyond_ascii && utf8_valid_prefix(raw) < raw.n;
    ret->type = PY_STR;
    ret->text = raw;
    return !escapes && !bad_bytes ? true : unescape(r, raw.p, raw.n, bad_bytes, &ret->text);
}

/* -- numbers -- */

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Behind p, where a fraction or exponent ends; p itself where there is none. */
static const char *fraction(const char *p, const char *end)
{
    const char *q = p < end && *p == '.' ? digits(p + 1, end) : p;

    return q > p + 1 ? q : p;
}

static const char *exponent(const char *p, const char *end)
{
    const char *from, *q;

    if (p == end || (*p != 'e' && *p != 'E'))
        return p;
    from = p + 1 < end && (p[1] == '+' || p[1] == '-') ? p + 2 : p + 1;
    q = digits(from, end);
    return q > from ? q : p;
}

static bool read_number(Reader *r, PyValue *ret)
{
    const char *from = r->p, *first = *from == '-' ? from + 1 : from, *whole, *last;

    whole = first < r->end && *first == '0' ? first + 1 : digits(first, r->end);
    if (whole == first)
        return refuse(r, first, "a digit was expected");
    last = exponent(fraction(whole, r->end), r->end);
    r->p = last;
    if (r->strict && last < r->end && (*last == '.' || *last == 'e' || *last == 'E'))
        return refuse(r, last + 1, "a digit was expected");
    if (last > whole) {
        ret->type = PY_FLOAT;
        ret->real = strtod(str_z(r->arena, (Str){ from, (size_t)(last - from) }), NULL);
        return !r->strict || isfinite(ret->real) || refuse(r, from, "the number is out of range");
    }
    /* Which numbers of so many digits fit 64 bits, the strict reader says. */
    if (whole - first > (r->strict ? STRICT_INT_DIGITS : PYJSON_INT_DIGITS))
        return refuse(r, from, "the number is out of range");
    ret->type = PY_INT;
    ret->text = *first == '0' ? STR("0") : (Str){ from, (size_t)(last - from) };
    return true;
}

/* -- lists and dicts -- */

static bool push(Reader *r, PyValue v)
{
    if (r->strict)
        return true;
    if (++r->values > PYJSON_VALUES)
        return refuse(r, r->p, "too many values");
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->stack = mem_resize(r->stack, r->cap, sizeof *r->stack);
    }
    r->stack[r->n++] = v;
    return true;
}

/* What was pushed since `base` becomes the items of ret. */
static void close_items(Reader *r, size_t base, PyType type, PyValue *ret)
{
    size_t n = r->n - base;
    PyValue *items = r->strict ? NULL : ARENA_ARRAY(r->arena, PyValue, n + 1);

    if (n)
        memcpy(items, r->stack + base, n * sizeof *items);
    r->n = base;
    ret->type = type;
    ret->n = (uint32_t)(type == PY_DICT ? n / 2 : n);
    ret->items = items;
}

static bool read_list(Reader *r, PyValue *ret)
{
    size_t base = r->n;

    if (!take(r, ']')) {
        do {
            PyValue item = { 0 };

            if (!read_value(r, &item) || !push(r, item))
                return false;
        } while (take(r, ','));
        if (!take(r, ']'))
            return refuse(r, r->p, "',' or ']' was expected");
    }
    close_items(r, base, PY_LIST, ret);
    return true;
}

/* The place of key among the first n pairs of a dict: by looking at all of a small one, and by a
 * table of places (one more than the index, 0 = free) for a large one: it is read once, in the
 * arena, so that uthash and its entries would only cost. */
static size_t place_of(const PyValue *items, size_t n, uint32_t *table, size_t mask, Str key)
{
    size_t at;

    if (!table) {
        for (at = 0; at < n && !str_eq(items[2 * at].text, key); at++)
            ;
        return at;
    }
    for (at = hash_text(0, key) & mask; table[at]; at = (at + 1) & mask)
        if (str_eq(items[2 * (table[at] - 1)].text, key))
            return table[at] - 1;
    table[at] = (uint32_t)n + 1;
    return n;
}

static void drop_repeats(Reader *r, PyValue *dict)
{
    size_t kept = 0, mask = 0;
    uint32_t *table = NULL;
    PyValue *items = dict->items;

    if (dict->n > 8) {
        for (mask = 15; mask < dict->n * (size_t)2; mask = mask * 2 + 1)
            ;
        table = ARENA_ARRAY(r->arena, uint32_t, mask + 1);
    }
    for (size_t i = 0; i < dict->n; i++) {
        size_t at = place_of(items, kept, table, mask, items[2 * i].text);

        if (at == kept)
            items[2 * kept++] = items[2 * i];
        items[2 * at + 1] = items[2 * i + 1];
    }
    dict->n = (uint32_t)kept;
}

static bool read_dict(Reader *r, PyValue *ret)
{
    size_t base = r->n;

    if (!take(r, '}')) {
        do {
            PyValue key = { 0 }, item = { 0 };

            if (!take(r, '"'))
                return refuse(r, r->p, "a key in quotes was expected");
            if (!read_string(r, &key))
                return false;
            if (!take(r, ':'))
                return refuse(r, r->p, "':' was expected after the key");
            if (!read_value(r, &item) || !push(r, key) || !push(r, item))
                return false;
        } while (take(r, ','));
        if (!take(r, '}'))
            return refuse(r, r->p, "',' or '}' was expected");
    }
    close_items(r, base, PY_DICT, ret);
    drop_repeats(r, ret);
    return true;
}

/* -- values -- */

static bool read_constant(Reader *r, PyValue *ret)
{
    static const struct {
        Str word;
        PyType type;
        double real;
    } constants[] = {
        { STR_INIT("null"), PY_NULL, 0 },
        { STR_INIT("true"), PY_TRUE, 0 },
        { STR_INIT("false"), PY_FALSE, 0 },
        { STR_INIT("NaN"), PY_FLOAT, (double)NAN },
        { STR_INIT("Infinity"), PY_FLOAT, (double)INFINITY },
        { STR_INIT("-Infinity"), PY_FLOAT, -(double)INFINITY },
    };

    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        Str word = constants[i].word;

        if (!str_starts((Str){ r->p, (size_t)(r->end - r->p) }, word) ||
            (r->strict && constants[i].type == PY_FLOAT))
            continue;
        r->p += word.n;
        ret->type = constants[i].type;
        if (ret->type == PY_FLOAT)
            ret->real = constants[i].real;
        return true;
    }
    return refuse(r, r->p, "a value was expected");
}

static bool read_value(Reader *r, PyValue *ret)
{
    bool ok;
    char c;

    skip_space(r);
    if (r->p == r->end)
        return refuse(r, r->p, "the text ends where a value was expected");
    c = *r->p;
    if (c == '"') {
        r->p++;
        return read_string(r, ret);
    }
    if (c == '[' || c == '{') {
        if (++r->depth > (r->strict ? LIMIT_JSON_DEPTH : PYJSON_DEPTH))
            return refuse(r, r->p, "too many levels");
        r->p++;
        ok = c == '[' ? read_list(r, ret) : read_dict(r, ret);
        r->depth--;
        return ok;
    }
    if ((c >= '0' && c <= '9') || (c == '-' && r->end - r->p > 1 && r->p[1] != 'I'))
        return read_number(r, ret);
    return read_constant(r, ret);
}

static bool read_document(Reader *r, PyValue *ret)
{
    bool ok = read_value(r, ret);

    skip_space(r);
    mem_free(r->stack);
    return ok && (r->p == r->end || refuse(r, r->p, "more text after the value"));
}

bool pyjson_read(Arena *a, Str text, PyValue *ret)
{
    Reader r = { .p = text.p, .end = text.n ? text.p + text.n : text.p, .arena = a };
    PyValue v = { 0 };

    if (text.n > LIMIT_JSON_BYTES || !read_document(&r, &v))
        return false;
    *ret = v;
    return true;
}

JsonFault json_locate(Str text)
{
    AUTO(Arena) *a = arena_new();
    Reader r = { .arena = a, .strict = true };
    JsonFault f = { .line = 1, .column = 1 };
    size_t valid = utf8_valid_prefix(text);
    PyValue ignored = { 0 };

    if (!text.n)
        text = STR(""); /* NULL has no end */
    r.p = text.p;
    r.end = text.p + text.n;
    if (read_document(&r, &ignored))
        r.fault = r.end;
    if (valid < (size_t)(r.fault - text.p)) {
        r.fault = text.p + valid;
        r.why = "not valid UTF-8";
    }
    f.why = r.why;
    if (!f.why)
        return f;
    f.at = (size_t)(r.fault - text.p);
    for (size_t i = 0; i < f.at; i++) {
        f.column++;
        if (text.p[i] == '\n') {
            f.line++;
            f.column = 1;
        }
    }
    return f;
}

JsonDoc *json_parse_mended(Arena *a, Str text)
{
    AUTO_BUF mended = BUF(LIMIT_JSON_BYTES);
    JsonWriter w = JSON_WRITER(&mended, 0);
    Reader r = { .p = text.p, .end = text.n ? text.p + text.n : text.p, .arena = a, .mend = true };
    Err ignored;
    JsonDoc *doc = json_parse(text, &ignored);
    PyValue v = { 0 };

    if (doc || text.n > LIMIT_JSON_BYTES || !read_document(&r, &v))
        return doc;
    pyjson_put(&w, &v);
    return json_parse(buf_str(&mended), &ignored);
}

const PyValue *pyjson_get(const PyValue *v, Str key)
{
    if (v->type == PY_DICT)
        for (size_t i = 0; i < v->n; i++)
            if (str_eq(v->items[2 * i].text, key))
                return &v->items[2 * i + 1];
    return NULL;
}

bool pyjson_truthy(const PyValue *v)
{
    switch (v->type) {
    case PY_NULL:
    case PY_FALSE:
        return false;
    case PY_TRUE:
        return true;
    case PY_INT:
        return !str_eqz(v->text, "0");
    case PY_FLOAT:
        return v->real != 0; /* NaN is not */
    case PY_STR:
        return v->text.n > 0;
    case PY_LIST:
    case PY_DICT:
        return v->n > 0;
    }
    return false;
}
