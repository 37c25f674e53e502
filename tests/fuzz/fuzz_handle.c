/* Any bytes as what a runtime goes on from: whatever is read is written again as something that can
 * be read, and what a model is sent of it is JSON in every dialect. */
#include "base/buf.h"
#include "base/limits.h"
#include "model/dialect.h"
#include "runtimes/hermes_link.h"
#include "runtimes/thread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_requests(const Thread *t)
{
    ModelRequest request = { .messages = t->messages, .n_messages = t->n };

    for (int d = 0; d < MODEL_DIALECT_COUNT; d++) {
        AUTO_BUF body = BUF(LIMIT_MODEL_REQUEST);
        JsonWriter w = JSON_WRITER(&body, 0);
        AUTO(JsonDoc) *doc = NULL;
        Err err;

        json_begin(&w, '{');
        dialect_of((ModelDialect)d)->write(&w, &request, false);
        json_end(&w, '}');
        doc = json_parse(buf_str(&body), &err);
        ASSERT(doc && json_type(json_root(doc)) == JSON_OBJECT);
    }
}

static void check_native(Arena *a, Str handle)
{
    RuntimeRequest request = { .text = STR("go on"), .handle = handle };
    Thread t, again;
    Err err;

    if (!thread_open(&t, a, &request, &err))
        return;
    check_requests(&t);
    request.handle = thread_handle(&t, a);
    ASSERT(request.handle.n <= LIMIT_RUN_HANDLE && thread_open(&again, a, &request, &err));
}

static void check_hermes(Arena *a, Str handle)
{
    HermesLink link = { .base = STR("http://127.0.0.1:1"), .dialect = -1 };
    HermesHandle h, again;

    if (!hermes_handle_read(a, &link, handle, &h))
        return;
    hermes_handle_rotate(a, &h, STR("next"));
    ASSERT(hermes_handle_read(a, &link, hermes_handle_write(a, &link, &h), &again));
    ASSERT(str_eqz(again.session, "next") && again.dialect == h.dialect);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };

    check_native(a, text);
    check_hermes(a, text);
    return 0;
}
