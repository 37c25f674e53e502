/* Turns and their runs: begun, looked at from any place on, cancelled, answered.
 *
 * A turn is admitted on a worker; the stream is begun in a second round of the handler, on the
 * epoll thread of its connection. */
#include "agent/conversation.h"
#include "base/limits.h"
#include "http/api.h"
#include "http/query.h"
#include "http/routes.h"
#include "http/sse.h"

/* -- a turn -- */

static bool read_files(Json body, Arena *a, ChatRequest *ret, Err *err)
{
    Json list = json_get(body, STR("files")), item;
    Str *files = ARENA_ARRAY(a, Str, json_count(list) + 1);
    JsonIter it = json_each(list);
    Str key;

    if (json_type(list) == JSON_NONE || json_type(list) == JSON_NULL)
        return true;
    if (json_type(list) != JSON_ARRAY || json_count(list) > LIMIT_FILES)
        return err_set(err, ERR_INVALID, "'files' must be a list of at most %d ids", LIMIT_FILES);
    while (json_next(&it, &key, &item)) {
        if (json_type(item) != JSON_STRING)
            return err_set(err, ERR_INVALID, "'files' must be a list of ids");
        files[ret->n_files++] = json_str(item);
    }
    ret->files = files;
    return true;
}

static bool read_request(Request *rq, Json body, ChatRequest *ret, Err *err)
{
    *ret = (ChatRequest){ .conversation_id = rq->params[0],
                          .trust = TRUST_OWNER,
                          .idem_key = request_header(rq, "Idempotency-Key") };
    return field_str(body, "text", &ret->text, err) &&
           field_str(body, "runtime", &ret->runtime, err) &&
           field_str(body, "model", &ret->model, err) &&
           field_int(body, "deadline_ms", 1, LIMIT_RUN_TOTAL_MS, &ret->deadline_ms, err) &&
           field_bool(body, "refresh", &ret->refresh, err) && read_files(body, rq->arena, ret, err);
}

static bool admit(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    ChatRequest request;
    Service *s;
    Run run;

    if (!doc || !request_continue(rq, err) || !read_request(rq, json_root(doc), &request, err) ||
        !request_service(rq, &s, err) ||
        !service_chat(s, rq->arena, &request, &run, &rq->live, err))
        return false;
    rq->again = true;
    return true;
}

bool route_chat(Request *rq, Err *err)
{
    if (!rq->live)
        return admit(rq, err);
    return sse_send_run(rq, TAKE(rq->live), 0, NULL, NULL, err);
}

/* -- looking at a run -- */

/* "?after=7", else "Last-Event-ID: <run>:7". */
static bool read_after(Request *rq, int64_t *ret, Err *err)
{
    Str last = request_header(rq, "Last-Event-ID");
    size_t colon = str_find(last, STR(":"));

    if (!query_number(rq->arena, rq->query, "after", 0, INT64_MAX, -1, ret, err))
        return false;
    if (*ret >= 0)
        return true;
    *ret = 0;
    if (!last.n)
        return true;
    if (colon < last.n && str_eq(str_head(last, colon), rq->params[0]) &&
        str_to_int(str_skip(last, colon + 1), 0, INT64_MAX, ret))
        return true;
    return err_set(err, ERR_USAGE, "Last-Event-ID does not belong to this run");
}

bool route_run_events(Request *rq, Err *err)
{
    int64_t after;
    bool more;

    if (!read_after(rq, &after, err))
        return false;
    if (rq->live)
        return sse_send_run(rq, TAKE(rq->live), after, NULL, NULL, err);
    if (!request_runs(rq, err))
        return false;
    rq->live =
        runlog_find(service_log(atomic_load(&rq->server->service)), rq->runs, rq->params[0], err);
    if (!rq->live)
        return false;
    more = live_has_more(rq->live, after);
    rq->again = more && rq->method != HTTP_HEAD;
    if (rq->again)
        return true;
    rq->live = live_drop(rq->live);
    if (more)
        rq->reply.type = "text/event-stream; charset=utf-8";
    else
        rq->reply.status = 204; /* nothing will follow: tells a client to stop asking */
    return true;
}

bool route_run(Request *rq, Err *err)
{
    Runs *r = request_runs(rq, err);
    JsonWriter w;
    Run run;

    if (!r || !runs_get(r, rq->arena, rq->params[0], &run, err))
        return false;
    w = reply_json(rq);
    run_put(&w, &run);
    return reply_end(&w);
}

/* -- steering a run -- */

bool route_run_cancel(Request *rq, Err *err)
{
    Service *s;

    return request_service(rq, &s, err) && service_cancel(s, rq->params[0], err) &&
           route_run(rq, err);
}

bool route_run_approval(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Str id = STR_NONE, choice = STR_NONE;
    Service *s;

    if (!doc || !field_str(json_root(doc), "id", &id, err) ||
        !field_str(json_root(doc), "choice", &choice, err) || !request_service(rq, &s, err))
        return false;
    if (!str_is_one_of(choice, "once|session|always|deny"))
        return err_set(err, ERR_INVALID, "'choice' must be once, session, always or deny");
    return service_approve(s, rq->params[0], id, choice, err) && route_run(rq, err);
}

/* -- runtimes -- */

bool route_runtimes(Request *rq, Err *err)
{
    const Runtime *first;
    Service *s;
    JsonWriter w;

    if (!request_service(rq, &s, err))
        return false;
    first = service_runtime(s, STR_NONE, err);
    w = reply_json(rq);
    json_field_str(&w, "default", first ? str_of(first->name) : STR_NONE);
    json_field_begin(&w, "runtimes", '[');
    for (const Runtime *const *r = service_runtimes(s); *r; r++) {
        RuntimeCaps caps = { 0 };
        Err why = { 0 };

        if (!service_probe(s, rq->arena, *r, &caps, &why))
            caps = (RuntimeCaps){ .detail = str_of(why.text) };
        json_begin(&w, '{');
        caps_put(&w, *r, &caps);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    json_field_begin(&w, "models", '[');
    for (size_t i = 0; i < rq->server->settings->n_models; i++)
        json_put_str(&w, rq->server->settings->models[i].name);
    json_end(&w, ']');
    return reply_end(&w);
}
