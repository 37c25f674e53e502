/* talaria debug run, talaria debug replay: a runtime by itself, its events as everyone sees
 * them. */
#include <pthread.h>
#include <sys/stat.h>

#include "agent/knowledge.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/cmd_debug.h"
#include "runtimes/frames.h"
#include "runtimes/runtimes.h"
#include "runtimes/trace.h"

enum { MAX_FILES = 16 };

/* -- both -- */

/* Shared by the command, which waits, and the loop's thread, which writes. */
typedef struct Show {
    Cli *cli;
    const Runtime *runtime;
    RuntimeRun *run;
    Frames frames;
    RunTrace trace;
    Arena *arena;
    Str handle, approve;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over, failed;
    char message[512];
} Show;

static void print_frame(void *ctx, FrameEvent event, int64_t seq, Str data)
{
    Show *show = ctx;

    (void)seq;
    say(show->cli, "{\"event\":\"%s\",\"data\":", frame_event_name(event));
    buf_add(show->cli->out, data);
    say(show->cli, "}\n");
}

static void show_event(void *ctx, const RuntimeEvent *e)
{
    Show *show = ctx;

    if (e->kind == RUNTIME_TRACE)
        run_trace_add(&show->trace, e->text);
    if ((e->kind == RUNTIME_SESSION || e->kind == RUNTIME_FINISH) && e->handle.n)
        show->handle = str_dup(show->arena, e->handle);
    if (e->kind == RUNTIME_FAIL) {
        show->failed = true;
        snprintf(show->message, sizeof show->message, "%s: %.*s", run_error_name(e->code),
                 STR_FMT(e->text));
    }
    frames_event(&show->frames, e);
    buf_flush(show->cli->out);
}

static void show_init(Show *show, Cli *cli, const Runtime *runtime)
{
    *show = (Show){
        .cli = cli, .runtime = runtime, .arena = arena_new(), .lock = PTHREAD_MUTEX_INITIALIZER
    };
    cond_init(&show->changed);
    run_trace_init(&show->trace);
    frames_init(&show->frames, runtime->name, STR(""), print_frame, show);
}

static void show_done(Show *show)
{
    frames_done(&show->frames);
    run_trace_done(&show->trace);
    show->arena = arena_free(show->arena);
}

static bool find_runtime(const Args *args, const Runtime **ret, Err *err)
{
    Str name = args_text(args, "runtime");

    *ret = runtime_find(name);
    if (!*ret)
        return err_set(err, ERR_USAGE, "unknown runtime '%.*s'; choose %s", STR_FMT(name),
                       RUNTIME_NAMES);
    return true;
}

/* -- debug replay -- */

bool debug_replay(Cli *cli, const Args *args, Err *err)
{
    const char *path = str_z(cli->arena, args_operand(args, 0));
    Str dialect = args_text(args, "dialect"), bytes;
    const Runtime *runtime;
    Show show;
    bool ok;

    if (!find_runtime(args, &runtime, err) ||
        !file_read_any(cli->arena, path, LIMIT_JSON_BYTES, &bytes, err))
        return false;
    show_init(&show, cli, runtime);
    frames_metadata(&show.frames, NULL, NULL);
    ok = runtime->replay(dialect, bytes, show_event, &show, err);
    if (!ok)
        buf_clear(cli->out); /* a dialect that there is not has no events */
    show_done(&show);
    return ok;
}

const Option debug_replay_options[] = {
    { OPT_CHOICE("runtime", "NAME", "runtime that wrote the stream"), .fallback = "claude",
      .choices = RUNTIME_CHOICES_WITH_ALIAS },
    { OPT_TEXT(
        "dialect", "D",
        "native: openai-chat, openai-responses, anthropic; hermes: session, runs, responses, chat; "
        "codex: exec, app-server; claude: stream-json") },
    { 0 },
};

const Example debug_replay_examples[] = {
    { "talaria debug replay --runtime claude turn.jsonl", "a recording of Claude Code" },
    { "talaria debug replay --runtime hermes --dialect runs turn.sse", "a recording of Hermes" },
    { 0 },
};

/* -- debug run: a small host -- */

typedef struct Job {
    void (*fn)(void *arg);
    void *arg;
} Job;

static void *run_job(void *ctx)
{
    Job *job = ctx;

    job->fn(job->arg);
    return mem_free(job);
}

static void work(void *ctx, void (*fn)(void *arg), void *arg)
{
    Job *job = mem_alloc(sizeof *job);
    pthread_t thread;

    (void)ctx;
    *job = (Job){ fn, arg };
    if (pthread_create(&thread, NULL, run_job, job) == 0)
        pthread_detach(thread);
    else
        (void)run_job(job);
}

static ModelClient *model(void *ctx, Str wish, Err *err)
{
    ModelClient *client = ctx;

    (void)wish; /* the client is the one that was wished for */
    if (!client)
        err_set_to(err, ERR_NOT_FOUND, "no model is configured");
    return client;
}

/* -- debug run: waiting -- */

static void on_event(void *ctx, const RuntimeEvent *e)
{
    Show *show = ctx;

    pthread_mutex_lock(&show->lock);
    show_event(show, e);
    while (!show->run) /* the first event may come before start() has returned */
        pthread_cond_wait(&show->changed, &show->lock);
    if (e->kind == RUNTIME_APPROVAL && e->n_choices && show->runtime->approve && show->approve.n)
        show->runtime->approve(show->run, e->call_id, show->approve);
    show->over = show->over || e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL;
    pthread_cond_broadcast(&show->changed);
    pthread_mutex_unlock(&show->lock);
}

/* Looks up ten times a second, for Ctrl-C. */
static void wait_for_end(Show *show)
{
    bool cancelled = false;

    pthread_mutex_lock(&show->lock);
    while (!show->over) {
        (void)cond_wait_until(&show->changed, &show->lock, clock_mono_ms() + 100);
        if (signals_stop_came() && !cancelled) {
            cancelled = true;
            show->runtime->cancel(show->run);
        }
    }
    pthread_mutex_unlock(&show->lock);
}

static bool run_turn(Show *show, const RuntimeHost *host, const RuntimeRequest *request, Err *err)
{
    RuntimeRun *run;

    frames_metadata(&show->frames, NULL, NULL);
    run = show->runtime->start(host, request, on_event, show, err);
    if (!run)
        return false;
    signals_catch(SIGNALS_STOP, -1);
    pthread_mutex_lock(&show->lock);
    show->run = run;
    pthread_cond_broadcast(&show->changed);
    pthread_mutex_unlock(&show->lock);
    wait_for_end(show);
    show->runtime->free(run);
    signals_release();
    return true;
}

static bool collect_files(Arena *a, const Args *args, RuntimeFile *files, size_t *ret_n, Err *err)
{
    Str *paths;

    if (!args_files(a, args, MAX_FILES, &paths, ret_n, err))
        return false;
    for (size_t i = 0; i < *ret_n; i++) {
        struct stat st;

        if (stat(str_z(a, paths[i]), &st) != 0)
            return err_errno(err, "cannot read '%.*s'", STR_FMT(paths[i]));
        files[i] = (RuntimeFile){
            .name = paths[i], .mime = STR("text/plain"), .path = paths[i], .size = st.st_size
        };
    }
    return true;
}

static bool run_with(Cli *cli, const Args *args, Show *show, Net *net, Err *err)
{
    RuntimeFile files[MAX_FILES];
    RuntimeRequest request = { .run_id = STR("debug"),
                               .conversation_id = STR("debug"),
                               .text = args_operand(args, 0),
                               .files = files,
                               .handle = args_text(args, "handle"),
                               .context = args_text(args, "context"),
                               .cwd = args_text(args, "cwd"),
                               .model = args_text(args, "model"),
                               .deadline_ms = args_number(args, "timeout") * 1000 };
    RuntimeHost host = { .net = net,
                         .settings = &cli->settings,
                         .work = work,
                         .model = model,
                         .recall = knowledge_recall };
    AUTO(Knowledge) *knowledge = NULL;
    ModelClient *client = NULL;
    ModelConfig config;
    const Homes *homes;
    bool ok;

    if (!cli_homes(cli, &homes, err))
        return false;
    host.recall_ctx = knowledge = knowledge_new(homes, &cli->settings);
    if (!collect_files(cli->arena, args, files, &request.n_files, err))
        return false;
    if (show->runtime == runtime_find(STR("native"))) {
        if (!model_config_of(cli->arena, &cli->settings, request.model, &config, err))
            return false;
        client = model_client_new(net, &config, err);
        if (!client)
            return false;
    }
    host.model_ctx = client;
    ok = run_turn(show, &host, &request, err);
    model_client_free(client);
    return ok;
}

static bool run_shown(Cli *cli, const Args *args, Show *show, Err *err)
{
    AUTO(Net) *net = net_new(err);
    Str trace = STR(""), line;

    if (!net || !run_with(cli, args, show, net, err))
        return false;
    if (show->handle.n)
        log_note("handle: %.*s", STR_FMT(show->handle));
    if (args_flag(args, "trace"))
        trace = run_trace_text(&show->trace);
    while (str_split(&trace, '\n', &line))
        if (line.n)
            log_note("trace: %.*s", STR_FMT(line));
    if (show->failed)
        return err_set(err, ERR_INTERNAL, "%s", show->message);
    return true;
}

bool debug_run(Cli *cli, const Args *args, Err *err)
{
    const Runtime *runtime;
    Show show;
    bool ok;

    if (!find_runtime(args, &runtime, err))
        return false;
    show_init(&show, cli, runtime);
    show.approve = args_text(args, "approve");
    ok = run_shown(cli, args, &show, err);
    show_done(&show);
    return ok;
}

const Option debug_run_options[] = {
    { OPT_CHOICE("runtime", "NAME", "runtime to use"), .fallback = "offline",
      .choices = RUNTIME_CHOICES_WITH_ALIAS },
    { OPT_TEXT("handle", "TEXT", "continue from the handle of an earlier turn") },
    { OPT_TEXT("context", "TEXT", "system prompt") },
    { OPT_TEXT("file", "PATH", "attach a file (can be repeated)") },
    { OPT_TEXT("model", "NAME", "model that the runtime should use") },
    { OPT_FOLDER("cwd", "FOLDER", "working folder") },
    { OPT_CHOICE("approve", "CHOICE", "answer to its approval requests"),
      .choices = "once|session|always|deny" },
    { OPT_NUMBER("timeout", "SECONDS", "time limit of the turn"), .fallback = "600" },
    { OPT_FLAG("trace", "print the raw stream at the end") },
    { 0 },
};

const Example debug_run_examples[] = {
    { "talaria debug run --runtime claude 'say hello'", "check that Claude Code answers" },
    { "talaria debug run --runtime hermes --approve once 'list the files'",
      "ask Hermes and approve its commands" },
    { 0 },
};
