/* wait.h - asking for a handoff, and waiting for what becomes of it: one way for `talaria handoff`
 * and for /handoff in a chat.
 *
 * Whoever waits only looks: the request lies in the journal, and is carried out or stays claimable
 * whether the one who asked lives or not. Two phases: somebody has to take it soon, else it is
 * cancelled; then it may take its time. On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_HANDOFF_WAIT_H
#define TALARIA_HANDOFF_WAIT_H

#include "handoff/handoff.h"
#include "store/homes.h"
#include "text/settings.h"

/* -- asking -- */

typedef struct HandoffAsk {
    const Homes *homes;
    const Settings *settings;
    HandoffRequest request;
    bool detach; /* nobody waits: a gateway may also come later */
    bool queue;  /* somebody waits for a gateway that is not there yet */
} HandoffAsk;

/* Whether it can go there now: the platform is known (ERR_USAGE), served, and has a home channel or
 * a chat was named (ERR_REFUSED); and nothing holds the session (ERR_CONFLICT, ERR_BUSY). The
 * session of the wish is empty where its conversation is not made yet: whatever can be refused is
 * refused before that. Where only a gateway of Hermes serves it, a session of ours goes to its home
 * as a copy, and the wish says so afterwards. */
MUST_CHECK bool handoff_may_go(OwnStore *own, HandoffAsk *ask, Err *err);

/* An answer that is on its way belongs to where it was asked for: ERR_BUSY. */
MUST_CHECK bool handoff_idle(const Homes *homes, Str home, Str session_id, Err *err);

/* handoff_request, or lend_session (hermes.h), and calls the gateway. */
MUST_CHECK bool handoff_ask(OwnStore *own, Arena *a, const HandoffAsk *ask, Handoff *ret, Err *err);

/* -- waiting -- */

typedef enum WaitWord {
    WAIT_ON,
    WAIT_CANCEL, /* asks for cancellation; said again: waits no longer */
    WAIT_LEAVE   /* waits no longer; the handoff continues */
} WaitWord;

typedef struct HandoffWaiter {
    const Homes *homes;
    int wake_fd;                 /* can be read when there may be a word */
    WaitWord (*word)(void *ctx); /* since it was last asked for */
    void (*note)(void *ctx, const char *text);
    void *ctx;
    int64_t claim_ms, done_ms, beat_ms; /* 0: a minute, 15 minutes, a line every 30 seconds */
} HandoffWaiter;

/* True: h is done. Else why not: ERR_REFUSED it failed or nobody took it, ERR_INTERRUPTED it was
 * cancelled or left, ERR_BUSY it takes too long. */
MUST_CHECK bool handoff_wait(const HandoffWaiter *w, OwnStore *own, Arena *a, Handoff *h, Err *err);

/* -- owners -- */

/* Whether a terminal may write the session. ERR_CONFLICT says where it is and how it comes back. */
MUST_CHECK bool handoff_is_here(OwnStore *own, Str home, Str session_id, Err *err);

/* routing_release; one that is with a Hermes gateway comes back with what was said there. ERR_BUSY:
 * a turn of it is under way, or that gateway is just taking it. */
MUST_CHECK bool handoff_bring_back(const Homes *homes, OwnStore *own, Str home, Str session_id,
                                   Err *err);

#endif
