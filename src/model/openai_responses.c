/* OpenAI responses. Items are numbered by output_index; a call is whole when its item is done. */
#include "model/dialect.h"

/* -- writing -- */

static void write_message(JsonWriter *w, const ModelMessage *m)
{
    static const char *const roles[] = {
        [MODEL_SYSTEM] = "system", [MODEL_USER] = "user", [MODEL_ASSISTANT] = "assistant"
    };

    if (m->role == MODEL_TOOL) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("function_call_output"));
        json_field_str(w, "call_id", m->call_id);
        json_field_str(w, "output", m->text.p ? m->text : STR(""));
        json_end(w, '}');
        return;
    }
    if (m->text.n || !m->n_calls) {
        json_begin(w, '{');
        json_field_str(w, "role", str_of(roles[m->role]));
        json_field_str(w, "content", m->text.p ? m->text : STR(""));
        json_end(w, '}');
    }
    for (size_t i = 0; i < m->n_calls; i++) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("function_call"));
        json_field_str(w, "call_id", m->calls[i].id);
        json_field_str(w, "name", m->calls[i].name);
        json_field_str(w, "arguments", m->calls[i].arguments);
        json_end(w, '}');
    }
}

static void write_tools(JsonWriter *w, const ModelRequest *r)
{
    json_field_begin(w, "tools", '[');
    for (size_t i = 0; i < r->n_tools; i++) {
        json_begin(w, '{');
        json_field_str(w, "type", STR("function"));
        json_field_str(w, "name", r->tools[i].name);
        json_field_str(w, "description", r->tools[i].description);
        json_key(w, "parameters");
        dialect_schema(w, r->tools[i].schema);
        json_field_bool(w, "strict", false);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void write_request(JsonWriter *w, const ModelRequest *r, bool official)
{
    (void)official;
    json_field_begin(w, "input", '[');
    for (size_t i = 0; i < r->n_messages; i++)
        write_message(w, &r->messages[i]);
    json_end(w, ']');
    if (r->n_tools)
        write_tools(w, r);
    if (r->max_tokens)
        json_field_int(w, "max_output_tokens", r->max_tokens);
    json_field_bool(w, "store", false); /* the history is ours, not the provider's */
}

/* -- reading -- */

static void read_usage(ModelStream *s, Json usage)
{
    ModelUsage *u;

    if (json_type(usage) != JSON_OBJECT)
        return;
    u = stream_usage(s);
    (void)json_int(json_get(usage, STR("input_tokens")), &u->input);
    (void)json_int(json_get(usage, STR("output_tokens")), &u->output);
    (void)json_int(json_get(json_get(usage, STR("input_tokens_details")), STR("cached_tokens")),
                   &u->cached);
    (void)json_int(json_get(json_get(usage, STR("output_tokens_details")), STR("reasoning_tokens")),
                   &u->reasoning);
}

static bool is_call(Json item)
{
    return str_eqz(json_str(json_get(item, STR("type"))), "function_call");
}

/* The item that is done has the arguments whole; pieces before it are only an early look. */
static void read_call(ModelStream *s, int64_t index, Json item)
{
    if (!is_call(item))
        return;
    stream_call_begin(s, index, json_str(json_get(item, STR("call_id"))),
                      json_str(json_get(item, STR("name"))));
    stream_call_add(s, index, json_str(json_get(item, STR("arguments"))));
}

static void read_incomplete(ModelStream *s, Json response)
{
    Str reason = json_str(json_get(json_get(response, STR("incomplete_details")), STR("reason")));

    if (str_eqz(reason, "content_filter"))
        stream_fail(s, MODEL_FAIL_FILTER, STR("the answer was stopped by the provider's filter"));
    stream_set_finish(s, MODEL_LENGTH);
}

/* The response as a whole, at the end of a stream or as the answer. */
static void read_end(ModelStream *s, Json response)
{
    Str status = json_str(json_get(response, STR("status")));

    read_usage(s, json_get(response, STR("usage")));
    if (str_is_one_of(status, "failed|cancelled"))
        stream_fail_json(s, json_get(response, STR("error")));
    else if (str_eqz(status, "incomplete"))
        read_incomplete(s, response);
    else if (!stream_has_finish(s))
        stream_set_finish(s, MODEL_STOP);
    stream_finish(s);
}

static void read_event(ModelStream *s, Json data)
{
    Str type = json_str(json_get(data, STR("type")));
    Str delta = json_str(json_get(data, STR("delta")));
    int64_t index = 0;

    (void)json_int(json_get(data, STR("output_index")), &index);
    if (str_eqz(type, "response.output_text.delta")) {
        stream_text(s, delta);
    } else if (str_eqz(type, "response.refusal.delta")) {
        stream_set_finish(s, MODEL_REFUSAL);
        stream_text(s, delta);
    } else if (str_is_one_of(type, "response.reasoning_text.delta|"
                                   "response.reasoning_summary_text.delta")) {
        stream_reasoning(s, delta);
    } else if (str_eqz(type, "response.output_item.done")) {
        read_call(s, index, json_get(data, STR("item")));
    } else if (str_is_one_of(type, "response.completed|response.incomplete|response.failed")) {
        read_end(s, json_get(data, STR("response")));
    } else if (str_eqz(type, "error") || json_type(json_get(data, STR("error"))) == JSON_OBJECT) {
        Json error = json_get(data, STR("error"));

        stream_fail_json(s, json_type(error) == JSON_OBJECT ? error : data);
    }
}

static void read_content(ModelStream *s, Json item)
{
    JsonIter it = json_each(json_get(item, STR("content")));
    Json part;
    Str key;

    while (json_next(&it, &key, &part)) {
        Str refusal = json_str(json_get(part, STR("refusal")));

        stream_text(s, json_str(json_get(part, STR("text"))));
        stream_text(s, refusal);
        if (refusal.n)
            stream_set_finish(s, MODEL_REFUSAL);
    }
}

static void read_summary(ModelStream *s, Json item)
{
    JsonIter it = json_each(json_get(item, STR("summary")));
    Json part;
    Str key;

    while (json_next(&it, &key, &part))
        stream_reasoning(s, json_str(json_get(part, STR("text"))));
}

static void read_whole(ModelStream *s, Json body)
{
    JsonIter it = json_each(json_get(body, STR("output")));
    int64_t index = 0;
    Json item;
    Str key;

    if (json_type(json_get(body, STR("output"))) != JSON_ARRAY) {
        stream_fail_json(s, json_get(body, STR("error")));
        return;
    }
    for (; json_next(&it, &key, &item); index++) {
        Str type = json_str(json_get(item, STR("type")));

        if (str_eqz(type, "message"))
            read_content(s, item);
        else if (str_eqz(type, "reasoning"))
            read_summary(s, item);
        else
            read_call(s, index, item);
    }
    read_end(s, body);
}

const Dialect dialect_openai_responses = {
    .path = "/responses",
    .key_header = "Authorization: Bearer ",
    .write = write_request,
    .event = read_event,
    .whole = read_whole,
};
