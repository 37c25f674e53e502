#include "recall/search_readable.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/json.h"

enum { MAX_DEPTH = 6, MAX_OUT = 1 << 20 };

static void add_separated(Buf *out, Str text)
{
    if (!text.n)
        return;
    if (out->n)
        buf_addc(out, '\n');
    buf_add(out, text);
}

/* "exit_code: 1": a number or a truth value says nothing without its name. */
static void add_scalar(Buf *out, Str key, Json v)
{
    JsonWriter w = JSON_WRITER(out, 0);

    if (json_type(v) == JSON_NULL || json_type(v) == JSON_NONE)
        return;
    if (out->n)
        buf_addc(out, '\n');
    if (key.n)
        buf_addf(out, "%.*s: ", STR_FMT(key));
    json_put(&w, v);
}

static void add_value(Buf *out, Str key, Json v, int depth)
{
    JsonType type = json_type(v);
    Str name;
    Json item;

    if (type == JSON_STRING) {
        add_separated(out, json_str(v));
    } else if (type != JSON_OBJECT && type != JSON_ARRAY) {
        add_scalar(out, key, v);
    } else if (depth < MAX_DEPTH) {
        for (JsonIter it = json_each(v); json_next(&it, &name, &item);)
            add_value(out, name, item, depth + 1);
    }
}

/* JSON that ends in the middle: "\n" and "\"" are what is hardest to read in it. */
static Str without_escapes(Arena *a, Str text)
{
    AUTO_BUF out = BUF(MAX_OUT);

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i], next = i + 1 < text.n ? text.p[i + 1] : 0;

        if (c != '\\' || !next) {
            buf_addc(&out, c);
            continue;
        }
        i++;
        buf_addc(&out, strchr("nrt", next) ? ' ' : next);
    }
    return str_dup(a, buf_str(&out));
}

Str search_readable(Arena *a, Str text)
{
    AUTO_BUF out = BUF(MAX_OUT);
    AUTO(JsonDoc) *doc = NULL;
    Str begin = str_trim(text);
    Err ignored;

    if (!begin.n || !strchr("{[", begin.p[0]) || text.n > MAX_OUT / 2)
        return text;
    doc = json_parse(begin, &ignored);
    if (!doc)
        return without_escapes(a, text);
    add_value(&out, STR_NONE, json_root(doc), 0);
    return out.n && !out.full ? str_dup(a, buf_str(&out)) : text;
}
