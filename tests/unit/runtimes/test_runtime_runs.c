/* Turns that run: the loop over a model with its tools, programs that hang, die or say too much,
 * and that nothing is left behind by hundreds that fail. TALARIA_LONG=1 makes it a thousand. */
#include "loopback.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "runtimes/runtime.h"

enum { WAIT_MS = 30000, BATCH = 50, SLACK = 4096 };

/* -- a host -- */

typedef struct House {
    Net *net;
    Settings settings;
    ModelClient *client;
    RuntimeHost host;
    char folder[64];
} House;

typedef struct Job {
    void (*fn)(void *arg);
    void *arg;
} Job;

static void *run_job(void *ctx)
{
    Job job = *(Job *)ctx;

    mem_free(ctx);
    job.fn(job.arg);
    return NULL;
}

static void work(void *ctx, void (*fn)(void *arg), void *arg)
{
    Job *job = mem_alloc(sizeof *job);
    pthread_t thread;

    (void)ctx;
    *job = (Job){ fn, arg };
    assert_int_equal(pthread_create(&thread, NULL, run_job, job), 0);
    pthread_detach(thread);
}

static ModelClient *model(void *ctx, Str wish, Err *err)
{
    House *h = ctx;

    (void)wish;
    (void)err;
    return h->client;
}

static bool recall(void *ctx, Arena *a, Str question, Str conversation_id, Str *ret_text, Err *err)
{
    (void)ctx;
    (void)conversation_id;
    if (str_eqz(question, "fail"))
        return err_set(err, ERR_IO, "the disk is gone");
    *ret_text = str_eqz(question, "nothing")
                    ? STR("")
                    : str_printf(a, "> about %.*s\n\n2026-11-15, session 1\n", STR_FMT(question));
    return true;
}

static void open_house(House *h)
{
    Err err;

    memset(h, 0, sizeof *h);
    settings_defaults(&h->settings);
    h->net = net_new(&err);
    assert_non_null(h->net);
    h->host = (RuntimeHost){ .net = h->net,
                             .settings = &h->settings,
                             .work = work,
                             .model = model,
                             .model_ctx = h,
                             .recall = recall };
    snprintf(h->folder, sizeof h->folder, "/tmp/talaria-runs-XXXXXX");
    assert_non_null(mkdtemp(h->folder));
}

static void close_house(House *h)
{
    char path[128];

    h->client = model_client_free(h->client);
    h->net = net_free(h->net);
    snprintf(path, sizeof path, "%s/program", h->folder);
    (void)unlink(path);
    assert_int_equal(rmdir(h->folder), 0);
}

static void use_model(House *h, uint16_t port)
{
    char url[64];
    ModelConfig config;
    Err err;

    snprintf(url, sizeof url, "http://127.0.0.1:%u/v1", port);
    config = model_config_plain(str_of(url), STR("m"), MODEL_OPENAI_CHAT, STR(""));
    config.tries = 1;
    config.at_once = 64;
    model_client_free(h->client);
    h->client = model_client_new(h->net, &config, &err);
    assert_non_null(h->client);
}

/* A program of two lines of shell in place of the real one. */
static void use_program(House *h, const char *variable, const char *script)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/program", h->folder);
    (void)unlink(path);
    file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    assert_int_equal(chmod(path, 0700), 0);
    setenv(variable, path, 1);
}

/* -- a turn -- */

typedef struct Turn {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const Runtime *runtime;
    RuntimeRun *run;
    Buf text, events;
    char handle[65536], message[600], reason[64];
    int ends;
    bool failed;
    RunError code;
    RuntimeStatus status;
} Turn;

static void on_event(void *ctx, const RuntimeEvent *e)
{
    Turn *t = ctx;

    pthread_mutex_lock(&t->lock);
    if (e->kind == RUNTIME_TEXT)
        buf_add(&t->text, e->text);
    if (e->kind != RUNTIME_TRACE && e->kind != RUNTIME_USAGE)
        buf_addf(&t->events, "%s ", runtime_event_name(e->kind));
    if (e->handle.n)
        snprintf(t->handle, sizeof t->handle, "%.*s", STR_FMT(e->handle));
    if (e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL) {
        t->ends++;
        t->failed = e->kind == RUNTIME_FAIL;
        t->code = e->code;
        t->status = e->status;
        snprintf(t->message, sizeof t->message, "%.*s", STR_FMT(e->text));
        snprintf(t->reason, sizeof t->reason, "%.*s", STR_FMT(e->reason));
    }
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void begin(Turn *t, House *h, const char *runtime, const RuntimeRequest *request)
{
    Err err;

    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->text = BUF(1 << 20);
    t->events = BUF(1 << 20);
    t->runtime = runtime_find(str_of(runtime));
    t->run = t->runtime->start(&h->host, request, on_event, t, &err);
    if (!t->run)
        fail_msg("%s", err.text);
}

static bool ended(Turn *t)
{
    return t->ends > 0;
}

static bool has_text(Turn *t)
{
    return t->text.n > 0 || t->ends > 0;
}

static void wait_until(Turn *t, bool (*fn)(Turn *t))
{
    int64_t until = clock_mono_ms() + WAIT_MS;

    pthread_mutex_lock(&t->lock);
    while (!fn(t)) {
        struct timespec at;

        assert_true(clock_mono_ms() < until);
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec++;
        (void)pthread_cond_timedwait(&t->changed, &t->lock, &at);
    }
    pthread_mutex_unlock(&t->lock);
}

static void end(Turn *t)
{
    wait_until(t, ended);
    t->runtime->free(t->run);
    assert_int_equal(t->ends, 1);
}

static void forget(Turn *t)
{
    buf_done(&t->text);
    buf_done(&t->events);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
}

/* -- native -- */

#define SSE_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define SAYS     "data: {\"choices\":[{\"delta\":{\"content\":\"Done.\"}}]}\n\n"
#define STOPS    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
#define CALLS                                                                                      \
    "data: {\"choices\":[{\"delta\":{\"content\":\"Let me see. \",\"tool_calls\":[{\"index\":0,"   \
    "\"id\":\"c1\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"q\\\":1}\"}},{\"index\":"  \
    "1,"                                                                                           \
    "\"id\":\"c2\",\"function\":{\"name\":\"nobody\",\"arguments\":\"{}\"}}]}}]}\n\ndata: "        \
    "{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

static bool look_up(void *ctx, Arena *a, Str conversation_id, Str arguments, Str *ret, Err *err)
{
    (void)conversation_id;
    (void)ctx;
    (void)err;
    *ret = str_printf(a, "seen %.*s", STR_FMT(arguments));
    return true;
}

static const RuntimeTool tool = { STR_INIT("look"), STR_INIT("looks"), STR_INIT(""), look_up,
                                  NULL };

static void native_uses_tools_and_goes_on(void **state)
{
    static const LoopbackReply replies[] = {
        { .bytes = STR_INIT(SSE_HEAD CALLS), .piece = 7 },
        { .bytes = STR_INIT(SSE_HEAD SAYS STOPS) },
    };
    RuntimeRequest request = { .text = STR("what is it?"), .context = STR("<memory>red</memory>") };
    Loopback server;
    House h;
    Turn t;

    (void)state;
    open_house(&h);
    loopback_start(&server, replies, 2);
    use_model(&h, server.port);
    h.host.tools = &tool;
    h.host.n_tools = 1;
    begin(&t, &h, "jarvis", &request);
    end(&t);
    assert_str(buf_str(&t.text), STR("Let me see. \n\nDone."));
    assert_int_equal(t.failed, false);
    assert_true(loopback_saw(&server, "seen {\\\"q\\\":1}"));
    assert_true(loopback_saw(&server, "there is no tool of that name"));
    assert_true(loopback_saw(&server, "<memory>red</memory>"));
    assert_true(str_starts(buf_str(&t.events), STR("session text tool_begin tool_begin ")));
    assert_true(str_ends(buf_str(&t.events), STR("text finish ")));
    request.handle = str_of(t.handle);
    request.text = STR("and then?");
    request.context = STR("");
    forget(&t);
    Turn second;
    begin(&second, &h, "native", &request);
    end(&second);
    assert_true(loopback_saw(&server, "what is it?"));
    assert_true(loopback_saw(&server, "seen {\\\"q\\\":1}"));
    assert_false(loopback_saw(&server, "<memory>")); /* of its own turn alone */
    forget(&second);
    loopback_stop(&server);
    close_house(&h);
}

static void native_ends_a_loop_of_tools(void **state)
{
    static const LoopbackReply reply = { .bytes = STR_INIT(SSE_HEAD CALLS) };
    RuntimeRequest request = { .text = STR("go") };
    Loopback server;
    House h;
    Turn t;

    (void)state;
    open_house(&h);
    loopback_start(&server, &reply, 1);
    use_model(&h, server.port);
    begin(&t, &h, "native", &request);
    end(&t);
    assert_int_equal(t.status, RUNTIME_TRUNCATED);
    assert_string_equal(t.reason, "tool_rounds");
    assert_int_equal(server.requests, 12);
    forget(&t);
    loopback_stop(&server);
    close_house(&h);
}

static void native_is_cancelled(void **state)
{
    static const LoopbackReply reply = { .bytes = STR_INIT(SSE_HEAD SAYS), .end = LOOPBACK_HANG };
    RuntimeRequest request = { .text = STR("go") };
    Loopback server;
    House h;
    Turn t;

    (void)state;
    open_house(&h);
    loopback_start(&server, &reply, 1);
    use_model(&h, server.port);
    begin(&t, &h, "native", &request);
    wait_until(&t, has_text);
    t.runtime->cancel(t.run);
    t.runtime->cancel(t.run);
    end(&t);
    assert_int_equal(t.failed, false);
    assert_int_equal(t.status, RUNTIME_CANCELLED);
    assert_str(buf_str(&t.text), STR("Done."));
    forget(&t);
    loopback_stop(&server);
    close_house(&h);
}

/* -- offline -- */

static void offline_quotes(void **state)
{
    static const struct {
        const char *question, *words;
        bool failed;
    } rows[] = { { "cats", "> about cats", false },
                 { "nothing", "nothing in your history", false },
                 { "fail", "", true } };
    House h;

    (void)state;
    open_house(&h);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        RuntimeRequest request = { .text = str_of(rows[i].question) };
        Turn t;

        begin(&t, &h, "offline", &request);
        end(&t);
        assert_int_equal(t.failed, rows[i].failed);
        if (!rows[i].failed)
            assert_true(str_find(buf_str(&t.text), str_of(rows[i].words)) < t.text.n);
        forget(&t);
    }
    close_house(&h);
}

/* -- programs -- */

#define INIT "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'\n"
#define DELTA                                                                                      \
    "echo "                                                                                        \
    "'{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"delta\":{\"type\":" \
    "\"text_delta\",\"text\":\"'$1'\"}}}'\n"
#define RESULT                                                                                     \
    "echo "                                                                                        \
    "'{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"s\"}'\n"

static void programs_that_misbehave(void **state)
{
    static const struct {
        const char *script;
        int64_t first_ms, idle_ms, deadline_ms;
        RunError code;
    } rows[] = {
        { "exec sleep 30", 200, 0, 0, RUN_TIMEOUT_FIRST },
        { INIT "exec sleep 30", 5000, 300, 0, RUN_TIMEOUT_IDLE },
        { INIT "while :; do echo '{\"type\":\"x\"}'; sleep 0.05; done", 5000, 5000, 500,
          RUN_TIMEOUT_TOTAL },
        { "exit 3", 5000, 0, 0, RUN_RUNTIME_UNAVAILABLE },
        { "echo no >&2; exit 1", 5000, 0, 0, RUN_RUNTIME_UNAVAILABLE },
        { INIT "exit 0", 5000, 0, 0, RUN_STREAM_TRUNCATED },
        { INIT "kill -9 $$", 5000, 0, 0, RUN_STREAM_TRUNCATED },
        { INIT RESULT, 5000, 0, 0, RUN_EMPTY_RESPONSE },
        { "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo junk; done",
          5000, 0, 0, RUN_PROTOCOL_VIOLATION },
    };
    House h;

    (void)state;
    open_house(&h);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        RuntimeRequest request = { .text = STR("go"),
                                   .first_ms = rows[i].first_ms,
                                   .idle_ms = rows[i].idle_ms,
                                   .deadline_ms = rows[i].deadline_ms };
        Turn t;

        use_program(&h, "TALARIA_CLAUDE_BIN", rows[i].script);
        begin(&t, &h, "claude", &request);
        end(&t);
        if (!t.failed || t.code != rows[i].code)
            fail_msg("row %zu: %s %s", i, t.failed ? run_error_name(t.code) : "finished",
                     t.message);
        forget(&t);
    }
    close_house(&h);
}

/* It stays after its result; it is not waited for for long, and what it said counts. */
static void programs_that_linger(void **state)
{
    RuntimeRequest request = { .text = STR("go") };
    int64_t began = clock_mono_ms();
    House h;
    Turn t;

    (void)state;
    open_house(&h);
    use_program(&h, "TALARIA_CLAUDE_BIN", "set -- hi\n" INIT DELTA RESULT "exec sleep 60");
    begin(&t, &h, "claude", &request);
    end(&t);
    assert_int_equal(t.failed, false);
    assert_str(buf_str(&t.text), STR("hi"));
    assert_string_equal(t.handle, "s");
    assert_true(clock_mono_ms() - began < 20000);
    forget(&t);
    close_house(&h);
}

static void programs_see_what_they_may(void **state)
{
    RuntimeRequest request = { .text = STR("the prompt"), .context = STR("the context") };
    House h;
    Turn t;

    (void)state;
    open_house(&h);
    setenv("ANTHROPIC_TEST", "yes", 1);
    setenv("OPENAI_API_KEY", "other", 1);
    setenv("TALARIA_MODEL_KEY", "own", 1);
    use_program(
        &h, "TALARIA_CLAUDE_BIN",
        "read prompt\nset -- "
        "\"$ANTHROPIC_TEST/$OPENAI_API_KEY/$TALARIA_MODEL_KEY/$prompt/$(cat ${6#*=})\"\n" INIT
        "echo '{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\","
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"'\"$1\"'\"}}}'\n" RESULT);
    begin(&t, &h, "claude", &request);
    end(&t);
    assert_str(buf_str(&t.text), STR("yes///the prompt/the context"));
    forget(&t);
    unsetenv("ANTHROPIC_TEST");
    unsetenv("OPENAI_API_KEY");
    unsetenv("TALARIA_MODEL_KEY");
    close_house(&h);
}

static void handles_are_no_arguments(void **state)
{
    RuntimeRequest request = { .text = STR("go"), .handle = STR("--dangerously") };
    Turn t;
    House h;
    Err err;

    (void)state;
    open_house(&h);
    assert_null(runtime_find(STR("claude"))->start(&h.host, &request, on_event, &t, &err));
    assert_null(runtime_find(STR("codex"))->start(&h.host, &request, on_event, &t, &err));
    close_house(&h);
}

/* -- nothing is left behind -- */

static void fail_together(House *h, const char *runtime, RunError code)
{
    static Turn turns[BATCH];
    RuntimeRequest request = { .text = STR("go") };

    for (size_t i = 0; i < BATCH; i++)
        begin(&turns[i], h, runtime, &request);
    for (size_t i = 0; i < BATCH; i++) {
        end(&turns[i]);
        assert_true(turns[i].failed);
        assert_int_equal(turns[i].code, code);
        forget(&turns[i]);
    }
}

static void fail_all(House *h)
{
    fail_together(h, "hermes", RUN_RUNTIME_UNAVAILABLE);
    fail_together(h, "native", RUN_RUNTIME_UNAVAILABLE);
    fail_together(h, "claude", RUN_RUNTIME_UNAVAILABLE);
    fail_together(h, "codex", RUN_RUNTIME_UNAVAILABLE);
}

/* The last frees are posted: they have run when something posted after them has. */
static void settle(void *ctx)
{
    *(_Atomic bool *)ctx = true;
}

static void drain(House *h)
{
    _Atomic bool over = false;

    net_post(h->net, settle, (void *)&over);
    while (!over)
        usleep(1000);
}

static void failing_turns_leave_nothing(void **state)
{
    int rounds = getenv("TALARIA_LONG") ? 5 : 1; /* of 200 turns each, after one to warm up */
    size_t descriptors, memory;
    char url[64];
    House h;

    (void)state;
    open_house(&h);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", loopback_nobody());
    setenv("TALARIA_HERMES_BASE_URL", url, 1);
    setenv("TALARIA_CODEX_BIN", "/nonexistent/codex", 1);
    use_model(&h, loopback_nobody());
    use_program(&h, "TALARIA_CLAUDE_BIN", "exit 1");
    fail_all(&h);
    drain(&h);
    descriptors = open_descriptors();
    memory = mallinfo2().uordblks;
    for (int i = 0; i < rounds; i++)
        fail_all(&h);
    drain(&h);
    assert_int_equal(open_descriptors(), descriptors);
    assert_true(mallinfo2().uordblks < memory + SLACK);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    unsetenv("TALARIA_HERMES_BASE_URL");
    unsetenv("TALARIA_CODEX_BIN");
    unsetenv("TALARIA_CLAUDE_BIN");
    close_house(&h);
}

/* What malloc keeps for the next time in each thread counts as used, and a run is made on one
 * thread and freed on another: with that switched off, memory is counted to the byte. */
static void count_to_the_byte(char **argv)
{
    if (getenv("GLIBC_TUNABLES"))
        return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    (void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_uses_tools_and_goes_on),
        cmocka_unit_test(native_ends_a_loop_of_tools),
        cmocka_unit_test(native_is_cancelled),
        cmocka_unit_test(offline_quotes),
        cmocka_unit_test(programs_that_misbehave),
        cmocka_unit_test(programs_that_linger),
        cmocka_unit_test(programs_see_what_they_may),
        cmocka_unit_test(handles_are_no_arguments),
        cmocka_unit_test(failing_turns_leave_nothing),
    };

    (void)argc;
    count_to_the_byte(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
