/* inbound.h - processes the inbox: parses and authorises updates, runs commands, starts turns.
 *
 * An update leaves the inbox once: ignored with a reason, answered, or handed to a turn. Updates
 * that a dead process had started are started again; an answer carries the update's id, so it is
 * still sent once. One thread. */
#ifndef TALARIA_GATEWAY_INBOUND_H
#define TALARIA_GATEWAY_INBOUND_H

#include <stdatomic.h>

#include "gateway/turns.h"

/* The functions of turns.h, or a test's. */
typedef struct InboundSinks {
    Turns *turns;
    bool (*message)(Turns *t, const InboxRow *row, const Inbound *in, Trust trust, Err *err);
    bool (*say)(Turns *t, const ChatAddress *to, Str id, Str text, Err *err);
    bool (*stop)(Turns *t, Str key, bool *ret, Err *err);
    bool (*approve)(Turns *t, Str key, Str choice, int64_t received_ms, Err *err);
    bool (*session)(Turns *t, Arena *a, Str key, Str *ret, Err *err);
    bool (*forget)(Turns *t, Str key, Err *err);
    bool (*resume)(Turns *t, const ChatAddress *at, Str session_id, Err *err);
    bool (*claim)(Turns *t, const ChatAddress *at, Err *err);
    TurnsDoing (*doing)(Turns *t, Str key);
} InboundSinks;

typedef struct InboundOptions {
    OwnStore *journal;
    const Homes *homes;
    const GatewayConnection *served;
    size_t n_served;
    KeyFlags flags;
    InboundSinks sinks;
    const atomic_bool *ends; /* true: stop, the next gateway continues; may be NULL */
} InboundOptions;

/* Processes all new updates. *ret_later: some must wait for a platform or a free agent; call again
 * soon. */
MUST_CHECK bool inbound_round(const InboundOptions *o, bool *ret_later, Err *err);

#endif
