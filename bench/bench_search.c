/* The index and the search over 340,000 messages: how long the first index takes and how large it
 * gets, a look when nothing is new, searches in the process (with their snippets) and as a command.
 * The transcripts are made up here, their words as unevenly spread as those of a language; with
 * --tree DIR they are those of a Claude Code folder that is there already. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "common.h"
#include "recall/search.h"

enum { SESSIONS = 3400, MESSAGES = 100, VOCABULARY = 60000, ROUNDS = 12 };

/* -- transcripts -- */

static uint64_t seed = 88172645463325252ull;

static uint32_t dice(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % n);
}

/* A word by its rank: the same number is always the same word. */
static void add_word(Buf *b, uint32_t rank)
{
    static const char *const parts[] = { "ka",  "lo",  "min", "ter", "sa", "vo", "pre", "du",
                                         "fin", "gra", "hel", "ix",  "jo", "ny", "qua", "wex" };
    uint32_t n = rank + 16;

    for (; n; n /= 16)
        buf_addz(b, parts[n % 16]);
}

/* Small ranks are far more likely than large ones. */
static uint32_t any_rank(void)
{
    double x = (double)dice(1u << 30) / (double)(1u << 30);

    return (uint32_t)(x * x * x * x * VOCABULARY);
}

static void add_text(Buf *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) {
        if (i)
            buf_addc(b, ' ');
        add_word(b, any_rank());
    }
}

static void add_line(Buf *b, int session, int i, double at)
{
    time_t t = (time_t)at;
    struct tm tm;
    bool user = i % 4 == 0, result = i % 4 == 3, call = i % 4 == 2;

    gmtime_r(&t, &tm);
    buf_addf(b, "{\"type\":\"%s\",\"sessionId\":\"%08x-0000-4000-8000-000000000000\",",
             user || result ? "user" : "assistant", session);
    buf_addf(b,
             "\"uuid\":\"%d-%d\",\"cwd\":\"/work/"
             "p%d\",\"timestamp\":\"%04d-%02d-%02dT%02d:%02d:%02dZ\",",
             session, i, session % 40, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
             tm.tm_min, tm.tm_sec);
    buf_addf(b, "\"message\":{\"role\":\"%s\",\"content\":[",
             user || result ? "user" : "assistant");
    if (call)
        buf_addf(
            b, "{\"type\":\"tool_use\",\"id\":\"c%d\",\"name\":\"Bash\",\"input\":{\"command\":\"",
            i);
    else if (result)
        buf_addf(b, "{\"type\":\"tool_result\",\"tool_use_id\":\"c%d\",\"content\":\"", i - 1);
    else
        buf_addz(b, "{\"type\":\"text\",\"text\":\"");
    add_text(b, result ? 150 : call ? 8 : 25);
    if (session == SESSIONS / 2 && i == 4)
        buf_addz(b, " rareword");
    /* A beginning that few messages and very many results have. */
    if (session % 50 == 7 && user)
        buf_addz(b, " zonly");
    for (int j = 0; result && j < 4; j++)
        buf_addf(b, " zon%x", dice(20000));
    if (session % 100 == 3 && user)
        buf_addz(b, " \xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93\xe8\xbf\x81\xe7\xa7\xbb");
    buf_addz(b, call ? "\"}}]}}\n" : "\"}]}}\n");
}

static bool make_tree(const char *folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF b = BUF(MIB(4));

    for (int s = 0; s < SESSIONS; s++) {
        const char *dir = str_z(a, str_printf(a, "%s/projects/p%d", folder, s % 40));
        const char *path =
            str_z(a, str_printf(a, "%s/%08x-0000-4000-8000-000000000000.jsonl", dir, s));
        FILE *f;

        buf_clear(&b);
        for (int i = 0; i < MESSAGES; i++)
            add_line(&b, s, i, 1.75e9 + s * 3000.0 + i * 10.0);
        if (s < 40 && !folder_make(dir, err))
            return false;
        f = fopen(path, "w");
        if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f) != 0)
            return err_errno(err, "cannot write '%s'", path);
    }
    return true;
}

/* -- searching -- */

typedef struct Bench {
    Arena *arena;
    Homes homes;
    Catalogue *catalogue;
    RecallIndex *index;
    Recall *recall;
    double *times;
    size_t n, cap;
} Bench;

static bool open_all(Bench *b, const char *data, const char *claude, const char *none, Err *err)
{
    HomesQuery where = { .home = data, .data = data };
    CatalogueQuery query = { .claude = true };

    b->arena = arena_new();
    if (!homes_find(b->arena, &where, &b->homes, err) ||
        !transcript_roots(b->arena, claude, none, &query.roots, err))
        return false;
    query.homes = &b->homes;
    b->catalogue = catalogue_open(&query, err);
    b->index = b->catalogue ? recall_index_open(catalogue_db(b->catalogue), err) : NULL;
    b->recall = b->index ? recall_open(catalogue_db(b->catalogue), err) : NULL;
    return b->recall != NULL;
}

static void close_all(Bench *b)
{
    recall_close(b->recall);
    recall_index_close(b->index);
    catalogue_close(b->catalogue);
    arena_free(b->arena);
}

static bool index_all(Bench *b, bool first, Err *err)
{
    int64_t wall = clock_mono_ns(), cpu = clock_cpu_ns();
    UpdateStats stats;
    RecallSize size;
    double s, ms;

    if (!recall_update(b->index, b->catalogue, &b->homes, NULL, NULL, &stats, err) ||
        !recall_index_size(catalogue_db(b->catalogue), &size, err))
        return false;
    s = (double)(clock_cpu_ns() - cpu) / 1e9;
    ms = (double)(clock_mono_ns() - wall) / 1e6;
    if (!first) {
        bench_line("index, nothing new", s * 1000, "ms CPU", 30, "-", 30 / (s * 1000), s <= 0.03);
        return true;
    }
    fprintf(stderr, "%lld sessions, %lld messages, %.0f MB read in %.1f s (%.1f s CPU)\n",
            (long long)size.sessions, (long long)size.documents, (double)stats.bytes / 1e6,
            ms / 1000, s);
    bench_line("index, first", s, "s CPU", 30, "-", 30 / s, s <= 30);
    bench_line("index, share of its text",
               100.0 * (double)size.index_bytes / (double)size.text_bytes, "%", 100, "-",
               (double)size.text_bytes / (double)size.index_bytes,
               size.index_bytes <= size.text_bytes);
    return true;
}

static bool search_once(Bench *b, Str text, Err *err)
{
    AUTO(Arena) *a = arena_new();
    SearchOptions options = { .text = text, .filter = SEARCH_FILTER_NONE, .max = 20 };
    int64_t start = clock_cpu_ns();
    SearchAnswer answer;
    double ms;

    if (!recall_search(b->recall, b->catalogue, &b->homes, a, &options, &answer, err))
        return false;
    ms = (double)(clock_cpu_ns() - start) / 1e6;
    ARENA_PUSH(b->arena, b->times, b->n, b->cap, ms);
    if (getenv("BENCH_VERBOSE"))
        fprintf(stderr, "%7.2f ms %3zu hits  %.*s\n", ms, answer.n, STR_FMT(text));
    return true;
}

/* Rare, common and very common words, two and three of them, phrases, beginnings, filters, Chinese,
 * questions. */
static bool search_mix(Bench *b, Err *err)
{
    static const char *const fixed[] = {
        "rareword",     "ledger", "\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93",
        "\xe6\x95\xb0", "error",  "nosuchword",
        "zon*",         "zo*",    "role:result zon1*"
    };
    static const uint32_t ranks[] = { 0, 1, 5, 50, 500, 5000, 40000 };
    AUTO_BUF q = BUF(KIB(4));

    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (!search_once(b, str_of(fixed[i]), err))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(ranks) * 6; i++) {
        static const char *const forms[] = {
            "%",  "% %",         "\"% %\"",
            "%*", "tool:Bash %", "what did we say about % and % or the % then?"
        };

        buf_clear(&q);
        for (const char *f = forms[i % 6]; *f; f++)
            if (*f == '%')
                add_word(&q, ranks[i / 6] + dice(3));
            else
                buf_addc(&q, *f);
        if (!search_once(b, buf_str(&q), err))
            return false;
    }
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static bool run(const char *data, const char *tree, const char *none, Err *err)
{
    Bench b = { 0 };
    bool ok = open_all(&b, data, tree, none, err) && index_all(&b, true, err) &&
              index_all(&b, false, err) && search_mix(&b, err);
    double p50, p99;

    b.n = 0; /* the first round warms up */
    for (int i = 0; ok && i < ROUNDS; i++)
        ok = search_mix(&b, err);
    if (ok) {
        qsort(b.times, b.n, sizeof *b.times, ascending);
        p50 = b.times[b.n / 2];
        p99 = b.times[b.n * 99 / 100];
        fprintf(stderr, "%zu searches: half of them within %.2f ms, the slowest %.2f ms\n", b.n,
                p50, b.times[b.n - 1]);
        bench_line("search, 340k messages, p99", p99, "ms CPU", 25, "-", 25 / p99, p99 <= 25);
    }
    close_all(&b);
    return ok;
}

static void run_command(const char *data, const char *tree, const char *none)
{
    char *argv[] = {
        (char *)bench_binary(), "--data", (char *)data, "sessions", "search", "rareword", NULL
    };
    double best = 1e9;

    setenv("CLAUDE_CONFIG_DIR", tree, 1);
    setenv("CODEX_HOME", none, 1);
    setenv("HERMES_HOME", none, 1);
    for (int i = 0; i < 20; i++) {
        double ms = bench_run_ms(argv);

        best = ms >= 0 && ms < best ? ms : best;
    }
    bench_line("search, a rare word, whole command", best, "ms", 30, "-", 30 / best, best <= 30);
}

int main(int argc, char **argv)
{
    char folder[256], data[300], tree[300], none[300];
    bool ok, given = argc == 3 && strcmp(argv[1], "--tree") == 0;
    Err err;

    bench_folder(folder);
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(none, sizeof none, "%s/none", folder);
    snprintf(tree, sizeof tree, "%s/claude", folder);
    if (given)
        snprintf(tree, sizeof tree, "%s", argv[2]);
    ok = folder_make(data, &err) && folder_make(none, &err) && (given || make_tree(tree, &err)) &&
         run(data, tree, none, &err);
    if (ok)
        run_command(data, tree, none);
    else
        fprintf(stderr, "bench_search: %s\n", err.text);
    bench_drop_folder(folder);
    return ok ? 0 : 1;
}
