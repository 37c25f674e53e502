/* hermes.h - a session of ours goes to a gateway of Hermes, and comes back.
 *
 * A gateway of Hermes sees the sessions of its own home alone. So it is given a copy
 * (handoff/copy.h): what the model would be sent now, tools and all. When the session comes back,
 * what was said there meanwhile is added to ours, and the copy is put aside. On a OwnStore, so one
 * thread. */
#ifndef TALARIA_HANDOFF_HERMES_H
#define TALARIA_HANDOFF_HERMES_H

#include "handoff/wait.h"

/* The home whose gateway is running and set up for the platform of the wish. ERR_REFUSED says what
 * is missing, or what of the wish a gateway of Hermes cannot do. */
MUST_CHECK bool lend_home(const HandoffAsk *ask, Str *ret_home, Err *err);

/* The same of one home whose gateway is running. */
MUST_CHECK bool lend_may_ask(const HandoffAsk *ask, Str home, Err *err);

/* The request, and the copy. One that is on its way already, and whose terminal may have died in
 * the middle, is gone on with. */
MUST_CHECK bool lend_session(OwnStore *own, Arena *a, const HandoffAsk *ask, Handoff *ret,
                             Err *err);

/* hermes_back.c: h is over there. */
MUST_CHECK bool lend_back(const Homes *homes, OwnStore *own, const Handoff *h, Err *err);

/* A home alone, as a Store wants it; `path` is borrowed. */
typedef struct OneHome {
    Home home;
    Homes homes;
} OneHome;
void one_home(Arena *a, const Homes *all, Str path, OneHome *ret);

#endif
