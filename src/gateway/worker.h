/* worker.h - carries handoffs out: prepare, bind, announce, done.
 *
 * Each step may be done twice: what it makes outside has the handoff's id as its key, and the journal moves only
 * for the worker that holds the fence. A worker that dies anywhere is followed by another where it was. Before
 * the binding a handoff can still be left; after it the session has moved, and the card is sent until it
 * arrives. One thread, which hands them out to others where there are any: a slow platform does not keep the
 * next handoff waiting. */
#ifndef TALARIA_GATEWAY_WORKER_H
#define TALARIA_GATEWAY_WORKER_H

#include <stdatomic.h>

#include "handoff/card.h"
#include "handoff/handoff.h"
#include "platforms/platform.h"

typedef struct GatewayConnection {
    const Platform *platform;
    Connection *connection;
    const PlatformConfig *config;
    atomic_bool shut; /* it could not be opened yet: as if it were not there */
} GatewayConnection;

/* NULL: it is not served now. */
static inline const GatewayConnection *gateway_connection_named(const GatewayConnection *all,
                                                                size_t n, Str platform)
{
    for (size_t i = 0; i < n; i++)
        if (!all[i].shut && str_eqz(platform, all[i].platform->shape->name))
            return &all[i];
    return NULL;
}

typedef struct WorkerOptions {
    OwnStore *journal;
    Str owner; /* a name that no other worker ever had */
    const GatewayConnection *served;
    size_t n_served;
    KeyFlags flags;
    const Homes *homes; /* whose requests are taken up */
    bool (*card)(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err);
    const void *card_ctx;
    struct Turns *turns; /* the agent says its first words there; NULL: nothing does */
    bool is_told;   /* worker_news() says when Hermes' databases changed; else each round looks */
    size_t threads; /* handoffs at once, on threads of their own; 0: one after the other, here */
} WorkerOptions;

typedef struct Worker Worker;

Worker *worker_new(const WorkerOptions *options); /* borrows what they point to */
Worker *worker_free(Worker *w);
AUTO_FREE(Worker, worker_free)

/* Everything that can be done now is done, or given to the threads. *ret_wait_ms: when to look again, though nothing should wake one up. */
MUST_CHECK bool worker_round(Worker *w, int64_t *ret_wait_ms, Err *err);

/* The next round looks for requests of other programs. Any thread. */
void worker_news(Worker *w);

/* One step of a handoff that this worker has claimed; *ret_more: another one follows at once. ERR_CONFLICT:
 * it is somebody else's now. */
MUST_CHECK bool worker_step(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err);

#endif
