/* reject.h - rejecting the proposal of a night, so that later nights do not make it again.
 *
 * night_reject first adds the edits to the rejected edits that later nights know, each under its
 * skill; then it marks the night by rejected.json in its folder, the receipt. A crash between the
 * two leaves a night that can be rejected again. Live documents are not touched: an adopted night
 * must be undone first (ERR_CONFLICT). ERR_BUSY while a night is running, because that night owns
 * the state. */
#ifndef TALARIA_SLEEP_ADOPTION_REJECT_H
#define TALARIA_SLEEP_ADOPTION_REJECT_H

#include "sleep/task/places.h"

typedef struct Rejection {
    Str night, at, reason;
    int64_t n_edits; /* that will not be proposed again */
} Rejection;

/* Without a night: the newest that proposes something and is not rejected. */
MUST_CHECK bool night_reject(Arena *a, const SleepHome *home, Str night, Str reason, bool dry_run,
                             Rejection *ret, Err *err);

/* Reads the receipt in a night's folder; false if the night was not rejected. */
bool rejection_read(Arena *a, Str folder, Rejection *ret);

/* The newest night that proposes something and was not rejected; else the newest. */
MUST_CHECK bool night_proposed(Arena *a, const SleepHome *home, Str *ret, Err *err);

/* {night, at, reason, n_edits} */
void rejection_put(JsonWriter *w, const Rejection *r);

#endif
