/* POST /v1/chat/completions: a turn as OpenAI's API has it, for clients that exist.
 *
 * "model" names a runtime, or "runtime/model". Such a client sends the whole conversation each
 * time: where it continues with one that we know (sent_chats.h), that one continues; else all but
 * the last message become the history of a new conversation. With the header X-Conversation-Id the
 * conversation is one of ours, and the last message alone counts. */
#include "agent/sent_chats.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/api.h"
#include "http/openai_request.h"
#include "http/openai_view.h"
#include "http/reply.h"
#include "http/routes.h"

/* -- the request -- */

static bool import_history(Request *rq, Runs *r, Str id, const OpenaiRequest *q, Err *err)
{
    ChatTurn *turns = ARENA_ARRAY(rq->arena, ChatTurn, q->n);
    size_t kept = 0;

    for (size_t i = 0; i + 1 < q->n; i++) {
        const OpenaiMessage *m = &q->messages[i];

        if (m->text.n && str_is_one_of(m->role, "user|assistant"))
            turns[kept++] = (ChatTurn){ .role = m->role, .content = m->text };
    }
    return conversation_import(r, id, turns, kept, err);
}

/* "hermes/gpt-x": a runtime and its model; a name that is no runtime is the default's model. */
static void read_model(Service *s, Str model, ChatRequest *request)
{
    size_t slash = str_find(model, STR("/"));
    Err err;

    if (model.n && service_runtime(s, str_head(model, slash), &err)) {
        request->runtime = str_head(model, slash);
        request->model = slash < model.n ? str_skip(model, slash + 1) : STR_NONE;
    } else if (!str_eqz(model, "talaria")) {
        request->model = model;
    }
}

/* A limit on the answer is passed on by the runtime that asks a model itself; the others have none
 * to set. */
static bool limit_is_fine(Request *rq, Service *s, const ChatRequest *request, Err *err)
{
    const Runtime *runtime = service_runtime(s, request->runtime, err);

    if (!runtime)
        return false;
    if (!request->max_tokens || strcmp(runtime->name, "native") == 0 ||
        (request->conversation_id.n && !request->runtime.n))
        return true;
    rq->reply.param = "max_tokens";
    return err_set(err, ERR_USAGE, "'max_tokens' is not supported by the runtime '%s'",
                   runtime->name);
}

/* All but the last message, as its own conversation. */
static bool make_conversation(Request *rq, Service *s, Runs *r, const OpenaiRequest *q, Str *ret_id,
                              Err *err)
{
    Conversation c = { .id = id_new(rq->arena, 'c'), .instructions = q->instructions };

    if (!service_begin(s, &c, err))
        return false;
    *ret_id = c.id;
    if (import_history(rq, r, c.id, q, err))
        return true;
    service_unbegin(s, c.id);
    return false;
}

/* The conversation that all but the last message are, to the last word; empty: none that we
 * know. */
static Str known_conversation(Request *rq, Runs *r, const OpenaiRequest *q)
{
    uint8_t key[SHA256_BYTES];
    Conversation c;
    ChatTurn *last;
    size_t n;
    Err err;
    Str id;

    if (q->n < 3 || !str_eqz(q->messages[q->n - 2].role, "assistant"))
        return STR("");
    openai_chain(q->messages, q->n - 2, key);
    if (!sent_chat_find(r, rq->arena, key, &id, &err) || !id.n ||
        !conversation_get(r, rq->arena, id, &c, &err) || c.running.n ||
        !turns_recent(r, rq->arena, id, 0, 1, &last, &n, &err) || n != 1)
        return STR("");
    return str_eqz(last->role, "assistant") &&
                   openai_same_words(last->content, q->messages[q->n - 2].text)
               ? id
               : STR("");
}

/* That of the key's first request, or the one that continues, else a new one. */
static bool find_conversation(Request *rq, Service *s, const OpenaiRequest *q, bool may_go_on,
                              ChatRequest *request, bool *ret_made, Err *err)
{
    Runs *r = request_runs(rq, err);
    bool found = false;
    Run before;

    *ret_made = false;
    if (!r || (request->idem_key.n &&
               !runs_by_key(r, rq->arena, request->idem_key, &before, &found, err)))
        return false;
    request->conversation_id = found       ? before.conversation_id
                               : may_go_on ? known_conversation(rq, r, q)
                                           : STR("");
    if (request->conversation_id.n)
        return true;
    *ret_made = make_conversation(rq, s, r, q, &request->conversation_id, err);
    return *ret_made;
}

/* Two at once may find no conversation for the same key, or the same one to go on with: who comes
 * second looks again, and finds the run of the first, or begins its own conversation. */
static bool begin_stateless(Request *rq, Service *s, const OpenaiRequest *q, ChatRequest *request,
                            Err *err)
{
    for (int i = 0;; i++) {
        bool made;
        Run run;

        if (!find_conversation(rq, s, q, i == 0, request, &made, err))
            return false;
        if (service_chat(s, rq->arena, request, &run, &rq->live, err))
            return true;
        if (made)
            service_unbegin(s, request->conversation_id);
        if (err->kind != ERR_CONFLICT || i == 1)
            return false;
    }
}

/* A turn that cannot be remembered is a turn all the same. */
static void remember(Request *rq, const OpenaiRequest *q, Str conversation_id)
{
    uint8_t key[SHA256_BYTES];
    Err err;

    openai_chain(q->messages, q->n, key);
    if (!request_runs(rq, &err) || !sent_chat_put(rq->runs, key, conversation_id, &err))
        log_warning("the next turn of a client's chat will not be known: %s", err.text);
}

static bool begin_turn(Request *rq, Service *s, const OpenaiRequest *q, Err *err)
{
    ChatRequest request = { .conversation_id = request_header(rq, "X-Conversation-Id"),
                            .trust = TRUST_OWNER,
                            .text = q->messages[q->n - 1].text,
                            .max_tokens = q->max_tokens,
                            .idem_key = request_header(rq, "Idempotency-Key") };
    Run run;

    read_model(s, q->model, &request);
    if (!limit_is_fine(rq, s, &request, err))
        return false;
    if (request.conversation_id.n)
        return service_chat(s, rq->arena, &request, &run, &rq->live, err);
    if (!begin_stateless(rq, s, q, &request, err))
        return false;
    remember(rq, q, request.conversation_id);
    return true;
}

/* -- an answer in one piece: the request waits for the end of its run -- */

static void suspend(void *ctx)
{
    Request *rq = ctx;

    rq->phase = PHASE_WORK;
    MHD_suspend_connection(rq->connection);
}

static void resume(void *ctx)
{
    server_resume(ctx);
}

static void cancel(void *ctx)
{
    Request *rq = ctx;
    Service *s = atomic_load(&rq->server->service);
    Err err;

    if (s && !service_cancel(s, str_of(live_id(rq->wait->run)), &err))
        log_warning("cannot cancel a turn: %s", err.text);
}

/* True: the run is over. False: the handler runs once more when it is, with rq->again. Takes the
 * reference of live over; its frames are read through rq->wait. A client that disconnects cancels
 * the run. */
static bool wait_for_run(Request *rq, LiveRun *live)
{
    Subscriber *s = ARENA_NEW(rq->arena, Subscriber);

    *s = (Subscriber){ .sleep = suspend, .wake = resume, .ctx = rq, .only_end = true };
    rq->wait = s;
    sub_join(s, live, 0);
    connection_watch(rq->server->connections, request_connection(rq), cancel, rq);
    rq->waits = true;
    if (!sub_wait(s))
        return false; /* from here on the request may be another thread's */
    rq->waits = false;
    return true;
}

static bool answer(Request *rq, Json body, Err *err)
{
    OpenaiRequest q;
    Service *s;

    if (!openai_read(rq->arena, body, &q, &rq->reply.param, err) || !request_service(rq, &s, err))
        return false;
    if (!rq->live && !rq->wait) {
        rq->again = begin_turn(rq, s, &q, err);
        return rq->again;
    }
    if (q.stream)
        return openai_stream(rq, &q, err);
    if (!rq->wait && !wait_for_run(rq, TAKE(rq->live)))
        return true;
    return openai_whole(rq, &q, err);
}

bool route_openai_chat(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);

    if (doc && answer(rq, json_root(doc), err))
        return true;
    /* OpenAI's word for everything that is wrong with a request. */
    if (err->kind == ERR_INVALID)
        err->kind = ERR_USAGE;
    return false;
}

/* -- models -- */

static bool is_there(Request *rq, Service *s, const Runtime *r)
{
    RuntimeCaps caps = { 0 };
    Err err;

    return service_probe(s, rq->arena, r, &caps, &err) && caps.available;
}

static void put_model(Request *rq, JsonWriter *w, Str id)
{
    json_begin(w, '{');
    json_field_str(w, "id", id);
    json_field_str(w, "object", STR("model"));
    json_field_int(w, "created", (int64_t)rq->server->started_at);
    json_field_str(w, "owned_by", STR("talaria"));
    json_end(w, '}');
}

bool route_openai_models(Request *rq, Err *err)
{
    Service *s;
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!request_service(rq, &s, err))
        return false;
    json_begin(&w, '{');
    json_field_str(&w, "object", STR("list"));
    json_field_begin(&w, "data", '[');
    for (const Runtime *const *r = service_runtimes(s); *r; r++)
        if (is_there(rq, s, *r))
            put_model(rq, &w, str_of((*r)->name));
    json_end(&w, ']');
    return reply_end(&w);
}

/* "hermes/gpt-x" is there where hermes is: which models a runtime has, it alone knows. */
bool route_openai_model(Request *rq, Err *err)
{
    Str id = rq->params[0], name = str_head(id, str_find(id, STR("/")));
    const Runtime *runtime;
    Service *s;
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    if (!request_service(rq, &s, err))
        return false;
    runtime = service_runtime(s, str_eqz(name, "talaria") ? STR("") : name, err);
    if (!runtime || !is_there(rq, s, runtime)) {
        rq->reply.param = "model";
        return err_set(err, ERR_NOT_FOUND, "there is no model '%.*s'; GET /v1/models lists them",
                       STR_FMT(str_head(id, 80)));
    }
    put_model(rq, &w, id);
    return true;
}
