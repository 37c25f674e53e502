/* The stand-in's server: libmicrohttpd with a thread for each connection, so that a stream may simply
 * wait between its frames. */
#include "http/hermes_double.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "http/hermes_inside.h"
#include "text/json.h"

/* -- answers ------------------------------------------------------------------------------------------------- */

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, Str json)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(json.n, (void *)(uintptr_t)json.p, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    MHD_add_response_header(r, "Content-Type", "application/json");
    result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *code,
                              const char *message)
{
    AUTO(Arena) *a = arena_new();

    return reply(c, status,
                 str_printf(a,
                            "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\","
                            "\"param\":null,\"code\":\"%s\"}}",
                            message, code));
}

/* -- routes ---------------------------------------------------------------------------------------------------- */

typedef struct Call {
    HermesDouble *d;
    struct MHD_Connection *c;
    Arena *arena;
    JsonDoc *doc;
    Json body;
    Str id; /* of the path */
} Call;

static Str field(const Call *call, const char *key)
{
    Str s = json_str(json_get(call->body, str_of(key)));

    return s.p ? s : STR("");
}

static enum MHD_Result capabilities(Call *call)
{
    return reply(call->c, 200,
                 STR("{\"object\":\"hermes.capabilities\",\"version\":\"demo\",\"model\":"
                     "\"double\",\"features\":{\"chat_completions_streaming\":true,"
                     "\"responses_streaming\":true,\"run_submission\":true,\"run_events_sse\":true,"
                     "\"run_stop\":true,\"run_approval_response\":true,\"session_resources\":true,"
                     "\"session_chat_streaming\":true}}"));
}

static enum MHD_Result create_session(Call *call)
{
    Str id = field(call, "id");
    HermesDouble *d = call->d;

    if (!id.n || id.n >= DOUBLE_NAME)
        return refuse(call->c, 400, "invalid_id", "a session needs an id");
    pthread_mutex_lock(&d->lock);
    (void)double_make_session(d, id);
    pthread_mutex_unlock(&d->lock);
    return reply(call->c, 201,
                 str_printf(call->arena,
                            "{\"object\":\"hermes.session\",\"session\":{\"id\":\"%.*s\"}}",
                            STR_FMT(id)));
}

static int count_turn(HermesDouble *d, Str session, bool make)
{
    DoubleSession *s;
    int turn = 0;

    pthread_mutex_lock(&d->lock);
    s = make ? double_make_session(d, session) : double_session(d, session);
    if (s)
        turn = ++s->turns;
    pthread_mutex_unlock(&d->lock);
    return turn;
}

static enum MHD_Result play(Call *call, ScriptDialect dialect, Str session, Str prompt, bool make)
{
    Script script = { .arena = call->arena,
                      .dialect = dialect,
                      .session = session,
                      .prompt = prompt,
                      .fail = call->d->fail };

    script.turn = count_turn(call->d, session, make);
    if (!script.turn)
        return refuse(call->c, 404, "session_not_found", "Session not found");
    return double_stream(call->d, call->c, &script, "");
}

static enum MHD_Result session_chat(Call *call)
{
    return play(call, SCRIPT_SESSION, call->id, field(call, "message"), false);
}

static enum MHD_Result responses(Call *call)
{
    return play(call, SCRIPT_RESPONSES, field(call, "conversation"), field(call, "input"), true);
}

static enum MHD_Result chat(Call *call)
{
    Json messages = json_get(call->body, STR("messages"));
    Json last = json_at(messages, json_count(messages) ? json_count(messages) - 1 : 0);
    Str prompt = json_str(json_get(last, STR("content")));
    const char *session =
        MHD_lookup_connection_value(call->c, MHD_HEADER_KIND, "X-Hermes-Session-Id");

    return play(call, SCRIPT_CHAT, str_of(session ? session : "hash-of-the-first-words"),
                prompt.p ? prompt : STR(""), true);
}

/* Runs load no history: only what is sent along counts. */
static enum MHD_Result submit(Call *call)
{
    HermesDouble *d = call->d;
    size_t before = json_count(json_get(call->body, STR("conversation_history"))) / 2;
    DoubleRun *run;
    Str id;

    pthread_mutex_lock(&d->lock);
    run = &d->runs[d->n_runs++ % DOUBLE_RUNS];
    arena_free(run->arena);
    *run = (DoubleRun){ .arena = arena_new() };
    snprintf(run->id, sizeof run->id, "run_%zu", d->n_runs);
    run->script = (Script){ .dialect = SCRIPT_RUNS,
                            .session = str_dup(run->arena, field(call, "session_id")),
                            .prompt = str_dup(run->arena, field(call, "input")),
                            .fail = d->fail,
                            .turn = (int)before + 1 };
    id = str_dup(call->arena, str_of(run->id));
    pthread_mutex_unlock(&d->lock);
    return reply(
        call->c, 202,
        str_printf(call->arena, "{\"run_id\":\"%.*s\",\"status\":\"started\"}", STR_FMT(id)));
}

static bool copy_run(Call *call, DoubleRun *ret)
{
    DoubleRun *run;

    pthread_mutex_lock(&call->d->lock);
    run = double_run(call->d, call->id);
    if (run) {
        *ret = *run;
        ret->arena = ret->script.arena = call->arena;
        ret->script.session = str_dup(call->arena, run->script.session);
        ret->script.prompt = str_dup(call->arena, run->script.prompt);
    }
    pthread_mutex_unlock(&call->d->lock);
    return run != NULL;
}

static enum MHD_Result no_run(Call *call)
{
    return refuse(call->c, 404, "run_not_found", "Run not found");
}

static enum MHD_Result run_events(Call *call)
{
    DoubleRun run;

    return copy_run(call, &run) ? double_stream(call->d, call->c, &run.script, run.id)
                                : no_run(call);
}

static enum MHD_Result run_status(Call *call)
{
    DoubleRun run;
    Script script;
    AUTO_BUF out = BUF(LIMIT_HTTP_BODY);
    JsonWriter w = JSON_WRITER(&out, 0);
    const char *status;

    if (!copy_run(call, &run))
        return no_run(call);
    status = run.stopped                       ? "cancelled"
             : !run.over                       ? "running"
             : str_eqz(run.script.fail, "400") ? "failed"
                                               : "completed";
    script = run.script;
    script_write(&script);
    json_begin(&w, '{');
    json_field_str(&w, "run_id", str_of(run.id));
    json_field_str(&w, "status", str_of(status));
    if (run.over)
        json_field_str(&w, "output", script.answer);
    json_end(&w, '}');
    return reply(call->c, 200, buf_str(&out));
}

static enum MHD_Result change_run(Call *call, bool stop)
{
    DoubleRun *run;
    bool pending = false;

    pthread_mutex_lock(&call->d->lock);
    run = double_run(call->d, call->id);
    if (run && stop)
        run->stopped = true;
    if (run && !stop) {
        pending = run->waiting;
        run->waiting = false;
        run->answered = run->answered || pending;
    }
    pthread_mutex_unlock(&call->d->lock);
    if (!run)
        return no_run(call);
    if (!stop && !pending)
        return refuse(call->c, 409, "approval_not_pending", "No approval is pending");
    return reply(call->c, 200, stop ? STR("{\"status\":\"stopping\"}") : STR("{\"ok\":true}"));
}

static enum MHD_Result approve(Call *call)
{
    return change_run(call, false);
}

static enum MHD_Result stop_run(Call *call)
{
    return change_run(call, true);
}

static const struct Path {
    const char *method, *before, *after; /* an id stands between, where `after` is not NULL */
    enum MHD_Result (*fn)(Call *call);
} paths[] = {
    { "GET", "/v1/capabilities", NULL, capabilities },
    { "POST", "/api/sessions", NULL, create_session },
    { "POST", "/api/sessions/", "/chat/stream", session_chat },
    { "POST", "/v1/responses", NULL, responses },
    { "POST", "/v1/chat/completions", NULL, chat },
    { "POST", "/v1/runs", NULL, submit },
    { "GET", "/v1/runs/", "/events", run_events },
    { "POST", "/v1/runs/", "/approval", approve },
    { "POST", "/v1/runs/", "/stop", stop_run },
    { "GET", "/v1/runs/", "", run_status },
};

static bool matches(const struct Path *path, const char *method, Str url, Str *ret_id)
{
    Str before = str_of(path->before), after = str_of(path->after ? path->after : "");

    if (strcmp(method, path->method) != 0)
        return false;
    if (!path->after)
        return str_eq(url, before);
    ASSERT(url.p && before.p);
    if (!str_starts(url, before) || !str_ends(url, after) || url.n <= before.n + after.n)
        return false;
    *ret_id = (Str){ url.p + before.n, url.n - before.n - after.n };
    return true;
}

static bool let_in(const HermesDouble *d, struct MHD_Connection *c)
{
    const char *given = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    Str header = str_of(given ? given : "");

    if (str_eqz(d->fail, "401"))
        return false;
    return !d->key.n || (str_starts(header, STR("Bearer ")) && str_eq(str_skip(header, 7), d->key));
}

/* -- requests ---------------------------------------------------------------------------------------------------- */

static enum MHD_Result dispatch(HermesDouble *d, struct MHD_Connection *c, const char *url,
                                const char *method, Str body)
{
    AUTO(Arena) *a = arena_new();
    Err ignored;
    AUTO(JsonDoc) *doc = body.n ? json_parse(body, &ignored) : NULL;
    Call call = { .d = d, .c = c, .arena = a, .doc = doc };

    if (!let_in(d, c))
        return refuse(c, 401, "gateway_auth_failed", "Invalid API key");
    if (body.n && !doc)
        return refuse(c, 400, "invalid_json", "Invalid JSON");
    call.body = doc ? json_root(doc) : (Json){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (matches(&paths[i], method, str_of(url), &call.id))
            return paths[i].fn(&call);
    return refuse(c, 404, "not_found", "Not found");
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request)
{
    Buf *body = *request;

    (void)version;
    if (!body) {
        body = mem_alloc(sizeof *body);
        *body = BUF(LIMIT_HTTP_BODY);
        *request = body;
        return MHD_YES;
    }
    if (*upload_size) {
        buf_add(body, (Str){ upload, *upload_size });
        *upload_size = 0;
        return MHD_YES;
    }
    return dispatch(ctx, c, url, method, buf_str(body));
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **request,
                         enum MHD_RequestTerminationCode why)
{
    Buf *body = *request;

    (void)ctx;
    (void)c;
    (void)why;
    if (body)
        buf_done(body);
    *request = mem_free(body);
}

/* -- the server ----------------------------------------------------------------------------------------------------- */

static bool listen_on(HermesDouble *d, uint16_t port, Err *err)
{
    struct sockaddr_in where = { .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const union MHD_DaemonInfo *info;

    d->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                                     MHD_USE_POLL,
                                 port, NULL, NULL, on_request, d, MHD_OPTION_SOCK_ADDR, &where,
                                 MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    if (!d->daemon)
        return err_errno(err, "cannot listen on port %u", port);
    info = MHD_get_daemon_info(d->daemon, MHD_DAEMON_INFO_BIND_PORT);
    d->port = info ? info->port : port;
    return true;
}

HermesDouble *hermes_double_start(const HermesDoubleOptions *options, Err *err)
{
    HermesDouble *d = mem_alloc(sizeof *d);

    d->arena = arena_new();
    d->fail = str_dup(d->arena, options->fail);
    d->key = str_dup(d->arena, options->key);
    pthread_mutex_init(&d->lock, NULL);
    if (listen_on(d, options->port, err))
        return d;
    return hermes_double_free(d);
}

HermesDouble *hermes_double_free(HermesDouble *d)
{
    if (!d)
        return NULL;
    pthread_mutex_lock(&d->lock);
    d->ending = true;
    pthread_mutex_unlock(&d->lock);
    if (d->daemon)
        MHD_stop_daemon(d->daemon);
    pthread_mutex_destroy(&d->lock);
    for (size_t i = 0; i < DOUBLE_RUNS; i++)
        arena_free(d->runs[i].arena);
    arena_free(d->arena);
    return mem_free(d);
}

uint16_t hermes_double_port(const HermesDouble *d)
{
    return d->port;
}
