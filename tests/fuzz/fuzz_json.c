/* The strict reader and the slow checker give one verdict; what is written reads back the same. */
#include "base/limits.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_to(Buf *out, Json v, int indent)
{
    JsonWriter w = JSON_WRITER(out, indent);

    json_put(&w, v);
}

/* Nothing that can be asked of a value may fail, whatever it is. */
static void ask_everything(Json v)
{
    JsonIter it = json_each(v);
    size_t n = 0;
    Json item;
    Str key;

    while (json_next(&it, &key, &item)) {
        if (json_type(v) == JSON_OBJECT)
            ASSERT(json_type(json_get(v, key)) != JSON_NONE);
        else if (n < 4)
            ASSERT(json_type(json_at(v, n)) == json_type(item));
        n++;
    }
    ASSERT(n == json_count(v) || n > 0xffffff);
    ASSERT(json_type(json_get(v, STR("no such key, surely"))) == JSON_NONE || n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = { (const char *)data, size };
    JsonFault fault = json_locate(text);
    AUTO_BUF first = BUF(MIB(16)), second = BUF(MIB(16));
    AUTO(JsonDoc) *doc = NULL, *again = NULL;
    Err err;

    doc = json_parse(text, &err);
    if (!doc) {
        ASSERT(fault.at <= size);
        return 0;
    }
    ASSERT(!fault.why);
    ask_everything(json_root(doc));
    write_to(&first, json_root(doc), 0);
    again = json_parse(buf_str(&first), &err);
    ASSERT(again);
    write_to(&second, json_root(again), 0);
    ASSERT(str_eq(buf_str(&first), buf_str(&second)));
    return 0;
}
