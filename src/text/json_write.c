/* The writing half of json.h, and the few words about types that both halves share. */
#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "text/json.h"
#include "text/utf8.h"

const char *json_type_name(JsonType type)
{
    static const char *const names[] = {
        [JSON_NONE] = "nothing",   [JSON_NULL] = "null",        [JSON_BOOL] = "a boolean",
        [JSON_INT] = "a number",   [JSON_REAL] = "a number",    [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
    };

    return names[type];
}

/* `before`, then a line end and the indentation of what follows. */
static void new_line(JsonWriter *w, Str before)
{
    size_t pad = (size_t)w->indent * (size_t)w->depth, n = before.n + 1 + pad;
    char *room = buf_room(w->out, n);

    if (!room)
        return;
    if (before.n)
        memcpy(room, before.p, before.n);
    room[before.n] = '\n';
    memset(room + before.n + 1, ' ', pad);
    room[n] = '\0';
    w->out->n += n;
}

static void before_item(JsonWriter *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0)
        return;
    if (w->indent)
        new_line(w, w->first ? STR("") : STR(","));
    else if (!w->first)
        buf_add(w->out, STR(", "));
    w->first = false;
}

void json_begin(JsonWriter *w, char bracket)
{
    before_item(w);
    buf_addc(w->out, bracket);
    w->depth++;
    w->first = true;
}

void json_end(JsonWriter *w, char bracket)
{
    w->depth--;
    if (!w->first && w->indent)
        new_line(w, STR(""));
    w->first = false;
    buf_addc(w->out, bracket);
}

/* Bytes that need no escape in a JSON string: printable ASCII but '"' and '\'. */
static size_t plain_run(Str s)
{
    size_t i = 0;

#ifdef __SSE2__
    for (; i + 16 <= s.n; i += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(s.p + i));
        /* As signed bytes, what is not ASCII is below the space. */
        __m128i odd = _mm_or_si128(_mm_cmplt_epi8(x, _mm_set1_epi8(' ')),
                                   _mm_cmpeq_epi8(x, _mm_set1_epi8(0x7f)));
        int hits;

        odd = _mm_or_si128(odd, _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
                                             _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'))));
        hits = _mm_movemask_epi8(odd);
        if (hits)
            return i + (size_t)__builtin_ctz((unsigned)hits);
    }
#endif
    while (i < s.n && (unsigned char)s.p[i] >= 0x20 && (unsigned char)s.p[i] < 0x7f &&
           s.p[i] != '"' && s.p[i] != '\\')
        i++;
    return i;
}

/* A terminal that shows the output is not steered by it: controls and marks of direction are
 * written as numbers. Where Python's bytes are promised, as Python does. */
static void put_escaped(Buf *out, uint32_t c, bool ascii, bool as_python)
{
    static const char letters[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
    };
    char utf8[4], pair[2] = { '\\', (char)c };

    if (c < sizeof letters && letters[c])
        pair[1] = letters[c];
    if (c == '"' || c == '\\' || (c < sizeof letters && letters[c]))
        buf_add(out, (Str){ pair, sizeof pair });
    else if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029 ||
             (!as_python && utf8_is_control(c)))
        buf_addf(out, "\\u%04x", c);
    else if (ascii && c > 0xffff)
        buf_addf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
    else if (ascii && c > 0x7e)
        buf_addf(out, "\\u%04x", c);
    else
        buf_add(out, (Str){ utf8, utf8_put(utf8, c) });
}

/* Half of a surrogate pair, as three bytes: Python reads and writes such names, and so do its
 * files. */
static bool put_lone(Buf *out, Str *s)
{
    const unsigned char *p = (const unsigned char *)s->p;

    if (s->n < 3 || p[0] != 0xed || p[1] < 0xa0 || p[1] > 0xbf || (p[2] & 0xc0) != 0x80)
        return false;
    buf_addf(out, "\\u%04x", 0xd000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
    *s = str_skip(*s, 3);
    return true;
}

static void put_quoted(const JsonWriter *w, Str s)
{
    Buf *out = w->out;
    size_t run = plain_run(s);
    char *room;

    /* Most are plain all over. */
    if (run == s.n && (room = buf_room(out, run + 2))) {
        room[0] = '"';
        if (run)
            memcpy(room + 1, s.p, run);
        room[run + 1] = '"';
        room[run + 2] = '\0';
        out->n += run + 2;
        return;
    }
    buf_addc(out, '"');
    for (; s.n; run = plain_run(s)) {

        buf_add(out, str_head(s, run));
        s = str_skip(s, run);
        if ((w->ascii || w->python) && put_lone(out, &s))
            continue;
        if (s.n)
            put_escaped(out, utf8_next(&s), w->ascii, w->python);
    }
    buf_addc(out, '"');
}

void json_key_str(JsonWriter *w, Str key)
{
    before_item(w);
    put_quoted(w, key);
    buf_addz(w->out, ": ");
    w->after_key = true;
}

void json_key(JsonWriter *w, const char *key)
{
    json_key_str(w, str_of(key));
}

void json_put_str(JsonWriter *w, Str s)
{
    before_item(w);
    put_quoted(w, s);
}

static void put_digits(JsonWriter *w, bool minus, uint64_t n)
{
    char digits[21], *p = digits + sizeof digits;

    before_item(w);
    do {
        *--p = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    if (minus)
        *--p = '-';
    buf_add(w->out, (Str){ p, (size_t)(digits + sizeof digits - p) });
}

void json_put_int(JsonWriter *w, int64_t n)
{
    put_digits(w, n < 0, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

void json_put_double(JsonWriter *w, double n)
{
    char text[40];

    if (!isfinite(n)) {
        json_put_null(w);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, n);
        if (strtod(text, NULL) == n)
            break;
    }
    before_item(w);
    buf_addz(w->out, text);
    if (!strpbrk(text, ".e"))
        buf_addz(w->out, ".0");
}

void json_put_bool(JsonWriter *w, bool b)
{
    json_put_raw(w, b ? STR("true") : STR("false"));
}

void json_put_null(JsonWriter *w)
{
    json_put_raw(w, STR("null"));
}

void json_put_raw(JsonWriter *w, Str s)
{
    before_item(w);
    buf_add(w->out, s);
}

/* Depth is bounded by LIMIT_JSON_DEPTH, since v was read. */
void json_put(JsonWriter *w, Json v)
{
    JsonType type = json_type(v);
    JsonIter it = json_each(v);
    uint64_t large;
    int64_t whole;
    double real;
    bool flag;
    Json item;
    Str key;

    if (type == JSON_STRING)
        json_put_str(w, json_str(v));
    else if (type == JSON_INT && json_int(v, &whole))
        json_put_int(w, whole);
    else if (json_uint(v, &large))
        put_digits(w, false, large);
    else if (type == JSON_REAL && json_double(v, &real))
        json_put_double(w, real);
    else if (type == JSON_BOOL && json_bool(v, &flag))
        json_put_bool(w, flag);
    else if (type != JSON_ARRAY && type != JSON_OBJECT)
        json_put_null(w);
    if (type != JSON_ARRAY && type != JSON_OBJECT)
        return;
    json_begin(w, type == JSON_ARRAY ? '[' : '{');
    while (json_next(&it, &key, &item)) {
        if (type == JSON_OBJECT)
            json_key_str(w, key);
        json_put(w, item);
    }
    json_end(w, type == JSON_ARRAY ? ']' : '}');
}

void json_field_str(JsonWriter *w, const char *key, Str s)
{
    json_key(w, key);
    if (s.p)
        json_put_str(w, s);
    else
        json_put_null(w);
}

void json_field_int(JsonWriter *w, const char *key, int64_t n)
{
    json_key(w, key);
    json_put_int(w, n);
}

void json_field_double(JsonWriter *w, const char *key, double n)
{
    json_key(w, key);
    json_put_double(w, n);
}

void json_field_bool(JsonWriter *w, const char *key, bool b)
{
    json_key(w, key);
    json_put_bool(w, b);
}

void json_field_null(JsonWriter *w, const char *key)
{
    json_key(w, key);
    json_put_null(w);
}

void json_field_int_or_null(JsonWriter *w, const char *key, int64_t n, bool known)
{
    if (known)
        json_field_int(w, key, n);
    else
        json_field_null(w, key);
}

void json_field_begin(JsonWriter *w, const char *key, char bracket)
{
    json_key(w, key);
    json_begin(w, bracket);
}
