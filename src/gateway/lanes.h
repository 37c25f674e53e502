/* lanes.h - an executor whose threads each have a handle of the data folder's database.
 *
 * Jobs of one key (a chat, a handoff) run one at a time, in the order of adding; jobs of different
 * keys run side by side. Any thread may add. */
#ifndef TALARIA_GATEWAY_LANES_H
#define TALARIA_GATEWAY_LANES_H

#include "handoff/handoff.h"

typedef struct Lanes Lanes;

typedef struct LanesOptions {
    Str data; /* Talaria's data folder */
    size_t threads;
    size_t max; /* jobs that wait */
    /* Owns the job from here on. */
    void (*run)(void *ctx, OwnStore *own, void *job);
    void (*drop)(void *ctx, void *job); /* it waited when the lanes closed */
    void *ctx;
} LanesOptions;

Lanes *lanes_open(const LanesOptions *options);
/* Waits for the jobs that run; drops those that wait. */
Lanes *lanes_close(Lanes *l);
AUTO_FREE(Lanes, lanes_close)

/* ERR_BUSY: too many wait. */
MUST_CHECK bool lanes_add(Lanes *l, Str key, void *job, Err *err);
bool lanes_has(Lanes *l, Str key); /* a job of this key waits or runs */

#endif
