/* Badges over every source at once: Hermes' database and the transcripts of Claude Code and Codex,
 * as `talaria achievements list` counts them: from nothing, with nothing new, with one session
 * more. CPU of the whole command, user and system, the best of a few runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common.h"

enum { COLD_RUNS = 3, WARM_RUNS = 7 };

static double children_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* CPU of one command; a failure ends the bench. */
static double list(void)
{
    char *argv[] = { (char *)(uintptr_t)bench_binary(), "achievements", "list", NULL };
    double before = children_seconds();

    if (bench_run_ms(argv) < 0) {
        fprintf(stderr, "bench_badges: 'achievements list' failed\n");
        exit(1);
    }
    return children_seconds() - before;
}

static bool make(const char *tree, const char *database)
{
    char *transcripts[] = { bench_python(),
                            "tests/fixtures/tools/gen_transcripts.py",
                            "--sessions",
                            "1500",
                            "--mb",
                            "300",
                            "--out",
                            (char *)(uintptr_t)tree,
                            NULL };
    char *rows[] = { bench_python(),
                     "tests/fixtures/tools/gen_state_db.py",
                     "--sessions",
                     "2000",
                     "--messages-per-session",
                     "40",
                     "--seed",
                     "3",
                     "--out",
                     (char *)(uintptr_t)database,
                     NULL };

    return bench_run_ms(transcripts) >= 0 && bench_run_ms(rows) >= 0;
}

/* A short session of Claude Code, with an age: what was written just now is looked at twice. */
static void one_more(const char *claude, int i)
{
    static const char *const line =
        "{\"type\":\"user\",\"sessionId\":\"s%d\",\"cwd\":\"/srv/bench\",\"entrypoint\":\"cli\","
        "\"uuid\":\"u%d\",\"timestamp\":\"2026-11-17T10:00:0%dZ\",\"message\":{\"role\":\"user\","
        "\"content\":\"look at the traceback\"}}\n";
    struct timespec old[2] = { { .tv_sec = 1794900000 + i }, { .tv_sec = 1794900000 + i } };
    char folder[400], path[500];
    FILE *f;

    snprintf(folder, sizeof folder, "%s/projects/-srv-bench", claude);
    mkdir(folder, 0700);
    snprintf(path, sizeof path, "%s/0b1c2d3e-0000-4000-8000-00000000000%d.jsonl", folder, i);
    f = fopen(path, "w");
    if (!f || fprintf(f, line, i, i, i) < 0 || fclose(f) != 0 || utimensat(0, path, old, 0) != 0) {
        perror(path);
        exit(1);
    }
}

static double min(double a, double b)
{
    return a < b ? a : b;
}

int main(void)
{
    double cold = 1e9, warm = 1e9, one = 1e9;
    char folder[256], tree[300], database[300], claude[320], codex[320], data[300];

    bench_folder(folder);
    snprintf(tree, sizeof tree, "%s/tree", folder);
    snprintf(database, sizeof database, "%s/state.db", folder);
    snprintf(claude, sizeof claude, "%s/.claude", tree);
    snprintf(codex, sizeof codex, "%s/.codex", tree);
    if (!make(tree, database))
        return fprintf(stderr, "bench_badges: no history could be made\n"), 1;
    setenv("HERMES_HOME", folder, 1);
    setenv("CLAUDE_CONFIG_DIR", claude, 1);
    setenv("CODEX_HOME", codex, 1);
    for (int i = 0; i < COLD_RUNS; i++) {
        snprintf(data, sizeof data, "%s/data%d", folder, i);
        setenv("TALARIA_HOME", data, 1);
        cold = min(cold, list());
    }
    (void)list();
    for (int i = 0; i < WARM_RUNS; i++)
        warm = min(warm, list());
    for (int i = 0; i < WARM_RUNS; i++) {
        one_more(claude, i);
        one = min(one, list());
    }
    bench_drop_folder(folder);
    bench_line("badges over all sources, 400 MB, cold", cold, "s CPU", 0, "-", 0, cold <= 2);
    bench_line("badges over all sources, nothing new", warm * 1e3, "ms CPU", 0, "-", 0,
               warm <= 0.020);
    bench_line("badges over all sources, one new session", one * 1e3, "ms CPU", 0, "-", 0,
               one <= 0.080);
    return cold <= 2 && warm <= 0.020 && one <= 0.080 ? 0 : 1;
}
