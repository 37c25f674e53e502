#include "http/openai_request.h"

#include "base/buf.h"
#include "base/limits.h"
#include "http/api.h"

/* -- parameters that cannot be had -- */

static bool is_absent(Json v)
{
    return json_type(v) == JSON_NONE || json_type(v) == JSON_NULL;
}

static bool is_empty(Json v)
{
    return is_absent(v) || (json_type(v) == JSON_ARRAY && json_count(v) == 0);
}

static bool is_one(Json v)
{
    int64_t n = 0;

    return is_absent(v) || (json_int(v, &n) && n == 1);
}

static bool is_false(Json v)
{
    bool on = true;

    return is_absent(v) || (json_bool(v, &on) && !on);
}

static bool is_no_choice(Json v)
{
    return is_absent(v) || str_is_one_of(json_str(v), "none|auto");
}

static bool is_text_format(Json v)
{
    return is_absent(v) || str_eqz(json_str(json_get(v, STR("type"))), "text");
}

static bool is_text_only(Json v)
{
    return is_empty(v) || (json_count(v) == 1 && str_eqz(json_str(json_at(v, 0)), "text"));
}

static const struct {
    const char *name;
    bool (*fine)(Json v);
    const char *why;
} parameters[] = {
    { "tools", is_empty, "a runtime uses its own tools and cannot call the client's" },
    { "functions", is_empty, "a runtime uses its own tools and cannot call the client's" },
    { "tool_choice", is_no_choice, "a runtime uses its own tools and cannot call the client's" },
    { "function_call", is_no_choice, "a runtime uses its own tools and cannot call the client's" },
    { "n", is_one, "a turn has one answer" },
    { "response_format", is_text_format, "answers are text" },
    { "stop", is_empty, "an answer cannot be stopped at a word" },
    { "logprobs", is_false, "answers have no probabilities" },
    { "modalities", is_text_only, "answers are text" },
    { "audio", is_absent, "answers are text" },
};

static bool parameters_are_fine(Json body, const char **ret_param, Err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
        if (!parameters[i].fine(json_get(body, str_of(parameters[i].name)))) {
            *ret_param = parameters[i].name;
            return err_set(err, ERR_USAGE, "'%s' is not supported: %s", parameters[i].name,
                           parameters[i].why);
        }
    return true;
}

/* -- messages -- */

/* Content is a text, or parts that are texts. */
static bool read_text(Arena *a, Json content, Str *ret, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_HTTP_BODY);
    JsonIter it = json_each(content);
    Str key;
    Json part;

    *ret = STR("");
    if (json_type(content) == JSON_STRING)
        *ret = json_str(content);
    if (is_absent(content) || json_type(content) == JSON_STRING)
        return true;
    if (json_type(content) != JSON_ARRAY)
        return err_set(err, ERR_USAGE,
                       "the content of a message must be a text or a list of parts");
    while (json_next(&it, &key, &part)) {
        Str type = json_str(json_get(part, STR("type")));

        if (!str_is_one_of(type, "text|refusal"))
            return err_set(err, ERR_USAGE, "content of type '%.*s' is not supported: send text",
                           STR_FMT(str_head(type, 40)));
        buf_add(&out, json_str(json_get(part, type)));
    }
    *ret = str_dup(a, buf_str(&out));
    return true;
}

static bool read_messages(Arena *a, Json list, OpenaiRequest *ret, Err *err)
{
    Str key, last;
    JsonIter it = json_each(list);
    Json m;

    if (json_type(list) != JSON_ARRAY || json_count(list) == 0)
        return err_set(err, ERR_USAGE, "'messages' must be a list with a message");
    ret->messages = ARENA_ARRAY(a, OpenaiMessage, json_count(list));
    while (json_next(&it, &key, &m)) {
        OpenaiMessage *to = &ret->messages[ret->n++];

        to->role = json_str(json_get(m, STR("role")));
        if (!str_is_one_of(to->role, "system|developer|user|assistant|tool|function"))
            return err_set(err, ERR_USAGE,
                           "the role of a message must be system, developer, user, "
                           "assistant or tool");
        if (!read_text(a, json_get(m, STR("content")), &to->text, err))
            return false;
    }
    last = ret->messages[ret->n - 1].role;
    if (str_is_one_of(last, "tool|function"))
        return err_set(err, ERR_USAGE,
                       "the last message must be the user's: results of the client's tools are not "
                       "supported, since a runtime uses its own");
    return str_eqz(last, "user") || err_set(err, ERR_USAGE, "the last message must be the user's");
}

static Str instructions_of(Arena *a, const OpenaiRequest *q)
{
    AUTO_BUF out = BUF(LIMIT_RUN_ASK);

    for (size_t i = 0; i < q->n; i++) {
        if (!str_is_one_of(q->messages[i].role, "system|developer"))
            continue;
        buf_addz(&out, out.n ? "\n\n" : "");
        buf_add(&out, q->messages[i].text);
    }
    return str_dup(a, buf_str(&out));
}

bool openai_read(Arena *a, Json body, OpenaiRequest *ret, const char **ret_param, Err *err)
{
    Json options = json_get(body, STR("stream_options"));

    *ret = (OpenaiRequest){ 0 };
    *ret_param = "messages";
    if (!read_messages(a, json_get(body, STR("messages")), ret, err))
        return false;
    *ret_param = NULL;
    if (!parameters_are_fine(body, ret_param, err))
        return false;
    ret->instructions = instructions_of(a, ret);
    /* The first name of the limit is the one that OpenAI has given up. */
    return field_str(body, "model", &ret->model, err) &&
           field_bool(body, "stream", &ret->stream, err) &&
           field_bool(options, "include_usage", &ret->usage, err) &&
           field_bool(options, "include_progress", &ret->progress, err) &&
           field_int(body, "max_tokens", 1, INT32_MAX, &ret->max_tokens, err) &&
           field_int(body, "max_completion_tokens", 1, INT32_MAX, &ret->max_tokens, err);
}

/* -- the same chat again -- */

void openai_chain(const OpenaiMessage *messages, size_t n, uint8_t ret[SHA256_BYTES])
{
    memset(ret, 0, SHA256_BYTES);
    for (size_t i = 0; i < n; i++) {
        AUTO_BUF link = BUF(LIMIT_HTTP_BODY + KIB(1));

        buf_add(&link, (Str){ (const char *)ret, SHA256_BYTES });
        buf_add(&link, messages[i].role);
        buf_addc(&link, '\n');
        buf_add(&link, str_trim(messages[i].text));
        sha256(buf_str(&link), ret);
    }
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool openai_same_words(Str a, Str b)
{
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        while (i < a.n && is_space(a.p[i]))
            i++;
        while (k < b.n && is_space(b.p[k]))
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n;
        if (a.p[i] != b.p[k])
            return false;
    }
}
