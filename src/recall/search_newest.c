/* Of a word that stands in more documents than can be looked at, those of the newest sessions are
 * taken. FTS5 hands out rows by number and by nothing else: it is asked for stretches of blocks
 * (see search_sessions.c), the newest first, each as one range of numbers or a few.
 *
 * Between two questions there is a look at the clock, which FTS5 does not allow while it looks for
 * a row that has everything. Each stretch is as long as the time and the rows that are left
 * allow. */
#include <stdlib.h>

#include "base/clock.h"
#include "recall/search_state.h"

enum { GATHER_MS = 6, STRETCHES = 32, FEW = 64 };

typedef struct Newest {
    Recall *r;
    int table;
    Str match;
    int64_t max, budget; /* rows; nanoseconds of CPU that are left */
} Newest;

static int highest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Blocks first..last by number; both may be the same. */
static bool gather_range(Newest *n, int64_t first, int64_t last, Err *err)
{
    int64_t from = DOC_ROW(first * BLOCK_SESSIONS, 0);
    int64_t to = DOC_ROW((last + 1) * BLOCK_SESSIONS, 0) - 1;

    return recall_gather_run(n->r, n->table, n->match, from > 0 ? from : 1, to,
                             n->max - n->r->gather.seen, err);
}

/* The blocks at..at+length of those that are sorted by time. */
static bool gather_stretch(Newest *n, int64_t *numbers, size_t at, size_t length, Err *err)
{
    const SessionBlock *blocks = n->r->blocks + at;

    for (size_t i = 0; i < length; i++)
        numbers[i] = blocks[i].number;
    qsort(numbers, length, sizeof *numbers, highest_first);
    for (size_t i = 0, j; i < length && n->r->gather.seen < n->max; i = j) {
        for (j = i + 1; j < length && numbers[j] == numbers[j - 1] - 1;)
            j++;
        if (!gather_range(n, numbers[j - 1], numbers[i], err))
            return false;
    }
    return true;
}

static bool gather_stretches(Newest *n, size_t *ret_done, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const Gather *g = &n->r->gather;
    size_t all = n->r->n_blocks, at = 0, length = 1 + all / STRETCHES;
    int64_t *numbers = ARENA_ARRAY(a, int64_t, all + 1);

    while (at < all && g->seen < n->max && n->budget > 0) {
        int64_t before = clock_thread_ns(), seen = g->seen, spent;

        if (length > all - at)
            length = all - at;
        if (!gather_stretch(n, numbers, at, length, err))
            return false;
        at += length;
        spent = clock_thread_ns() - before;
        n->budget -= spent;
        if (spent * 2 < n->budget && (g->seen - seen) * 4 < n->max - g->seen)
            length *= 2;
    }
    *ret_done = at;
    return true;
}

/* Whether that is all there is of it: then it does not matter which sessions are the newest. */
static bool is_rare(Newest *n, bool *ret, Err *err)
{
    Gather *g = &n->r->gather;
    bool ok;

    g->counting = true;
    ok = recall_gather_run(n->r, n->table, n->match, 0, 0, FEW, err);
    *ret = g->seen < FEW;
    g->counting = false;
    g->seen = 0;
    return ok;
}

bool recall_gather_newest(Recall *r, int table, Str match, GatherHow how,
                          const SearchFilter *filter, int64_t max, bool *ret_cut, Err *err)
{
    Newest n = { r, table, match, max, (int64_t)GATHER_MS * 1000000 };
    bool whole = how == GATHER_WHOLE, known = false;
    size_t done;

    if (how == GATHER_ALONE && !is_rare(&n, &whole, err))
        return false;
    if ((!whole || r->gather.filtered) && !(known = recall_sessions_load(r, filter, err)))
        return false;
    done = known ? r->n_blocks : 0;
    if (!(whole ? recall_gather_run(r, table, match, 0, 0, max, err)
                : gather_stretches(&n, &done, err)))
        return false;
    *ret_cut = (known && done < r->n_blocks) || r->gather.seen >= max;
    r->gather.covered = known && r->n_blocks ? (double)done / (double)r->n_blocks : 1;
    return true;
}
