/* Claude Code, headless: one process a turn, the prompt on its standard input, the session resumed by
 * its id. The context goes into its system prompt, as an argument while it is small enough for one. */
#include "base/limits.h"
#include "runtimes/claude_stream.h"
#include "runtimes/peer.h"
#include "runtimes/prompt.h"
#include "runtimes/runtimes.h"

enum { ARGUMENT_MOST = 100 * 1024, LINGER_MS = 5000, MOST_ARGUMENTS = 16 };

typedef struct ClaudeRun {
    RuntimeRun run;
    Peer peer;
    ClaudeStream stream;
    Str preamble, user;
} ClaudeRun;

static const PeerKind kind = { "Claude Code", SETTING_CLAUDE_BIN, "TALARIA_CLAUDE_BIN",
                               "ANTHROPIC_*|CLAUDE_*|AWS_*|GOOGLE_*|CLOUD_ML_REGION|DISABLE_*|"
                               "MAX_THINKING_TOKENS|BASH_*|MCP_*" };

static void on_line(RuntimeRun *run, Str line, bool cut)
{
    ClaudeRun *c = (ClaudeRun *)run;

    claude_stream_line(&c->stream, line, cut);
    if (c->stream.over && !run->linger_at)
        run_linger(run, LINGER_MS);
}

/* Where we stopped it ourselves, what it says about that is not its verdict. */
static void on_end(RuntimeRun *run)
{
    ClaudeRun *c = (ClaudeRun *)run;
    bool won = c->stream.over && !c->stream.failed;

    if ((run->cancelled || run->timed_out) && !won)
        return;
    claude_stream_end(&c->stream, peer_obituary(run->arena, &c->peer));
}

static void begin(RuntimeRun *run)
{
    ClaudeRun *c = (ClaudeRun *)run;
    Arena *a = run->arena;
    bool fits = c->preamble.n <= ARGUMENT_MOST;
    Str input =
        fits ? c->user : str_printf(a, "%.*s\n\n%.*s", STR_FMT(c->preamble), STR_FMT(c->user));
    const char *argv[MOST_ARGUMENTS] = { "-p", "--output-format", "stream-json", "--verbose",
                                         "--include-partial-messages" };
    size_t n = 5;
    Err err;

    if (run->request.handle.n) {
        argv[n++] = "--resume";
        argv[n++] = str_z(a, run->request.handle);
    }
    if (run->request.model.n) {
        argv[n++] = "--model";
        argv[n++] = str_z(a, run->request.model);
    }
    if (fits && c->preamble.n) {
        argv[n++] = "--append-system-prompt";
        argv[n++] = str_z(a, c->preamble);
    }
    claude_stream_init(&c->stream, &run->teller, a, run->request.handle.n > 0);
    c->peer.on_line = on_line;
    c->peer.on_end = on_end;
    if (!peer_start(&c->peer, run, &kind, argv, input, false, NULL, &err))
        teller_fail(&run->teller, RUN_RUNTIME_UNAVAILABLE, str_of(err.text), 0, STR(""));
}

static void stop(RuntimeRun *run)
{
    peer_cancel(&((ClaudeRun *)run)->peer);
}

static void dispose(RuntimeRun *run)
{
    peer_dispose(&((ClaudeRun *)run)->peer);
}

static const RunKind run_kind = { sizeof(ClaudeRun), begin, stop, NULL, dispose };

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *request, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    RuntimeRun *run;
    ClaudeRun *c;

    if (!peer_id_is_plain(request->handle)) {
        err_set_to(err, ERR_INVALID, "'%.*s' is no session of Claude Code",
                   STR_FMT(str_head(request->handle, 64)));
        return NULL;
    }
    run = run_new(&run_kind, host, request, fn, ctx);
    c = (ClaudeRun *)run;
    c->preamble = prompt_preamble(run->arena, request, request->handle.n > 0);
    c->user = prompt_user(run->arena, request);
    run_begin(run);
    return run;
}

static bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    (void)err;
    *ret = (RuntimeCaps){
        .resumes = true, .has_model = true, .tools = true, .streams = true, .max_parallel = 1
    };
    peer_probe(host, &kind, a, ret);
    return true;
}

static void replay_line(void *ctx, Str line, bool cut)
{
    claude_stream_line(ctx, line, cut);
}

static bool replay(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    ClaudeStream s;
    Ndjson lines;
    Teller t;

    if (dialect.n && !str_eqz(dialect, "stream-json"))
        return err_set(err, ERR_USAGE, "claude has one dialect: stream-json");
    teller_init(&t, fn, ctx);
    claude_stream_init(&s, &t, a, false);
    lines = ndjson_of(LIMIT_NDJSON_LINE, replay_line, &s);
    ndjson_feed(&lines, bytes);
    ndjson_finish(&lines);
    claude_stream_end(&s, STR("the recording ends here"));
    teller_done(&t);
    return true;
}

const Runtime runtime_claude = { .name = "claude",
                                 .title = "Claude Code",
                                 .branches = 4, /* sub-agents */
                                 .probe = probe,
                                 .start = start,
                                 .cancel = run_cancel,
                                 .free = run_free,
                                 .replay = replay };
