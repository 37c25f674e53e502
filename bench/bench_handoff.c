/* Handoffs to the local platform, carried out by a gateway of its own process.
 *
 * 1. 1,000 one after the other: from the request on the disk to a worker that has it (99th percentile, promise
 *    50 ms), and to the card at the platform (99th percentile, promise 300 ms).
 * 2. 200 at once: all arrive, and how long that takes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "common.h"
#include "gateway/gateway.h"
#include "gateway/wake.h"
#include "store/db.h"
#include "store/handoff.h"
#include "store/own.h"

enum { ONE_BY_ONE = 1000, AT_ONCE = 200, MOST_MS = 60000 };

typedef struct Bench {
    Journal *journal;
    Str data;
    int64_t picked[ONE_BY_ONE], shown[ONE_BY_ONE];
} Bench;

static int failed(const char *what, const Err *err)
{
    fprintf(stderr, "bench_handoff: %s: %s\n", what, err->text);
    return 1;
}

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

/* -- the world ----------------------------------------------------------------------------------------- */

static bool add_sessions(Str data, Err *err)
{
    AUTO(Own) *own = own_open(data, err);
    AUTO(Arena) *a = arena_new();
    bool ok = own && own_begin(own, err);

    for (int i = 0; ok && i < ONE_BY_ONE + AT_ONCE; i++) {
        Str id = str_printf(a, "s%04d", i);
        Session s = { .id = id, .source = STR("cli"), .started_at = 1767225600 + i };
        Message m = { .session_id = id,
                      .role = STR("user"),
                      .content = STR("please look at the failing test"),
                      .timestamp = s.started_at,
                      .active = 1 };

        ok = own_add_session(own, &s, err) && own_add_message(own, &m, err);
    }
    return ok && own_commit(own, err);
}

static pid_t start_gateway(const char *folder)
{
    pid_t pid = fork();

    if (pid == 0) {
        char *argv[] = { (char *)bench_binary(), (char *)"gateway", (char *)"run", NULL };

        setenv("TALARIA_HOME", folder, 1);
        setenv("HERMES_HOME", "/nonexistent", 1);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        execv(argv[0], argv);
        _exit(127);
    }
    return pid;
}

static bool is_up(Str data)
{
    AUTO(Arena) *a = arena_new();
    const char *sock = str_z(a, str_join_path(a, data, STR("gateway.sock")));
    int64_t until = clock_mono_ms() + 10000;

    while (clock_mono_ms() < until) {
        if (gateway_is_running(data) && access(sock, F_OK) == 0)
            return true;
        rest();
    }
    return false;
}

/* -- one by one ------------------------------------------------------------------------------------------- */

static bool is_shown(Bench *b, Str id, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(b->journal), "SELECT 1 FROM local_message WHERE key = ? || ':0'",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, id);
    return db_step(journal_db(b->journal), stmt, ret, err);
}

static bool hand_one(Bench *b, int i, Err *err)
{
    AUTO(Arena) *a = arena_new();
    HandoffWish wish = { .home = b->data,
                         .session_id = str_printf(a, "s%04d", i),
                         .platform = STR("local") };
    int64_t began, until = clock_mono_ms() + MOST_MS;
    bool shown = false;
    Handoff h;

    if (!handoff_request(b->journal, a, &wish, &h, err))
        return false;
    began = clock_mono_ns();
    wake_call(b->data);
    while (!shown) {
        if (clock_mono_ms() > until)
            return err_set(err, ERR_BUSY, "handoff %d is not done after a minute", i);
        if (!b->picked[i] && h.state != HANDOFF_QUEUED)
            b->picked[i] = clock_mono_ns() - began;
        rest();
        if (!handoff_get(b->journal, a, h.id, &h, err) || !is_shown(b, h.id, &shown, err))
            return false;
    }
    b->shown[i] = clock_mono_ns() - began;
    if (!b->picked[i])
        b->picked[i] = b->shown[i];
    return true;
}

static int by_size(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return (a > b) - (a < b);
}

static void tell(const char *name, int64_t *all, double promise)
{
    double p50, p99;

    qsort(all, ONE_BY_ONE, sizeof *all, by_size);
    p50 = (double)all[ONE_BY_ONE / 2] / 1e6;
    p99 = (double)all[ONE_BY_ONE * 99 / 100] / 1e6;
    printf("# %s: median %.2f ms\n", name, p50);
    bench_line(name, p99, "ms", promise, "-", promise / p99, p99 <= promise);
}

/* -- all at once -------------------------------------------------------------------------------------------- */

static bool hand_many(Bench *b, double *ret_ms, int64_t *ret_done, Err *err)
{
    int64_t began = clock_mono_ns(), until = clock_mono_ms() + MOST_MS;

    for (int i = 0; i < AT_ONCE; i++) {
        AUTO(Arena) *a = arena_new();
        HandoffWish wish = { .home = b->data,
                             .session_id = str_printf(a, "s%04d", ONE_BY_ONE + i),
                             .platform = STR("local") };
        Handoff h;

        if (!handoff_request(b->journal, a, &wish, &h, err))
            return false;
    }
    wake_call(b->data);
    do {
        rest();
        if (!db_int(journal_db(b->journal),
                    "SELECT count(*) FROM handoff WHERE state = 'done' AND session_id >= 's1000'",
                    0, ret_done, err))
            return false;
    } while (*ret_done < AT_ONCE && clock_mono_ms() < until);
    *ret_ms = (double)(clock_mono_ns() - began) / 1e6;
    return true;
}

static bool measure(Bench *b, double *ret_ms, int64_t *ret_done, Err *err)
{
    for (int i = 0; i < ONE_BY_ONE; i++)
        if (!hand_one(b, i, err))
            return false;
    return hand_many(b, ret_ms, ret_done, err);
}

static double cpu_ms(const struct rusage *used)
{
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1e3 +
           (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1e3;
}

int main(void)
{
    static Bench b;
    char folder[256];
    int64_t done = 0;
    double ms = 0;
    struct rusage used = { 0 };
    bool ok;
    pid_t pid;
    Err err = { 0 };

    bench_folder(folder);
    b.data = str_of(folder);
    if (!add_sessions(b.data, &err) || !(b.journal = journal_open(b.data, &err)))
        return failed("sessions", &err);
    pid = start_gateway(folder);
    ok = is_up(b.data) && measure(&b, &ms, &done, &err);
    kill(pid, SIGTERM);
    wait4(pid, NULL, 0, &used);
    b.journal = journal_close(b.journal);
    bench_drop_folder(folder);
    if (!ok)
        return failed("gateway", &err);
    tell("handoff_pick_up_p99", b.picked, 50);
    tell("handoff_first_card_p99", b.shown, 300);
    bench_line("handoff_200_at_once", (double)done, "arrived", AT_ONCE, "-", (double)done / AT_ONCE,
               done == AT_ONCE);
    printf("# 200 handoffs at once: %.0f ms; the gateway's CPU: %.2f ms a handoff\n", ms,
           cpu_ms(&used) / (ONE_BY_ONE + AT_ONCE));
    return done == AT_ONCE ? 0 : 1;
}
