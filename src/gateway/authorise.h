/* authorise.h - who may speak to an agent, and whether they do.
 *
 * In a group we listen only where we are addressed or in a thread of ours. Who is on the list may speak, who has a role
 * that is listed, who was let in by a code, and everyone in a group that is on a list; a stranger in a private chat is
 * given a code, unless strangers are to be ignored, a stranger in a group hears nothing.
 *
 * The verdict also says who asks (store/trust.h). A message is judged again each time it is taken from the inbox, also
 * after a restart or a retry: nobody keeps rights that the configuration no longer gives. */
#ifndef TALARIA_GATEWAY_AUTHORISE_H
#define TALARIA_GATEWAY_AUTHORISE_H

#include "handoff/handoff.h"
#include "platforms/platform.h"
#include "store/trust.h"

typedef struct Verdict {
    bool may;
    Trust trust;        /* of a yes */
    bool quiet;         /* of a no: nothing that anybody has to hear of */
    const char *reason; /* of a no */
    Str code;           /* for the stranger; empty: nothing is to be said */
} Verdict;

/* config NULL: nobody is on a list. */
MUST_CHECK bool authorise(OwnStore *own, Arena *a, const PlatformConfig *config, const Inbound *in,
                          Verdict *ret, Err *err);

/* Who speaks at that place. config NULL: nobody is on a list. */
Trust trust_at(const PlatformConfig *config, const ChatAddress *at);

/* What the stranger is told. */
Str authorise_words(Arena *a, Str code);

/* Whether "A, B" or "*" names that user; ids count also without what stands behind an '@'. */
bool is_listed(Str list, Str user_id);
/* The same by their own id: a list for everyone names nobody. */
bool is_named(Str list, Str user_id);
bool names_anyone(Str list);

#endif
