/* Claude Code, headless: one process a turn, the prompt on its standard input, the session resumed
 * by its id. The context goes into its system prompt, through a private file: arguments can be read
 * by every user of the machine. A version that does not know such files is given the context before
 * the prompt. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "runtimes/claude_stream.h"
#include "runtimes/peer.h"
#include "runtimes/prompt.h"
#include "runtimes/runtimes.h"

#define CONTEXT_FILE "--append-system-prompt-file"

enum { LINGER_MS = 5000, MAX_ARGUMENTS = 16 };

typedef struct ClaudeRun {
    RuntimeRun run;
    Peer peer;
    ClaudeStream stream;
    Str preamble, user;
    char *context; /* the file with the preamble; NULL: none, or it is removed already */
} ClaudeRun;

static const PeerKind kind = { "Claude Code", SETTING_CLAUDE_BIN, "TALARIA_CLAUDE_BIN",
                               "ANTHROPIC_*|CLAUDE_*|AWS_*|GOOGLE_*|CLOUD_ML_REGION|DISABLE_*|"
                               "MAX_THINKING_TOKENS|BASH_*|MCP_*" };

/* -- the file with the preamble, removed as soon as Claude Code has read it -- */

static bool write_all(int fd, Str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

/* NULL, and errno: not in this folder. */
static char *make_in(Arena *a, Str folder, Str bytes)
{
    char *path = str_z(a, str_join_path(a, folder, STR("talaria-context-XXXXXX")));
    int fd = mkostemp(path, O_CLOEXEC); /* 0600 */
    bool ok = fd >= 0 && write_all(fd, bytes);
    int why = errno;

    if (fd >= 0)
        close(fd);
    if (fd >= 0 && !ok)
        (void)unlink(path);
    errno = why;
    return ok ? path : NULL;
}

/* A text that may be neither an argument, which every user of the machine can read, nor in the
 * environment, which children inherit: a file of mode 0600 with a name that nobody can guess. In
 * the user's runtime folder, which is in memory and ends with the login; else in `folder`; else
 * where temporary files go. */
static bool make_private_file(Arena *a, Str folder, Str bytes, char **ret_path, Err *err)
{
    Str folders[] = { str_of(getenv("XDG_RUNTIME_DIR")), folder, str_of(getenv("TMPDIR")),
                      STR("/tmp") };

    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        char *path = folders[i].n && folders[i].p[0] == '/' ? make_in(a, folders[i], bytes) : NULL;

        if (!path)
            continue;
        *ret_path = path;
        return true;
    }
    return err_errno(err, "cannot write a private file in '%.*s' or '/tmp'", STR_FMT(folder));
}

static void remove_context(ClaudeRun *c)
{
    if (c->context)
        (void)unlink(c->context);
    c->context = NULL;
}

/* -- the turn -- */

static void on_line(RuntimeRun *run, Str line, bool cut)
{
    ClaudeRun *c = (ClaudeRun *)run;

    remove_context(c); /* it reads all its arguments before it says a word */
    claude_stream_line(&c->stream, line, cut);
    if (c->stream.over && !run->linger_at)
        run_linger(run, LINGER_MS);
}

static void start_claude(ClaudeRun *c);

/* It knows no such option, or cannot see the file; it has done nothing yet. */
static bool knows_no_files(const ClaudeRun *c)
{
    Str words = buf_str(&c->peer.errors);

    return c->context && c->peer.done.end == CHILD_EXITED && c->peer.done.code != 0 &&
           (str_find_nocase(words, STR(CONTEXT_FILE)) < words.n ||
            str_find_nocase(words, STR("system prompt file")) < words.n);
}

/* Where we stopped it ourselves, what it says about that is not its verdict. */
static void on_end(RuntimeRun *run)
{
    ClaudeRun *c = (ClaudeRun *)run;
    bool won = c->stream.over && !c->stream.failed;
    bool again = knows_no_files(c);

    remove_context(c);
    if ((run->cancelled || run->timed_out) && !won)
        return;
    if (again)
        start_claude(c);
    else
        claude_stream_end(&c->stream, peer_obituary(run->arena, &c->peer));
}

/* With the file where there is one, else with the preamble before the prompt. A value that begins
 * with a dash stays a value: it is part of its option's word. */
static void start_claude(ClaudeRun *c)
{
    RuntimeRun *run = &c->run;
    Arena *a = run->arena;
    Str input = c->context || !c->preamble.n
                    ? c->user
                    : str_printf(a, "%.*s\n\n%.*s", STR_FMT(c->preamble), STR_FMT(c->user));
    const char *argv[MAX_ARGUMENTS] = { "-p", "--output-format", "stream-json", "--verbose",
                                        "--include-partial-messages" };
    size_t n = 5;
    Err err;

    if (run->request.handle.n)
        argv[n++] = str_printf(a, "--resume=%.*s", STR_FMT(run->request.handle)).p;
    if (run->request.model.n)
        argv[n++] = str_printf(a, "--model=%.*s", STR_FMT(run->request.model)).p;
    if (c->context)
        argv[n++] = str_printf(a, CONTEXT_FILE "=%s", c->context).p;
    claude_stream_init(&c->stream, &run->teller, a, run->request.handle.n > 0);
    c->peer.on_line = on_line;
    c->peer.on_end = on_end;
    if (peer_start(&c->peer, run, &kind, argv, input, false, NULL, &err))
        return;
    remove_context(c);
    teller_fail(&run->teller, RUN_RUNTIME_UNAVAILABLE, str_of(err.text), 0, STR(""));
}

static void begin(RuntimeRun *run)
{
    ClaudeRun *c = (ClaudeRun *)run;
    Err ignored;

    if (c->preamble.n &&
        !make_private_file(run->arena, run->host.data, c->preamble, &c->context, &ignored))
        c->context = NULL; /* it goes before the prompt then */
    start_claude(c);
}

static void stop(RuntimeRun *run)
{
    peer_cancel(&((ClaudeRun *)run)->peer);
}

static void dispose(RuntimeRun *run)
{
    ClaudeRun *c = (ClaudeRun *)run;

    remove_context(c);
    peer_dispose(&c->peer);
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
                                 .own_tools = true,
                                 .branches = 4, /* sub-agents */
                                 .probe = probe,
                                 .start = start,
                                 .cancel = run_cancel,
                                 .free = run_free,
                                 .replay = replay };
