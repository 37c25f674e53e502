/* mined.h - what was mined, kept in index.db under what it was mined from.
 *
 * Traces are a function of the sessions, and mining is one of the traces and of the options: where neither
 * has changed, the result is read instead of made, and without a look at the traces. Only the newest few
 * are kept. */
#ifndef TALARIA_SLEEP_MINING_MINED_H
#define TALARIA_SLEEP_MINING_MINED_H

#include "sleep/mining/mine.h"
#include "store/db.h"

/* How many traces it was made from, of how many sessions, and how many of the rest were looked at. */
typedef struct MinedFrom {
    size_t traces, sessions, not_human, left_out;
} MinedFrom;

/* marks: of all sessions that may matter, in their order; most: of them, as the harvest was told. */
Str mined_key(Arena *a, Str marks, size_t max, const MineOptions *options);

MUST_CHECK bool mined_get(Db *db, Arena *a, Str key, MinedFrom *ret_from, Mined *ret,
                          bool *ret_found, Err *err);
MUST_CHECK bool mined_put(Db *db, Str key, const MinedFrom *from, const Mined *mined, Err *err);

#endif
