/* authorise.h - who may talk to an agent, and whether a message is meant for it.
 *
 * In a group only messages that mention the agent or are in one of its topics count. Allowed are:
 * listed users, users with a listed role, users who were paired with a code, and everyone in a
 * listed group. A stranger in a private chat gets a pairing code, unless strangers are ignored; a
 * stranger in a group gets no answer.
 *
 * The verdict also contains the level of trust (store/trust.h). A message is judged each time it is
 * taken from the inbox, also after a restart or a retry, so that a change of the configuration
 * takes effect at once. */
#ifndef TALARIA_GATEWAY_AUTHORISE_H
#define TALARIA_GATEWAY_AUTHORISE_H

#include "handoff/handoff.h"
#include "platforms/platform.h"
#include "store/trust.h"

typedef struct Verdict {
    bool may;
    Trust trust;        /* if allowed */
    bool quiet;         /* if refused: not worth a log line */
    const char *reason; /* if refused */
    Str code;           /* pairing code for a stranger; empty: no answer */
} Verdict;

/* config NULL: no lists. */
MUST_CHECK bool authorise(OwnStore *own, Arena *a, const PlatformConfig *config, const Inbound *in,
                          Verdict *ret, Err *err);

/* The trust of that user in that chat. config NULL: no lists. */
Trust trust_at(const PlatformConfig *config, const ChatAddress *at);

/* The message to a stranger. */
Str authorise_words(Arena *a, Str code);

/* Whether "A, B" or "*" includes that user; an id also matches without the part after '@'. */
bool is_listed(Str list, Str user_id);
/* The same, but "*" does not count. */
bool is_named(Str list, Str user_id);
bool names_anyone(Str list);

#endif
