/* inbound.h - from the inbox to whoever has to do with it: read, authorised, a command or words for an agent.
 *
 * An update leaves the inbox once: ignored with the reason, answered, or as a turn's matter. What a process that
 * died had begun is begun again; answers carry the update's name, so they are given once all the same. One thread. */
#ifndef TALARIA_GATEWAY_INBOUND_H
#define TALARIA_GATEWAY_INBOUND_H

#include <stdatomic.h>

#include "gateway/turns.h"

/* Where things go: turns.h's functions, or a test's. */
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
    const atomic_bool *ends; /* true: what is left is for the next gateway; NULL: never */
} InboundOptions;

/* All that lies there. *ret_later: something has to wait, for a platform or for a free agent: look again soon. */
MUST_CHECK bool inbound_round(const InboundOptions *o, bool *ret_later, Err *err);

#endif
