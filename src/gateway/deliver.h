/* deliver.h - words to a platform, once.
 *
 * They lie in the outbox before the first piece goes out. A piece of which it is not known whether it arrived
 * is sent again: under the same key where the platform knows keys, else with a mark that one can see. */
#ifndef TALARIA_GATEWAY_DELIVER_H
#define TALARIA_GATEWAY_DELIVER_H

#include "platforms/platform.h"
#include "store/handoff_outbox.h"

typedef struct Delivery {
    const Platform *platform;
    Connection *connection;
    /* Before every piece: false and ERR_CONFLICT where somebody else does it now. */
    bool (*may_go_on)(void *ctx, Err *err);
    void *ctx;
} Delivery;

/* o: id, platform, place_json, text. *ret_ref: the platform's name of the first piece. */
MUST_CHECK bool deliver(const Delivery *d, Journal *j, Arena *a, const Outgoing *o, Str *ret_ref,
                        Err *err);

#endif
