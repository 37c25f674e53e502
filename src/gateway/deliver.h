/* deliver.h - words to a platform, once.
 *
 * They lie in the outbox before the first piece goes out. A piece of which it is not known whether it arrived
 * is sent again: under the same key where the platform knows keys, else with a mark that one can see. One that
 * certainly did not arrive is sent again without. Words that were shown while they grew are brought to their
 * end in the message in which they stand.
 *
 * Where a platform says that the thread is gone, the session that lives there and all that is still to be said there
 * move to the chat itself first (routing_leave), and then the words go there. */
#ifndef TALARIA_GATEWAY_DELIVER_H
#define TALARIA_GATEWAY_DELIVER_H

#include "chat/outbox.h"
#include "platforms/platform.h"

typedef struct Delivery {
    const Platform *platform;
    Connection *connection;
    const KeyFlags *flags;
    /* Before every piece: false and ERR_CONFLICT where somebody else does it now. NULL: nobody can. */
    bool (*may_go_on)(void *ctx, Err *err);
    /* The thread is gone, and this is where the words go instead; before anything is said there. NULL: nobody asks. */
    void (*leaves)(void *ctx, const ChatAddress *to);
    void *ctx;
    /* Of a failure, for whoever asked: */
    int64_t wait_ms; /* the platform wants so much patience */
    bool never;      /* it will not work later either */
    bool no_thread;  /* the thread is gone; found out and mended here */
} Delivery;

/* o: id, platform, address_json, text, state. *ret_ref: the platform's name of the first piece. */
MUST_CHECK bool deliver(Delivery *d, OwnStore *own, Arena *a, const Outgoing *o, Str *ret_ref,
                        Err *err);

/* A row that waits, where nobody else has it. What comes of it stands in the row: sent, waiting for its next
 * try, or dead. False: the outbox itself is of no use. */
MUST_CHECK bool deliver_waiting(Delivery *d, OwnStore *own, Arena *a, Str id, Err *err);

/* Words that still grow, of an open row: in a message of their own at first, then in that one. What they were
 * before they grew does not matter, so a failure is no more than a reason to try later. What changes in o (where it is
 * said, under which name, in which message) lives in the arena. */
MUST_CHECK bool deliver_growing(Delivery *d, OwnStore *own, Arena *a, Outgoing *o, Str text,
                                Err *err);

int64_t deliver_back_off(int64_t attempt);

#endif
