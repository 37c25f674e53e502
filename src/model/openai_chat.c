/* OpenAI chat completions, as OpenAI and everyone else serves it: vLLM, Ollama, llama.cpp,
 * DeepSeek, ... */
#include "model/dialect.h"

/* -- writing -- */

static void write_calls(JsonWriter *w, const ModelMessage *m)
{
    json_field_begin(w, "tool_calls", '[');
    for (size_t i = 0; i < m->n_calls; i++) {
        json_begin(w, '{');
        json_field_str(w, "id", m->calls[i].id);
        json_field_str(w, "type", STR("function"));
        json_field_begin(w, "function", '{');
        json_field_str(w, "name", m->calls[i].name);
        json_field_str(w, "arguments", m->calls[i].arguments);
        json_end(w, '}');
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_message(JsonWriter *w, const ModelMessage *m)
{
    static const char *const roles[] = { [MODEL_SYSTEM] = "system",
                                         [MODEL_USER] = "user",
                                         [MODEL_ASSISTANT] = "assistant",
                                         [MODEL_TOOL] = "tool" };

    json_begin(w, '{');
    json_field_str(w, "role", str_of(roles[m->role]));
    if (m->text.n || !m->n_calls)
        json_field_str(w, "content", m->text.p ? m->text : STR(""));
    else
        json_field_null(w, "content");
    if (m->n_calls)
        write_calls(w, m);
    if (m->role == MODEL_TOOL)
        json_field_str(w, "tool_call_id", m->call_id);
    json_end(w, '}');
}

static void write_tools(JsonWriter *w, const ModelRequest *r)
{
    json_field_begin(w, "tools", '[');
    for (size_t i = 0; i < r->n_tools; i++) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("function"));
        json_field_begin(w, "function", '{');
        json_field_str(w, "name", r->tools[i].name);
        json_field_str(w, "description", r->tools[i].description);
        json_key(w, "parameters");
        dialect_schema(w, r->tools[i].schema);
        json_end(w, '}');
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_request(JsonWriter *w, const ModelRequest *r, bool official)
{
    json_field_begin(w, "messages", '[');
    for (size_t i = 0; i < r->n_messages; i++)
        write_message(w, &r->messages[i]);
    json_end(w, ']');
    if (r->n_tools)
        write_tools(w, r);
    /* OpenAI's own models want the new name, many other servers know only the old one. */
    if (r->max_tokens)
        json_field_int(w, official ? "max_completion_tokens" : "max_tokens", r->max_tokens);
    if (r->n_stop) {
        json_field_begin(w, "stop", '[');
        for (size_t i = 0; i < r->n_stop; i++)
            json_put_str(w, r->stop[i]);
        json_end(w, ']');
    }
    if (!r->whole) {
        json_field_begin(w, "stream_options", '{');
        json_field_bool(w, "include_usage", true);
        json_end(w, '}');
    }
}

/* -- reading -- */

static void read_usage(ModelStream *s, Json usage)
{
    ModelUsage *u;

    if (json_type(usage) != JSON_OBJECT)
        return;
    u = stream_usage(s);
    (void)json_int(json_get(usage, STR("prompt_tokens")), &u->input);
    (void)json_int(json_get(usage, STR("completion_tokens")), &u->output);
    (void)json_int(json_get(json_get(usage, STR("prompt_tokens_details")), STR("cached_tokens")),
                   &u->cached);
    (void)json_int(
        json_get(json_get(usage, STR("completion_tokens_details")), STR("reasoning_tokens")),
        &u->reasoning);
}

/* Which call a piece belongs to: its index; without one a new id begins a new call. */
static int64_t index_of(ModelStream *s, Json piece)
{
    int64_t index = stream_call_last(s);

    if (json_int(json_get(piece, STR("index")), &index))
        return index;
    return (json_str(json_get(piece, STR("id"))).n && index < INT64_MAX) || index < 0 ? index + 1
                                                                                      : index;
}

static void read_calls(ModelStream *s, Json calls)
{
    JsonIter it = json_each(calls);
    Json piece;
    Str key;

    while (json_next(&it, &key, &piece)) {
        Json function = json_get(piece, STR("function"));
        int64_t index = index_of(s, piece);

        stream_call_begin(s, index, json_str(json_get(piece, STR("id"))),
                          json_str(json_get(function, STR("name"))));
        stream_call_add(s, index, json_str(json_get(function, STR("arguments"))));
    }
}

static void read_message(ModelStream *s, Json m)
{
    Str refusal = json_str(json_get(m, STR("refusal")));

    stream_reasoning(s, json_str(json_get(m, STR("reasoning_content"))));
    stream_reasoning(s, json_str(json_get(m, STR("reasoning"))));
    stream_text(s, json_str(json_get(m, STR("content"))));
    stream_text(s, refusal);
    if (refusal.n)
        stream_set_finish(s, MODEL_REFUSAL);
    read_calls(s, json_get(m, STR("tool_calls")));
}

static void read_reason(ModelStream *s, Str reason)
{
    if (!reason.n)
        return;
    if (str_eqz(reason, "content_filter"))
        stream_fail(s, MODEL_FAIL_FILTER, STR("the answer was stopped by the provider's filter"));
    else if (str_eqz(reason, "length"))
        stream_set_finish(s, MODEL_LENGTH);
    else if (str_is_one_of(reason, "tool_calls|function_call"))
        stream_set_finish(s, MODEL_TOOL_CALLS);
    else if (!str_eqz(reason, "stop"))
        stream_set_finish(s, MODEL_OTHER);
    else if (!stream_has_finish(s)) /* a refusal also ends with "stop" */
        stream_set_finish(s, MODEL_STOP);
}

static bool is_error(Json error)
{
    JsonType type = json_type(error);

    return type == JSON_OBJECT || (type == JSON_STRING && json_str(error).n);
}

static void read_choice(ModelStream *s, Json data, Str message_key)
{
    Json error = json_get(data, STR("error")), choice;

    if (is_error(error)) {
        stream_fail_json(s, error);
        return;
    }
    choice = json_at(json_get(data, STR("choices")), 0);
    read_message(s, json_get(choice, message_key));
    read_reason(s, json_str(json_get(choice, STR("finish_reason"))));
    read_usage(s, json_get(data, STR("usage")));
}

static void read_event(ModelStream *s, Json data)
{
    read_choice(s, data, STR("delta"));
}

static void read_whole(ModelStream *s, Json body)
{
    read_choice(s, body, STR("message"));
    if (stream_has_finish(s))
        stream_finish(s);
    else
        stream_fail(s, MODEL_FAIL_MALFORMED, STR("the answer has no choice with a finish_reason"));
}

const Dialect dialect_openai_chat = {
    .path = "/chat/completions",
    .key_header = "Authorization: Bearer ",
    .write = write_request,
    .event = read_event,
    .whole = read_whole,
    .end_word = "[DONE]",
};
