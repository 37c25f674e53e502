/* kept.h - a cache of the last harvest's output.
 *
 * If no session has changed, a harvest prints the same bytes again: the kernel copies them from the
 * cache. The key covers everything that the bytes depend on; with another key the cache is not
 * used. One file, the newest, in sleep's folder (0600), written atomically. Its text is redacted,
 * like the output. */
#ifndef TALARIA_SLEEP_MINING_KEPT_H
#define TALARIA_SLEEP_MINING_KEPT_H

#include "sleep/mining/harvest.h"

/* Of one harvest: what --json prints, and the file of its tasks. */
typedef enum KeptPart { KEPT_PRINTED, KEPT_TASKS, KEPT_PARTS } KeptPart;

/* `options`: whatever else the bytes depend on. */
Str kept_key(Arena *a, const HarvestQuery *query, const MineOptions *mine, Stamp stamp,
             Str options);

/* -- Using it -- */

typedef struct Kept {
    int fd;
    int64_t at[KEPT_PARTS], n[KEPT_PARTS]; /* n 0: that part is not kept */
} Kept;

bool kept_is_there(Arena *a, Str data); /* whether there is a cache to compare with */

/* False: nothing under this key. */
bool kept_open(Arena *a, Str data, Str key, Kept *ret);
void kept_close(Kept *k);

/* The part to an open file, pipe or terminal. */
MUST_CHECK bool kept_copy(const Kept *k, KeptPart part, int to, Err *err);
MUST_CHECK bool kept_read(const Kept *k, Arena *a, KeptPart part, Str *ret, Err *err);

/* -- Making it -- */

typedef struct KeptWriter KeptWriter;

/* NULL if the cache cannot be written: the harvest works without it. */
KeptWriter *kept_begin(Arena *a, Str data, Str key);
/* Parts in order, each in any number of pieces. */
void kept_add(KeptWriter *w, KeptPart part, Str bytes);
/* Puts the file in place, if it is complete and within its limit; else drops it. */
void kept_end(KeptWriter *w, bool whole);

#endif
