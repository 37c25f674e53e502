/* lanes.h - work that is done side by side, but one at a time for a key, in the order in which it came.
 *
 * Threads are started as they are needed, up to a number; each has a OwnStore of its own. Any thread may add. */
#ifndef TALARIA_GATEWAY_LANES_H
#define TALARIA_GATEWAY_LANES_H

#include "handoff/handoff.h"

typedef struct Lanes Lanes;

typedef struct LanesOptions {
    Str data; /* our own home */
    size_t threads;
    size_t max; /* jobs that wait */
    /* The job is its own from here on. */
    void (*run)(void *ctx, OwnStore *own, void *job);
    void (*drop)(void *ctx, void *job); /* it waited when everything ended */
    void *ctx;
} LanesOptions;

Lanes *lanes_open(const LanesOptions *options);
/* Waits for what runs; drops what waits. */
Lanes *lanes_close(Lanes *l);
AUTO_FREE(Lanes, lanes_close)

/* ERR_BUSY: too many wait. */
MUST_CHECK bool lanes_add(Lanes *l, Str key, void *job, Err *err);
/* Whether something of that key waits or runs. */
bool lanes_has(Lanes *l, Str key);
/* How many wait or run. */
size_t lanes_count(Lanes *l);

#endif
