/* The badges: cold, with nothing new, with one session more. The recorded figures of the Python
 * original stand beside; the slow oracle is run on a slice in the same run, as a living peer.
 * Figures are CPU time of all threads, the best of a few runs: what else runs on the machine can
 * only add to it, through caches and cores that are shared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "achievements/run.h"
#include "base/clock.h"
#include "common.h"
#include "store/own.h"

enum { ROUNDS = 5 };

static int failures;

static void line(const char *name, double figure, const char *unit, double peer, const char *how,
                 double max)
{
    failures += figure > max;
    bench_line(name, figure, unit, peer, how, peer > 0 ? peer / figure : 0, figure <= max);
}

static Homes homes_at(Arena *a, const char *folder)
{
    char data[300];
    HomesQuery query = { .home = folder, .data = data };
    Homes homes;
    Err err;

    snprintf(data, sizeof data, "%s/data", folder);
    if (!homes_find(a, &query, &homes, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return homes;
}

/* CPU seconds of one scan; what it found on request. */
static double scan(const Homes *homes, bool full, Snapshot **ret)
{
    Run run = { .scan = { .homes = homes, .full = full } };
    int64_t begun = clock_cpu_ns();
    Snapshot *s;
    Err err;

    s = run_scan(&run, &err);
    if (!s) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    if (ret)
        *ret = s;
    else
        snapshot_free(s);
    return (double)(clock_cpu_ns() - begun) / 1e9;
}

/* Seconds of the system's clock that a file must be old before it is trusted. */
static void age(const Homes *homes)
{
    struct timespec old[2] = { { .tv_sec = 1700000000 }, { .tv_sec = 1700000000 } };

    utimensat(0, homes->primary->database.p, old, 0);
}

static double known(const Homes *homes)
{
    int64_t begun = clock_cpu_ns();
    Snapshot *s = run_known(&(ScanOptions){ .homes = homes }, false);
    double ms = (double)(clock_cpu_ns() - begun) / 1e6;

    if (!s)
        return 1e9;
    snapshot_free(s);
    return ms;
}

static void make(const char *folder, const char *sessions, const char *messages, const char *seed)
{
    char file[300];

    snprintf(file, sizeof file, "%s/state.db", folder);
    if (bench_run_ms((char *[]){ bench_python(), "tests/fixtures/tools/gen_state_db.py",
                                 "--sessions", (char *)sessions, "--messages-per-session",
                                 (char *)messages, "--seed", (char *)seed, "--out", file, NULL }) <
        0) {
        fprintf(stderr, "cannot make %s\n", file);
        exit(1);
    }
}

static void describe(const char *name, const Snapshot *s)
{
    fprintf(stderr, "%s: %lld sessions, %lld messages, %lld tool calls; %lld badges\n", name,
            (long long)s->meta.sessions_total, (long long)s->meta.messages_scanned,
            (long long)s->totals.value[catalogue_aggregate(catalogue(), STR("total_tool_calls"))],
            (long long)s->unlocked);
}

/* The oracle's speed on a small database, in megabytes a second of CPU, against ours on the
 * same. */
static void slice(void)
{
    AUTO(Arena) *a = arena_new();
    char folder[256], file[300];
    double ours, peer;
    Homes homes;

    bench_folder(folder);
    make(folder, "40", "40", "5");
    snprintf(file, sizeof file, "%s/state.db", folder);
    homes = homes_at(a, folder);
    ours = scan(&homes, true, NULL);
    peer = bench_run_ms(
               (char *[]){ bench_python(), "tests/fixtures/achievements/badges.py", file, NULL }) /
           1e3;
    line("achievements_slice", ours, "s", peer, "run", peer / 20);
    bench_drop_folder(folder);
}

static void one_more(const Homes *homes, int round)
{
    char id[] = { 'b', (char)('0' + round), 0 };
    char sql[] = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.execute(\"insert into "
                 "sessions(id,source,started_at) values(?,'cli',1.9e9)\",sys.argv[2:])\n"
                 "c.execute(\"insert into messages(session_id,role,content,timestamp) "
                 "values(?,'user','a traceback',1.9e9)\",sys.argv[2:])\nc.commit()";

    if (bench_run_ms((char *[]){ bench_python(), "-c", sql, (char *)homes->primary->database.p, id,
                                 NULL }) < 0)
        exit(1);
}

static double min(double a, double b)
{
    return a < b ? a : b;
}

/* Milliseconds of a scan that finds one session more than the last one. */
static double one_new(const Homes *homes)
{
    double best = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        Snapshot *s;

        one_more(homes, i);
        best = min(best, scan(homes, false, &s) * 1e3);
        if (s->meta.sessions_rescanned != 1) {
            fprintf(stderr, "%lld sessions were read\n", (long long)s->meta.sessions_rescanned);
            exit(1);
        }
        snapshot_free(s);
    }
    return best;
}

/* Megabytes at the most of a process that does nothing but count everything. */
static double memory(const Homes *homes)
{
    struct rusage use;
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct rusage own;

        (void)scan(homes, true, NULL);
        getrusage(RUSAGE_SELF, &own);
        _exit(own.ru_maxrss / 1024 > 255 ? 255 : (int)(own.ru_maxrss / 1024));
    }
    if (child < 0 || wait4(child, &status, 0, &use) != child || !WIFEXITED(status))
        return 1e9;
    return WEXITSTATUS(status);
}

static void large(const char *name, const char *sessions, const char *messages, const char *seed,
                  double max, double recorded, bool more)
{
    AUTO(Arena) *a = arena_new();
    char folder[256], label[64];
    Snapshot *first, *again;
    double cold;
    Homes homes;

    bench_folder(folder);
    make(folder, sessions, messages, seed);
    homes = homes_at(a, folder);
    age(&homes);
    if (more) /* first, while this process is small itself */
        line("achievements_memory", memory(&homes), "MB", 308, "recorded", 120);
    cold = scan(&homes, true, &first);
    for (int i = 1; i < ROUNDS; i++)
        cold = min(cold, scan(&homes, true, NULL));
    describe(name, first);
    snprintf(label, sizeof label, "achievements_cold_%s", name);
    line(label, cold, "s", recorded, "recorded", max);
    if (more) {
        (void)known(&homes);
        snprintf(label, sizeof label, "achievements_nothing_new_%s", name);
        line(label, known(&homes), "ms", 9200, "recorded", 5);
        snprintf(label, sizeof label, "achievements_one_new_%s", name);
        line(label, one_new(&homes), "ms", 9200, "recorded", 10);
    }
    /* The same again from the packed counts: no badge may differ. */
    scan(&homes, false, &again);
    snprintf(label, sizeof label, "achievements_differences_%s", name);
    line(label, (double)llabs((long long)(again->unlocked - first->unlocked)), "badges", 0, "-", 0);
    snapshot_free(again);
    snapshot_free(first);
    bench_drop_folder(folder);
}

/* Eighty thousand small sessions: nothing new must not cost ten times as much. */
static void eighty_thousand(void)
{
    AUTO(Arena) *a = arena_new(), *scratch = arena_new();
    char folder[256], data[300];
    Homes homes;
    OwnStore *own;
    Err err;

    bench_folder(folder);
    own = own_store_open(str_of(folder), &err);
    if (!own || !own_store_begin(own, &err))
        exit(1);
    for (size_t i = 0; i < 80000; i++) {
        Session s = { .id = str_printf(scratch, "s%06zu", i),
                      .source = STR("cli"),
                      .started_at = 1.7e9 + (double)i };
        Message m = { .session_id = s.id,
                      .role = STR("user"),
                      .content = STR("look at the logs"),
                      .timestamp = s.started_at,
                      .active = 1 };

        if (!own_add_session(own, &s, &err) || !own_add_message(own, &m, &err))
            exit(1);
        arena_reset(scratch);
    }
    if (!own_store_end(own, true, &err))
        exit(1);
    own_store_close(own);
    snprintf(data, sizeof data, "%s", folder);
    homes = homes_at(a, folder);
    age(&homes);
    scan(&homes, true, NULL);
    (void)known(&homes);
    line("achievements_nothing_new_80000", known(&homes), "ms", 0, "-", 15);
    bench_drop_folder(folder);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    slice();
    large("106MB", "2000", "40", "3", 0.35, 104.1, false);
    large("625MB", "8000", "60", "4", 2.0, 585, true);
    eighty_thousand();
    return failures != 0;
}
