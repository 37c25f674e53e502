/* Outside JSON. A peer may cut a text in the middle of a surrogate pair and write each half as an
 * escape; that is no JSON that a strict reader takes, but no reason to lose the line either. */
#include "runtimes/lines.h"

#include "base/limits.h"
#include "runtimes/teller.h"

static int hex_value(Str s)
{
    int value = 0;

    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        char c = s.p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* How many bytes at an escape stand together; *half where it is half of a pair. */
static size_t escape_size(Str s, bool *half)
{
    int first = hex_value(s), second;

    *half = false;
    if (first < 0)
        return s.n < 2 ? s.n : 2;
    if (first < 0xd800 || first > 0xdfff)
        return 6;
    second = hex_value(str_skip(s, 6));
    if (first < 0xdc00 && second >= 0xdc00 && second <= 0xdfff)
        return 12;
    *half = true;
    return 6;
}

static Str mend_halves(Arena *a, Str line)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);

    while (line.n) {
        size_t n = str_find(line, STR("\\"));
        bool half;

        buf_add(&out, str_head(line, n));
        line = str_skip(line, n);
        if (!line.n)
            break;
        n = escape_size(line, &half);
        buf_add(&out, half ? STR("\\ufffd") : str_head(line, n));
        line = str_skip(line, n);
    }
    return str_dup(a, buf_str(&out));
}

JsonDoc *line_parse(Arena *a, Str line)
{
    JsonDoc *doc;
    Err ignored;

    line = repair_utf8(a, line);
    doc = json_parse(line, &ignored);
    if (!doc && str_find(line, STR("\\u")) < line.n)
        doc = json_parse(mend_halves(a, line), &ignored);
    return doc;
}

int64_t int_at(Json v, const char *key)
{
    int64_t n = 0;

    (void)json_int(at(v, key), &n);
    return n;
}

bool true_at(Json v, const char *key)
{
    bool b = false;

    (void)json_bool(at(v, key), &b);
    return b;
}

Str text_of(Arena *a, Json v)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);
    JsonType type = json_type(v);

    if (type == JSON_STRING)
        return json_str(v);
    if (type == JSON_NONE || type == JSON_NULL)
        return STR("");
    json_put(&w, v);
    return str_dup(a, buf_str(&out));
}

Str error_text(Arena *a, Json v)
{
    Str text;

    for (int depth = 0; depth < 4; depth++) {
        if (json_type(at(v, "error")) == JSON_OBJECT)
            v = at(v, "error");
        else if (json_type(at(v, "message")) != JSON_NONE)
            v = at(v, "message");
        else
            break;
    }
    text = text_of(a, v);
    if (text.n && text.p[0] == '{') { /* providers' errors come wrapped as text */
        AUTO(JsonDoc) *inner = line_parse(a, text);
        Json error = inner ? at(json_root(inner), "error") : (Json){ 0 };

        if (str_at(error, "message").n)
            return str_dup(a, str_at(error, "message"));
    }
    return text;
}
