/* Anthropic messages. Content comes in numbered blocks; usage is spread over the first event
 * (input) and the last but one (output, cumulative); an error may come after a good beginning. */
#include "model/dialect.h"

enum { DEFAULT_MAX_TOKENS = 4096 };

/* -- writing -- */

static void write_system(JsonWriter *w, const ModelRequest *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n_messages; i++) {
        if (r->messages[i].role != MODEL_SYSTEM)
            continue;
        if (!any) {
            json_field_begin(w, "system", '[');
        }
        any = true;
        json_begin(w, '{');
        json_field_str(w, "type", STR("text"));
        json_field_str(w, "text", r->messages[i].text);
        json_end(w, '}');
    }
    if (any)
        json_end(w, ']');
}

static void write_text(JsonWriter *w, Str text)
{
    json_begin(w, '{');
    json_field_str(w, "type", STR("text"));
    json_field_str(w, "text", text);
    json_end(w, '}');
}

/* What another program wrote down as arguments need not be an object; then it is said as it is. */
static void write_input(JsonWriter *w, Str arguments)
{
    Err ignored;
    AUTO(JsonDoc) *doc = arguments.n ? json_parse(arguments, &ignored) : NULL;

    json_key(w, "input");
    if (doc && json_type(json_root(doc)) == JSON_OBJECT) {
        json_put_raw(w, arguments);
        return;
    }
    json_begin(w, '{');
    if (arguments.n)
        json_field_str(w, "arguments", arguments);
    json_end(w, '}');
}

static void write_blocks(JsonWriter *w, const ModelMessage *m)
{
    if (m->role == MODEL_TOOL) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("tool_result"));
        json_field_str(w, "tool_use_id", m->call_id);
        json_field_str(w, "content", m->text.p ? m->text : STR(""));
        if (m->failed)
            json_field_bool(w, "is_error", true);
        json_end(w, '}');
        return;
    }
    if (m->text.n) /* an empty block is refused */
        write_text(w, m->text);
    for (size_t i = 0; i < m->n_calls; i++) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("tool_use"));
        json_field_str(w, "id", m->calls[i].id);
        json_field_str(w, "name", m->calls[i].name);
        write_input(w, m->calls[i].arguments);
        json_end(w, '}');
    }
}

static bool same_turn(const ModelMessage *a, const ModelMessage *b)
{
    return (a->role == MODEL_ASSISTANT) == (b->role == MODEL_ASSISTANT);
}

/* Messages of one side are one turn: all results of parallel calls have to stand together. */
static void write_messages(JsonWriter *w, const ModelRequest *r)
{
    const ModelMessage *open = NULL;

    for (size_t i = 0; i < r->n_messages; i++) {
        const ModelMessage *m = &r->messages[i];

        if (m->role == MODEL_SYSTEM)
            continue;
        if (!open || !same_turn(open, m)) {
            if (open) {
                json_end(w, ']');
                json_end(w, '}');
            }
            json_begin(w, '{');
            json_field_str(w, "role", m->role == MODEL_ASSISTANT ? STR("assistant") : STR("user"));
            json_field_begin(w, "content", '[');
        }
        open = m;
        write_blocks(w, m);
    }
    if (open) {
        json_end(w, ']');
        json_end(w, '}');
    }
}

static void write_tools(JsonWriter *w, const ModelRequest *r)
{
    json_field_begin(w, "tools", '[');
    for (size_t i = 0; i < r->n_tools; i++) {
        json_begin(w, '{');
        json_field_str(w, "name", r->tools[i].name);
        json_field_str(w, "description", r->tools[i].description);
        json_key(w, "input_schema");
        dialect_schema(w, r->tools[i].schema);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_request(JsonWriter *w, const ModelRequest *r, bool official)
{
    (void)official;
    json_field_int(w, "max_tokens", r->max_tokens ? r->max_tokens : DEFAULT_MAX_TOKENS);
    write_system(w, r);
    json_field_begin(w, "messages", '[');
    write_messages(w, r);
    json_end(w, ']');
    if (r->n_tools)
        write_tools(w, r);
    if (!r->n_stop)
        return;
    json_field_begin(w, "stop_sequences", '[');
    for (size_t i = 0; i < r->n_stop; i++)
        json_put_str(w, r->stop[i]);
    json_end(w, ']');
}

/* -- reading -- */

/* Input is counted here without what the cache gave or took; ours is all that went in. */
static void read_usage(ModelStream *s, Json usage)
{
    int64_t input, made = 0;
    ModelUsage *u;

    if (json_type(usage) != JSON_OBJECT)
        return;
    u = stream_usage(s);
    (void)json_int(json_get(usage, STR("output_tokens")), &u->output);
    if (!json_int(json_get(usage, STR("input_tokens")), &input))
        return;
    (void)json_int(json_get(usage, STR("cache_read_input_tokens")), &u->cached);
    (void)json_int(json_get(usage, STR("cache_creation_input_tokens")), &made);
    /* Nonsense from a server must not overflow. */
    if (input >= 0 && input < INT32_MAX && made >= 0 && made < INT32_MAX && u->cached >= 0 &&
        u->cached < INT32_MAX)
        u->input = input + u->cached + made;
}

static void read_reason(ModelStream *s, Str reason)
{
    if (!reason.n)
        return;
    if (str_is_one_of(reason, "end_turn|stop_sequence"))
        stream_set_finish(s, MODEL_STOP);
    else if (str_eqz(reason, "max_tokens"))
        stream_set_finish(s, MODEL_LENGTH);
    else if (str_eqz(reason, "tool_use"))
        stream_set_finish(s, MODEL_TOOL_CALLS);
    else if (str_eqz(reason, "refusal"))
        stream_fail(s, MODEL_FAIL_FILTER, STR("the provider refused to answer"));
    else if (str_eqz(reason, "model_context_window_exceeded"))
        stream_fail(s, MODEL_FAIL_CONTEXT, STR("the conversation is too long for the model"));
    else
        stream_set_finish(s, MODEL_OTHER);
}

static void begin_block(ModelStream *s, int64_t index, Json block)
{
    Str type = json_str(json_get(block, STR("type")));

    stream_reasoning(s, json_str(json_get(block, STR("thinking"))));
    stream_text(s, json_str(json_get(block, STR("text"))));
    if (str_eqz(type, "tool_use"))
        stream_call_begin(s, index, json_str(json_get(block, STR("id"))),
                          json_str(json_get(block, STR("name"))));
}

static void read_delta(ModelStream *s, int64_t index, Json delta)
{
    stream_text(s, json_str(json_get(delta, STR("text"))));
    stream_reasoning(s, json_str(json_get(delta, STR("thinking"))));
    stream_call_add(s, index, json_str(json_get(delta, STR("partial_json"))));
}

static void read_end(ModelStream *s)
{
    if (!stream_has_finish(s))
        stream_set_finish(s, MODEL_OTHER);
    stream_finish(s);
}

static void read_event(ModelStream *s, Json data)
{
    Str type = json_str(json_get(data, STR("type")));
    int64_t index = 0;

    (void)json_int(json_get(data, STR("index")), &index);
    if (str_eqz(type, "message_start")) {
        read_usage(s, json_get(json_get(data, STR("message")), STR("usage")));
    } else if (str_eqz(type, "content_block_start")) {
        begin_block(s, index, json_get(data, STR("content_block")));
    } else if (str_eqz(type, "content_block_delta")) {
        read_delta(s, index, json_get(data, STR("delta")));
    } else if (str_eqz(type, "message_delta")) {
        read_usage(s, json_get(data, STR("usage")));
        read_reason(s, json_str(json_get(json_get(data, STR("delta")), STR("stop_reason"))));
    } else if (str_eqz(type, "message_stop")) {
        read_end(s);
    } else if (str_eqz(type, "error") || json_type(json_get(data, STR("error"))) == JSON_OBJECT) {
        stream_fail_json(s, json_get(data, STR("error")));
    }
}

static void read_block(ModelStream *s, int64_t index, Json block)
{
    Json input = json_get(block, STR("input"));

    begin_block(s, index, block);
    if (json_type(input) == JSON_OBJECT) {
        AUTO_BUF text = BUF((size_t)16 << 20);
        JsonWriter w = JSON_WRITER(&text, 0);

        json_put(&w, input);
        stream_call_add(s, index, buf_str(&text));
    }
}

static void read_whole(ModelStream *s, Json body)
{
    JsonIter it = json_each(json_get(body, STR("content")));
    int64_t index = 0;
    Json block;
    Str key;

    if (json_type(json_get(body, STR("content"))) != JSON_ARRAY) {
        stream_fail_json(s, json_get(body, STR("error")));
        return;
    }
    for (; json_next(&it, &key, &block); index++)
        read_block(s, index, block);
    read_usage(s, json_get(body, STR("usage")));
    read_reason(s, json_str(json_get(body, STR("stop_reason"))));
    read_end(s);
}

static const char *const headers[] = { "anthropic-version: 2023-06-01", NULL };

const Dialect dialect_anthropic = {
    .path = "/messages",
    .v1_always = true,
    .headers = headers,
    .key_header = "x-api-key: ",
    .write = write_request,
    .event = read_event,
    .whole = read_whole,
};
