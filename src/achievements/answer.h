/* answer.h - what the coordinator tells, as the JSON of the plugin's routes. */
#ifndef TALARIA_ACHIEVEMENTS_ANSWER_H
#define TALARIA_ACHIEVEMENTS_ANSWER_H

#include "achievements/coordinator.h"
#include "achievements/snapshot.h"

/* Borrowed while it is written. */
typedef struct Answer {
    const Snapshot *shown, *current; /* what is shown; the last complete one, or NULL */
    const ScanStatus *status;
    Str error; /* of the last refresh; p NULL: none */
    int64_t ttl, now;
    bool stale; /* `current` is */
    bool all;   /* it is about the whole history: `sources` says whose */
} Answer;

/* "sources": how many sessions of each were counted. */
void answer_put_sources(JsonWriter *w, const Snapshot *s);
void answer_put_status(JsonWriter *w, const Answer *a); /* an object */
void answer_put(JsonWriter *w, const Answer *a);        /* the fields of /achievements */

#endif
