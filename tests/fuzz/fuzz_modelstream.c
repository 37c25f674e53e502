/* Any bytes as the answer of a model, in every dialect: exactly one end, nothing after it,
 * arguments that are JSON, and the same events however the bytes are cut. */
#include "base/buf.h"
#include "model/stream.h"
#include "text/json.h"

enum { OUT_MOST = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Script {
    Buf out;
    int terminals;
} Script;

static void check_call(const ModelToolCall *call)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(call->arguments, &err);

    ASSERT(doc && json_type(json_root(doc)) == JSON_OBJECT);
    ASSERT(call->id.n && call->name.n);
}

static void on_event(void *ctx, const ModelEvent *e)
{
    Script *s = ctx;

    ASSERT(s->terminals == 0);
    s->terminals += model_event_is_last(e);
    buf_addf(&s->out, "%s:", model_event_name(e->kind));
    buf_add(&s->out, e->text);
    if (e->kind == MODEL_TOOL_CALL) {
        check_call(&e->call);
        buf_add(&s->out, e->call.arguments);
    }
    if (e->kind == MODEL_USAGE)
        ASSERT(e->usage.input >= 0 && e->usage.output >= 0 && e->usage.cached >= 0);
    if (e->kind == MODEL_ERROR)
        buf_addz(&s->out, model_fail_name(e->fail.kind));
}

static void run(Script *script, ModelDialect dialect, bool whole, Str text, bool pieces)
{
    AUTO(ModelStream) *s = model_stream_new(dialect, whole, on_event, script);

    for (size_t at = 0; at < text.n;) {
        size_t size = pieces ? 1 + ((unsigned char)text.p[at] * 7u + at) % 23 : text.n;
        Str piece = str_head(str_skip(text, at), size);

        (void)model_stream_feed(s, piece);
        at += piece.n;
    }
    model_stream_end(s);
    ASSERT(script->terminals == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str text = { (const char *)data, size };

    for (int i = 0; i < MODEL_DIALECT_COUNT * 2; i++) {
        Script once = { .out = BUF(OUT_MOST) }, cut = { .out = BUF(OUT_MOST) };

        run(&once, (ModelDialect)(i / 2), i % 2, text, false);
        run(&cut, (ModelDialect)(i / 2), i % 2, text, true);
        ASSERT(str_eq(buf_str(&once.out), buf_str(&cut.out)));
        buf_done(&once.out);
        buf_done(&cut.out);
    }
    return 0;
}
