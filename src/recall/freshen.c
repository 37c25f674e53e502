#include "recall/freshen.h"

#include <time.h>

#include "base/clock.h"
#include "store/store.h"

enum { SILENT_MS = 150, RETRY_MS = 10 };

typedef struct Waiting {
    const Freshen *how;
    const Homes *homes;
    Db *db;
    UpdateStats stats;
    int64_t began_ms, total, done; /* sessions indexed, once they are counted */
} Waiting;

int index_percent(int64_t done, int64_t total)
{
    int64_t percent = total > 0 ? 100 * done / total : 0;

    return percent < 0 ? 0 : percent > 99 ? 99 : (int)percent;
}

Str index_note(Arena *a, int percent)
{
    if (percent >= 100)
        return STR_NONE;
    return str_printf(a,
                      "Search index %d %% complete: some results may be missing ('talaria index' "
                      "finishes it)",
                      percent);
}

/* Transcripts that the update has seen, and the sessions of every home: an update looks into the
 * homes one after the other, and does not know the later ones yet when its time is up. */
static int64_t count_sessions(const Waiting *w)
{
    AUTO(Arena) *a = arena_new();
    int64_t total = w->stats.files, known = 0;
    HomeFacts *facts;
    size_t n;
    Err err;

    store_facts(a, w->homes, &facts, &n);
    for (size_t i = 0; i < n; i++)
        total += facts[i].sessions;
    if (!db_get_int(w->db, 0, &known, &err, "SELECT count(*) FROM entries"))
        known = 0;
    return total > known ? total : known;
}

static int64_t count_indexed(const Waiting *w)
{
    RecallSize size;
    Err err;

    return recall_index_size(w->db, &size, &err) ? size.sessions : 0;
}

static int64_t elapsed(const Waiting *w)
{
    return clock_mono_ms() - w->began_ms;
}

/* The total costs a look into every home: only for those who wait long enough to see it. */
static void show_progress(Waiting *w)
{
    if (!w->how->progress || elapsed(w) < SILENT_MS)
        return;
    if (!w->total) {
        w->done = count_indexed(w);
        w->total = count_sessions(w);
    }
    w->how->progress(w->done, w->total > w->done ? w->total : w->done);
}

static bool on_session(void *ctx)
{
    Waiting *w = ctx;

    show_progress(w);
    w->done++;
    return elapsed(w) > w->how->max_ms;
}

/* Another process is updating. */
static void wait_for_other(Waiting *w)
{
    struct timespec moment = { .tv_nsec = RETRY_MS * 1000000L };

    w->total = 0; /* it counts, not we */
    show_progress(w);
    (void)nanosleep(&moment, NULL);
}

bool recall_freshen(RecallIndex *x, Catalogue *c, const Homes *homes, const Freshen *how,
                    int *ret_percent, Err *err)
{
    Waiting w = { .how = how, .homes = homes, .db = catalogue_db(c), .began_ms = clock_mono_ms() };

    *ret_percent = 100;
    for (;;) {
        bool ok = recall_update(x, c, homes, on_session, &w, &w.stats, err);

        if (ok && !w.stats.busy)
            return true;
        if (!ok && err->kind != ERR_INTERRUPTED)
            return false;
        if (!ok || elapsed(&w) > how->max_ms)
            break;
        wait_for_other(&w);
    }
    *ret_percent = index_percent(count_indexed(&w), count_sessions(&w));
    return true;
}

int recall_percent(Db *db, const Homes *homes)
{
    Waiting w = { .homes = homes, .db = db };

    return index_percent(count_indexed(&w), count_sessions(&w));
}
