/* What was read is written as ASCII that reads back as the same, and Python's reader takes all that
 * the strict one takes. */
#include "base/limits.h"
#include "text/json.h"
#include "text/pyjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = { (const char *)data, size };
    AUTO(Arena) *a = arena_new();
    AUTO_BUF first = BUF(MIB(64)), second = BUF(MIB(64));
    AUTO(JsonDoc) *strict = NULL;
    PyValue v, again;
    Err err;

    if (!pyjson_read(a, text, &v)) {
        strict = json_parse(text, &err);
        ASSERT(!strict);
        return 0;
    }
    pyjson_write(&first, &v);
    for (size_t i = 0; i < first.n; i++)
        ASSERT(first.p[i] >= 0x20 && first.p[i] < 0x7f);
    ASSERT(pyjson_read(a, buf_str(&first), &again));
    ASSERT(pyjson_truthy(&v) == pyjson_truthy(&again));
    pyjson_write(&second, &again);
    ASSERT(str_eq(buf_str(&first), buf_str(&second)));
    return 0;
}
