/* How long the context of a turn takes: 20,000 messages in 400 sessions of a home of ours, 200
 * notes, a conversation of 40 turns; everything but the first look at the disk, which a service
 * does once. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/context.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "common.h"
#include "recall/index.h"
#include "store/own.h"

enum { SESSIONS = 400, MESSAGES = 50, NOTES = 200, TURNS = 40, ROUNDS = 100 };

static const double MAX_MS = 50;

static const char *const words[] = { "cache",  "queue",  "walrus", "limit",  "deploy", "config",
                                     "server", "parser", "token",  "index",  "branch", "invoice",
                                     "garden", "signal", "thread", "buffer", "socket", "schema",
                                     "letter", "engine", "window", "kernel", "bridge", "coffee",
                                     "planet", "stream", "record", "filter", "worker", "packet" };

static uint64_t seed = 20261116;

static size_t draw(size_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((seed >> 33) % below);
}

static Str sentence(Arena *a, size_t n)
{
    AUTO_BUF b = BUF(KIB(8));

    for (size_t i = 0; i < n; i++)
        buf_addf(&b, "%s%s%zu", i ? " " : "", words[draw(ARRAY_LEN(words))], draw(40));
    return str_dup(a, buf_str(&b));
}

static bool fill(Arena *a, Str folder, Err *err)
{
    AUTO(OwnStore) *own = own_store_open(folder, err);

    if (!own || !own_store_begin(own, err))
        return false;
    for (size_t i = 0; i < SESSIONS; i++) {
        Session s = { .id = str_printf(a, "session-%zu", i), .source = STR("cli") };

        s.started_at = 1.7e9 + (double)i * 1000;
        if (!own_add_session(own, &s, err))
            return false;
        for (size_t j = 0; j < MESSAGES; j++) {
            Message m = { .session_id = s.id, .content = sentence(a, 40), .active = 1 };

            m.role = j % 2 ? STR("assistant") : STR("user");
            m.timestamp = s.started_at + (double)j;
            if (!own_add_message(own, &m, err))
                return false;
        }
    }
    return own_store_end(own, true, err);
}

static bool write_notes(Arena *a, Str folder, Err *err)
{
    if (!folder_make(str_z(a, folder), err))
        return false;
    for (size_t i = 0; i < NOTES; i++) {
        Str path = str_printf(a, "%.*s/note-%zu.md", STR_FMT(folder), i);

        if (!file_write_atomic(path.p, sentence(a, 400), err))
            return false;
    }
    return true;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return a < b ? -1 : a > b;
}

static double measure(Arena *a, ContextQuery *q)
{
    double ms[ROUNDS];
    size_t recalled = 0, brain = 0;

    for (size_t i = 0; i < ROUNDS; i++) {
        AUTO(Arena) *turn = arena_new();
        ContextBuilt built;
        int64_t start;

        q->text = str_printf(a, "How was %.*s solved?", STR_FMT(sentence(a, 6)));
        start = clock_thread_ns();
        context_build(turn, q, &built);
        ms[i] = (double)(clock_thread_ns() - start) / 1e6;
        recalled += built.parts[CONTEXT_RECALLED].items;
        brain += built.parts[CONTEXT_BRAIN].items;
    }
    qsort(ms, ROUNDS, sizeof *ms, ascending);
    fprintf(stderr, "context: median %.1f ms; %.1f passages and %.1f notes a turn\n",
            ms[ROUNDS / 2], (double)recalled / ROUNDS, (double)brain / ROUNDS);
    return ms[ROUNDS * 95 / 100];
}

static bool run(Arena *a, Str folder, double *ret, Err *err)
{
    Str notes = str_join_path(a, folder, STR("notes"));
    Home home = { .kind = HOME_OURS, .name = STR("talaria"), .path = folder, .present = true };
    Homes homes = { .all = &home, .n = 1, .primary = &home, .data = folder };
    CatalogueQuery where = { .homes = &homes, .hermes = true };
    SkillPlaces places = { .homes = &homes };
    AUTO(Catalogue) *catalogue = NULL;
    AUTO(RecallIndex) *index = NULL;
    AUTO(Recall) *recall = NULL;
    AUTO(Skills) *skills = skills_open(&places, err);
    AUTO(Brain) *brain = brain_open(notes, err);
    TalkTurn turns[TURNS];
    UpdateStats stats;
    ContextQuery q;

    home.database = str_join_path(a, folder, STR("talaria.db"));
    if (!skills || !brain || !fill(a, folder, err) || !write_notes(a, notes, err) ||
        !(catalogue = catalogue_open(&where, err)) ||
        !(index = recall_index_open(catalogue_db(catalogue), err)) ||
        !(recall = recall_open(catalogue_db(catalogue), err)) ||
        !recall_update(index, catalogue, &homes, NULL, NULL, &stats, err) ||
        !brain_refresh(brain, 0, err))
        return false;
    for (size_t i = 0; i < TURNS; i++)
        turns[i] = (TalkTurn){ .from_user = i % 2 == 0, .text = sentence(a, 120) };
    q = (ContextQuery){ .homes = &homes,
                        .catalogue = catalogue,
                        .recall = recall,
                        .skills = skills,
                        .brain = brain,
                        .turns = turns,
                        .n_turns = TURNS };
    *ret = measure(a, &q);
    return true;
}

int main(void)
{
    AUTO(Arena) *a = arena_new();
    char folder[256];
    double p95 = 0;
    bool ok;
    Err err;

    bench_folder(folder);
    ok = run(a, str_of(folder), &p95, &err);
    bench_drop_folder(folder);
    if (!ok) {
        fprintf(stderr, "bench_context: %s\n", err.text);
        return 1;
    }
    bench_line("context of a turn", p95, "ms p95", 0, "-", 0, p95 <= MAX_MS);
    return p95 <= MAX_MS ? 0 : 1;
}
