/* reject.h - a night's proposal turned down, and not made again.
 *
 * Its edits go to what later nights know as rejected, each for the skill it was meant for; then the
 * night is marked by rejected.json in its folder, the receipt. In that order: a crash between the two
 * leaves a night that can be rejected once more. Nothing live is touched: what is adopted has to be
 * undone first (ERR_CONFLICT). A night under way keeps its memory to itself until it ends: ERR_BUSY. */
#ifndef TALARIA_SLEEP_ADOPTION_REJECT_H
#define TALARIA_SLEEP_ADOPTION_REJECT_H

#include "sleep/task/places.h"
#include "text/json.h"

typedef struct Rejection {
    Str night, at, reason;
    int64_t n_edits; /* that are remembered */
} Rejection;

/* Without a night: the newest that proposes something and is not rejected. */
MUST_CHECK bool night_reject(Arena *a, const SleepHome *home, Str night, Str reason, bool dry_run,
                             Rejection *ret, Err *err);

/* Of a night's folder; false where it was not rejected. */
bool rejection_read(Arena *a, Str folder, Rejection *ret);

/* The newest night that proposes something and was not rejected; else the newest. */
MUST_CHECK bool night_proposed(Arena *a, const SleepHome *home, Str *ret, Err *err);

/* {night, at, reason, n_edits} */
void rejection_put(JsonWriter *w, const Rejection *r);

#endif
