/* What handlers use, and the routes of the server itself: health, metrics, description, cookie,
 * status, events. */
#include "http/api.h"

#include "base/clock.h"
#include "base/limits.h"
#include "demo/checklist.h"
#include "demo/demo.h"
#include "http/metrics.h"
#include "http/reply.h"
#include "http/routes.h"
#include "recall/history_json.h"

/* -- what handlers use -- */

bool request_store(Request *rq, Store **ret, Err *err)
{
    ASSERT(rq->worker);
    return worker_store(rq->worker, ret, err);
}

bool request_homes(Request *rq, const Homes **ret, Err *err)
{
    ASSERT(rq->worker);
    return worker_homes(rq->worker, ret, err);
}

/* A page asks several routes at once; one look at the files in a while is enough for all of them.
 * Those that need the sessions of homes in the catalogue too have a look of their own. */
static History *history_of(Request *rq, bool homes, Err *err)
{
    enum { EVERY_MS = 2000, BUDGET_MS = 200 };
    static _Atomic int64_t looked[2];
    static HistoryUpdates updates;
    HistoryWhere where = { .files = !rq->server->options.where.home, .updates = &updates };
    _Atomic int64_t *last = &looked[homes];
    int64_t now = clock_mono_ms(), before = atomic_load(last);

    if (!request_homes(rq, &where.homes, err) || !request_store(rq, &where.store, err))
        return NULL;
    if ((before == 0 || now - before > EVERY_MS) &&
        atomic_compare_exchange_strong(last, &before, now))
        where.budget_ms = BUDGET_MS;
    return history_open(&where);
}

History *request_history(Request *rq, Err *err)
{
    return history_of(rq, false, err);
}

History *request_whole_history(Request *rq, Err *err)
{
    return history_of(rq, true, err);
}

JsonDoc *request_json(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = json_parse(buf_str(&rq->body), err);

    if (!doc) {
        err->kind = ERR_USAGE;
        (void)err_wrap(err, "the body");
        return NULL;
    }
    if (json_type(json_root(doc)) != JSON_OBJECT) {
        (void)err_set(err, ERR_USAGE, "the body must be an object");
        return NULL;
    }
    return TAKE(doc);
}

static bool is_absent(Json v)
{
    return json_type(v) == JSON_NONE || json_type(v) == JSON_NULL;
}

bool field_str(Json object, const char *key, Str *ret, Err *err)
{
    Json v = json_get(object, str_of(key));

    if (is_absent(v))
        return true;
    if (json_type(v) != JSON_STRING)
        return err_set(err, ERR_INVALID, "'%s' must be a string", key);
    *ret = json_str(v);
    return true;
}

bool field_bool(Json object, const char *key, bool *ret, Err *err)
{
    Json v = json_get(object, str_of(key));

    return is_absent(v) || json_bool(v, ret) ||
           err_set(err, ERR_INVALID, "'%s' must be true or false", key);
}

bool field_int(Json object, const char *key, int64_t min, int64_t max, int64_t *ret, Err *err)
{
    Json v = json_get(object, str_of(key));
    int64_t n;

    if (is_absent(v))
        return true;
    if (!json_int(v, &n) || n < min || n > max)
        return err_set(err, ERR_INVALID, "'%s' must be a number from %lld to %lld", key,
                       (long long)min, (long long)max);
    *ret = n;
    return true;
}

/* -- the server itself -- */

bool route_healthz(Request *rq, Err *err)
{
    (void)err;
    buf_addz(&rq->reply.body, "{\"status\":\"ok\"}");
    return true;
}

bool route_metrics(Request *rq, Err *err)
{
    ScanStatus scan = coordinator_status(rq->server->coordinator);
    ScanStatus plugin = coordinator_status(rq->server->plugin);
    Buf *out = &rq->reply.body;

    (void)err;
    rq->reply.type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(out);
    buf_addf(out,
             "# HELP talaria_scans_total Scans for achievements.\n"
             "# TYPE talaria_scans_total counter\n"
             "talaria_scans_total %llu\n"
             "# HELP talaria_scan_running Whether one runs.\n"
             "# TYPE talaria_scan_running gauge\n"
             "talaria_scan_running %d\n",
             (unsigned long long)(scan.run_count + plugin.run_count),
             scan.state == SCAN_RUNNING || plugin.state == SCAN_RUNNING);
    return true;
}

bool route_openapi(Request *rq, Err *err)
{
    JsonWriter w = JSON_WRITER(&rq->reply.body, 0);

    (void)err;
    routes_openapi(&w, rq->server->options.version);
    return true;
}

/* The page comes here once with the token of its address, and has both parts from then on: see
 * guard.h. */
bool route_auth(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    Str token = STR_NONE, cookie, page;
    JsonWriter w;

    if (!doc || !field_str(json_root(doc), "token", &token, err))
        return false;
    if (!guard_parts(&rq->server->guard, rq->arena, token, &cookie, &page)) {
        (void)err_set(err, ERR_REFUSED, "wrong token for this server");
        metrics_count_refusal();
        reply_problem_status(rq, 401, NULL, err);
        return true;
    }
    rq->reply.cookie =
        str_printf(rq->arena, "talaria=%.*s; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000",
                   STR_FMT(cookie));
    w = reply_json(rq);
    json_field_bool(&w, "ok", true);
    json_field_str(&w, "page", page);
    return reply_end(&w);
}

/* Who is signed in ends it everywhere; anybody else only forgets the cookie. */
bool route_auth_end(Request *rq, Err *err)
{
    if (request_signed_in(rq) && !guard_revoke(&rq->server->guard, err))
        return false;
    rq->reply.cookie = STR("talaria=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    buf_addz(&rq->reply.body, "{\"format\":1,\"ok\":true}");
    return true;
}

/* What a page waits for transcripts that were not read yet. */
enum { STATUS_MS = 300 };

bool route_status(Request *rq, Err *err)
{
    HistoryWhere where;
    HistoryFacts history;
    const Homes *homes;
    HomeFacts *facts;
    JsonWriter w;
    size_t n;

    if (!request_homes(rq, &homes, err))
        return false;
    store_facts(rq->arena, homes, &facts, &n);
    where = (HistoryWhere){ .homes = homes,
                            .files = !rq->server->options.where.home,
                            .budget_ms = STATUS_MS };
    if (!history_facts(&where, rq->arena, facts, n, &history, err))
        return false;
    w = reply_json(rq);
    json_field_str(&w, "version", str_of(rq->server->options.version));
    json_field_double(&w, "started_at", rq->server->started_at);
    status_put(&w, homes, facts, n, &history);
    json_key(&w, "features"); /* pages of the dashboard beyond the basic three */
    json_begin(&w, '[');
    json_put_str(&w, STR("sleep"));
    json_put_str(&w, STR("chat"));
    json_put_str(&w, STR("handoffs"));
    json_end(&w, ']');
    return reply_end(&w);
}

bool route_demo(Request *rq, Err *err)
{
    JsonWriter w = reply_json(rq);

    (void)err;
    json_field_bool(&w, "demo", demo_entered());
    if (demo_entered()) {
        json_field_str(&w, "title", STR(DEMO_CHECKLIST_TITLE));
        demo_checklist_put(&w);
    }
    return reply_end(&w);
}

/* -- events -- */

/* A stream begins with how the scan stands; then what happens. It takes its connection over in a
 * second round. */
bool route_events(Request *rq, Err *err)
{
    AUTO_BUF status = BUF(KIB(16));

    if (rq->method == HTTP_HEAD) {
        rq->reply.type = "text/event-stream";
        return true;
    }
    if (!rq->again) {
        rq->again = true;
        MHD_suspend_connection(rq->connection);
        server_resume(rq);
        return true;
    }
    coordinator_status_json(rq->server->coordinator, &status);
    return sse_join(rq->server->sse, rq, "status", buf_str(&status), err);
}

/* Ten progress events a second are enough for any eye. */
void api_scan_event(void *ctx, const char *event, Str data)
{
    static _Atomic int64_t last;
    Server *s = ctx;
    int64_t now = clock_mono_ms();

    if (strcmp(event, "progress") == 0) {
        if (now - atomic_load(&last) < 100)
            return;
        atomic_store(&last, now);
    }
    sse_publish(s->sse, event, data);
}
