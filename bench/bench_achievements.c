/* The badges: cold, with nothing new, with one session more. The recorded figures of the Python
 * original stand beside; the slow oracle is run on a slice in the same run, as a living peer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "achievements/run.h"
#include "base/clock.h"
#include "common.h"
#include "store/own.h"

static int failures;

static void line(const char *name, double figure, const char *unit, double peer, const char *how,
                 double most)
{
    failures += figure > most;
    bench_line(name, figure, unit, peer, how, peer > 0 ? peer / figure : 0, figure <= most);
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

/* The oracle's speed on a small database, in megabytes a second of CPU, against ours on the same. */
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

static void one_more(const Homes *homes)
{
    char sql[] =
        "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.execute(\"insert into "
        "sessions(id,source,started_at) values('bench','cli',1.9e9)\")\nc.execute(\"insert "
        "into messages(session_id,role,content,timestamp) "
        "values('bench','user','a traceback',1.9e9)\")\nc.commit()";

    if (bench_run_ms(
            (char *[]){ bench_python(), "-c", sql, (char *)homes->primary->database.p, NULL }) < 0)
        exit(1);
}

static void large(const char *name, const char *sessions, const char *messages, const char *seed,
                  double most, double recorded, bool more)
{
    AUTO(Arena) *a = arena_new();
    char folder[256], label[64];
    Snapshot *first, *again;
    double cold, warm;
    Homes homes;

    bench_folder(folder);
    make(folder, sessions, messages, seed);
    homes = homes_at(a, folder);
    age(&homes);
    cold = scan(&homes, true, &first);
    describe(name, first);
    snprintf(label, sizeof label, "achievements_cold_%s", name);
    line(label, cold, "s", recorded, "recorded", most);
    if (more) {
        (void)known(&homes);
        snprintf(label, sizeof label, "achievements_nothing_new_%s", name);
        line(label, known(&homes), "ms", 9200, "recorded", 5);
        one_more(&homes);
        warm = scan(&homes, false, &again) * 1e3;
        snprintf(label, sizeof label, "achievements_one_new_%s", name);
        line(label, warm, "ms", 9200, "recorded", 10);
        snapshot_free(again);
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
    Own *own;
    Err err;

    bench_folder(folder);
    own = own_open(str_of(folder), &err);
    if (!own || !own_begin(own, &err))
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
    if (!own_commit(own, &err))
        exit(1);
    own_close(own);
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
    struct rusage use;

    setenv("TZ", "UTC", 1);
    slice();
    large("106MB", "2000", "40", "3", 0.35, 104.1, false);
    large("625MB", "8000", "60", "4", 2.0, 585, true);
    eighty_thousand();
    getrusage(RUSAGE_SELF, &use);
    line("achievements_memory", (double)use.ru_maxrss / 1024, "MB", 308, "recorded", 120);
    return failures != 0;
}
