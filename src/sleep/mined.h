/* mined.h - what was mined, kept in index.db under what it was mined from.
 *
 * Mining is a function of the traces and of the options: where neither has changed, the result is read
 * instead of made. Only the newest few are kept. */
#ifndef TALARIA_SLEEP_MINED_H
#define TALARIA_SLEEP_MINED_H

#include "sleep/mine.h"
#include "store/db.h"

/* marks: of all traces, in their order. */
Str mined_key(Arena *a, Str marks, const MineOptions *options);

MUST_CHECK bool mined_get(Db *db, Arena *a, Str key, Mined *ret, bool *ret_found, Err *err);
MUST_CHECK bool mined_put(Db *db, Str key, const Mined *mined, Err *err);

#endif
