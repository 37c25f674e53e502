/* Handoffs to the local platform, carried out by a gateway of its own process.
 *
 * 1. 1,000 one after the other: from the request on the disk to a worker that has it (99th
 * percentile, promise 50 ms), and to the card at the platform (99th percentile, promise 300 ms).
 * 2. 200 at once: all arrive, and how long that takes.
 * 3. The same for requests that another program writes into Hermes' database, with a write-ahead
 * log and without one: 200 one after the other, 100 at once.
 * 4. Without a log, beside a reader that holds the database for half a second: none fails, and the
 * last one is done within 0.3 s after the reader has let go. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "common.h"
#include "gateway/gateway.h"
#include "handoff/handoff.h"
#include "handoff/wake.h"
#include "store/db.h"
#include "store/own.h"

enum {
    ONE_BY_ONE = 1000,
    AT_ONCE = 200,
    HERMES_ONE_BY_ONE = 200,
    HERMES_AT_ONCE = 100,
    BESIDE_READER = 20,
    READER_MS = 500,
    MAX_MS = 60000
};

typedef struct Bench {
    OwnStore *journal;
    Str data;
    Db *hermes; /* where requests are written as another program does; NULL: they are ours */
    int one_by_one;
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

/* -- the world -- */

static bool add_sessions(Str data, Err *err)
{
    AUTO(OwnStore) *own = own_store_open(data, err);
    AUTO(Arena) *a = arena_new();
    bool ok = own && own_store_begin(own, err);

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
    return ok && own_store_end(own, true, err);
}

static pid_t start_gateway(const char *folder, const char *hermes)
{
    pid_t pid = fork();

    if (pid == 0) {
        char *argv[] = { (char *)bench_binary(), (char *)"gateway", (char *)"run", NULL };

        setenv("TALARIA_HOME", folder, 1);
        setenv("HERMES_HOME", hermes, 1);
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

/* -- one by one -- */

static bool is_shown(Bench *b, Str id, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(b->journal), &rows, err,
                  "SELECT 1 FROM local_message WHERE key = ? || ':0'", TEXT(id)))
        return false;
    return db_row(rows, ret, err);
}

/* As a program of Hermes asks: it wakes nobody. */
static bool ask_in_hermes(Bench *b, Arena *a, Str session_id, Err *err)
{
    return db_script(b->hermes,
                     str_printf(a,
                                "UPDATE sessions SET handoff_state = 'pending', handoff_platform = "
                                "'local' WHERE id = '%.*s'",
                                STR_FMT(session_id))
                         .p,
                     err);
}

static bool ask(Bench *b, Arena *a, int i, Err *err)
{
    HandoffRequest request = { .home = b->data,
                               .session_id = str_printf(a, "s%04d", i),
                               .platform = STR("local") };
    Handoff h;

    if (b->hermes)
        return ask_in_hermes(b, a, request.session_id, err);
    if (!handoff_request(b->journal, a, &request, &h, err))
        return false;
    wake_call(b->data);
    return true;
}

/* Of the session; by the journal alone: to look into Hermes' database would be to hold it. */
static bool look(Bench *b, Arena *a, int i, Handoff *ret, Err *err)
{
    Handoff *all;
    size_t n;

    if (!handoff_list(b->journal, a, STR(""), str_printf(a, "s%04d", i), 1, &all, &n, err))
        return false;
    *ret = n ? all[0] : (Handoff){ .state = HANDOFF_QUEUED };
    return true;
}

static bool hand_one(Bench *b, int i, Err *err)
{
    AUTO(Arena) *a = arena_new();
    int64_t began, until = clock_mono_ms() + MAX_MS;
    bool shown = false;
    Handoff h;

    if (!ask(b, a, i, err))
        return false;
    began = clock_mono_ns();
    while (!shown) {
        if (!look(b, a, i, &h, err) || (h.id.n && !is_shown(b, h.id, &shown, err)))
            return false;
        if (clock_mono_ms() > until)
            return err_set(err, ERR_BUSY, "handoff %d is not done after a minute", i);
        if (!b->picked[i] && h.state != HANDOFF_QUEUED)
            b->picked[i] = clock_mono_ns() - began;
        arena_reset(a);
        rest();
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

static void tell(const char *name, int64_t *all, int n, double promise)
{
    double p50, p99;

    qsort(all, (size_t)n, sizeof *all, by_size);
    p50 = (double)all[n / 2] / 1e6;
    p99 = (double)all[n * 99 / 100] / 1e6;
    printf("# %s: median %.2f ms\n", name, p50);
    bench_line(name, p99, "ms", promise, "-", promise / p99, p99 <= promise);
}

/* -- all at once -- */

static bool hand_many(Bench *b, int n, double *ret_ms, int64_t *ret_done, Err *err)
{
    int64_t began = clock_mono_ns(), until = clock_mono_ms() + MAX_MS;
    AUTO(Arena) *a = arena_new();
    const char *done = str_printf(a,
                                  "SELECT count(*) FROM handoff WHERE state = 'done' AND "
                                  "session_id >= 's%04d'",
                                  b->one_by_one)
                           .p;

    for (int i = 0; i < n; i++)
        if (!ask(b, a, b->one_by_one + i, err))
            return false;
    do {
        rest();
        if (!db_get_int_once(own_store_db(b->journal), 0, ret_done, err, done))
            return false;
    } while (*ret_done < n && clock_mono_ms() < until);
    *ret_ms = (double)(clock_mono_ns() - began) / 1e6;
    return true;
}

static bool measure(Bench *b, int at_once, double *ret_ms, int64_t *ret_done, Err *err)
{
    for (int i = 0; i < b->one_by_one; i++)
        if (!hand_one(b, i, err))
            return false;
    return hand_many(b, at_once, ret_ms, ret_done, err);
}

/* -- Hermes' database -- */

static Db *make_hermes(Arena *a, const char *hermes, const char *mode, Err *err)
{
    AUTO(Db) *db = NULL;
    const char *path = str_printf(a, "%s/state.db", hermes).p;

    if (mkdir(hermes, 0700) != 0)
        return NULL;
    db = db_open_own(path, true, err);
    if (!db || !db_script(db, str_printf(a, "PRAGMA journal_mode=%s", mode).p, err) ||
        !db_script(
            db,
            "CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, "
            "session_key TEXT, chat_id TEXT, chat_type TEXT, thread_id TEXT, display_name "
            "TEXT, origin_json TEXT, parent_session_id TEXT, started_at REAL NOT NULL, "
            "ended_at REAL, end_reason TEXT, title TEXT, handoff_state TEXT, handoff_platform "
            "TEXT, handoff_error TEXT);"
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content "
            "TEXT, timestamp REAL);"
            "CREATE TABLE gateway_routing(scope TEXT NOT NULL DEFAULT '', session_key TEXT, "
            "entry_json TEXT, updated_at REAL, PRIMARY KEY(scope, session_key));"
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399) "
            "INSERT INTO sessions(id, source, started_at) SELECT printf('s%04d', i), 'cli', "
            "1767225600 + i FROM n;"
            "INSERT INTO messages(session_id, role, content, timestamp) SELECT id, 'user', "
            "'please look at the failing test', started_at FROM sessions",
            err))
        return NULL;
    return TAKE(db);
}

typedef struct Reader {
    const char *path;
    atomic_bool holds;
    _Atomic int64_t let_go;
} Reader;

static void *hold(void *ctx)
{
    AUTO(DbRows) *rows = NULL;
    Reader *r = ctx;
    bool row;
    Err err;
    AUTO(Db) *db = db_open_read(r->path, &err);

    if (db && db_query(db, &rows, &err, "SELECT id FROM sessions") && db_row(rows, &row, &err)) {
        r->holds = true;
        nanosleep(&(struct timespec){ .tv_nsec = READER_MS * 1000000L }, NULL);
    }
    r->let_go = clock_mono_ns();
    r->holds = true;
    return NULL;
}

/* The request stands, and the reader is there when the gateway has to write. */
static bool hand_beside_reader(Bench *b, const char *path, int i, int64_t *ret_ns, Err *err)
{
    AUTO(Arena) *a = arena_new();
    HandoffRequest request = { .home = str_of(path),
                               .session_id = str_printf(a, "s%04d", i),
                               .platform = STR("local") };
    Reader r = { .path = str_printf(a, "%s/state.db", path).p };
    int64_t until = clock_mono_ms() + MAX_MS;
    pthread_t thread;
    Handoff h;

    if (pthread_create(&thread, NULL, hold, &r) != 0)
        return err_set(err, ERR_IO, "cannot start a thread");
    while (!r.holds)
        rest();
    if (!handoff_request(b->journal, a, &request, &h, err))
        return false;
    wake_call(b->data);
    while (!handoff_is_over(h.state) && clock_mono_ms() < until) {
        rest();
        if (!handoff_get(b->journal, a, h.id, &h, err))
            return false;
    }
    *ret_ns = clock_mono_ns();
    pthread_join(thread, NULL);
    *ret_ns -= r.let_go;
    return h.state == HANDOFF_DONE || err_set(err, ERR_BUSY, "beside a reader: %.*s: %.*s",
                                              STR_FMT(h.step), STR_FMT(h.error_text));
}

static bool beside_reader(Bench *b, const char *path, Err *err)
{
    int64_t worst = 0, ns = 0;

    for (int i = 0; i < BESIDE_READER; i++) {
        if (!hand_beside_reader(b, path, HERMES_ONE_BY_ONE + HERMES_AT_ONCE + i, &ns, err))
            return false;
        worst = ns > worst ? ns : worst;
    }
    bench_line("handoff_after_reader_worst", (double)worst / 1e6, "ms", 300, "-",
               300 / ((double)worst / 1e6), worst <= 300000000);
    return true;
}

static int hermes_mode(const char *mode)
{
    static Bench b;
    AUTO(Arena) *a = arena_new();
    AUTO(Db) *db = NULL;
    char folder[256];
    int64_t done = 0;
    double ms = 0;
    const char *hermes;
    Err err = { 0 };
    pid_t pid;
    bool ok;

    bench_folder(folder);
    hermes = str_printf(a, "%s/hermes", folder).p;
    b = (Bench){ .data = str_of(folder), .one_by_one = HERMES_ONE_BY_ONE };
    b.hermes = db = make_hermes(a, hermes, mode, &err);
    if (!db || !(b.journal = own_store_open(b.data, &err)))
        return failed("Hermes' sessions", &err);
    pid = start_gateway(folder, hermes);
    ok = is_up(b.data) && measure(&b, HERMES_AT_ONCE, &ms, &done, &err) &&
         (strcmp(mode, "delete") != 0 || beside_reader(&b, hermes, &err));
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    b.journal = own_store_close(b.journal);
    bench_drop_folder(folder);
    if (!ok)
        return failed(mode, &err);
    tell(str_printf(a, "handoff_hermes_%s_pick_up_p99", mode).p, b.picked, b.one_by_one, 50);
    tell(str_printf(a, "handoff_hermes_%s_card_p99", mode).p, b.shown, b.one_by_one, 300);
    bench_line(str_printf(a, "handoff_hermes_%s_100_at_once", mode).p, (double)done, "arrived",
               HERMES_AT_ONCE, "-", (double)done / HERMES_AT_ONCE, done == HERMES_AT_ONCE);
    printf("# journal mode %s: %d at once took %.0f ms\n", mode, HERMES_AT_ONCE, ms);
    return done == HERMES_AT_ONCE ? 0 : 1;
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
    b.one_by_one = ONE_BY_ONE;
    if (!add_sessions(b.data, &err) || !(b.journal = own_store_open(b.data, &err)))
        return failed("sessions", &err);
    pid = start_gateway(folder, "/nonexistent");
    ok = is_up(b.data) && measure(&b, AT_ONCE, &ms, &done, &err);
    kill(pid, SIGTERM);
    wait4(pid, NULL, 0, &used);
    b.journal = own_store_close(b.journal);
    bench_drop_folder(folder);
    if (!ok)
        return failed("gateway", &err);
    tell("handoff_pick_up_p99", b.picked, ONE_BY_ONE, 50);
    tell("handoff_first_card_p99", b.shown, ONE_BY_ONE, 300);
    bench_line("handoff_200_at_once", (double)done, "arrived", AT_ONCE, "-", (double)done / AT_ONCE,
               done == AT_ONCE);
    printf("# 200 handoffs at once: %.0f ms; the gateway's CPU: %.2f ms a handoff\n", ms,
           cpu_ms(&used) / (ONE_BY_ONE + AT_ONCE));
    return (done == AT_ONCE ? 0 : 1) | hermes_mode("wal") | hermes_mode("delete");
}
