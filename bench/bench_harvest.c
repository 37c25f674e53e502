/* A gigabyte of transcripts of both programs: what a night learns from, read, mined and printed
 * from nothing, and again when nothing is new. CPU, user and system; the original's figure is a
 * recorded one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common.h"

enum { COLD_RUNS = 3, WARM_RUNS = 7 }; /* the best of them counts: the machine may be busy */

static double children_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* CPU of one run; < 0 where it fails. */
static double harvest(const char *claude, const char *codex)
{
    char *argv[] = { (char *)(uintptr_t)bench_binary(),
                     "sleep",
                     "harvest",
                     "--source",
                     "all",
                     "--claude-home",
                     (char *)(uintptr_t)claude,
                     "--codex-home",
                     (char *)(uintptr_t)codex,
                     "--scope",
                     "all",
                     "--json",
                     NULL };
    double before = children_seconds();

    return bench_run_ms(argv) < 0 ? -1 : children_seconds() - before;
}

static bool make_tree(const char *out)
{
    char *argv[] = { bench_python(),
                     "tests/fixtures/tools/gen_transcripts.py",
                     "--sessions",
                     "3000",
                     "--mb",
                     "1000",
                     "--out",
                     (char *)(uintptr_t)out,
                     NULL };

    return bench_run_ms(argv) >= 0;
}

int main(void)
{
    const char *given = getenv("TALARIA_BENCH_TREE"); /* one that is there already */
    char folder[256], tree[300], data[300], claude[320], codex[320];
    double cold = -1, warm = 1e9;
    bool pass;

    bench_folder(folder);
    snprintf(tree, sizeof tree, "%s/tree", folder);
    snprintf(claude, sizeof claude, "%s/.claude", given ? given : tree);
    snprintf(codex, sizeof codex, "%s/.codex", given ? given : tree);
    setenv("HERMES_HOME", folder, 1); /* nothing of this machine's own */
    if (!given && !make_tree(tree))
        return fprintf(stderr, "bench_harvest: no tree could be made\n"), 1;
    for (int i = 0; i < COLD_RUNS; i++) {
        double one;

        snprintf(data, sizeof data, "%s/data%d", folder, i);
        setenv("TALARIA_HOME", data, 1);
        one = harvest(claude, codex);
        cold = one < 0 || (i && cold < one) ? cold : one;
    }
    for (int i = 0; i < WARM_RUNS && cold >= 0; i++) {
        double one = harvest(claude, codex);

        warm = one >= 0 && one < warm ? one : warm;
    }
    bench_drop_folder(folder);
    if (cold < 0 || warm > 1e8)
        return fprintf(stderr, "bench_harvest: 'sleep harvest' failed\n"), 1;
    pass = cold <= 1.4 && warm <= 0.050;
    bench_line("harvest and mine 1 GB, from nothing", cold, "s CPU", 7, "recorded", cold / 7,
               cold <= 1.4);
    bench_line("harvest and mine 1 GB, nothing new", warm * 1000, "ms CPU", 7000, "recorded",
               warm / 7, warm <= 0.050);
    return pass ? 0 : 1;
}
