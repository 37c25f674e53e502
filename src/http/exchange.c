/* The head decides everything: framing (framing.h), then the guard, then the route and how much it
 * takes, before a byte of the body is read. Who has no token is given little: a small body, and not
 * the room of those who have one. */
#include "http/exchange.h"

#include "base/clock.h"
#include "base/limits.h"
#include "http/assets.h"
#include "http/body.h"
#include "http/framing.h"
#include "http/metrics.h"
#include "http/query.h"
#include "http/reply.h"
#include "http/routes.h"
#include "http/state.h"

/* -- callbacks around it -- */

/* Called with the request line, before libmicrohttpd takes the target apart in place. */
void *exchange_uri(void *server, const char *uri, struct MHD_Connection *connection)
{
    size_t n = strlen(uri);
    Request *rq = mem_alloc(sizeof *rq + n + 1);

    memcpy(rq->uri, uri, n + 1);
    rq->target = uri;
    rq->server = server;
    rq->connection = connection;
    rq->reply =
        (Reply){ .status = 200, .type = "application/json", .body = BUF(LIMIT_OUTPUT_BYTES) };
    return rq;
}

/* Nothing is decoded behind our back: see query.h. */
size_t exchange_unescape(void *server, struct MHD_Connection *connection, char *text)
{
    (void)server;
    (void)connection;
    return strlen(text);
}

Connection *request_connection(const Request *rq)
{
    return MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        ->socket_context;
}

void exchange_connection(void *server, struct MHD_Connection *connection, void **context,
                         enum MHD_ConnectionNotificationCode what)
{
    Server *s = server;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

        *context = connection_open(s->connections, fd);
    } else if (*context) {
        connection_close(s->connections, *context);
        *context = NULL;
    }
}

void exchange_completed(void *server, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode why)
{
    Server *s = server;
    Request *rq = *request;

    (void)connection;
    (void)why;
    if (!rq)
        return;
    connection_due(request_connection(rq), LIMIT_HTTP_IDLE_MS);
    if (rq->phase != PHASE_HEAD)
        atomic_fetch_sub(&s->active, 1);
    if (rq->wait) {
        connection_watch(s->connections, request_connection(rq), NULL, NULL);
        sub_leave(rq->wait);
    }
    live_drop(rq->live);
    body_forget(rq);
    buf_done(&rq->reply.body);
    arena_free(rq->arena);
    mem_free(rq);
    *request = NULL;
}

/* -- the head -- */

static enum MHD_Result see_header(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_n,
                                  const char *value, size_t value_n)
{
    (void)kind;
    framing_header(ctx, (Str){ key, key_n }, (Str){ value, value_n });
    return MHD_YES;
}

/* False and why; *ret_length: see framing_check. `head` is where it begins in the buffer. */
static bool framing_is_fine(Request *rq, const char *head, const char *version, int64_t *ret_length,
                            Err *err)
{
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    Framing f = { 0 };

    framing_line(&f, head, str_of(rq->uri), rq->target, version);
    MHD_get_connection_values_n(rq->connection, MHD_HEADER_KIND, see_header, &f);
    framing_end(&f, size ? head + size->header_size : NULL);
    rq->chunks = f.http11;
    return framing_check(&f, rq->method == HTTP_GET || rq->method == HTTP_HEAD, ret_length, err);
}

bool exchange_library_is_known(const char *version, Err *err)
{
    static const int64_t first[3] = { 0, 9, 75 }, behind[3] = { 1, 1, 0 };
    int64_t parts[3] = { 0 };
    Str rest = str_of(version), part;
    int after = 0, before = 0;

    for (int i = 0; i < 3 && str_split(&rest, '.', &part); i++)
        if (!str_to_int(part, 0, 9999, &parts[i]))
            before = 1;
    for (int i = 0; i < 3; i++) {
        after = after ? after : (parts[i] > first[i]) - (parts[i] < first[i]);
        before = before ? before : (parts[i] > behind[i]) - (parts[i] < behind[i]);
    }
    return (after >= 0 && before < 0) ||
           err_set(
               err, ERR_INTERNAL,
               "libmicrohttpd %s is here, and the server is made for 0.9.75 to 1.0; install one "
               "of these, or build again",
               version);
}

static HttpMethod method_of(const char *name)
{
    static const char *const names[] = { "GET", "HEAD", "POST", "DELETE", "PATCH" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return (HttpMethod)i;
    return HTTP_OTHER;
}

Str request_header(const Request *rq, const char *name)
{
    const char *value = NULL;
    size_t n = 0;

    if (MHD_lookup_connection_value_n(rq->connection, MHD_HEADER_KIND, name, strlen(name), &value,
                                      &n) != MHD_YES)
        return STR_NONE;
    return (Str){ value ? value : "", n };
}

static bool is_api(Str path)
{
    return str_starts(path, STR("/api/")) || str_eqz(path, "/api") || str_starts(path, STR("/v1/"));
}

/* A person who mistyped an address gets the page, which says so and offers the way back; programs
 * get JSON. */
static bool is_lost_visitor(const Request *rq)
{
    Str accept = request_header(rq, "Accept");

    return rq->method == HTTP_GET && !rq->route && !is_api(rq->path) &&
           !str_starts(rq->path, STR("/v1/")) && !asset_find(rq->path) &&
           str_find(accept, STR("text/html")) < accept.n;
}

static GuardVerdict ask_guard(const Request *rq, bool needs_token)
{
    bool reads = rq->method == HTTP_GET || rq->method == HTTP_HEAD;
    GuardAsk ask = {
        .reads = reads,
        .stream = rq->route && rq->route->flags & ROUTE_STREAM,
        .page = !rq->route && (asset_is_page(rq->path) || is_lost_visitor(rq)),
        .needs_token = needs_token,
        .host = request_header(rq, "Host"),
        .origin = request_header(rq, "Origin"),
        .site = request_header(rq, "Sec-Fetch-Site"),
        .mode = request_header(rq, "Sec-Fetch-Mode"),
        .authorization = request_header(rq, "Authorization"),
        .cookie = request_header(rq, "Cookie"),
        .page_part = request_header(rq, "X-Talaria-Page"),
    };

    return guard_check(&rq->server->guard, &ask);
}

bool request_signed_in(const Request *rq)
{
    return ask_guard(rq, true) == GUARD_OK;
}

/* Is false, as everything that does not go on to a handler. */
static bool refuse(Request *rq, const Err *err, int status)
{
    reply_problem_status(rq, status, NULL, err);
    return false;
}

/* No route: a file of the page, another method's path, or nothing. */
static bool without_route(Request *rq, Buf *allow)
{
    const Asset *asset = is_api(rq->path) ? NULL : asset_find(rq->path);
    Err err;

    if (asset && (rq->method == HTTP_GET || rq->method == HTTP_HEAD)) {
        asset_send(rq, asset, 200);
        return false;
    }
    if (is_lost_visitor(rq) && !allow->n) {
        asset_send(rq, asset_find(STR("/")), 404);
        return false;
    }
    if (asset)
        buf_addz(allow, "GET, HEAD");
    if (allow->n) {
        (void)err_set(&err, ERR_USAGE, "method not allowed here; use %s", allow->p);
        rq->reply.allow = str_dup(rq->arena, buf_str(allow));
        return refuse(rq, &err, 405);
    }
    /* New clients of OpenAI begin with /v1/responses: they are told what to use instead. */
    if (str_starts(rq->path, STR("/v1/")))
        (void)err_set(&err, ERR_NOT_FOUND,
                      "of OpenAI's API only /v1/chat/completions and /v1/models are here; use chat "
                      "completions");
    else
        (void)err_set(&err, ERR_NOT_FOUND, "there is nothing at this address");
    return refuse(rq, &err, 404);
}

static bool split_target(Request *rq)
{
    Str target = str_of(rq->uri);
    size_t q = str_find(target, STR("?"));

    rq->path = str_head(target, q);
    rq->query = q < target.n ? str_skip(target, q + 1) : STR_NONE;
    return rq->path.n && rq->path.p[0] == '/';
}

static bool decode_params(Request *rq, Err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(rq->params); i++)
        if (rq->params[i].p && !url_decode(rq->arena, rq->params[i], false, &rq->params[i]))
            return err_set(err, ERR_USAGE, "malformed address");
    return true;
}

/* Who asks, and for what. True: a handler will answer; else the refusal or the file is on its
 * way. */
static bool admit(Request *rq, int64_t length)
{
    AUTO_BUF allow = BUF(KIB(1));
    GuardVerdict verdict;
    Err err;

    if (!split_target(rq)) {
        (void)err_set(&err, ERR_USAGE, "the target of the request is not a path");
        return refuse(rq, &err, 400);
    }
    rq->route = route_find(rq->method, rq->path, rq->params, &allow);
    verdict = ask_guard(rq, rq->route ? !(rq->route->flags & ROUTE_OPEN) : is_api(rq->path));
    if (verdict != GUARD_OK) {
        metrics_count_refusal();
        (void)err_set(&err, ERR_REFUSED, "%s", guard_text(verdict));
        return refuse(rq, &err, guard_status(verdict));
    }
    if (!rq->route)
        return without_route(rq, &allow);
    if (!decode_params(rq, &err))
        return refuse(rq, &err, 400);
    return !length || body_admit(rq, length);
}

/* A request with a body is judged before it is read, and a refusal ends its connection; one without
 * is judged when libmicrohttpd has finished with it, so that its connection can be used again. */
static enum MHD_Result begin(Request *rq, const char *method, const char *version)
{
    int64_t length = 0;
    Err err;

    atomic_fetch_add(&rq->server->active, 1);
    rq->method = method_of(method);
    rq->arena = arena_new();
    rq->reply.close = atomic_load(&rq->server->draining);
    rq->phase = PHASE_READY;
    if (!framing_is_fine(rq, method, version, &length, &err)) {
        rq->reply.close = true;
        (void)refuse(rq, &err, 400);
        return reply_send(rq);
    }
    connection_due(request_connection(rq), length ? LIMIT_HTTP_BODY_MS : 0);
    if (!length)
        return MHD_YES;
    /* Where chunks end is read more leniently by libmicrohttpd than by others: what follows is
     * never a request. */
    if (length == FRAMING_CHUNKS)
        rq->reply.close = true;
    rq->phase = PHASE_BODY;
    return admit(rq, length) ? MHD_YES : reply_send(rq);
}

/* -- the body, and the answer -- */

static void answer(Request *rq)
{
    Err err;

    if (!rq->route->handler(rq, &err))
        reply_problem(rq, &err);
    else if (buf_full(&rq->reply.body)) {
        (void)err_set(&err, ERR_TOO_LARGE, "the answer is larger than %d bytes",
                      LIMIT_OUTPUT_BYTES);
        reply_problem(rq, &err);
    }
}

static void work(void *ctx, Worker *worker)
{
    Request *rq = ctx;

    rq->worker = worker;
    answer(rq);
    if (rq->runs)
        service_return_runs(atomic_load(&rq->server->service), rq->runs);
    rq->runs = NULL;
    server_resume(rq);
}

void server_resume(Request *rq)
{
    rq->phase = PHASE_DONE;
    MHD_resume_connection(rq->connection);
}

static enum MHD_Result finish(Request *rq)
{
    if (rq->again) {
        rq->waits = false;
        answer(rq);
        /* It may be done already, by another thread: only `waits` is ours to look at. */
        if (rq->waits)
            return MHD_YES;
    }
    return reply_send(rq);
}

static enum MHD_Result dispatch(Request *rq)
{
    unsigned flags = rq->route->flags;
    Err err;

    connection_due(request_connection(rq), 0);
    if (!body_is_whole(rq))
        return reply_send(rq);
    if (!(flags & ROUTE_WORKER)) {
        answer(rq);
        /* One that waits may be done already, by another thread: only `again` is ours to look
         * at. */
        return rq->again ? MHD_YES : reply_send(rq);
    }
    rq->phase = PHASE_WORK;
    rq->job = (Job){ .run = work, .ctx = rq };
    rq->queued_ms = clock_mono_ms();
    MHD_suspend_connection(rq->connection);
    if (!jobs_add(rq->server->jobs, flags & ROUTE_SLOW ? LANE_SLOW : LANE_READ, &rq->job)) {
        (void)err_set(&err, ERR_BUSY, "too many requests at once; try again");
        reply_problem(rq, &err);
        server_resume(rq);
    }
    return MHD_YES;
}

enum MHD_Result exchange_request(void *server, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **request)
{
    Request *rq = *request;

    (void)server;
    (void)connection;
    (void)url;
    if (!rq)
        return MHD_NO;
    switch (rq->phase) {
    case PHASE_HEAD:
        return begin(rq, method, version);
    case PHASE_READY:
        return admit(rq, 0) ? dispatch(rq) : reply_send(rq);
    case PHASE_BODY:
        if (*upload_size == 0)
            return dispatch(rq);
        body_collect(rq, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    case PHASE_DONE:
        return finish(rq);
    case PHASE_SENT:
        *upload_size = 0;
        return MHD_YES;
    case PHASE_WORK:
        break;
    }
    return MHD_YES;
}
