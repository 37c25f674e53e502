/* worker.h - carries handoffs out: prepare, bind, announce, done.
 *
 * Every step can be repeated: what it creates outside is keyed by the handoff's id, and only the
 * worker that holds the fence can advance the journal. After a crash another worker continues with
 * the same step. Before the session is bound a handoff can be abandoned; afterwards the session has
 * moved, and the card is sent until it arrives. One thread, which gives handoffs to other threads
 * if there are any, so that a slow platform does not delay the next one. */
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
    atomic_bool shut; /* it could not be opened yet and is not served */
} GatewayConnection;

/* NULL: not connected. */
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
    Str owner; /* unique to this worker */
    const GatewayConnection *served;
    size_t n_served;
    KeyFlags flags;
    const Homes *homes; /* their handoff requests are carried out */
    bool (*card)(const void *ctx, Arena *a, const Handoff *h, Card *ret, Err *err);
    const void *card_ctx;
    struct Turns *turns; /* lets the agent speak first; NULL: it does not */
    bool is_told;   /* worker_news() reports changes of Hermes' databases; else each round checks
                     * them */
    size_t threads; /* handoffs at once, on other threads; 0: one after the other, on this one */
} WorkerOptions;

typedef struct Worker Worker;

Worker *worker_new(const WorkerOptions *options); /* borrows what they point to */
Worker *worker_free(Worker *w);
AUTO_FREE(Worker, worker_free)

/* Carries out everything that is due, or gives it to the threads. *ret_wait_ms: when to call again
 * without news. */
MUST_CHECK bool worker_round(Worker *w, int64_t *ret_wait_ms, Err *err);

/* The next round reads the requests of other programs. Any thread. */
void worker_news(Worker *w);

/* One step of a handoff that this worker has claimed; *ret_more: call again at once. ERR_CONFLICT:
 * another worker has it now. */
MUST_CHECK bool worker_step(Worker *w, Arena *a, Handoff *h, bool *ret_more, Err *err);

#endif
