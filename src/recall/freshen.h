/* freshen.h - a search waits a moment for its index.
 *
 * The first search on a machine would otherwise be answered from the part of the history that
 * happens to be indexed already. The wait is bounded: a history that takes longer is searched as
 * far as it is indexed, and the caller says how far that is. */
#ifndef TALARIA_RECALL_FRESHEN_H
#define TALARIA_RECALL_FRESHEN_H

#include "recall/index.h"

enum { FRESHEN_MS = 1000 };

typedef struct Freshen {
    int64_t max_ms;
    /* May be NULL. Called after a moment, at most every so often; total is an estimate. */
    void (*progress)(int64_t done, int64_t total);
} Freshen;

/* Brings the index up to date, or waits for another process that does. *ret_percent is 100 if the
 * index is complete. Fails only if the index cannot be written. */
MUST_CHECK bool recall_freshen(RecallIndex *x, Catalogue *c, const Homes *homes, const Freshen *how,
                               int *ret_percent, Err *err);

/* How much of the history is indexed, from 0 to 99: of an index that is known not to be
 * complete. */
int recall_percent(Db *db, const Homes *homes);

/* "Search index 54 % complete: ..."; empty for 100. */
Str index_note(Arena *a, int percent);

/* How much of `total` is done, from 0 to 99. */
int index_percent(int64_t done, int64_t total);

#endif
