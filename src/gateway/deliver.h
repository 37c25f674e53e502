/* deliver.h - sends messages to a platform, each once.
 *
 * A message is in the outbox before its first piece is sent. A piece that may or may not have
 * arrived is sent again: under the same key if the platform knows keys, else with a visible mark. A
 * piece that certainly did not arrive is repeated without one. An answer that was shown while it
 * grew is completed in the same message.
 *
 * If the platform reports that a topic is gone, its session and its queued messages move to the
 * chat itself first (routing_leave), and then the message is sent there. */
#ifndef TALARIA_GATEWAY_DELIVER_H
#define TALARIA_GATEWAY_DELIVER_H

#include "chat/outbox.h"
#include "platforms/platform.h"

typedef struct Delivery {
    const Platform *platform;
    Connection *connection;
    const KeyFlags *flags;
    /* Called before every piece: false and ERR_CONFLICT if another worker has taken over. NULL:
     * none can. */
    bool (*may_go_on)(void *ctx, Err *err);
    /* The topic is gone; called with the new address before anything is sent there. May be NULL. */
    void (*leaves)(void *ctx, const ChatAddress *to);
    void *ctx;
    /* Set by a failure: */
    int64_t wait_ms; /* the platform asked for this pause */
    bool never;      /* a retry will not help */
    bool no_thread;  /* the topic is gone; handled here */
} Delivery;

/* o: id, platform, address_json, text, state. *ret_ref: the platform's id of the first piece. */
MUST_CHECK bool deliver(Delivery *d, OwnStore *own, Arena *a, const Outgoing *o, Str *ret_ref,
                        Err *err);

/* Sends a queued row unless another thread has it, and stores the result in the row: sent, waiting
 * for the next try, or dead. Fails only if the outbox cannot be used. */
MUST_CHECK bool deliver_waiting(Delivery *d, OwnStore *own, Arena *a, Str id, Err *err);

/* Shows the text so far of an open row: posts a message at first, then edits it. A failure only
 * means to try again later. What changes in o (address, name, message id) is allocated in the
 * arena. */
MUST_CHECK bool deliver_growing(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, Str text,
                                Err *err);

int64_t deliver_back_off(int64_t attempt);

#endif
