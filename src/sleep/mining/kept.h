/* kept.h - what a harvest gave out, kept in one file under what it was made from.
 *
 * Harvests that nothing new has come to since give out the same bytes: those are copied, by the kernel,
 * and neither made nor looked at. The key says all that they depend on; of another key nothing is used.
 * One file, the newest, in sleep's folder (0600), whole or not at all. All text in it is redacted, as it
 * was when it was given out. */
#ifndef TALARIA_SLEEP_MINING_KEPT_H
#define TALARIA_SLEEP_MINING_KEPT_H

#include "sleep/mining/harvest.h"

/* Of one harvest: what --json prints, and the file of its tasks. */
typedef enum KeptPart { KEPT_PRINTED, KEPT_TASKS, KEPT_PARTS } KeptPart;

/* `options` says in the caller's words what else the bytes depend on. */
Str kept_key(Arena *a, const HarvestQuery *query, const MineOptions *mine, Stamp stamp,
             Str options);

/* -- using it ---------------------------------------------------------------------------------------- */

typedef struct Kept {
    int fd;
    int64_t at[KEPT_PARTS], n[KEPT_PARTS]; /* n 0: that part is not kept */
} Kept;

bool kept_is_there(Arena *a, Str data); /* whether a look at the sources is worth it */

/* False: nothing under this key. */
bool kept_open(Arena *a, Str data, Str key, Kept *ret);
void kept_close(Kept *k);

/* The part to an open file, pipe or terminal. */
MUST_CHECK bool kept_copy(const Kept *k, KeptPart part, int to, Err *err);
MUST_CHECK bool kept_read(const Kept *k, Arena *a, KeptPart part, Str *ret, Err *err);

/* -- making it --------------------------------------------------------------------------------------- */

typedef struct KeptWriter KeptWriter;

/* NULL where it cannot be made: then the harvest goes without. */
KeptWriter *kept_begin(Arena *a, Str data, Str key);
/* Parts one after the other, each in as many pieces as it comes in. */
void kept_add(KeptWriter *w, KeptPart part, Str bytes);
/* Into its place, where all of it could be written and it is within its limit; else it is dropped. */
void kept_end(KeptWriter *w, bool whole);

#endif
