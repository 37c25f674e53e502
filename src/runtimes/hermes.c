/* A Hermes, through its API server. One request at a time: what can you do (probe), make a session,
 * submit, read the stream, and after a loss ask how it stands (poll). Which of these a turn needs
 * is the dialect's. A line that breaks before anything was said is tried again, a few times.
 *
 * A session id is always sent: without one, Hermes makes its own out of the first words, and two
 * conversations that begin alike become one. */
#include <sys/random.h>

#include "base/clock.h"
#include "base/limits.h"
#include "runtimes/hermes_request.h"
#include "runtimes/lines.h"
#include "runtimes/prompt.h"
#include "runtimes/runtimes.h"
#include "text/utf8.h"

enum {
    MAX_ANSWER = 4 << 20,
    STOP_MS = 3000,
    POLL_MS = 300,
    RETRY_MS = 200,
    DRAIN_MS = 500,
    VERSION_BYTES = 64
};

static void begin_step(HermesRun *h, Step step);

/* -- trying again, failing -- */

static void hold_timer(HermesRun *h, void (*fn)(void *ctx), int64_t ms)
{
    if (!h->timer_held)
        run_hold(&h->run);
    h->timer_held = true;
    h->timer.fn = fn;
    h->timer.ctx = h;
    net_timer_set(h->run.net, &h->timer, clock_mono_ms() + ms);
}

static void drop_timer(HermesRun *h)
{
    net_timer_stop(h->run.net, &h->timer);
    if (!h->timer_held)
        return;
    h->timer_held = false;
    run_drop(&h->run);
}

static void on_retry(void *ctx)
{
    HermesRun *h = ctx;

    if (!h->run.stopping)
        begin_step(h, PROBE);
    drop_timer(h);
}

static void fail(HermesRun *h, RunError code, Str text, int status, Str runtime_code)
{
    Teller *t = &h->run.teller;

    if (run_error_is_retryable(code) && !t->chars && !t->acted && !h->run.stopping &&
        ++h->tries < LIMIT_RUN_TRIES) {
        teller_retry(t, h->tries + 1, text);
        hold_timer(h, on_retry, (int64_t)RETRY_MS << h->tries);
        return;
    }
    teller_fail(t, code, text, status, runtime_code);
}

static RunError code_of_end(FetchEnd end)
{
    switch (end) {
    case FETCH_TIMEOUT_CONNECT:
        return RUN_TIMEOUT_CONNECT;
    case FETCH_TIMEOUT_FIRST:
        return RUN_TIMEOUT_FIRST;
    case FETCH_TIMEOUT_IDLE:
        return RUN_TIMEOUT_IDLE;
    case FETCH_TIMEOUT_TOTAL:
        return RUN_TIMEOUT_TOTAL;
    case FETCH_TOO_LARGE:
        return RUN_PROTOCOL_VIOLATION;
    default:
        return RUN_RUNTIME_UNAVAILABLE;
    }
}

/* The server has said no. */
static void refused(HermesRun *h)
{
    AUTO(JsonDoc) *doc = json_parse_mended(h->run.arena, buf_str(&h->answer));
    Json root = doc ? json_root(doc) : (Json){ 0 };
    Str text = doc ? error_text(h->run.arena, root) : str_trim(buf_str(&h->answer));
    Str code = str_at(at(root, "error"), "code");

    if (h->status == 404 && h->dialect == HERMES_SESSION && h->step == STREAM) {
        fail(h, RUN_CONTINUITY_LOST, STR("Hermes does not know this session any more"), 404, code);
        return;
    }
    fail(h, run_error_of_status(h->status),
         text.n ? text : str_printf(h->run.arena, "Hermes answered %d", h->status), h->status,
         code);
}

/* -- the end of a turn -- */

/* A session that was compressed continues under another id, which is what has to be kept. */
static void note_rotation(HermesRun *h)
{
    Arena *a = h->run.arena;

    if (!hermes_id_is_clean(h->stream.session) || str_eq(h->stream.session, h->handle.session))
        return;
    hermes_handle_rotate(a, &h->handle, h->stream.session);
    teller_session(&h->run.teller, hermes_handle_write(a, &h->link, &h->handle), CONTINUITY_ROTATED,
                   STR(""), STR(""));
}

static void conclude(HermesRun *h)
{
    if (hermes_id_is_clean(h->stream.response))
        h->handle.response = h->stream.response;
    note_rotation(h);
    hermes_stream_verdict(&h->stream, hermes_handle_write(h->run.arena, &h->link, &h->handle));
}

static void on_poll(void *ctx)
{
    HermesRun *h = ctx;

    if (!h->run.stopping)
        begin_step(h, POLL);
    drop_timer(h);
}

/* The stream broke: a run can be asked how it stands, the others cannot. */
static void after_stream(HermesRun *h)
{
    if (h->stream.end == HERMES_OPEN && h->dialect == HERMES_RUNS && !h->run.stopping) {
        teller_say(&h->run.teller, RUNTIME_NOTICE, STR(""),
                   STR("the line broke; asking how the run stands"));
        begin_step(h, POLL);
    } else if (h->run.timed_out && h->stream.end == HERMES_CANCELLED) {
        note_rotation(h); /* because we asked for it: it was late */
    } else if (h->stream.end != HERMES_OPEN || !h->run.stopping) {
        conclude(h);
    } else {
        note_rotation(h); /* the frame of the run says how it ended */
    }
}

/* -- answers -- */

/* The history goes along as messages: nothing of it has to be quoted. */
static bool sends_history(const HermesRun *h)
{
    return h->dialect == HERMES_RUNS || (h->dialect == HERMES_CHAT && !h->link.key.n);
}

/* What a server keeps for responses, the other routes do not know, and the other way round. */
static bool is_stranded(const HermesRun *h)
{
    return h->mode == CONTINUITY_RESUMED && !sends_history(h) &&
           (h->dialect == HERMES_RESPONSES) != (h->handle.dialect == HERMES_RESPONSES);
}

static Str new_session_id(Arena *a)
{
    unsigned char bytes[12] = { 0 };
    AUTO_BUF out = BUF(64);

    (void)!getrandom(bytes, sizeof bytes, 0);
    buf_addz(&out, "talaria-");
    for (size_t i = 0; i < sizeof bytes; i++)
        buf_addf(&out, "%02x", bytes[i]);
    return str_dup(a, buf_str(&out));
}

/* What it is told depends on who keeps the history. */
static void prepare(HermesRun *h)
{
    Arena *a = h->run.arena;

    if (is_stranded(h)) {
        h->mode = CONTINUITY_LOST;
        h->handle.session = new_session_id(a);
        h->handle.response = STR("");
    }
    if (h->mode != CONTINUITY_RESUMED || sends_history(h))
        h->user = h->user_alone;
    h->preamble =
        prompt_preamble(a, &h->run.request, h->mode == CONTINUITY_RESUMED || sends_history(h));
}

static void set_version(HermesRun *h, Json root)
{
    h->handle.version =
        str_dup(h->run.arena, version_in(utf8_head(str_at(root, "version"), VERSION_BYTES)));
}

static void open_turn(HermesRun *h)
{
    begin_step(h, h->dialect == HERMES_RUNS                                       ? SUBMIT
                  : h->dialect == HERMES_SESSION && h->mode != CONTINUITY_RESUMED ? CREATE
                                                                                  : STREAM);
}

static void probed(HermesRun *h, Json root)
{
    h->dialect = hermes_choose(&h->link, &h->handle, at(root, "features"));
    prepare(h);
    h->handle.dialect = h->dialect;
    set_version(h, root);
    if (h->has_stream)
        hermes_stream_done(&h->stream);
    hermes_stream_init(&h->stream, h->dialect, &h->run.teller, h->run.arena);
    h->has_stream = true;
    if (h->handle.version.n)
        open_turn(h);
    else
        begin_step(h, HEALTH);
}

/* What a server says of its health has its version, and is of no other use: it may be missing. */
static void after_health(HermesRun *h)
{
    AUTO(JsonDoc) *doc =
        h->status == 200 ? json_parse_mended(h->run.arena, buf_str(&h->answer)) : NULL;

    if (doc)
        set_version(h, json_root(doc));
    open_turn(h);
}

static void submitted(HermesRun *h, Str run_id)
{
    if (!hermes_id_is_clean(run_id)) {
        fail(h, RUN_PROTOCOL_VIOLATION, STR("Hermes gave the run no id that can be used"),
             h->status, STR(""));
        return;
    }
    h->stream.run = str_dup(h->run.arena, run_id);
    begin_step(h, STREAM);
}

static void answered(HermesRun *h)
{
    AUTO(JsonDoc) *doc = json_parse_mended(h->run.arena, buf_str(&h->answer));
    Json root = doc ? json_root(doc) : (Json){ 0 };

    if (!doc) {
        fail(h, RUN_PROTOCOL_VIOLATION, STR("what Hermes answered is no JSON"), h->status, STR(""));
    } else if (h->step == PROBE) {
        probed(h, root);
    } else if (h->step == CREATE) {
        Str id = str_at(at(root, "session"), "id");

        if (hermes_id_is_clean(id))
            h->handle.session = str_dup(h->run.arena, id);
        begin_step(h, STREAM);
    } else if (h->step == SUBMIT) {
        submitted(h, str_at(root, "run_id"));
    } else {
        hermes_stream_truth(&h->stream, root);
        if (h->stream.end == HERMES_OPEN)
            hold_timer(h, on_poll, POLL_MS);
        else
            conclude(h);
    }
}

static bool on_head(void *ctx, const FetchHead *head)
{
    HermesRun *h = ctx;
    Str session = fetch_header(head, "x-hermes-session-id");

    h->status = head->status;
    run_heard(&h->run, false);
    if (h->step == STREAM && head->status < 300) {
        /* Without a key the id is one that the server made up: the history went along instead. */
        if (session.n && h->link.key.n && h->dialect != HERMES_RUNS)
            h->stream.session = str_dup(h->run.arena, session);
        teller_session(&h->run.teller, hermes_handle_write(h->run.arena, &h->link, &h->handle),
                       h->mode, h->run.request.model, h->handle.version);
    }
    return true;
}

static bool on_body(void *ctx, Str bytes)
{
    HermesRun *h = ctx;
    bool more;

    if (h->step != STREAM || h->status >= 300) {
        run_heard(&h->run, true);
        buf_add(&h->answer, bytes);
        return !buf_full(&h->answer);
    }
    run_heard(&h->run, bytes.n && bytes.p[0] != ':');
    more = hermes_stream_feed(&h->stream, bytes);
    h->run.waiting = h->stream.waiting;
    if (!more)
        fetch_drain(h->run.net, h->fetch, DRAIN_MS);
    return true;
}

static void on_done(void *ctx, const FetchDone *done)
{
    HermesRun *h = ctx;
    bool broken = done->end != FETCH_OK && done->end != FETCH_STOPPED;

    h->fetch = 0;
    if (h->step == STREAM && h->status && h->status < 300)
        after_stream(h);
    else if (h->run.stopping || done->end == FETCH_CANCELLED)
        ; /* the frame of the run says why */
    else if (h->step == HEALTH)
        after_health(h);
    else if (h->status >= 300)
        refused(h);
    else if (broken)
        fail(h, code_of_end(done->end),
             h->status ? str_of(done->detail)
                       : hermes_unreachable(h->run.arena, &h->link, str_of(done->detail)),
             0, STR(""));
    else
        answered(h);
    if (h->run.teller.over || h->run.stopping)
        drop_timer(h);
    run_drop(&h->run);
}

static void begin_step(HermesRun *h, Step step)
{
    static const FetchHandlers handlers = { on_head, on_body, on_done };
    AUTO_BUF body = BUF(LIMIT_RUN_PROMPT * 2);
    FetchRequest request = hermes_request(h, step, &body);
    Err err;

    h->step = step;
    h->status = 0;
    buf_clear(&h->answer);
    run_hold(&h->run);
    if (fetch_start(h->run.net, &request, &handlers, h, &h->fetch, &err))
        return;
    h->run.out--;
    teller_fail(&h->run.teller, RUN_INTERNAL, str_of(err.text), 0, STR(""));
}

/* -- asides: an answer to an approval, a request to stop -- */

static bool aside_body(void *ctx, Str bytes)
{
    (void)ctx;
    (void)bytes;
    return true;
}

static void aside_done(void *ctx, const FetchDone *done)
{
    HermesRun *h = ctx;

    if (done->end != FETCH_OK || done->status >= 300) {
        if (h->answering) /* it may be answered again */
            h->run.waiting = h->stream.waiting = true;
        teller_say(&h->run.teller, RUNTIME_NOTICE, STR(""), STR("Hermes did not take the answer"));
    }
    h->answering = false;
    run_drop(&h->run);
}

static void aside(HermesRun *h, const char *format, Str body)
{
    static const FetchHandlers handlers = { NULL, aside_body, aside_done };
    FetchRequest request = { .method = "POST",
                             .url = hermes_url(h, format),
                             .headers = hermes_headers(h),
                             .body = body,
                             .secret = h->link.key.n > 0,
                             .times = { .connect = STOP_MS, .total = STOP_MS } };
    NetId ignored;
    Err err;

    run_hold(&h->run);
    if (!fetch_start(h->run.net, &request, &handlers, h, &ignored, &err))
        h->run.out--;
}

static void approve(RuntimeRun *run, Str id, Str choice)
{
    HermesRun *h = (HermesRun *)run;

    (void)id;
    if (!h->stream.waiting || !h->stream.run.n ||
        !str_is_one_of(choice, "once|session|always|deny")) {
        run->waiting = h->stream.waiting; /* nobody was answered */
        return;
    }
    h->stream.waiting = false; /* not every transport says that it was answered */
    h->answering = true;
    aside(h, str_printf(run->arena, "/v1/runs/%.*s/approval", STR_FMT(h->stream.run)).p,
          str_printf(run->arena, "{\"choice\":\"%.*s\"}", STR_FMT(choice)));
}

static void lose_patience(void *ctx)
{
    HermesRun *h = ctx;

    if (h->fetch)
        fetch_cancel(h->run.net, h->fetch);
    drop_timer(h);
}

/* A run is asked to stop and says so itself; for the others, leaving is the request to stop. */
static void stop(RuntimeRun *run)
{
    HermesRun *h = (HermesRun *)run;

    if (h->dialect == HERMES_RUNS && h->step == STREAM && h->fetch) {
        aside(h, "/v1/runs/%.*s/stop", STR("{}"));
        hold_timer(h, lose_patience, STOP_MS);
        return;
    }
    if (h->fetch)
        fetch_cancel(run->net, h->fetch);
    drop_timer(h);
}

/* -- the run -- */

static void begin(RuntimeRun *run)
{
    begin_step((HermesRun *)run, PROBE);
}

static void dispose(RuntimeRun *run)
{
    HermesRun *h = (HermesRun *)run;

    net_timer_stop(run->net, &h->timer);
    if (h->has_stream)
        hermes_stream_done(&h->stream);
    buf_done(&h->answer);
}

static const RunKind run_kind = { sizeof(HermesRun), begin, stop, approve, dispose };

/* What was said elsewhere is part of the history, where that goes along. */
static Str without_gap(Arena *a, RuntimeRequest request)
{
    request.gap = STR("");
    return prompt_user(a, &request);
}

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *request, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    RuntimeRun *run = run_new(&run_kind, host, request, fn, ctx);
    HermesRun *h = (HermesRun *)run;
    Arena *a = run->arena;

    h->answer = BUF(MAX_ANSWER);
    if (!hermes_link(a, host->settings, &h->link, err)) {
        run->out = 0;
        run_free(run);
        return NULL;
    }
    h->dialect = HERMES_CHAT;
    h->mode = hermes_handle_read(a, &h->link, request->handle, &h->handle) ? CONTINUITY_RESUMED
              : request->handle.n                                          ? CONTINUITY_LOST
                                                                           : CONTINUITY_NEW;
    if (h->mode != CONTINUITY_RESUMED)
        h->handle.session = new_session_id(a);
    h->user = prompt_user(a, request);
    h->user_alone = request->gap.n ? without_gap(a, *request) : h->user;
    run_begin(run);
    return run;
}

static bool replay(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    HermesDialect d = HERMES_CHAT;
    HermesStream s;
    Teller t;

    if (dialect.n && !hermes_dialect_of(dialect, &d))
        return err_set(err, ERR_USAGE,
                       "the dialects of hermes are session, runs, responses and chat");
    teller_init(&t, fn, ctx);
    hermes_stream_init(&s, d, &t, a);
    teller_session(&t, STR(""), CONTINUITY_NEW, STR(""), STR(""));
    (void)hermes_stream_feed(&s, bytes);
    hermes_stream_verdict(&s, STR(""));
    hermes_stream_done(&s);
    teller_done(&t);
    return true;
}

const Runtime runtime_hermes = { .name = "hermes",
                                 .title = "Hermes, through its API server",
                                 .own_tools = true,
                                 .branches = 3, /* what it delegates at once */
                                 .probe = hermes_probe,
                                 .start = start,
                                 .approve = run_approve,
                                 .cancel = run_cancel,
                                 .free = run_free,
                                 .replay = replay };
