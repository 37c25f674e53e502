/* The agent service with a runtime that does what its request says: one letter an event. */
#include "unit.h"

#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "agent/conversation.h"
#include "agent/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "store/db.h"

/* -- the scripted runtime -- */

/* s session · t text · u text cut inside a letter · g a new segment · k thinking · K much of it · o
 * a tool · f a failing tool · v counts · a asks and waits · n notice · r retry · x trace · h waits
 * for a cancel · F finish · L cut off · E fails · A refused · C does not know its handle, where it
 * was given one · z: says something after its end. */
struct RuntimeRun {
    RuntimeEventFn *fn;
    void *ctx;
    Net *net;
    char script[256];
    size_t at;
    int segment;
    bool ended, cancelled, resumes;
    char handle[64];
};

static atomic_int open_runs;
static char seen_gap[KIB(20)], seen_handle[64];
static size_t seen_history;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static void say_event(RuntimeRun *r, RuntimeEvent e)
{
    e.duration_ms = -1;
    r->fn(r->ctx, &e);
}

static void end_run(RuntimeRun *r, RuntimeEvent e)
{
    r->ended = true;
    say_event(r, e);
}

static Str much(void)
{
    static char text[MIB(4)];

    memset(text, 'k', sizeof text);
    return (Str){ text, sizeof text };
}

static bool play(RuntimeRun *r, char c)
{
    switch (c) {
    case 's':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_SESSION, .model = STR("m1") });
        break;
    case 't':
        say_event(
            r, (RuntimeEvent){ .kind = RUNTIME_TEXT, .text = STR("wörd "), .segment = r->segment });
        break;
    case 'u':
        say_event(r, (RuntimeEvent){
                         .kind = RUNTIME_TEXT, .text = STR("a\xff\n\"b"), .segment = r->segment });
        break;
    case 'g':
        r->segment++;
        break;
    case 'k':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_THINK, .text = STR("hm") });
        break;
    case 'K':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_THINK, .text = much() });
        break;
    case 'v':
        say_event(
            r, (RuntimeEvent){ .kind = RUNTIME_USAGE,
                               .usage = { .input = 3, .output = 2, .total = 5, .known = true } });
        break;
    case 'o':
    case 'f':
        say_event(r, (RuntimeEvent){
                         .kind = RUNTIME_TOOL_BEGIN, .name = STR("ls"), .call_id = STR("1") });
        say_event(
            r, (RuntimeEvent){ .kind = RUNTIME_TOOL_END, .call_id = STR("1"), .failed = c == 'f' });
        break;
    case 'n':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_NOTICE, .text = STR("note") });
        break;
    case 'r':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_RETRY, .attempt = 2, .text = STR("again") });
        break;
    case 'x':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_TRACE, .text = STR("raw bytes") });
        break;
    case 'a':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_APPROVAL,
                                     .call_id = STR("q1"),
                                     .text = STR("rm x"),
                                     .choices = { STR("once"), STR("deny") },
                                     .n_choices = 2 });
        return false;
    case 'h':
        return false;
    case 'F':
    case 'L':
        end_run(r,
                (RuntimeEvent){ .kind = RUNTIME_FINISH,
                                .status = c == 'F' ? RUNTIME_COMPLETED : RUNTIME_TRUNCATED,
                                .reason = c == 'F' ? STR("stop") : STR("length"),
                                .handle = str_of(r->handle),
                                .usage = { .input = 7, .output = 5, .total = 12, .known = true } });
        break;
    case 'E':
    case 'A':
        end_run(r,
                (RuntimeEvent){ .kind = RUNTIME_FAIL,
                                .code = c == 'E' ? RUN_UPSTREAM_ERROR : RUN_RUNTIME_AUTH,
                                .text = STR("sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD said no"),
                                .http_status = 529,
                                .runtime_code = STR("overloaded") });
        break;
    case 'C':
        if (!r->resumes)
            break;
        end_run(r, (RuntimeEvent){ .kind = RUNTIME_FAIL, .code = RUN_CONTINUITY_LOST });
        return false;
    case 'z':
        say_event(r, (RuntimeEvent){ .kind = RUNTIME_TEXT, .text = STR("too late") });
        break;
    default:
        fail_msg("no event '%c'", c);
    }
    return true;
}

static void go(void *ctx)
{
    RuntimeRun *r = ctx;

    while (r->script[r->at] && play(r, r->script[r->at++]))
        ;
}

static bool probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    (void)host;
    (void)a;
    (void)err;
    *ret = (RuntimeCaps){ .available = true };
    return true;
}

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *q, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    static int turn;
    RuntimeRun *r;

    if (str_eqz(q->text, "refuse")) {
        err_set_to(err, ERR_IO, "connection refused");
        return NULL;
    }
    r = mem_alloc(sizeof *r);
    atomic_fetch_add(&open_runs, 1);
    r->fn = fn;
    r->ctx = ctx;
    r->net = host->net;
    snprintf(r->script, sizeof r->script, "%.*s", STR_FMT(q->text));
    pthread_mutex_lock(&seen_lock);
    snprintf(r->handle, sizeof r->handle, "{\"b\":%d,\"a\":\"x\"}", ++turn);
    snprintf(seen_gap, sizeof seen_gap, "%.*s", STR_FMT(q->gap));
    snprintf(seen_handle, sizeof seen_handle, "%.*s", STR_FMT(q->handle));
    seen_history = q->n_history;
    r->resumes = q->handle.n > 0;
    pthread_mutex_unlock(&seen_lock);
    net_post(host->net, go, r);
    return r;
}

static void approve(RuntimeRun *r, Str id, Str choice)
{
    (void)id;
    (void)choice;
    net_post(r->net, go, r);
}

static void stop(void *ctx)
{
    RuntimeRun *r = ctx;

    if (!r->ended)
        end_run(r, (RuntimeEvent){ .kind = RUNTIME_FAIL, .code = RUN_CANCELLED });
}

static void cancel(RuntimeRun *r)
{
    if (!r->cancelled)
        net_post(r->net, stop, r);
    r->cancelled = true;
}

static void forget(void *ctx)
{
    atomic_fetch_sub(&open_runs, 1);
    mem_free(ctx);
}

/* On the loop, which may still be in the middle of the script. */
static void release(RuntimeRun *r)
{
    net_post(r->net, forget, r);
}

static bool replay(Str dialect, Str bytes, RuntimeEventFn *fn, void *ctx, Err *err)
{
    (void)dialect;
    (void)bytes;
    (void)fn;
    (void)ctx;
    return err_set(err, ERR_INVALID, "none");
}

#define FAKE(runtime_name, alias_name)                                                             \
    {                                                                                              \
        .name = runtime_name, .alias = alias_name, .title = "", .probe = probe, .start = start,    \
        .approve = approve, .cancel = cancel, .free = release, .replay = replay                    \
    }
static const Runtime alpha = FAKE("alpha", "jarvis"), beta = FAKE("beta", NULL);
static const Runtime *const fakes[] = { &alpha, &beta, NULL };

/* -- a place for each test -- */

typedef struct ChatAddress {
    Arena *arena;
    Homes homes;
    Home home;
    Settings settings;
    Service *service;
    Str conversation;
    PrepareFn *prepare;
} ChatAddress;

static void open_service(ChatAddress *p)
{
    Err err = { 0 };

    p->service = service_open(&(ServiceOptions){ .homes = &p->homes,
                                                 .settings = &p->settings,
                                                 .runtimes = fakes,
                                                 .prepare = p->prepare,
                                                 .plain = !p->prepare },
                              &err);
    if (!p->service)
        fail_msg("%s", err.text);
}

static Str new_conversation(ChatAddress *p)
{
    Conversation c = { .id = id_new(p->arena, 'c'), .default_runtime = STR("alpha") };
    Err err;
    Runs *r = service_borrow_runs(p->service, &err);

    assert_non_null(r);
    assert_true(conversation_create(r, &c, &err));
    service_return_runs(p->service, r);
    return c.id;
}

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);
    char path[] = "/tmp/talaria-test-XXXXXX";

    log_set_level(LOG_ERROR);
    p->arena = arena_new();
    p->home.path = str_dup(p->arena, str_of(mkdtemp(path)));
    p->homes = (Homes){ .all = &p->home, .n = 1, .primary = &p->home, .data = p->home.path };
    settings_defaults(&p->settings);
    open_service(p);
    p->conversation = new_conversation(p);
    *state = p;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    ChatAddress *p = *state;

    service_close(p->service);
    assert_int_equal(atomic_load(&open_runs), 0);
    nftw(str_z(p->arena, p->home.path), remove_one, 8, FTW_DEPTH | FTW_PHYS);
    arena_free(p->arena);
    mem_free(p);
    return 0;
}

/* -- listening -- */

typedef struct Ear {
    Subscriber sub;
    pthread_mutex_t lock;
    pthread_cond_t more;
    bool woken;
    Buf bytes;
} Ear;

static void on_wake(void *ctx)
{
    Ear *e = ctx;

    pthread_mutex_lock(&e->lock);
    e->woken = true;
    pthread_cond_signal(&e->more);
    pthread_mutex_unlock(&e->lock);
}

static void wait_more(Ear *e)
{
    pthread_mutex_lock(&e->lock);
    while (!e->woken)
        pthread_cond_wait(&e->more, &e->lock);
    e->woken = false;
    pthread_mutex_unlock(&e->lock);
}

static void ear_join(Ear *e, LiveRun *live, int64_t after)
{
    *e = (Ear){ .lock = PTHREAD_MUTEX_INITIALIZER,
                .more = PTHREAD_COND_INITIALIZER,
                .bytes = BUF(MIB(8)) };
    e->sub.wake = on_wake;
    e->sub.ctx = e;
    sub_join(&e->sub, live, after);
}

/* The payload and an empty line. */
static size_t copy_frame(const Feed *feed, const Frame *f, size_t offset, char *out, size_t max)
{
    Str parts[] = { f ? frame_data(f) : STR_NONE, STR("\n\n") };
    size_t n = 0;

    (void)feed;
    for (size_t i = 0; f && i < ARRAY_LEN(parts); i++) {
        Str rest = str_skip(parts[i], offset);

        offset -= parts[i].n - rest.n;
        rest = str_head(rest, max - n);
        memcpy(out + n, rest.p, rest.n);
        n += rest.n;
    }
    return n;
}

static void ear_hear_all(Ear *e, size_t step)
{
    char piece[64];
    ssize_t n;

    while ((n = sub_read(&e->sub, copy_frame, piece, step)) >= 0) {
        if (n == 0)
            wait_more(e);
        else
            buf_add(&e->bytes, (Str){ piece, (size_t)n });
    }
    sub_leave(&e->sub);
}

/* What a run said, put together and checked: order, numbers, bytes. */
typedef struct Heard {
    Str text, status, code, message, runtime_code;
    int64_t frames, chars, http_status, input;
    size_t errors, dones;
} Heard;

static Heard check_frames(Arena *a, LiveRun *live)
{
    Heard h = { 0 };
    Ear ear;
    AUTO_BUF text = BUF(MIB(4));
    int stage = 0; /* 0 nothing, 1 after metadata, 2 after error, 3 after done */

    ear_join(&ear, live_hold(live), 0);
    for (;;) {
        bool over;
        const Frame *f = sub_next(&ear.sub, &over);
        AUTO(JsonDoc) *doc = NULL;
        Json data;
        Err err;
        int64_t n = 0;

        if (over)
            break;
        if (!f) {
            wait_more(&ear);
            continue;
        }
        doc = json_parse(frame_data(f), &err);
        assert_non_null(doc);
        assert_null(memchr(frame_data(f).p, '\n', frame_data(f).n));
        data = json_root(doc);
        assert_true(json_int(json_get(data, STR("seq")), &n));
        assert_int_equal(n, ++h.frames);
        assert_int_equal(f->event == FRAME_METADATA, stage == 0);
        assert_true(stage < 2 || (stage == 2 && f->event == FRAME_DONE));
        stage = f->event == FRAME_ERROR ? 2 : f->event == FRAME_DONE ? 3 : 1;
        if (f->event == FRAME_CHUNK) {
            assert_true(json_int(json_get(data, STR("offset")), &n));
            assert_int_equal(n, text.n);
            buf_add(&text, json_str(json_get(data, STR("text"))));
        } else if (f->event == FRAME_ERROR) {
            h.errors++;
            h.code = str_dup(a, json_str(json_get(data, STR("code"))));
            h.message = str_dup(a, json_str(json_get(data, STR("message"))));
            h.runtime_code = str_dup(a, json_str(json_get(data, STR("runtime_code"))));
            (void)json_int(json_get(data, STR("http_status")), &h.http_status);
        } else if (f->event == FRAME_DONE) {
            h.dones++;
            h.status = str_dup(a, json_str(json_get(data, STR("status"))));
            assert_true(json_int(json_get(data, STR("chars")), &h.chars));
            (void)json_int(json_get(json_get(data, STR("usage")), STR("input")), &h.input);
            assert_int_equal(h.chars, text.n);
        }
    }
    assert_int_equal(stage, 3);
    sub_leave(&ear.sub);
    h.text = str_dup(a, buf_str(&text));
    return h;
}

static LiveRun *chat(ChatAddress *p, Str conversation, const char *runtime, const char *script,
                     Run *ret)
{
    ChatRequest request = { .conversation_id = conversation,
                            .text = str_of(script),
                            .runtime = str_of(runtime) };
    LiveRun *live = NULL;
    Err err = { 0 };

    if (!service_chat(p->service, p->arena, &request, ret, &live, &err))
        fail_msg("%s", err.text);
    return live;
}

static Runs *take(ChatAddress *p)
{
    Err err;
    Runs *r = service_borrow_runs(p->service, &err);

    assert_non_null(r);
    return r;
}

/* -- verdicts -- */

static const struct {
    const char *script, *status, *code, *message_status;
} verdicts[] = {
    { "stttF", "completed", "", "complete" },
    { "stutF", "completed", "", "complete" },
    { "skotgtnF", "completed", "", "complete" },
    { "soF", "completed", "", "complete" },
    { "sF", "failed", "empty_response", "failed" },
    { "F", "failed", "empty_response", "failed" },
    { "sttL", "truncated", "", "partial" },
    { "sttE", "failed", "upstream_error", "partial" },
    { "sE", "failed", "upstream_error", "failed" },
    { "rA", "failed", "runtime_auth", "failed" },
    { "stFz", "completed", "", "complete" },
    { "stEz", "failed", "upstream_error", "partial" },
    { "refuse", "failed", "runtime_unavailable", "failed" },
    { "xsffxtF", "completed", "", "complete" },
};

static void each_verdict_is_told_once_and_kept(void **state)
{
    ChatAddress *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        Str id = new_conversation(p);
        ChatTurn *turns;
        LiveRun *live;
        size_t n;
        Heard h;
        Err err;
        Run run;
        Runs *r;

        live = chat(p, id, "alpha", verdicts[i].script, &run);
        h = check_frames(p->arena, live);
        live_drop(live);
        assert_str(h.status, str_of(verdicts[i].status));
        assert_str(h.code, str_of(verdicts[i].code));
        assert_int_equal(h.dones, 1);
        assert_int_equal(h.errors, verdicts[i].code[0] != 0);
        assert_true(str_find(h.message, STR("sk-abc")) == h.message.n);
        r = take(p);
        assert_true(turns_list(r, p->arena, id, 0, 10, &turns, &n, &err));
        assert_int_equal(n, 2);
        assert_str(turns[1].content, h.text);
        assert_str(turns[1].status, str_of(verdicts[i].message_status));
        assert_true(runs_get(r, p->arena, run.id, &run, &err));
        assert_str(run.state, str_of(verdicts[i].status));
        assert_int_equal(run.last_seq, h.frames);
        service_return_runs(p->service, r);
    }
}

static void a_failure_has_the_runtimes_own_words_and_counts(void **state)
{
    ChatAddress *p = *state;
    Run run;
    LiveRun *live = chat(p, p->conversation, "alpha", "svtE", &run);
    Heard h = check_frames(p->arena, live);

    live_drop(live);
    assert_int_equal(h.http_status, 529);
    assert_str(h.runtime_code, STR("overloaded"));
    assert_int_equal(h.input, 3);
}

static void one_that_never_stops_talking_is_stopped(void **state)
{
    ChatAddress *p = *state;
    Run run;
    LiveRun *live = chat(p, p->conversation, "alpha", "stKKKKKKKKKKKKKKKKKKKKKKKKtF", &run);
    Heard h = check_frames(p->arena, live);

    live_drop(live);
    assert_str(h.code, STR("protocol_violation"));
    assert_str(h.text, STR("wörd "));
    assert_true(h.frames < 4 + LIMIT_RUN_LOG / (int)MIB(4) + 4);
}

/* -- many readers -- */

static void every_reader_sees_the_same_bytes_from_any_place(void **state)
{
    ChatAddress *p = *state;
    Run run;
    LiveRun *live = chat(p, p->conversation, "alpha", "skttotgtutnttF", &run);
    Ear ears[3], ear;
    Str all;
    Err err;
    Runs *r;

    for (size_t i = 0; i < 3; i++)
        ear_join(&ears[i], live_hold(live), 0);
    for (size_t i = 0; i < 3; i++)
        ear_hear_all(&ears[i], 1 + i * 20);
    all = buf_str(&ears[0].bytes);
    assert_str(buf_str(&ears[1].bytes), all);
    assert_str(buf_str(&ears[2].bytes), all);
    live_drop(live);

    /* Now from the database; after each frame the rest is exactly the rest. */
    for (int64_t after = 0, at = 0;; after++) {
        r = take(p);
        live = runlog_find(service_log(p->service), r, run.id, &err);
        service_return_runs(p->service, r);
        assert_non_null(live);
        assert_int_equal(live_has_more(live, after), at < (int64_t)all.n);
        ear_join(&ear, live, after);
        ear_hear_all(&ear, 64);
        assert_str(buf_str(&ear.bytes), str_skip(all, (size_t)at));
        buf_done(&ear.bytes);
        if (at >= (int64_t)all.n)
            break;
        at += (int64_t)str_find(str_skip(all, (size_t)at), STR("\n\n")) + 2;
    }
    for (size_t i = 0; i < 3; i++)
        buf_done(&ears[i].bytes);
}

static void many_turns_at_once_all_end(void **state)
{
    enum { TURNS = 200 };
    ChatAddress *p = *state;
    LiveRun *live[TURNS];
    Run run;

    for (size_t i = 0; i < TURNS; i++)
        live[i] = chat(p, new_conversation(p), i % 2 ? "alpha" : "beta", i % 3 ? "stttotF" : "sttE",
                       &run);
    for (size_t i = 0; i < TURNS; i++) {
        Heard h = check_frames(p->arena, live[i]);

        assert_str(h.status, i % 3 ? STR("completed") : STR("failed"));
        live_drop(live[i]);
    }
}

/* -- continuity -- */

static void a_runtime_never_touches_anothers_handle(void **state)
{
    ChatAddress *p = *state;
    char before[2][65] = { "", "" };

    for (int i = 0; i < 50; i++) {
        bool failing = i % 7 == 3;
        int other = (i / 2 + 1) % 2;
        const char *names[] = { "alpha", "beta" };
        Run run;
        LiveRun *live = chat(p, p->conversation, names[1 - other], failing ? "stE" : "stF", &run);
        Continuity c;
        Err err;
        Runs *r;

        (void)check_frames(p->arena, live);
        live_drop(live);
        r = take(p);
        for (int k = 0; k < 2; k++) {
            assert_true(continuity_get(r, p->arena, p->conversation,
                                       k ? STR("beta") : STR("jarvis"), &c, &err));
            if (k == other || failing)
                assert_str(c.sha256, str_of(before[k]));
            snprintf(before[k], sizeof before[k], "%.*s", STR_FMT(c.sha256));
        }
        service_return_runs(p->service, r);
    }
}

static void switching_tells_what_was_said_elsewhere(void **state)
{
    static const char *const turns[][2] = { { "alpha", "stF" },
                                            { "beta", "sttF" },
                                            { "alpha", "skstF" } };
    ChatAddress *p = *state;
    Run run;

    for (size_t i = 0; i < 3; i++) {
        LiveRun *live = chat(p, p->conversation, turns[i][0], turns[i][1], &run);

        (void)check_frames(p->arena, live);
        live_drop(live);
        if (i == 1)
            assert_int_equal(seen_history, 2); /* beta is new here: it gets the turns themselves */
    }
    assert_non_null(strstr(seen_gap, "[user] sttF"));
    assert_non_null(strstr(seen_gap, "by beta"));
    assert_null(strstr(seen_gap, "[user] stF")); /* alpha was there */
    assert_string_not_equal(seen_handle, "");
}

static void make_turn(ChatAddress *p, const char *runtime, const char *script)
{
    Run run;
    LiveRun *live = chat(p, p->conversation, runtime, script, &run);

    (void)check_frames(p->arena, live);
    live_drop(live);
}

/* One that was cut off at a limit has its words in its own thread; one that failed has not. */
static void what_a_runtime_knows_is_not_told_again(void **state)
{
    ChatAddress *p = *state;

    make_turn(p, "alpha", "stF");
    make_turn(p, "alpha", "sttL");
    make_turn(p, "alpha", "stttF");
    assert_string_equal(seen_gap, "");
    make_turn(p, "alpha", "stttE");
    make_turn(p, "alpha", "stF");
    assert_non_null(strstr(seen_gap, "[user] stttE"));
    assert_null(strstr(seen_gap, "sttL"));
}

static void of_much_said_elsewhere_the_newest_is_told(void **state)
{
    ChatAddress *p = *state;
    char script[1800];

    make_turn(p, "alpha", "stF");
    for (int i = 1; i <= 12; i++) {
        snprintf(script, sizeof script, "s%.*sF%01700d", i, "tttttttttttt", 0);
        memset(script + 2 + i, 'z', strlen(script) - 2 - (size_t)i);
        make_turn(p, "beta", script);
    }
    make_turn(p, "alpha", "stF");
    assert_non_null(strstr(seen_gap, "[user] sttttttttttttF"));
    assert_null(strstr(seen_gap, "[user] stF"));
    assert_non_null(strstr(seen_gap, "(earlier turns are left out)"));
    assert_true(strlen(seen_gap) < LIMIT_RUN_GAP);
}

/* -- steering -- */

static void one_run_at_a_time_and_cancel(void **state)
{
    ChatAddress *p = *state;
    ChatRequest request = { .conversation_id = p->conversation, .text = STR("tF") };
    Run run, other;
    LiveRun *live = chat(p, p->conversation, "alpha", "sth", &run), *none;
    Heard h;
    Err err;

    assert_false(service_chat(p->service, p->arena, &request, &other, &none, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_true(service_cancel(p->service, run.id, &err));
    assert_true(service_cancel(p->service, run.id, &err));
    h = check_frames(p->arena, live);
    assert_str(h.status, STR("cancelled"));
    assert_int_equal(h.errors, 0);
    live_drop(live);
    assert_false(service_cancel(p->service, STR("rnone"), &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    live = chat(p, p->conversation, "alpha", "tF", &run);
    (void)check_frames(p->arena, live);
    live_drop(live);
}

static void an_approval_is_answered_once(void **state)
{
    ChatAddress *p = *state;
    Run run;
    LiveRun *live = chat(p, p->conversation, "alpha", "satF", &run);
    Err err;
    Ear ear;
    bool over, asked = false;

    ear_join(&ear, live_hold(live), 0);
    while (!asked) {
        const Frame *f = sub_next(&ear.sub, &over);

        assert_false(over);
        if (!f)
            wait_more(&ear);
        else
            asked = str_find(frame_data(f), STR("\"approval\"")) < frame_data(f).n;
    }
    sub_leave(&ear.sub);
    assert_false(service_approve(p->service, run.id, STR("other"), STR("once"), &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_false(service_approve(p->service, run.id, STR("q1"), STR("always"), &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_true(service_approve(p->service, run.id, STR("q1"), STR("once"), &err));
    assert_str(check_frames(p->arena, live).status, STR("completed"));
    live_drop(live);
    assert_false(service_approve(p->service, run.id, STR("q1"), STR("once"), &err));
}

/* Who waits for the end reads nothing before it, and for a moment between the call and the reading
 * does not wait: it is not slow for that, and is called once. */
static void one_who_waits_for_the_end_is_not_slow(void **state)
{
    ChatAddress *p = *state;
    Run run;
    LiveRun *live = chat(p, p->conversation, "alpha", "stah", &run);
    bool over = false;
    size_t frames = 0;
    Err err;
    Ear ear;

    ear_join(&ear, live_hold(live), 0);
    ear.sub.only_end = true;
    assert_false(sub_wait(&ear.sub));
    assert_true(service_cancel(p->service, run.id, &err));
    wait_more(&ear);
    ear.sub.moved_ms -= 2 * LIMIT_RUN_SLOW_MS;
    runlog_beat(service_log(p->service));
    assert_false(ear.sub.dropped);
    while (sub_next(&ear.sub, &over))
        frames++;
    assert_true(over && frames > 1);
    sub_leave(&ear.sub);
    live_drop(live);
}

static void a_key_gives_the_same_run_again(void **state)
{
    ChatAddress *p = *state;
    ChatRequest request = { .conversation_id = p->conversation,
                            .text = STR("stF"),
                            .idem_key = STR("k") };
    LiveRun *live;
    Run first, again;
    Err err;

    assert_true(service_chat(p->service, p->arena, &request, &first, &live, &err));
    (void)check_frames(p->arena, live);
    live_drop(live);
    assert_true(service_chat(p->service, p->arena, &request, &again, &live, &err));
    assert_str(again.id, first.id);
    assert_str(check_frames(p->arena, live).status, STR("completed"));
    live_drop(live);
    request.text = STR("sttF");
    assert_false(service_chat(p->service, p->arena, &request, &again, &live, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
}

/* -- trouble -- */

static void what_a_dead_process_left_is_closed(void **state)
{
    ChatAddress *p = *state;
    RunRequest request = { .id = STR("rdead"),
                           .conversation_id = p->conversation,
                           .runtime = STR("alpha"),
                           .owner = STR("pdead"),
                           .text = STR("hello") };
    RunEvent events[] = {
        { STR("rdead"), 1, STR("metadata"), STR("{\"seq\":1,\"v\":1}"), 1 },
        { STR("rdead"), 2, STR("chunk"),
          STR("{\"seq\":2,\"text\":\"half an \",\"offset\":0,\"segment\":0}"), 1 },
        { STR("rdead"), 3, STR("chunk"),
          STR("{\"seq\":3,\"text\":\"ans\",\"offset\":8,\"segment\":0}"), 1 },
    };
    Runs *r = take(p);
    ChatTurn *turns;
    LiveRun *live;
    size_t n;
    bool again;
    Heard h;
    Run run;
    Err err;

    assert_true(runs_begin(r, p->arena, &request, &run, &again, &err));
    assert_true(runs_write(r, &(RunBatch){ .events = events, .n_events = 3 }, &n, &err));
    service_return_runs(p->service, r);
    p->service = service_close(p->service);
    open_service(p);
    r = take(p);
    live = runlog_find(service_log(p->service), r, STR("rdead"), &err);
    assert_non_null(live);
    h = check_frames(p->arena, live);
    live_drop(live);
    assert_str(h.text, STR("half an ans"));
    assert_str(h.code, STR("internal"));
    assert_str(h.status, STR("failed"));
    assert_true(turns_list(r, p->arena, p->conversation, 0, 10, &turns, &n, &err));
    assert_str(turns[1].content, STR("half an ans"));
    assert_str(turns[1].status, STR("partial"));
    service_return_runs(p->service, r);
}

static void a_store_that_fails_ends_the_run_truthfully(void **state)
{
    ChatAddress *p = *state;
    Err err = { 0 };
    char *path = str_z(p->arena, str_join_path(p->arena, p->homes.data, STR("talaria.db")));
    AUTO(Db) *db = db_open_own(path, true, &err);
    LiveRun *live;
    Heard h;
    Run run;

    assert_true(db && db_script(db,
                                "CREATE TRIGGER no BEFORE UPDATE OF ended_ms ON run BEGIN SELECT "
                                "RAISE(ABORT, 'no'); END",
                                &err));
    live = chat(p, p->conversation, "alpha", "sttF", &run);
    h = check_frames(p->arena, live);
    live_drop(live);
    assert_str(h.code, STR("store_unavailable"));
    assert_str(h.status, STR("failed"));
    assert_int_equal(h.chars, 2 * strlen("wörd "));
    assert_true(db_script(db, "DROP TRIGGER no", &err));
    /* The run that could not be closed does not stand in the way. */
    live = chat(p, p->conversation, "alpha", "tF", &run);
    assert_str(check_frames(p->arena, live).status, STR("completed"));
    live_drop(live);
}

static bool prepare_nothing(void *ctx, Arena *a, const PrepareAsk *ask, Prepared *ret, Err *err)
{
    (void)ctx;
    (void)a;
    (void)ask;
    (void)ret;
    return err_set(err, ERR_CORRUPT, "the index is damaged");
}

static void trouble_with_the_context_makes_a_turn_poorer(void **state)
{
    ChatAddress *p = *state;
    LiveRun *live;
    Ear ear;
    Run run;

    p->service = service_close(p->service);
    p->prepare = prepare_nothing;
    open_service(p);
    live = chat(p, p->conversation, "alpha", "stF", &run);
    ear_join(&ear, live_hold(live), 0);
    ear_hear_all(&ear, 64);
    assert_true(str_find(buf_str(&ear.bytes), STR("\"degraded\"")) < ear.bytes.n);
    buf_done(&ear.bytes);
    assert_str(check_frames(p->arena, live).status, STR("completed"));
    live_drop(live);
}

static void a_lost_handle_is_a_new_session_that_is_told_all(void **state)
{
    ChatAddress *p = *state;
    Continuity before, after;
    LiveRun *live;
    Ear ear;
    Err err;
    Run run;
    Runs *r;

    live = chat(p, p->conversation, "beta", "stF", &run);
    assert_str(check_frames(p->arena, live).status, STR("completed"));
    live_drop(live);
    r = take(p);
    assert_true(continuity_get(r, p->arena, p->conversation, STR("beta"), &before, &err));
    live = chat(p, p->conversation, "beta", "CstF", &run);
    ear_join(&ear, live_hold(live), 0);
    ear_hear_all(&ear, 64);
    assert_true(str_find(buf_str(&ear.bytes), STR("\"detail\": \"lost\"")) < ear.bytes.n);
    buf_done(&ear.bytes);
    assert_str(check_frames(p->arena, live).status, STR("completed"));
    live_drop(live);
    assert_string_equal(seen_handle, "");
    assert_int_equal(seen_history, 2);
    assert_true(continuity_get(r, p->arena, p->conversation, STR("beta"), &after, &err));
    assert_int_equal(after.generation, before.generation + 1);
    assert_false(str_eq(after.handle, before.handle));
    service_return_runs(p->service, r);
}

/* -- conversations -- */

static void a_branch_has_the_words_and_no_handles(void **state)
{
    ChatAddress *p = *state;
    Str copy = id_new(p->arena, 'c');
    Continuity *handles;
    ChatTurn *turns;
    LiveRun *live;
    size_t n;
    Err err;
    Run run;
    Runs *r;

    for (int i = 0; i < 2; i++) {
        live = chat(p, p->conversation, "alpha", "stF", &run);
        (void)check_frames(p->arena, live);
        live_drop(live);
    }
    r = take(p);
    assert_true(conversation_branch(r, p->conversation, 2, copy, &err));
    assert_true(turns_list(r, p->arena, copy, 0, 10, &turns, &n, &err));
    assert_int_equal(n, 2);
    assert_str(turns[1].content, STR("wörd "));
    assert_true(continuity_list(r, p->arena, copy, &handles, &n, &err));
    assert_int_equal(n, 0);
    assert_true(conversation_delete(r, p->conversation, &err));
    assert_false(conversation_delete(r, p->conversation, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_true(turns_list(r, p->arena, copy, 0, 10, &turns, &n, &err));
    assert_int_equal(n, 2);
    service_return_runs(p->service, r);
}

static void names_of_files_are_no_paths(void **state)
{
    static const char *const bad[] = { "", "../x", "a/b", "a\\b", "a\nb" };
    ChatAddress *p = *state;
    Attachment x;
    Str bytes;
    Err err;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(files_add(p->service, p->arena, p->conversation, str_of(bad[i]), STR_NONE,
                               STR("x"), &x, &err));
    assert_true(files_add(p->service, p->arena, p->conversation, STR("..py"), STR_NONE,
                          STR("hello"), &x, &err));
    assert_true(files_read(p->service, p->arena, &x, &bytes, &err));
    assert_str(bytes, STR("hello"));
    x.path = STR("../../etc/passwd");
    assert_false(files_read(p->service, p->arena, &x, &bytes, &err));
    assert_false(
        files_add(p->service, p->arena, STR("cnone"), STR("a.txt"), STR_NONE, STR("x"), &x, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_verdict_is_told_once_and_kept),
        TEST(every_reader_sees_the_same_bytes_from_any_place),
        TEST(a_failure_has_the_runtimes_own_words_and_counts),
        TEST(one_that_never_stops_talking_is_stopped),
        TEST(many_turns_at_once_all_end),
        TEST(a_runtime_never_touches_anothers_handle),
        TEST(switching_tells_what_was_said_elsewhere),
        TEST(what_a_runtime_knows_is_not_told_again),
        TEST(of_much_said_elsewhere_the_newest_is_told),
        TEST(one_run_at_a_time_and_cancel),
        TEST(an_approval_is_answered_once),
        TEST(one_who_waits_for_the_end_is_not_slow),
        TEST(a_key_gives_the_same_run_again),
        TEST(what_a_dead_process_left_is_closed),
        TEST(a_store_that_fails_ends_the_run_truthfully),
        TEST(trouble_with_the_context_makes_a_turn_poorer),
        TEST(a_lost_handle_is_a_new_session_that_is_told_all),
        TEST(a_branch_has_the_words_and_no_handles),
        TEST(names_of_files_are_no_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
