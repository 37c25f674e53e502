/* sleep_vectors.h - the vectors of tests/fixtures/sleep, read once per test. */
#ifndef TALARIA_TESTS_SLEEP_VECTORS_H
#define TALARIA_TESTS_SLEEP_VECTORS_H

#include "unit.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/limits.h"
#include "text/json.h"

static inline JsonDoc *vectors_open(Arena *a, const char *name)
{
    Err err;
    Str path = str_printf(a, "%s/sleep/%s.json", getenv("TALARIA_FIXTURES"), name), text;
    JsonDoc *doc;

    if (!file_read(a, path.p, LIMIT_JSON_BYTES, &text, &err))
        fail_msg("%s", err.text);
    doc = json_parse(text, &err);
    if (!doc)
        fail_msg("%s: %s", name, err.text);
    return doc;
}

static inline double number_of(Json v)
{
    double n = 0;

    if (!json_double(v, &n))
        fail_msg("no number");
    return n;
}

static inline bool flag_of(Json v)
{
    bool b = false;

    (void)json_bool(v, &b);
    return b;
}

static inline Str json_text(Arena *a, Json v)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_put(&w, v);
    return str_dup(a, buf_str(&out));
}

#define EACH_VECTOR(name)                                                                          \
    AUTO(Arena) *a = arena_new();                                                                  \
    AUTO(JsonDoc) *vectors = vectors_open(a, name);                                                \
    JsonIter it = json_each(json_root(vectors));                                                   \
    Str key;                                                                                       \
    Json v;                                                                                        \
    (void)state;                                                                                   \
    while (json_next(&it, &key, &v))

#endif
