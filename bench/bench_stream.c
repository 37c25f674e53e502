/* The streams of the agent service; bench_chat.c has them over HTTP.
 *
 * 1. 1,000 turns at once against a runtime on the loop that says a word every 100 ms when all have
 * begun, each with three readers: all complete, the three logs of each byte for byte the same, and
 * how long a word takes from the runtime's mouth to a reader, with the commit in between.
 * 2. 10,000 readers of a run that says nothing: what the server weighs. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/service.h"
#include "base/clock.h"
#include "base/log.h"
#include "common.h"

enum { TURNS = 1000, READERS = 3, WORDS = 30, PACE_MS = 100, IDLE = 10000, GROUP = 500 };

/* -- a runtime that speaks at its pace -- */

struct RuntimeRun {
    Net *net;
    RuntimeEventFn *fn;
    void *ctx;
    NetTimer timer;
    int said;
    bool begun;
};

static atomic_bool all_begun;

static void speak(void *ctx)
{
    RuntimeRun *r = ctx;
    char word[32];
    int n = snprintf(word, sizeof word, "%lld ", (long long)clock_mono_ns());

    if (!r->begun) {
        r->begun = atomic_load(&all_begun);
        net_timer_set(r->net, &r->timer, clock_mono_ms() + 1 + rand() % PACE_MS);
    } else if (r->said++ < WORDS) {
        r->fn(r->ctx, &(RuntimeEvent){ .kind = RUNTIME_TEXT, .text = { word, (size_t)n } });
        net_timer_set(r->net, &r->timer, clock_mono_ms() + PACE_MS);
    } else {
        r->fn(r->ctx, &(RuntimeEvent){ .kind = RUNTIME_FINISH, .reason = STR("stop") });
    }
}

static RuntimeRun *start(const RuntimeHost *host, const RuntimeRequest *request, RuntimeEventFn *fn,
                         void *ctx, Err *err)
{
    RuntimeRun *r = mem_alloc(sizeof *r);

    (void)request;
    (void)err;
    *r = (RuntimeRun){ .net = host->net, .fn = fn, .ctx = ctx };
    r->timer = (NetTimer){ .fn = speak, .ctx = r };
    net_post(host->net, speak, r);
    return r;
}

static void cancel(RuntimeRun *r)
{
    (void)r;
}

static void release(RuntimeRun *r)
{
    mem_free(r);
}

static const Runtime speaker = {
    .name = "speaker", .start = start, .cancel = cancel, .free = release
};
static const Runtime *const speakers[] = { &speaker, NULL };

/* -- readers: all on one thread, called when there is something -- */

typedef struct Reader {
    Subscriber sub;
    struct Reader *next;
    bool queued, over;
    Buf log;
} Reader;

static Reader readers[TURNS][READERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static Reader *queue;
static int64_t *delays;
static size_t n_delays;

static void on_wake(void *ctx)
{
    Reader *r = ctx;

    pthread_mutex_lock(&lock);
    if (!r->queued) {
        r->queued = true;
        r->next = queue;
        queue = r;
        pthread_cond_signal(&more);
    }
    pthread_mutex_unlock(&lock);
}

/* The words are the times at which they were said. */
static void measure(const Frame *f)
{
    Str data = frame_data(f);
    size_t at = str_find(data, STR("\"text\": \""));
    Str rest = str_skip(data, at + 9);
    int64_t said;

    if (f->event == FRAME_CHUNK &&
        str_to_int(str_head(rest, str_find(rest, STR(" "))), 0, INT64_MAX, &said))
        delays[n_delays++] = clock_mono_ns() - said;
}

/* True: it has come to the end. */
static bool read_all(Reader *r)
{
    const Frame *f;
    bool over;

    while ((f = sub_next(&r->sub, &over)) != NULL) {
        measure(f);
        buf_add(&r->log, frame_data(f));
    }
    return over;
}

static Reader *take_queue(void)
{
    Reader *all;

    pthread_mutex_lock(&lock);
    while (!queue)
        pthread_cond_wait(&more, &lock);
    all = queue;
    queue = NULL;
    for (Reader *r = all; r; r = r->next)
        r->queued = false;
    pthread_mutex_unlock(&lock);
    return all;
}

static void *listen_to_all(void *ctx)
{
    size_t left = TURNS * READERS;

    (void)ctx;
    while (left)
        for (Reader *r = take_queue(), *next; r; r = next) {
            next = r->next;
            if (!r->over && read_all(r)) {
                r->over = true;
                left--;
            }
        }
    return NULL;
}

/* -- 1 -- */

static bool begin_turns(Service *s, Arena *a)
{
    for (size_t i = 0; i < TURNS; i++) {
        Conversation c = { .id = id_new(a, 'c') };
        ChatRequest chat = { .conversation_id = c.id,
                             .text = STR("go"),
                             .runtime = STR("speaker") };
        LiveRun *live;
        Run run;
        Err err;
        Runs *r = service_borrow_runs(s, &err);

        if (!r || !conversation_create(r, &c, &err))
            return false;
        service_return_runs(s, r);
        if (!service_chat(s, a, &chat, &run, &live, &err))
            return false;
        for (size_t k = 0; k < READERS; k++) {
            Reader *reader = &readers[i][k];

            reader->log = BUF(1 << 20);
            reader->sub.wake = on_wake;
            reader->sub.ctx = reader;
            sub_join(&reader->sub, k ? live_hold(live) : live, 0);
            on_wake(reader);
        }
    }
    return true;
}

static bool all_the_same(void)
{
    for (size_t i = 0; i < TURNS; i++) {
        Str first = buf_str(&readers[i][0].log);

        if (str_find(first, STR("\"status\": \"completed\", \"finish_reason\"")) == first.n)
            return false;
        for (size_t k = 1; k < READERS; k++)
            if (!str_eq(first, buf_str(&readers[i][k].log)))
                return false;
    }
    return true;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool bench_turns(void)
{
    Arena *a = arena_new();
    char folder[256];
    Home home = { 0 };
    Homes homes;
    Settings settings;
    pthread_t listener;
    Service *s;
    Err err;
    double p99;
    bool same;

    bench_folder(folder);
    home.path = str_of(folder);
    homes = (Homes){ .all = &home, .n = 1, .primary = &home, .data = home.path };
    settings_defaults(&settings);
    delays = calloc((size_t)TURNS * READERS * WORDS, sizeof *delays);
    s = service_open(
        &(ServiceOptions){
            .homes = &homes, .settings = &settings, .runtimes = speakers, .plain = true },
        &err);
    if (!s || !delays || pthread_create(&listener, NULL, listen_to_all, NULL) != 0 ||
        !begin_turns(s, a))
        return false;
    atomic_store(&all_begun, true);
    pthread_join(listener, NULL);
    same = all_the_same();
    for (size_t i = 0; i < TURNS; i++)
        for (size_t k = 0; k < READERS; k++) {
            sub_leave(&readers[i][k].sub);
            buf_done(&readers[i][k].log);
        }
    service_close(s);
    qsort(delays, n_delays, sizeof *delays, by_size);
    p99 = (double)delays[n_delays * 99 / 100] / 1e6;
    bench_line("1,000 turns at once, 3 readers: identical", same ? TURNS : 0, "turns", 0, "-", 0,
               same && n_delays == (size_t)TURNS * READERS * WORDS);
    bench_line("added latency a chunk, p50", (double)delays[n_delays / 2] / 1e6, "ms", 0, "-", 0,
               true);
    bench_line("added latency a chunk, p99", p99, "ms", 5, "goal", 5 / p99, p99 <= 5);
    bench_drop_folder(folder);
    arena_free(a);
    free(delays);
    return same && p99 <= 5;
}

/* -- 2 -- */

/* In groups: whoever asks 10,000 times at once is told to come again. */
static bool open_idle(int port, const char *path)
{
    static int fds[IDLE];
    char byte[16];

    for (int i = 0; i < IDLE; i += GROUP) {
        for (int k = i; k < i + GROUP; k++) {
            fds[k] = bench_ask(port, "GET", path, "");
            if (fds[k] < 0)
                return false;
        }
        for (int k = i; k < i + GROUP; k++)
            if (read(fds[k], byte, sizeof byte) < 12 || memcmp(byte, "HTTP/1.1 200", 12) != 0)
                return false;
    }
    return true;
}

static bool bench_idle(void)
{
    char folder[256], id[64] = "", run[64] = "", path[128];
    int model_port = 0, port = 0, fd;
    pid_t pid;
    double before, after;
    bool ok;

    bench_folder(folder);
    fd = bench_listen(&model_port);
    pid = fd < 0 ? -1 : bench_serve(folder, model_port, &port);
    if (pid < 0 ||
        !bench_find(bench_ask(port, "POST", "/api/conversations", "{\"runtime\":\"native\"}"),
                    "\"id\": \"", id))
        return false;
    snprintf(path, sizeof path, "/api/conversations/%s/chat", id);
    if (!bench_find(bench_ask(port, "POST", path, "{\"text\":\"wait\"}"), "X-Run-Id: ", run))
        return false;
    before = bench_resident_mb(pid);
    snprintf(path, sizeof path, "/api/runs/%s/events", run);
    ok = open_idle(port, path);
    after = bench_resident_mb(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    bench_line("server before them", before, "MB", 0, "-", 0, true);
    bench_line("10,000 idle readers of a run", after, "MB", 60, "goal", 60 / after,
               ok && after <= 60);
    bench_drop_folder(folder);
    return ok && after <= 60;
}

int main(void)
{
    bool turns, idle;

    signal(SIGPIPE, SIG_IGN);
    log_set_level(LOG_ERROR);
    turns = bench_turns();
    idle = bench_idle();
    return turns && idle ? 0 : 1;
}
