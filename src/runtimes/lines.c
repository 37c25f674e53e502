#include "runtimes/lines.h"

#include "base/limits.h"

enum { MAX_COUNT = 1 << 30 };

/* Counts of others are added up: nonsense must not overflow. */
int64_t int_at(Json v, const char *key)
{
    int64_t n = 0;

    if (!json_int(at(v, key), &n) || n < 0)
        return 0;
    return n < MAX_COUNT ? n : MAX_COUNT;
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

Str version_in(Str text)
{
    for (size_t i = 0; i < text.n; i++) {
        size_t end = i, dots = 0;

        if (!(text.p[i] >= '0' && text.p[i] <= '9') || (i > 0 && !strchr(" /v(", text.p[i - 1])))
            continue;
        while (end < text.n && text.p[end] && !strchr(" ,;()", text.p[end]))
            dots += text.p[end++] == '.';
        if (dots)
            return (Str){ text.p + i, end - i };
    }
    return str_trim(text);
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
        AUTO(JsonDoc) *inner = json_parse_mended(a, text);
        Json error = inner ? at(json_root(inner), "error") : (Json){ 0 };

        if (str_at(error, "message").n)
            return str_dup(a, str_at(error, "message"));
    }
    return text;
}
