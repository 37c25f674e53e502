/* POST /v1/chat/completions: a turn as OpenAI's API has it, for clients that exist.
 *
 * A pure view: what is sent is made of the frames of the run's log, one by one; there is no second state.
 * "model" names a runtime, or "runtime/model". Such a client sends the whole conversation each time: all but
 * the last message become the history of a new conversation. With the header X-Conversation-Id the
 * conversation is one of ours, and the last message alone counts. */
#include "base/clock.h"
#include "base/limits.h"
#include "http/api.h"
#include "http/api_chat.h"
#include "http/reply.h"
#include "http/routes.h"
#include "http/run_stream.h"

typedef struct View {
    char run[ID_CHARS];
    char model[64];
    int64_t created;
    bool usage; /* the client wants it at the end */
} View;

/* -- what a frame is there ------------------------------------------------------------------------------ */

static JsonWriter begin_chunk(const View *v, Buf *out)
{
    JsonWriter w = JSON_WRITER(out, 0);

    buf_addz(out, "data: ");
    json_begin(&w, '{');
    json_field_str(&w, "id", str_of(v->run));
    json_field_str(&w, "object", STR("chat.completion.chunk"));
    json_field_int(&w, "created", v->created);
    json_field_str(&w, "model", str_of(v->model));
    return w;
}

static void end_chunk(JsonWriter *w)
{
    json_end(w, '}');
    buf_addz(w->out, "\n\n");
}

static void put_delta(const View *v, Buf *out, const char *key, Str text, const char *finish)
{
    JsonWriter w = begin_chunk(v, out);

    json_key(&w, "choices");
    json_begin(&w, '[');
    json_begin(&w, '{');
    json_field_int(&w, "index", 0);
    json_key(&w, "delta");
    json_begin(&w, '{');
    if (key)
        json_field_str(&w, key, text);
    json_end(&w, '}');
    json_field_str(&w, "finish_reason", str_of(finish));
    json_end(&w, '}');
    json_end(&w, ']');
    end_chunk(&w);
}

static void put_usage(JsonWriter *w, Json usage)
{
    int64_t in = 0, out = 0;

    (void)json_int(json_get(usage, STR("input")), &in);
    (void)json_int(json_get(usage, STR("output")), &out);
    json_key(w, "usage");
    json_begin(w, '{');
    json_field_int(w, "prompt_tokens", in);
    json_field_int(w, "completion_tokens", out);
    json_field_int(w, "total_tokens", in + out);
    json_end(w, '}');
}

static void put_failure(JsonWriter *w, Json error)
{
    json_key(w, "error");
    json_begin(w, '{');
    json_field_str(w, "message", json_str(json_get(error, STR("message"))));
    json_field_str(w, "type", STR("server_error"));
    json_field_null(w, "param");
    json_field_str(w, "code", json_str(json_get(error, STR("code"))));
    json_end(w, '}');
}

static const char *finish_of(Json done)
{
    return str_eqz(json_str(json_get(done, STR("status"))), "truncated") ? "length" : "stop";
}

static void view_done(const View *v, Json done, Buf *out)
{
    if (!str_eqz(json_str(json_get(done, STR("status"))), "failed")) {
        put_delta(v, out, NULL, STR_NONE, finish_of(done));
        if (v->usage) {
            JsonWriter w = begin_chunk(v, out);

            json_key(&w, "choices");
            json_put_raw(&w, STR("[]"));
            put_usage(&w, json_get(done, STR("usage")));
            end_chunk(&w);
        }
    }
    buf_addz(out, "data: [DONE]\n\n");
}

/* Thinking has a field that clients know; the rest is an extension, without choices: they pass over it. */
static void view_progress(const View *v, Json progress, Buf *out)
{
    JsonWriter w;

    if (str_eqz(json_str(json_get(progress, STR("stage"))), "thinking")) {
        put_delta(v, out, "reasoning_content", json_str(json_get(progress, STR("text"))), NULL);
        return;
    }
    w = begin_chunk(v, out);
    json_key(&w, "choices");
    json_put_raw(&w, STR("[]"));
    json_key(&w, "talaria_progress");
    json_put(&w, progress);
    end_chunk(&w);
}

static void view_frame(void *ctx, const Frame *f, Buf *out)
{
    const View *v = ctx;
    AUTO(JsonDoc) *doc = NULL;
    JsonWriter w;
    Err err;

    doc = json_parse(frame_data(f), &err);
    if (!doc)
        return;
    switch (f->event) {
    case FRAME_METADATA:
        put_delta(v, out, "role", STR("assistant"), NULL);
        break;
    case FRAME_CHUNK:
        put_delta(v, out, "content", json_str(json_get(json_root(doc), STR("text"))), NULL);
        break;
    case FRAME_PROGRESS:
        view_progress(v, json_root(doc), out);
        break;
    case FRAME_ERROR:
        w = JSON_WRITER(out, 0);
        buf_addz(out, "data: ");
        json_begin(&w, '{');
        put_failure(&w, json_root(doc));
        end_chunk(&w);
        break;
    case FRAME_DONE:
        view_done(v, json_root(doc), out);
        break;
    }
}

/* -- the request -------------------------------------------------------------------------------------------- */

/* Content is a text, or parts of which the texts count. */
static Str text_of(Arena *a, Json message)
{
    Json content = json_get(message, STR("content")), part;
    AUTO_BUF out = BUF(LIMIT_RUN_ASK + KIB(1));
    JsonIter it = json_each(content);
    Str key;

    if (json_type(content) != JSON_ARRAY)
        return json_str(content);
    while (json_next(&it, &key, &part))
        buf_add(&out, json_str(json_get(part, STR("text"))));
    return str_dup(a, buf_str(&out));
}

/* What the client says as the system is how it wants to be answered: no turn of the conversation. */
static Str instructions_of(Arena *a, Json messages, size_t n)
{
    AUTO_BUF out = BUF(LIMIT_RUN_ASK);

    for (size_t i = 0; i < n; i++) {
        Json m = json_at(messages, i);

        if (!str_is_one_of(json_str(json_get(m, STR("role"))), "system|developer"))
            continue;
        buf_addz(&out, out.n ? "\n\n" : "");
        buf_add(&out, text_of(a, m));
    }
    return str_dup(a, buf_str(&out));
}

static bool import_history(Request *rq, Runs *r, Str id, Json messages, size_t n, Err *err)
{
    ChatTurn *turns = ARENA_ARRAY(rq->arena, ChatTurn, n + 1);
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        Json m = json_at(messages, i);
        Str role = json_str(json_get(m, STR("role"))), text = text_of(rq->arena, m);

        if (text.n && str_is_one_of(role, "user|assistant"))
            turns[kept++] = (ChatTurn){ .role = role, .content = text };
    }
    return conversation_import(r, id, turns, kept, err);
}

/* "hermes/gpt-x": a runtime and its model; a name that is no runtime is the default's model. */
static void read_model(Service *s, Str model, ChatWish *wish)
{
    size_t slash = str_find(model, STR("/"));
    Err err;

    if (model.n && service_runtime(s, str_head(model, slash), &err)) {
        wish->runtime = str_head(model, slash);
        wish->model = slash < model.n ? str_skip(model, slash + 1) : STR_NONE;
    } else if (!str_eqz(model, "talaria")) {
        wish->model = model;
    }
}

/* All but the last message, as a conversation of its own. */
static bool make_conversation(Request *rq, Service *s, Runs *r, Json messages, size_t n,
                              Str *ret_id, Err *err)
{
    Conversation c = { .id = id_new(rq->arena, 'c'),
                       .instructions = instructions_of(rq->arena, messages, n) };

    if (!service_begin(s, &c, err))
        return false;
    *ret_id = c.id;
    if (import_history(rq, r, c.id, messages, n, err))
        return true;
    service_unbegin(s, c.id);
    return false;
}

/* The conversation that the key's first request made, else a new one. */
static bool find_conversation(Request *rq, Service *s, Json messages, size_t n, ChatWish *wish,
                              bool *ret_made, Err *err)
{
    Runs *r = service_take(s, err);
    bool found = false, ok = r != NULL;
    Run before;

    if (ok && wish->idem_key.n)
        ok = runs_by_key(r, rq->arena, wish->idem_key, &before, &found, err);
    if (ok && found)
        wish->conversation_id = before.conversation_id;
    else if (ok)
        ok = *ret_made = make_conversation(rq, s, r, messages, n, &wish->conversation_id, err);
    service_give(s, r);
    return ok;
}

static bool begin_turn(Request *rq, Service *s, Json body, Err *err)
{
    Json messages = json_get(body, STR("messages"));
    size_t n = json_count(messages);
    ChatWish wish = { .conversation_id = request_header(rq, "X-Conversation-Id"),
                      .trust = TRUST_OWNER,
                      .idem_key = request_header(rq, "Idempotency-Key") };
    bool made = false;
    Run run;

    if (json_type(messages) != JSON_ARRAY || n == 0)
        return err_set(err, ERR_INVALID, "'messages' must be a list with a message");
    if (!str_eqz(json_str(json_get(json_at(messages, n - 1), STR("role"))), "user"))
        return err_set(err, ERR_INVALID, "the last message must be the user's");
    wish.text = text_of(rq->arena, json_at(messages, n - 1));
    /* The first name is the one that OpenAI has given up. */
    if (!field_int(body, "max_tokens", 1, INT32_MAX, &wish.max_tokens, err) ||
        !field_int(body, "max_completion_tokens", 1, INT32_MAX, &wish.max_tokens, err))
        return false;
    read_model(s, json_str(json_get(body, STR("model"))), &wish);
    if (!wish.conversation_id.n && !find_conversation(rq, s, messages, n - 1, &wish, &made, err))
        return false;
    if (service_chat(s, rq->arena, &wish, &run, &rq->live, err))
        return true;
    if (made)
        service_unbegin(s, wish.conversation_id);
    return false;
}

static View *view_of(Request *rq, Json body)
{
    View *v = mem_alloc(sizeof *v);
    Str model = json_str(json_get(body, STR("model")));

    snprintf(v->run, sizeof v->run, "%s", live_id(rq->live));
    snprintf(v->model, sizeof v->model, "%.*s", STR_FMT(model));
    v->created = (int64_t)clock_wall();
    (void)json_bool(json_get(json_get(body, STR("stream_options")), STR("include_usage")),
                    &v->usage);
    return v;
}

/* -- the answer ---------------------------------------------------------------------------------------------- */

typedef struct Whole {
    Buf text;
    Arena *arena;
    Str error, done; /* payloads */
} Whole;

static void gather(Request *rq, Whole *whole)
{
    const Frame *f;
    bool over;

    while ((f = sub_next(rq->wait, &over)) != NULL) {
        AUTO(JsonDoc) *doc = NULL;
        Err err;

        if (f->event == FRAME_ERROR)
            whole->error = frame_data(f);
        if (f->event == FRAME_DONE)
            whole->done = frame_data(f);
        if (f->event != FRAME_CHUNK)
            continue;
        doc = json_parse(frame_data(f), &err);
        if (doc)
            buf_add(&whole->text, json_str(json_get(json_root(doc), STR("text"))));
    }
}

static bool put_whole(Request *rq, const View *v, const Whole *whole, Err *err)
{
    AUTO(JsonDoc) *done = json_parse(whole->done, err);
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!done)
        return false;
    json_begin(&w, '{');
    json_field_str(&w, "id", str_of(v->run));
    json_field_str(&w, "object", STR("chat.completion"));
    json_field_int(&w, "created", v->created);
    json_field_str(&w, "model", str_of(v->model));
    json_key(&w, "choices");
    json_begin(&w, '[');
    json_begin(&w, '{');
    json_field_int(&w, "index", 0);
    json_key(&w, "message");
    json_begin(&w, '{');
    json_field_str(&w, "role", STR("assistant"));
    json_field_str(&w, "content", buf_str(&whole->text));
    json_field_null(&w, "refusal");
    json_end(&w, '}');
    json_field_str(&w, "finish_reason", str_of(finish_of(json_root(done))));
    json_end(&w, '}');
    json_end(&w, ']');
    put_usage(&w, json_get(json_root(done), STR("usage")));
    json_end(&w, '}');
    return true;
}

/* Clients of OpenAI's try again by themselves where it is 429 or 5xx: not what would fail once more. */
static int status_of(Str code)
{
    if (str_eqz(code, "rate_limited"))
        return 429;
    return str_is_one_of(code, "bad_request|runtime_rejected|context_too_large") ? 400 : 502;
}

static bool put_error(Request *rq, const Whole *whole, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(whole->error, err);
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!doc)
        return false;
    json_begin(&w, '{');
    put_failure(&w, json_root(doc));
    json_end(&w, '}');
    rq->reply.status = status_of(json_str(json_get(json_root(doc), STR("code"))));
    return true;
}

static bool answer_whole(Request *rq, Json body, Err *err)
{
    Whole whole = { .text = BUF(LIMIT_RUN_TEXT) };
    View v = { .created = (int64_t)clock_wall() };
    Str model = json_str(json_get(body, STR("model")));
    bool ok;

    snprintf(v.run, sizeof v.run, "%s", live_id(rq->wait->run));
    snprintf(v.model, sizeof v.model, "%.*s", STR_FMT(model));
    gather(rq, &whole);
    if (whole.error.n)
        ok = put_error(rq, &whole, err);
    else if (!whole.done.n)
        ok = err_set(err, ERR_BUSY, "the server is shutting down");
    else
        ok = put_whole(rq, &v, &whole, err);
    buf_done(&whole.text);
    return ok;
}

bool route_openai_chat(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    bool stream = false;
    Service *s;

    if (!doc || !field_bool(json_root(doc), "stream", &stream, err) ||
        !request_service(rq, &s, err))
        return false;
    if (!rq->live && !rq->wait) {
        rq->again = begin_turn(rq, s, json_root(doc), err);
        return rq->again;
    }
    if (stream) {
        View *v = view_of(rq, json_root(doc));

        return run_stream_send(rq, TAKE(rq->live), 0, view_frame, v, err);
    }
    if (!rq->wait && !run_wait(rq, TAKE(rq->live)))
        return true;
    return answer_whole(rq, json_root(doc), err);
}

bool route_openai_models(Request *rq, Err *err)
{
    Service *s;
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!request_service(rq, &s, err))
        return false;
    json_begin(&w, '{');
    json_field_str(&w, "object", STR("list"));
    json_key(&w, "data");
    json_begin(&w, '[');
    for (const Runtime *const *r = service_runtimes(s); *r; r++) {
        json_begin(&w, '{');
        json_field_str(&w, "id", str_of((*r)->name));
        json_field_str(&w, "object", STR("model"));
        json_field_int(&w, "created", (int64_t)rq->server->started_at);
        json_field_str(&w, "owned_by", STR("talaria"));
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_end(&w, '}');
    return true;
}
