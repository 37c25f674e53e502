/* Codex: its app server where it has one (text as it comes, approvals, a real interrupt), else
 * `codex exec --json`. One process a turn; the thread is resumed by its id. Nothing is set about
 * sandbox and approvals: what the user configured for Codex holds here too. */
#include "base/limits.h"
#include "runtimes/codex_stream.h"
#include "runtimes/lines.h"
#include "runtimes/peer.h"
#include "runtimes/prompt.h"
#include "runtimes/runtimes.h"

enum { LINGER_MS = 3000, MAX_ARGUMENTS = 16 };

typedef struct CodexRun {
    RuntimeRun run;
    Peer peer;
    CodexStream stream;
    bool app;          /* the app server is spoken to */
    bool may_fall;     /* ... and exec is tried where there is none */
    bool opened, sent; /* the thread was asked for; the turn was */
    Str preamble, user;
} CodexRun;

static const PeerKind kind = { "Codex", SETTING_CODEX_BIN, "TALARIA_CODEX_BIN",
                               "CODEX_*|OPENAI_*|RUST_LOG" };
/* The app server is asked to interrupt first. */
static const int64_t patience[3] = { 2000, 5000, 8000 };

/* -- talking to the app server -- */

static void send_request(CodexRun *c, int id, const char *method,
                         void (*params)(CodexRun *c, JsonWriter *w))
{
    AUTO_BUF line = BUF(LIMIT_CHILD_INPUT);
    JsonWriter w = JSON_WRITER(&line, 0);

    json_begin(&w, '{');
    if (id)
        json_field_int(&w, "id", id);
    json_field_str(&w, "method", str_of(method));
    if (params) {
        json_field_begin(&w, "params", '{');
        params(c, &w);
        json_end(&w, '}');
    }
    json_end(&w, '}');
    peer_write(&c->peer, buf_str(&line));
}

static void initialize_params(CodexRun *c, JsonWriter *w)
{
    (void)c;
    json_field_begin(w, "clientInfo", '{');
    json_field_str(w, "name", STR("talaria"));
    json_field_str(w, "title", STR("Talaria"));
    json_field_str(w, "version", STR(TALARIA_VERSION));
    json_end(w, '}');
}

static void thread_params(CodexRun *c, JsonWriter *w)
{
    const RuntimeRequest *r = &c->run.request;

    if (r->handle.n)
        json_field_str(w, "threadId", r->handle);
    if (r->cwd.n)
        json_field_str(w, "cwd", r->cwd);
    if (r->model.n)
        json_field_str(w, "model", r->model);
    if (c->preamble.n)
        json_field_str(w, "developerInstructions", c->preamble);
}

static void turn_params(CodexRun *c, JsonWriter *w)
{
    json_field_str(w, "threadId", c->stream.thread);
    json_field_begin(w, "input", '[');
    json_begin(w, '{');
    json_field_str(w, "type", STR("text"));
    json_field_str(w, "text", c->user);
    json_end(w, '}');
    json_end(w, ']');
}

static void interrupt_params(CodexRun *c, JsonWriter *w)
{
    json_field_str(w, "threadId", c->stream.thread);
    json_field_str(w, "turnId", c->stream.turn);
}

static void answer(CodexRun *c, Str id, Str result)
{
    Str line = str_printf(c->run.arena, "{\"id\":%.*s,%.*s}", STR_FMT(id), STR_FMT(result));

    peer_write(&c->peer, line);
}

/* What comes next, after each line of the app server. */
static void go_on(CodexRun *c)
{
    CodexStream *s = &c->stream;

    if (s->ready && !c->opened) {
        c->opened = true;
        send_request(c, 0, "initialized", NULL);
        send_request(c, 2, c->run.request.handle.n ? "thread/resume" : "thread/start",
                     thread_params);
    } else if (s->thread.n && !c->sent) {
        c->sent = true;
        send_request(c, 3, "turn/start", turn_params);
    }
    if (s->refused.n)
        answer(c, s->refused, STR("\"error\":{\"code\":-32601,\"message\":\"not supported\"}"));
    s->refused = STR("");
    c->run.waiting = s->asked.n > 0;
}

/* -- both -- */

static void on_line(RuntimeRun *run, Str line, bool cut)
{
    CodexRun *c = (CodexRun *)run;

    codex_stream_line(&c->stream, line, cut);
    if (c->stream.over && !run->linger_at) {
        peer_close(&c->peer);
        run_linger(run, LINGER_MS);
    } else if (c->app && !c->stream.over) {
        go_on(c);
    }
}

static void begin_exec(CodexRun *c);

static void on_end(RuntimeRun *run)
{
    CodexRun *c = (CodexRun *)run;
    bool won = c->stream.over && !c->stream.failed && !c->stream.interrupted;

    if ((run->cancelled || run->timed_out) && !won)
        return;
    if (c->app && c->may_fall && !c->stream.any && c->peer.done.end == CHILD_EXITED)
        begin_exec(c);
    else
        codex_stream_end(&c->stream, peer_obituary(run->arena, &c->peer));
}

static void start_peer(CodexRun *c, const char *const *argv, Str input)
{
    Err err;

    codex_stream_init(&c->stream, &c->run.teller, c->run.arena, c->run.request.handle.n > 0);
    c->peer.on_line = on_line;
    c->peer.on_end = on_end;
    if (!peer_start(&c->peer, &c->run, &kind, argv, input, c->app, c->app ? patience : NULL, &err))
        teller_fail(&c->run.teller, RUN_RUNTIME_UNAVAILABLE, str_of(err.text), 0, STR(""));
}

static void begin_exec(CodexRun *c)
{
    Arena *a = c->run.arena;
    const RuntimeRequest *r = &c->run.request;
    const char *argv[MAX_ARGUMENTS] = { "exec" };
    size_t n = 1;
    Str input = c->preamble.n
                    ? str_printf(a, "%.*s\n\n%.*s", STR_FMT(c->preamble), STR_FMT(c->user))
                    : c->user;

    c->app = false;
    if (r->handle.n) {
        argv[n++] = "resume";
        argv[n++] = str_z(a, r->handle);
    }
    argv[n++] = "--json";
    argv[n++] = "--skip-git-repo-check";
    if (r->model.n) /* one word: a value that begins with a dash stays a value */
        argv[n++] = str_printf(a, "--model=%.*s", STR_FMT(r->model)).p;
    argv[n++] = "-"; /* the prompt is on standard input */
    start_peer(c, argv, input);
}

static void begin(RuntimeRun *run)
{
    static const char *const argv[] = { "app-server", NULL };
    CodexRun *c = (CodexRun *)run;
    Str transport = setting_text(run->host.settings, SETTING_CODEX_TRANSPORT);

    if (str_eqz(transport, "exec")) {
        begin_exec(c);
        return;
    }
    c->app = true;
    c->may_fall = !str_eqz(transport, "app-server");
    start_peer(c, argv, STR(""));
    send_request(c, 1, "initialize", initialize_params);
}

static void stop(RuntimeRun *run)
{
    CodexRun *c = (CodexRun *)run;

    if (c->app && c->stream.turn.n && !c->stream.over)
        send_request(c, 4, "turn/interrupt", interrupt_params);
    peer_cancel(&c->peer);
}

static void approve(RuntimeRun *run, Str id, Str choice)
{
    CodexRun *c = (CodexRun *)run;
    const char *decision = str_eqz(choice, "deny")   ? "decline"
                           : str_eqz(choice, "once") ? "accept"
                                                     : "acceptForSession";

    if (!c->stream.asked.n || !str_eq(id, c->stream.asked))
        return;
    teller_approved(&run->teller, id, choice);
    answer(c, id, str_printf(run->arena, "\"result\":{\"decision\":\"%s\"}", decision));
    codex_stream_answered(&c->stream);
    run->waiting = c->stream.asked.n > 0;
}

static void dispose(RuntimeRun *run)
{
    peer_dispose(&((CodexRun *)run)->peer);
}

static const RunKind run_kind = { sizeof(CodexRun), begin, stop, approve, dispose };

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *request, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    RuntimeRun *run;
    CodexRun *c;

    if (!peer_id_is_plain(request->handle)) {
        err_set_to(err, ERR_INVALID, "'%.*s' is no thread of Codex",
                   STR_FMT(str_head(request->handle, 64)));
        return NULL;
    }
    run = run_new(&run_kind, host, request, fn, ctx);
    c = (CodexRun *)run;
    c->preamble = prompt_preamble(run->arena, request, request->handle.n > 0);
    c->user = prompt_user(run->arena, request);
    run_begin(run);
    return run;
}

static bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    (void)err;
    *ret = (RuntimeCaps){ .resumes = true,
                          .has_model = true,
                          .tools = true,
                          .streams = true,
                          .approvals = true,
                          .max_parallel = 1 };
    peer_probe(host, &kind, a, ret);
    return true;
}

static void replay_line(void *ctx, Str line, bool cut)
{
    codex_stream_line(ctx, line, cut);
}

static bool replay(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    CodexStream s;
    Ndjson lines;
    Teller t;

    if (dialect.n && !str_is_one_of(dialect, "exec|app-server"))
        return err_set(err, ERR_USAGE, "the dialects of codex are exec and app-server");
    teller_init(&t, fn, ctx);
    codex_stream_init(&s, &t, a, false);
    lines = ndjson_of(LIMIT_NDJSON_LINE, replay_line, &s);
    ndjson_feed(&lines, bytes);
    ndjson_finish(&lines);
    codex_stream_end(&s, STR("the recording ends here"));
    teller_done(&t);
    return true;
}

const Runtime runtime_codex = { .name = "codex",
                                .title = "Codex",
                                .own_tools = true,
                                .probe = probe,
                                .start = start,
                                .approve = run_approve,
                                .cancel = run_cancel,
                                .free = run_free,
                                .replay = replay };
