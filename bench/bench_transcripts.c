/* A gigabyte of Claude Code's transcripts through all events: at most 1 s of CPU and 64 MB; a
 * second update of the catalogue that finds nothing new: at most 20 ms; a line of 256 MB: at most
 * 64 MB. Beside it ccusage, which reads the same tree for its token counts alone.
 *
 * TALARIA_BENCH_MB (1000) and TALARIA_BENCH_SESSIONS (3000) size the tree, TALARIA_BENCH_TREE names
 * one that is there already. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "common.h"
#include "transcripts/catalogue.h"

enum { RUNS = 5, LONG_MB = 256, RSS_MB = 64, HEAD = 2048, TAIL = 1024 };

/* What a piece of work took, in a process of its own. */
typedef struct Taken {
    double cpu, wall; /* seconds */
    double rss;       /* MB */
    int64_t bytes;
    bool ok, ran; /* ran: exit code 0, whatever it told us */
} Taken;

typedef int64_t Work(const char *tree, const char *data);

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static Taken measure(Work *work, const char *tree, const char *data)
{
    Taken t = { .ok = false };
    int64_t begin = clock_mono_ns();
    struct rusage usage;
    int pipe_fds[2], status;
    pid_t child;

    ASSERT(pipe2(pipe_fds, O_CLOEXEC) == 0);
    child = fork();
    if (child == 0) {
        int64_t bytes = work(tree, data);

        _exit(bytes >= 0 && write(pipe_fds[1], &bytes, sizeof bytes) == sizeof bytes ? 0 : 1);
    }
    close(pipe_fds[1]);
    (void)!read(pipe_fds[0], &t.bytes, sizeof t.bytes);
    close(pipe_fds[0]);
    t.ran = wait4(child, &status, 0, &usage) == child && WIFEXITED(status) && !WEXITSTATUS(status);
    t.ok = t.ran && t.bytes >= 0;
    t.wall = (double)(clock_mono_ns() - begin) / 1e9;
    t.cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    t.rss = (double)usage.ru_maxrss / 1024;
    return t;
}

static int by_cpu(const void *a, const void *b)
{
    double x = ((const Taken *)a)->cpu, y = ((const Taken *)b)->cpu;

    return (x > y) - (x < y);
}

/* The best one after one to warm up: what others do on the machine only ever adds. */
static Taken measure_often(Work *work, const char *tree, const char *data)
{
    Taken all[RUNS];

    (void)measure(work, tree, data);
    for (int i = 0; i < RUNS; i++)
        all[i] = measure(work, tree, data);
    qsort(all, RUNS, sizeof *all, by_cpu);
    return all[0];
}

/* -- ours -- */

typedef struct Sum {
    Arena *a;
    size_t bytes;
} Sum;

/* As the index takes it: what was said as a whole, results by their head and tail. */
static bool on_event(void *ctx, const Event *e, Err *err)
{
    Sum *sum = ctx;

    (void)err;
    arena_reset(sum->a);
    if (e->kind == EVENT_USER || e->kind == EVENT_ASSISTANT)
        sum->bytes += event_text(sum->a, e).n;
    else if (e->kind == EVENT_TOOL_RESULT)
        sum->bytes += event_clip(sum->a, e, HEAD, TAIL).n;
    return true;
}

static int64_t read_all(const char *tree, const char *data)
{
    AUTO(Arena) *a = arena_new(), *text = arena_new();
    AUTO(Reader) *reader = reader_new();
    Sum sum = { .a = text };
    TranscriptRoots roots;
    TranscriptFile *files;
    int64_t bytes = 0;
    size_t n;
    Err err;

    (void)data;
    if (!transcript_roots(a, tree, tree, &roots, &err) ||
        !transcripts_find(a, &roots, &files, &n, &err))
        return -1;
    for (size_t i = 0; i < n; i++) {
        Cursor cursor = { 0 };
        ReadStats stats;

        if (!transcript_read(reader, &files[i], NULL, &cursor, on_event, NULL, &sum, &stats, &err))
            return -1;
        bytes += stats.bytes;
    }
    return sum.bytes ? bytes : -1;
}

static int64_t update(const char *tree, const char *data)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Catalogue) *c = NULL;
    Homes homes = { .data = str_of(data) };
    CatalogueQuery query = { .homes = &homes, .claude = true };
    UpdateStats stats;
    Err err;

    if (!transcript_roots(a, tree, tree, &query.roots, &err))
        return -1;
    c = catalogue_open(&query, &err);
    if (!c || !catalogue_update(c, NULL, 0, NULL, NULL, &stats, &err))
        return -1;
    return stats.bytes;
}

/* -- trees -- */

static const char *or_else(const char *variable, const char *usual)
{
    const char *value = getenv(variable);

    return value && *value ? value : usual;
}

static bool generate(const char *folder)
{
    return bench_run_ms((char *[]){ bench_python(), "tests/fixtures/tools/gen_transcripts.py",
                                    "--sessions", (char *)or_else("TALARIA_BENCH_SESSIONS", "3000"),
                                    "--mb", (char *)or_else("TALARIA_BENCH_MB", "1000"),
                                    "--codex-share", "0", "--seed", "7", "--out", (char *)folder,
                                    NULL }) >= 0;
}

static bool write_long_line(const char *folder)
{
    AUTO(Arena) *a = arena_new();
    Str dir = str_printf(a, "%s/projects/-long", folder);
    char *block = arena_alloc(a, MIB(1));
    FILE *f;
    Err err;

    if (!folder_make(str_z(a, dir), &err))
        return false;
    f = fopen(str_z(a, str_join_path(a, dir, STR("long.jsonl"))), "w");
    if (!f)
        return false;
    for (size_t i = 0; i < MIB(1); i++)
        block[i] = "line of a log\\n"[i % 15];
    memcpy(block + MIB(1) - 8, "12345678", 8);
    fputs("{\"type\":\"user\",\"message\":{\"content\":\"", f);
    for (int i = 0; i < LONG_MB; i++)
        fwrite(block, 1, MIB(1), f);
    fputs("\"},\"timestamp\":\"2026-08-21T00:00:00Z\"}\n", f);
    return fclose(f) == 0;
}

/* -- the peer -- */

static int64_t run_peer(const char *tree, const char *data)
{
    static char peer[] = "tests/peers/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage";
    char *argv[] = { peer, "claude", "daily", "--offline", "--json", NULL };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)data;
    /* Packages unpack it without the right to be run; its launcher gives that too. */
    if (chmod(peer, 0755) != 0 || setenv("CLAUDE_CONFIG_DIR", tree, 1) != 0)
        return -1;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execv(argv[0], argv);
    return -1;
}

/* -- lines -- */

static bool say(const char *name, double ours, const char *unit, double max, double peer)
{
    bool pass = ours >= 0 && ours <= max && (peer <= 0 || ours < peer);

    bench_line(name, ours, unit, peer, "run", peer > 0 ? peer / ours : 0, pass);
    return pass;
}

static bool bench_tree(const char *tree, const char *data)
{
    Taken first, second, all = measure_often(read_all, tree, data), peer;
    double size = (double)all.bytes / 1e9;
    bool ok;

    peer = measure_often(run_peer, tree, data);
    peer = peer.ran ? peer : (Taken){ 0 };
    first = measure(update, tree, data);
    second = measure_often(update, tree, data);
    if (!all.ok || !first.ok || !second.ok)
        return false;
    ok = say("transcripts_read", all.cpu, "s CPU", size > 0.1 ? size : 0.1, peer.cpu);
    ok &= say("transcripts_read_rss", all.rss, "MB", RSS_MB, peer.rss);
    ok &= say("transcripts_first", first.cpu, "s CPU", size * 2 + 0.1, peer.cpu);
    ok &= say("transcripts_first_rss", first.rss, "MB", RSS_MB, peer.rss);
    ok &= say("transcripts_again", second.cpu * 1e3, "ms CPU", 20, 0);
    return ok;
}

int main(void)
{
    AUTO(Arena) *a = arena_new();
    const char *tree = getenv("TALARIA_BENCH_TREE");
    char folder[256];
    const char *data, *lines;
    Taken line;
    bool ok;

    bench_folder(folder);
    data = str_z(a, str_printf(a, "%s/data", folder));
    lines = str_z(a, str_printf(a, "%s/lines", folder));
    ok = tree || generate(folder);
    tree = str_z(a, str_printf(a, "%s/.claude", tree ? tree : folder));
    ok = ok && bench_tree(tree, data);
    if (write_long_line(lines)) {
        line = measure(read_all, lines, data);
        ok &= line.ok && say("transcripts_long_line_rss", line.rss, "MB", RSS_MB, 0);
    }
    bench_drop_folder(folder);
    return ok ? 0 : 1;
}
