/* mined.h - a cache of mined tasks in index.db.
 *
 * The tasks depend only on the sessions and the options: if neither has changed, they are read from
 * the cache, without reading any trace. Only the newest few results are kept. */
#ifndef TALARIA_SLEEP_MINING_MINED_H
#define TALARIA_SLEEP_MINING_MINED_H

#include "sleep/mining/mine.h"
#include "store/db.h"

/* How many traces and sessions the tasks come from, and why others were left out. */
typedef struct MinedFrom {
    size_t traces, sessions, not_human, left_out;
} MinedFrom;

/* marks: of all candidate sessions, in order; max: as in the harvest's query. */
Str mined_key(Arena *a, Str marks, size_t max, const MineOptions *options);

MUST_CHECK bool mined_get(Db *db, Arena *a, Str key, MinedFrom *ret_from, Mined *ret,
                          bool *ret_found, Err *err);
MUST_CHECK bool mined_put(Db *db, Str key, const MinedFrom *from, const Mined *mined, Err *err);

#endif
