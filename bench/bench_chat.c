/* Chat over HTTP: a server, a model of ours on loopback, and readers; a process each.
 *
 * 1. 100 turns at once, and 1,000, five words a second each, three readers a turn: all complete,
 * the three logs of each byte for byte the same, and how long a word takes from the model's socket
 * to a reader's: two trips through the kernel, the client of the model and the commit included.
 * Before that, the same model speaks to as many readers that listen to it themselves: what the
 * machine alone takes for it at that moment. The difference is ours; what was under way while the
 * machine itself stood still is left out of both, and counted in a line of its own.
 * 2. 1,000 lines that break while a run goes on: what came in pieces is its log.
 * 3. 1,000 turns that fail: what the server holds and weighs after 200 and after all. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "chat_model.h"
#include "common.h"
#include "stalls.h"

enum {
    FEW = 100,
    TURNS = MODEL_TURNS,
    READERS = MODEL_LISTENERS,
    WORDS = MODEL_WORDS,
    LINES = 1000,
    FAILURES = 1000
};

static int server_port, model_port;
static pid_t server_pid;

/* -- asking -- */

static bool ask_for(const char *method, const char *path, const char *body, const char *mark,
                    char ret[64])
{
    int fd = bench_ask(server_port, method, path, body);
    bool ok = fd >= 0 && bench_find(fd, mark, ret);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* A turn in a new conversation; whoever began it is gone at once. */
static bool begin_turn(char ret_run[64])
{
    char id[64], path[128];

    if (!ask_for("POST", "/api/conversations", "{\"runtime\":\"native\"}", "\"id\": \"", id))
        return false;
    snprintf(path, sizeof path, "/api/conversations/%s/chat", id);
    return ask_for("POST", path, "{\"text\":\"go\"}", "X-Run-Id: ", ret_run);
}

static int open_events(const char *run, int after)
{
    char path[128];

    snprintf(path, sizeof path, "/api/runs/%s/events?after=%d", run, after);
    return bench_ask(server_port, "GET", path, "");
}

/* -- 1: all at once -- */

typedef struct Reader {
    int fd;
    bool over;
    Buf got, log; /* all bytes; the events among them, without signs of life */
    size_t parsed;
} Reader;

static Reader readers[TURNS][READERS];
/* One word at one reader. */
typedef struct Word {
    int64_t said, took;
} Word;

static size_t n_turns, n_over, n_words;
static Word words[TURNS * READERS * WORDS];
static double worst; /* p99 with what the machine itself stood still */
static Signals *signals;
static double cpu_begun;

/* The words are the times at which they were said. */
static void measure(Str frame)
{
    Str ours = STR("\"text\": \""), the_models = STR("\"content\":\"");
    size_t at = str_find(frame, ours), direct = str_find(frame, the_models);
    Str rest = at < frame.n ? str_skip(frame, at + ours.n) : str_skip(frame, direct + the_models.n);
    int64_t said;

    if (n_words < ARRAY_LEN(words) &&
        str_to_int(str_head(rest, str_find(rest, STR(" "))), 0, INT64_MAX, &said))
        words[n_words++] = (Word){ said, clock_mono_ns() - said };
}

static void parse(Reader *r)
{
    Str all = buf_str(&r->got);

    if (!r->parsed) {
        size_t at = str_find(all, STR("\r\n\r\n"));

        if (at == all.n)
            return;
        r->parsed = at + 4;
    }
    for (;;) {
        Str rest = str_skip(all, r->parsed);
        size_t at = str_find(rest, STR("\n\n"));

        if (at == rest.n)
            return;
        measure(str_head(rest, at));
        if (!str_starts(rest, STR(":")))
            buf_add(&r->log, str_head(rest, at + 2));
        r->parsed += at + 2;
    }
}

static void hear(Reader *r)
{
    char text[16384];
    ssize_t n = recv(r->fd, text, sizeof text, MSG_DONTWAIT);

    if (n > 0) {
        buf_add(&r->got, (Str){ text, (size_t)n });
        parse(r);
    } else if (n == 0 && !r->over) {
        r->over = true;
        n_over++;
        close(r->fd);
    }
}

/* Of the server, in seconds. */
static double cpu_used(void)
{
    char path[64], text[512] = "";
    unsigned long long user = 0, kernel = 0;
    const char *at;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", server_pid);
    f = fopen(path, "r");
    if (f && fgets(text, sizeof text, f) && (at = strrchr(text, ')')) != NULL)
        (void)!sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                      &kernel);
    if (f)
        fclose(f);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

static bool all_to_the_end(int epoll)
{
    struct epoll_event events[256];
    int64_t give_up = clock_mono_ms() + 120000;
    bool begun = false;

    while (n_over < n_turns * READERS && clock_mono_ms() < give_up) {
        int n = epoll_wait(epoll, events, 256, 100);

        for (int i = 0; i < n; i++)
            hear(events[i].data.ptr);
        if (n == 0)
            atomic_store(&signals->caught_up, true);
        if (!begun && atomic_load(&signals->begun_ms)) {
            begun = true;
            cpu_begun = cpu_used();
        }
    }
    return n_over == n_turns * READERS;
}

static bool all_the_same(void)
{
    for (size_t i = 0; i < n_turns; i++) {
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
    int64_t x = ((const Word *)a)->took, y = ((const Word *)b)->took;

    return (x > y) - (x < y);
}

static double percentile(size_t percent)
{
    return n_words ? (double)words[n_words * percent / 100].took / 1e6 : 0;
}

/* What was under way while the machine stood still says nothing of us. */
static void leave_out_stalls(void)
{
    size_t n = 0;

    for (size_t i = 0; i < n_words; i++)
        if (!in_a_stall(words[i].said, words[i].said + words[i].took))
            words[n++] = words[i];
    n_words = n;
}

static void join(int epoll, Reader *r, int fd)
{
    *r = (Reader){ .fd = fd, .got = BUF(MIB(1)), .log = BUF(MIB(1)) };
    watch(epoll, fd, r);
}

static bool begin_turns(int epoll)
{
    for (size_t i = 0; i < n_turns; i++) {
        char run[64];

        if (!begin_turn(run))
            return false;
        for (size_t k = 0; k < READERS; k++)
            join(epoll, &readers[i][k], open_events(run, 0));
    }
    return true;
}

static bool begin_direct(int epoll)
{
    for (size_t i = 0; i < n_turns; i++)
        for (size_t k = 0; k < READERS; k++)
            join(epoll, &readers[i][k], bench_ask(model_port, "POST", "/v1", "{}"));
    return true;
}

/* True: all have come to their end, and every word was heard by every reader. */
static bool speak_and_hear(int listener, size_t listeners, bool (*begin)(int epoll))
{
    int epoll = epoll_create1(0);
    pid_t model;
    bool all;

    n_over = n_words = 0;
    atomic_store(&signals->begun_ms, 0);
    atomic_store(&signals->caught_up, false);
    model = model_start_speaking(listener, n_turns, listeners, signals);
    all = begin(epoll) && all_to_the_end(epoll) && n_words == n_turns * READERS * WORDS;
    waitpid(model, NULL, 0);
    close(epoll);
    qsort(words, n_words, sizeof *words, by_size);
    worst = percentile(99);
    leave_out_stalls();
    return all && n_words;
}

static void forget_logs(void)
{
    for (size_t i = 0; i < n_turns; i++)
        for (size_t k = 0; k < READERS; k++) {
            buf_done(&readers[i][k].got);
            buf_done(&readers[i][k].log);
        }
}

static void line(const char *what, const char *percent, double figure, double goal)
{
    char name[80];

    snprintf(name, sizeof name, "%s, %zu turns%s", what, n_turns, percent);
    bench_line(name, figure, "ms", goal, goal > 0 ? "goal" : "-", goal > 0 ? goal / figure : 0,
               goal <= 0 || figure <= goal);
}

static bool report_cpu(double used)
{
    char name[80];

    snprintf(name, sizeof name, "the server's CPU for a word and its readers, %zu turns", n_turns);
    bench_line(name, used * 1e6 / (double)(n_turns * WORDS), "us", 0, "-", 0, true);
    return true;
}

static bool bench_turns(int listener, size_t turns)
{
    double alone, alone_p50, all, cpu;
    char name[80];
    bool same;

    n_turns = turns;
    if (!speak_and_hear(listener, READERS, begin_direct))
        return false;
    alone_p50 = percentile(50);
    alone = percentile(99);
    forget_logs();
    same = speak_and_hear(listener, 1, begin_turns) && all_the_same();
    cpu = cpu_used() - cpu_begun;
    snprintf(name, sizeof name, "%zu turns at once over HTTP, 3 readers: identical", turns);
    bench_line(name, same ? (double)turns : 0, "turns", 0, "-", 0, same);
    forget_logs();
    if (!n_words)
        return false;
    all = percentile(99);
    line("a word to a reader, stalls of the machine included", ", p99", worst, 0);
    line("a word to a reader", ", p50", percentile(50), 0);
    line("a word to a reader", ", p99", all, 0);
    line("the same from the model itself", ", p50", alone_p50, 0);
    line("the same from the model itself", ", p99", alone, 0);
    line("added", ", p99", all - alone, 5);
    return report_cpu(cpu) && same && all - alone <= 5;
}

/* -- 2: lines that break -- */

static void *speak_slowly(void *ctx)
{
    int fd = accept(*(int *)ctx, NULL, NULL);

    while (!is_asked(fd))
        ;
    say_head(fd);
    for (int i = 0; i < 500; i++) {
        say_word(fd);
        usleep(5000);
    }
    say_end(fd);
    return NULL;
}

/* Up to `most` bytes from a place on; the whole frames among them are added. True: it was cut
 * off. */
static bool read_piece(const char *run, int *after, Buf *log, size_t max)
{
    AUTO_BUF got = BUF(MIB(4));
    int fd = open_events(run, *after);
    char text[4096];
    ssize_t n = 1;
    size_t at;
    Str rest;

    while (got.n < max && (n = recv(fd, text, sizeof text, 0)) > 0)
        buf_add(&got, (Str){ text, (size_t)n });
    close(fd);
    rest = buf_str(&got);
    rest = str_skip(rest, str_find(rest, STR("id: ")));
    for (; (at = str_find(rest, STR("\n\n"))) < rest.n; rest = str_skip(rest, at + 2)) {
        if (!str_starts(rest, STR("id: ")))
            continue;
        buf_add(log, str_head(rest, at + 2));
        ++*after;
    }
    return n > 0;
}

static bool bench_lines(int listener)
{
    AUTO_BUF whole = BUF(MIB(4));
    int broken = 0, after = 0, rounds = 0;
    pthread_t model;
    char run[64];
    bool same = true;

    if (pthread_create(&model, NULL, speak_slowly, &listener) != 0 || !begin_turn(run))
        return false;
    while (broken < LINES && same) {
        AUTO_BUF log = BUF(MIB(4));
        bool live = rounds++ == 0;

        after = 0;
        do
            broken += read_piece(run, &after, &log, 600 + (size_t)rand() % 3000);
        while (str_find(buf_str(&log), STR("\nevent: done\n")) == log.n);
        if (live)
            buf_add(&whole, buf_str(&log));
        same = str_eq(buf_str(&whole), buf_str(&log));
    }
    pthread_join(model, NULL);
    bench_line("1,000 broken lines: the pieces are the log", same ? broken : 0, "lines", 0, "-", 0,
               same);
    return same;
}

/* -- 3: turns that fail -- */

static void *fail_always(void *ctx)
{
    for (int i = 0; i < FAILURES; i++) {
        int fd = accept(*(int *)ctx, NULL, NULL);

        while (!is_asked(fd))
            ;
        if (i % 3 == 0) {
            say(fd,
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        } else {
            say_head(fd);
            if (i % 3 == 1)
                say_word(fd);
            else
                say(fd, "data: [DONE]\n\n");
        }
        close(fd);
    }
    return NULL;
}

static int count_descriptors(void)
{
    char path[64];
    int n = 0;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%d/fd", server_pid);
    folder = opendir(path);
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

static bool fail_once(void)
{
    AUTO_BUF log = BUF(MIB(1));
    char run[64];
    int after = 0;

    if (!begin_turn(run))
        return false;
    (void)read_piece(run, &after, &log, MIB(1));
    return str_find(buf_str(&log), STR("\"status\": \"failed\"")) < log.n;
}

static bool bench_failures(int listener)
{
    int first_fds = 0, last_fds;
    double first_mb = 0, last_mb;
    pthread_t model;
    bool flat;

    if (pthread_create(&model, NULL, fail_always, &listener) != 0)
        return false;
    for (int i = 0; i < FAILURES; i++) {
        if (!fail_once())
            return false;
        if (i + 1 == FAILURES / 5) {
            first_fds = count_descriptors();
            first_mb = bench_resident_mb(server_pid);
        }
    }
    pthread_join(model, NULL);
    last_fds = count_descriptors();
    last_mb = bench_resident_mb(server_pid);
    flat = last_fds <= first_fds + 8 && last_mb <= first_mb + 4;
    bench_line("1,000 failing turns: descriptors more than after 200", last_fds - first_fds, "fds",
               0, "-", 0, last_fds <= first_fds + 8);
    bench_line("1,000 failing turns: memory more than after 200", last_mb - first_mb, "MB", 0, "-",
               0, last_mb <= first_mb + 4);
    return flat;
}

/* -- all -- */

/* As many calls of the model at once as there are turns. */
static bool write_config(const char *folder)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof path, "%s/talaria", folder);
    if (mkdir(path, 0700) != 0)
        return false;
    snprintf(path, sizeof path, "%s/talaria/config.yaml", folder);
    f = fopen(path, "w");
    return f && fprintf(f, "model:\n  at_once: %d\n", TURNS) > 0 && fclose(f) == 0;
}

int main(void)
{
    char folder[256];
    int listener;
    bool few, turns, lines, failures;

    signal(SIGPIPE, SIG_IGN);
    stalls_watch();
    bench_folder(folder);
    listener = bench_listen(&model_port);
    signals =
        mmap(NULL, sizeof *signals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    server_pid = listener >= 0 && signals != MAP_FAILED && write_config(folder)
                     ? bench_serve(folder, model_port, &server_port)
                     : -1;
    if (server_pid < 0) {
        fprintf(stderr, "bench_chat: the server does not start\n");
        return 1;
    }
    few = bench_turns(listener, FEW);
    turns = bench_turns(listener, TURNS);
    lines = bench_lines(listener);
    failures = bench_failures(listener);
    kill(server_pid, SIGKILL);
    waitpid(server_pid, NULL, 0);
    bench_drop_folder(folder);
    return few && turns && lines && failures ? 0 : 1;
}
