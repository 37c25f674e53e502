/* What all dialects have in common: pieces of tool calls put together and checked, one usage, one
 * end. A dialect says what it read through the stream_ functions; whether that amounts to a success
 * is decided here and in one place. */
#include "model/stream.h"

#include "base/limits.h"
#include "model/dialect.h"
#include "model/fail.h"
#include "net/sse.h"
#include "text/pyjson.h"

typedef struct OpenCall {
    int64_t index;
    Str id, name; /* in the arena */
    Buf arguments;
} OpenCall;

struct ModelStream {
    const Dialect *dialect;
    ModelEventFn *fn;
    void *ctx;
    Arena *arena;
    SseParser *sse; /* NULL: a whole answer */
    Buf body;       /* of a whole answer */
    OpenCall *calls;
    size_t n_calls, cap_calls;
    size_t got; /* bytes of text, reasoning and arguments */
    ModelUsage usage;
    bool has_usage, has_finish, has_text;
    bool ended;
    ModelFinish finish;
};

const Dialect *dialect_of(ModelDialect id)
{
    static const Dialect *const all[MODEL_DIALECT_COUNT] = {
        [MODEL_OPENAI_CHAT] = &dialect_openai_chat,
        [MODEL_OPENAI_RESPONSES] = &dialect_openai_responses,
        [MODEL_ANTHROPIC] = &dialect_anthropic,
    };

    return all[id];
}

void dialect_schema(JsonWriter *w, Str schema)
{
    json_put_raw(w, schema.n ? schema : STR("{\"type\":\"object\",\"properties\":{}}"));
}

/* -- out -- */

static void give(ModelStream *s, const ModelEvent *e)
{
    if (s->ended)
        return;
    s->ended = model_event_is_last(e);
    s->fn(s->ctx, e);
}

void model_stream_fail(ModelStream *s, const ModelFail *fail)
{
    give(s, &(ModelEvent){ .kind = MODEL_ERROR, .fail = *fail });
}

void stream_fail(ModelStream *s, ModelFailKind kind, Str message)
{
    model_stream_fail(s, &(ModelFail){ .kind = kind, .retry_after_ms = -1, .message = message });
}

void stream_fail_json(ModelStream *s, Json error)
{
    ModelFail fail = fail_of_json(error, 0);

    model_stream_fail(s, &fail);
}

static bool within_limit(ModelStream *s, size_t more)
{
    s->got += more;
    if (s->got <= LIMIT_MODEL_ANSWER)
        return true;
    stream_fail(s, MODEL_FAIL_MALFORMED, STR("the answer is larger than any answer may be"));
    return false;
}

void stream_text(ModelStream *s, Str text)
{
    if (!text.n || !within_limit(s, text.n))
        return;
    s->has_text = true;
    give(s, &(ModelEvent){ .kind = MODEL_TEXT, .text = text });
}

void stream_reasoning(ModelStream *s, Str text)
{
    if (text.n && within_limit(s, text.n))
        give(s, &(ModelEvent){ .kind = MODEL_REASONING, .text = text });
}

/* -- tool calls -- */

static OpenCall *find_call(ModelStream *s, int64_t index)
{
    for (size_t i = 0; i < s->n_calls; i++)
        if (s->calls[i].index == index)
            return &s->calls[i];
    return NULL;
}

void stream_call_begin(ModelStream *s, int64_t index, Str id, Str name)
{
    OpenCall *c = find_call(s, index);

    if (!c && s->n_calls >= LIMIT_MODEL_CALLS) {
        stream_fail(s, MODEL_FAIL_MALFORMED, STR("more tool calls than an answer may have"));
        return;
    }
    if (!c) {
        OpenCall fresh = { .index = index, .arguments = BUF(LIMIT_MODEL_ANSWER) };

        ARENA_PUSH(s->arena, s->calls, s->n_calls, s->cap_calls, fresh);
        c = &s->calls[s->n_calls - 1];
    }
    /* Some servers send the name with the first piece only, some with every one. */
    if (id.n && !c->id.n)
        c->id = str_dup(s->arena, id);
    if (name.n && !c->name.n)
        c->name = str_dup(s->arena, name);
}

void stream_call_add(ModelStream *s, int64_t index, Str arguments)
{
    OpenCall *c = find_call(s, index);

    if (c && within_limit(s, arguments.n))
        buf_add(&c->arguments, arguments);
}

static bool is_json_object(Str text)
{
    Err ignored;
    AUTO(JsonDoc) *doc = json_parse(text, &ignored);

    return doc && json_type(json_root(doc)) == JSON_OBJECT;
}

static void give_call(ModelStream *s, OpenCall *c)
{
    ModelEvent e = { .kind = MODEL_TOOL_CALL };

    e.call = (ModelToolCall){ c->id, c->name, str_trim(buf_str(&c->arguments)) };
    if (!e.call.arguments.n)
        e.call.arguments = STR("{}"); /* a tool without parameters */
    if (!c->name.n || !is_json_object(e.call.arguments)) {
        stream_fail(s, MODEL_FAIL_MALFORMED, STR("a tool call is not a name and a JSON object"));
        return;
    }
    if (!c->id.n) /* servers without ids take any, as long as the answer has the same */
        e.call.id = str_printf(s->arena, "call_%zu", (size_t)(c - s->calls));
    give(s, &e);
}

int64_t stream_call_last(const ModelStream *s)
{
    return s->n_calls ? s->calls[s->n_calls - 1].index : -1;
}

/* -- the end -- */

ModelUsage *stream_usage(ModelStream *s)
{
    s->has_usage = true;
    return &s->usage;
}

void stream_set_finish(ModelStream *s, ModelFinish finish)
{
    s->finish = finish;
    s->has_finish = true;
}

bool stream_has_finish(const ModelStream *s)
{
    return s->has_finish;
}

static int64_t sane(int64_t tokens)
{
    return tokens < 0 ? 0 : tokens > INT32_MAX ? INT32_MAX : tokens;
}

static void give_usage(ModelStream *s)
{
    ModelUsage u = s->usage;

    u = (ModelUsage){ sane(u.input), sane(u.output), sane(u.cached), sane(u.reasoning), false };
    if (u.input == 0 && u.output == 0)
        return; /* servers that do not count say zero: that is no usage */
    give(s, &(ModelEvent){ .kind = MODEL_USAGE, .usage = u });
}

/* A call that the limit of tokens cut off is not one; all others are due now. */
void stream_finish(ModelStream *s)
{
    bool called = s->n_calls > 0;

    for (size_t i = 0; i < s->n_calls && s->finish != MODEL_LENGTH; i++)
        give_call(s, &s->calls[i]);
    if (!s->has_text && !called)
        stream_fail(s, MODEL_FAIL_EMPTY,
                    s->finish == MODEL_LENGTH ? STR("no text: all tokens went into reasoning")
                                              : STR("the model finished without saying anything"));
    /* Servers differ in what they call the end of an answer that has calls. */
    if (called && s->finish == MODEL_STOP)
        s->finish = MODEL_TOOL_CALLS;
    if (s->has_usage)
        give_usage(s);
    give(s, &(ModelEvent){ .kind = MODEL_FINISH, .finish = s->finish });
}

/* -- in -- */

static bool on_event(void *ctx, const SseEvent *event)
{
    ModelStream *s = ctx;
    AUTO(JsonDoc) *doc = NULL;

    if (s->dialect->end_word && str_eqz(str_trim(event->data), s->dialect->end_word)) {
        stream_finish(s);
        return false;
    }
    doc = json_parse_mended(s->arena, event->data);
    if (!doc || json_type(json_root(doc)) != JSON_OBJECT)
        stream_fail(s, MODEL_FAIL_MALFORMED, STR("an event of the answer is not JSON"));
    else
        s->dialect->event(s, json_root(doc));
    return !s->ended;
}

ModelStream *model_stream_new(ModelDialect dialect, bool whole, ModelEventFn *fn, void *ctx)
{
    ModelStream *s = mem_alloc(sizeof *s);

    *s = (ModelStream){ .dialect = dialect_of(dialect), .fn = fn, .ctx = ctx };
    s->arena = arena_new();
    s->body = BUF(LIMIT_MODEL_ANSWER);
    s->sse = whole ? NULL : sse_parser_new(on_event, s);
    return s;
}

ModelStream *model_stream_free(ModelStream *s)
{
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->n_calls; i++)
        buf_done(&s->calls[i].arguments);
    buf_done(&s->body);
    s->sse = sse_parser_free(s->sse);
    arena_free(s->arena);
    return mem_free(s);
}

bool model_stream_feed(ModelStream *s, Str bytes)
{
    if (s->ended)
        return false;
    if (!s->sse) {
        buf_add(&s->body, bytes);
        if (buf_full(&s->body))
            stream_fail(s, MODEL_FAIL_MALFORMED, STR("the answer is larger than it may be"));
    } else if (!sse_parser_feed(s->sse, bytes) && sse_parser_too_large(s->sse)) {
        stream_fail(s, MODEL_FAIL_MALFORMED, STR("an event of the answer is too large"));
    }
    return !s->ended;
}

void model_stream_end(ModelStream *s)
{
    if (!s->sse && !s->ended) {
        AUTO(JsonDoc) *doc = json_parse_mended(s->arena, buf_str(&s->body));

        if (!s->body.n)
            stream_fail(s, MODEL_FAIL_CUT, STR("the answer is empty"));
        else if (!doc || json_type(json_root(doc)) != JSON_OBJECT)
            stream_fail(s, MODEL_FAIL_MALFORMED, STR("the answer is not JSON"));
        else
            s->dialect->whole(s, json_root(doc));
    }
    /* A dialect with a word for the end has a reason before it: one of the two is enough. */
    else if (s->has_finish && s->dialect->end_word)
        stream_finish(s);
    stream_fail(s, MODEL_FAIL_CUT, STR("the answer ended before its end"));
}
