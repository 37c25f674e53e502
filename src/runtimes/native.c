/* Our own loop over a model: ask, run the tools that it calls, ask again, until it has said all.
 *
 * The model is asked through model/, which tries again while nothing was said. Tools run on
 * workers, all of one round side by side, and come back through the loop; each round waits for the
 * last of them. What a server really sent is told as a trace only where the turn fails: it is ten
 * times the words. */
#include "base/clock.h"
#include "base/limits.h"
#include "model/fail.h"
#include "model/stream.h"
#include "runtimes/run.h"
#include "runtimes/runtimes.h"
#include "runtimes/thread.h"
#include "text/utf8.h"

enum { MAX_RAW = 32 * 1024, WINDOW_TENTHS = 6 }; /* the rest is for tools and the answer */

typedef struct NativeRun NativeRun;

typedef struct ToolJob {
    NativeRun *native;
    ModelToolCall call;
    const RuntimeTool *tool;
    Arena *arena;
    Str result;
    bool failed;
    int64_t began;
    struct ToolJob *next; /* of the round, in the order of the calls */
} ToolJob;

struct NativeRun {
    RuntimeRun run;
    Thread thread;
    ModelClient *client;
    ModelTool *tools;
    NetId call;    /* 0: no call is out */
    Buf answer;    /* of the present round */
    Buf raw;       /* the newest of what the server sent */
    ToolJob *jobs; /* of the present round */
    size_t n_jobs, n_back;
    int rounds;
    bool lost;          /* the handle was none of ours */
    RuntimeUsage usage; /* of all rounds */
};

/* -- what the model says -- */

static RunError code_of(ModelFailKind kind, bool spoke)
{
    switch (kind) {
    case MODEL_FAIL_AUTH:
        return RUN_RUNTIME_AUTH;
    case MODEL_FAIL_RATE_LIMITED:
        return RUN_RATE_LIMITED;
    case MODEL_FAIL_OVERLOADED:
        return RUN_UPSTREAM_ERROR;
    case MODEL_FAIL_TIMEOUT:
        return spoke ? RUN_TIMEOUT_IDLE : RUN_TIMEOUT_FIRST;
    case MODEL_FAIL_NETWORK:
        return RUN_RUNTIME_UNAVAILABLE;
    case MODEL_FAIL_CONTEXT:
        return RUN_CONTEXT_TOO_LARGE;
    case MODEL_FAIL_MALFORMED:
        return RUN_PROTOCOL_VIOLATION;
    case MODEL_FAIL_CUT:
        return RUN_STREAM_TRUNCATED;
    case MODEL_FAIL_EMPTY:
        return RUN_EMPTY_RESPONSE;
    case MODEL_FAIL_CANCELLED:
        return RUN_CANCELLED;
    default:
        return RUN_RUNTIME_REJECTED;
    }
}

/* All but calls and the end, which the loop and a replay treat each in its way. */
static void say(Teller *t, RuntimeUsage *usage, const ModelEvent *e)
{
    if (e->kind == MODEL_TEXT) {
        teller_text(t, e->text);
    } else if (e->kind == MODEL_REASONING) {
        teller_think(t, e->text);
    } else if (e->kind == MODEL_RETRY) {
        teller_retry(t, e->attempt, e->fail.message);
    } else if (e->kind == MODEL_USAGE) {
        usage->input += e->usage.input;
        usage->output += e->usage.output;
        usage->cached += e->usage.cached;
        usage->reasoning += e->usage.reasoning;
        usage->total = usage->input + usage->output;
        usage->estimated = usage->estimated || e->usage.estimated;
        teller_usage(t, usage);
    }
}

static void say_fail(Teller *t, const ModelFail *fail)
{
    teller_fail(t, code_of(fail->kind, t->chars > 0), fail->message, fail->status,
                str_of(model_fail_name(fail->kind)));
}

static void say_finish(Teller *t, ModelFinish finish, Str handle)
{
    Str reason = str_of(model_finish_name(finish));

    if (finish == MODEL_REFUSAL && !t->chars)
        teller_fail(t, RUN_RUNTIME_REJECTED, STR("the model refused"), 0, reason);
    else
        teller_finish(t, finish == MODEL_LENGTH ? RUNTIME_TRUNCATED : RUNTIME_COMPLETED, reason,
                      handle);
}

/* -- tools -- */

static void ask(NativeRun *n);

static const RuntimeTool *find_tool(const RuntimeHost *host, Str name)
{
    for (size_t i = 0; i < host->n_tools; i++)
        if (str_eq(host->tools[i].name, name))
            return &host->tools[i];
    return NULL;
}

/* In the order of the calls, whatever the order in which they came back. */
static void end_round(NativeRun *n)
{
    Arena *a = n->run.arena;

    for (ToolJob *job = n->jobs; job; job = job->next) {
        Str result = utf8_head(job->result, LIMIT_RUN_FILE);

        thread_add(&n->thread, (ModelMessage){ .role = MODEL_TOOL,
                                               .text = str_dup(a, utf8_repair(a, result)),
                                               .call_id = job->call.id,
                                               .failed = job->failed });
        job->arena = arena_free(job->arena);
    }
    n->jobs = NULL;
    if (n->run.stopping)
        return;
    if (n->rounds >= LIMIT_RUN_ROUNDS)
        teller_finish(&n->run.teller, RUNTIME_TRUNCATED, STR("tool_rounds"),
                      thread_handle(&n->thread, a));
    else
        ask(n);
}

static void tool_back(void *ctx)
{
    ToolJob *job = ctx;
    NativeRun *n = job->native;
    RuntimeRun *run = &n->run;

    run_heard(run, true);
    teller_tool_end(&run->teller, job->call.id, job->call.name, job->failed, job->result,
                    clock_mono_ms() - job->began);
    if (++n->n_back == n->n_jobs)
        end_round(n);
    run_drop(run);
}

static void run_tool(void *ctx)
{
    ToolJob *job = ctx;
    Err err;

    job->failed =
        !job->tool->run(job->tool->ctx, job->arena, job->native->run.request.conversation_id,
                        job->call.arguments, &job->result, &err);
    if (job->failed)
        job->result = str_dup(job->arena, str_of(err.text));
    net_post(job->native->run.net, tool_back, job);
}

static void begin_tool(NativeRun *n, ToolJob *job)
{
    const RuntimeHost *host = &n->run.host;

    job->began = clock_mono_ms();
    job->arena = arena_new();
    job->tool = host->work ? find_tool(host, job->call.name) : NULL;
    teller_tool_begin(&n->run.teller, job->call.id, job->call.name, job->call.arguments);
    run_hold(&n->run);
    if (job->tool) {
        host->work(host->work_ctx, run_tool, job);
        return;
    }
    job->failed = true;
    job->result = STR("there is no tool of that name");
    net_post(n->run.net, tool_back, job);
}

/* -- the loop -- */

static void add_call(NativeRun *n, const ModelToolCall *call)
{
    Arena *a = n->run.arena;
    ToolJob *job = ARENA_NEW(a, ToolJob), **last = &n->jobs;

    job->native = n;
    job->call = (ModelToolCall){ str_dup(a, call->id), str_dup(a, call->name),
                                 str_dup(a, call->arguments) };
    while (*last)
        last = &(*last)->next;
    *last = job;
    n->n_jobs++;
}

/* What the model said in this round becomes a message of the thread. */
static void keep_answer(NativeRun *n)
{
    Arena *a = n->run.arena;
    ModelToolCall *calls = ARENA_ARRAY(a, ModelToolCall, n->n_jobs);
    size_t i = 0;

    for (ToolJob *job = n->jobs; job; job = job->next)
        calls[i++] = job->call;
    thread_add(&n->thread, (ModelMessage){ .role = MODEL_ASSISTANT,
                                           .text = str_dup(a, buf_str(&n->answer)),
                                           .calls = calls,
                                           .n_calls = n->n_jobs });
}

static void on_raw(void *ctx, Str bytes)
{
    NativeRun *n = ctx;
    size_t keep = MAX_RAW / 2;

    if (bytes.n > keep)
        bytes = str_skip(bytes, bytes.n - keep);
    if (n->raw.n + bytes.n > MAX_RAW) {
        memmove(n->raw.p, n->raw.p + n->raw.n - keep, keep);
        n->raw.n = keep;
    }
    buf_add(&n->raw, bytes);
}

static void tell_trace(NativeRun *n)
{
    if (n->raw.n)
        teller_trace(&n->run.teller, text_without_key(n->run.arena, buf_str(&n->raw),
                                                      model_client_config(n->client)->key));
    buf_clear(&n->raw);
}

static void on_event(void *ctx, const ModelEvent *e)
{
    NativeRun *n = ctx;
    RuntimeRun *run = &n->run;

    run_heard(run, true);
    if (e->kind == MODEL_TEXT)
        buf_add(&n->answer, e->text);
    if (e->kind == MODEL_TOOL_CALL)
        add_call(n, &e->call);
    say(&run->teller, &n->usage, e);
    if (!model_event_is_last(e))
        return;
    n->call = 0;
    if (e->kind == MODEL_FINISH) {
        keep_answer(n);
        if (n->jobs && !n->run.stopping) {
            n->rounds++;
            n->n_back = 0;
            for (ToolJob *job = n->jobs; job; job = job->next)
                begin_tool(n, job);
        } else if (!n->jobs) {
            say_finish(&n->run.teller, e->finish, thread_handle(&n->thread, n->run.arena));
        }
    } else if (!run->stopping) {
        tell_trace(n);
        say_fail(&run->teller, &e->fail);
    }
    run_drop(run);
}

static void ask(NativeRun *n)
{
    RuntimeRun *run = &n->run;
    ModelRequest request = { .messages = n->thread.messages,
                             .n_messages = n->thread.n,
                             .tools = n->tools,
                             .n_tools = run->host.work ? run->host.n_tools : 0,
                             .max_tokens = run->request.max_tokens,
                             .deadline_ms = run_left_ms(run),
                             .raw = on_raw };
    Err err;

    n->n_jobs = 0;
    buf_clear(&n->answer);
    teller_segment(&run->teller);
    run_hold(run);
    if (model_start(n->client, &request, on_event, n, &n->call, &err))
        return;
    run->out--;
    teller_fail(&run->teller, err.kind == ERR_TOO_LARGE ? RUN_CONTEXT_TOO_LARGE : RUN_INTERNAL,
                str_of(err.text), 0, STR(""));
}

static void begin(RuntimeRun *run)
{
    NativeRun *n = (NativeRun *)run;
    ContinuityMode mode = n->lost                 ? CONTINUITY_LOST
                          : run->request.handle.n ? CONTINUITY_RESUMED
                                                  : CONTINUITY_NEW;

    teller_session(&run->teller, STR(""), mode, model_client_config(n->client)->name, STR(""));
    ask(n);
}

static void stop(RuntimeRun *run)
{
    NativeRun *n = (NativeRun *)run;

    if (run->timed_out)
        tell_trace(n);
    if (n->call)
        model_cancel(n->client, n->call);
}

static void dispose(RuntimeRun *run)
{
    if (run->host.model_done)
        run->host.model_done(run->host.model_ctx, ((NativeRun *)run)->client);
    buf_done(&((NativeRun *)run)->answer);
    buf_done(&((NativeRun *)run)->raw);
}

static const RunKind run_kind = { sizeof(NativeRun), begin, stop, NULL, dispose };

static void copy_tools(NativeRun *n)
{
    const RuntimeHost *host = &n->run.host;

    n->tools = ARENA_ARRAY(n->run.arena, ModelTool, host->n_tools);
    for (size_t i = 0; i < host->n_tools; i++)
        n->tools[i] =
            (ModelTool){ host->tools[i].name, host->tools[i].description, host->tools[i].schema };
}

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *request, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    ModelClient *client;
    RuntimeRun *run;
    NativeRun *n;

    if (!host->model) {
        err_set_to(
            err, ERR_NOT_FOUND,
            "no model is configured; run 'talaria setup' or 'talaria config set model.name'");
        return NULL;
    }
    client = host->model(host->model_ctx, request->model, err);
    if (!client)
        return NULL;
    run = run_new(&run_kind, host, request, fn, ctx);
    n = (NativeRun *)run;
    n->client = client;
    n->answer = BUF(LIMIT_MODEL_ANSWER);
    n->raw = BUF(MAX_RAW);
    copy_tools(n);
    n->lost = request->handle.n && !thread_open(&n->thread, run->arena, &run->request, err);
    if (n->lost)
        run->request.handle = run->request.gap = STR("");
    if (!run->request.handle.n && !thread_open(&n->thread, run->arena, &run->request, err)) {
        run->out = 0;
        run_free(run);
        return NULL;
    }
    thread_withhold(&n->thread, host->withheld, host->n_withheld);
    if (model_client_config(client)->window > 0)
        thread_fit(&n->thread, (size_t)model_client_config(client)->window / 10 * WINDOW_TENTHS);
    run_begin(run);
    return run;
}

static bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    ModelConfig config;
    Err why;

    (void)err;
    *ret = (RuntimeCaps){ .resumes = true,
                          .has_model = true,
                          .tools = true,
                          .streams = true,
                          .max_parallel = 1,
                          .model = STR(""),
                          .version = STR(""),
                          .detail = STR("") };
    ret->available = model_config(a, host->settings, &config, &why);
    if (ret->available) {
        ret->model = config.name;
        ret->max_parallel = (int)config.at_once;
    } else {
        ret->detail = str_dup(a, str_of(why.text));
    }
    return true;
}

/* -- recordings -- */

typedef struct Replay {
    Teller t;
    RuntimeUsage usage;
} Replay;

static void replay_event(void *ctx, const ModelEvent *e)
{
    Replay *r = ctx;

    say(&r->t, &r->usage, e);
    if (e->kind == MODEL_TOOL_CALL)
        teller_tool_begin(&r->t, e->call.id, e->call.name, e->call.arguments);
    else if (e->kind == MODEL_FINISH)
        say_finish(&r->t, e->finish, STR(""));
    else if (e->kind == MODEL_ERROR)
        say_fail(&r->t, &e->fail);
}

static bool replay(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err)
{
    ModelDialect d = MODEL_OPENAI_CHAT;
    ModelStream *stream;
    Replay r = { .usage = { 0 } };

    if (dialect.n && !model_dialect_of(dialect, &d))
        return err_set(err, ERR_USAGE,
                       "the dialects of native are openai-chat, openai-responses and anthropic");
    teller_init(&r.t, fn, ctx);
    teller_session(&r.t, STR(""), CONTINUITY_NEW, STR(""), STR(""));
    stream = model_stream_new(d, str_starts(str_trim(bytes), STR("{")), replay_event, &r);
    (void)model_stream_feed(stream, bytes);
    model_stream_end(stream);
    model_stream_free(stream);
    teller_done(&r.t);
    return true;
}

const Runtime runtime_native = { .name = "native",
                                 .alias = NATIVE_ALIAS,
                                 .owns = thread_is_handle,
                                 .title = "Talaria's own loop over your model",
                                 .takes_messages = true,
                                 .probe = probe,
                                 .start = start,
                                 .cancel = run_cancel,
                                 .free = run_free,
                                 .replay = replay };
