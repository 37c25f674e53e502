/* turns.h - turns of agents for what people write at chat platforms.
 *
 * A message that is meant for us becomes a turn of the session that its key leads to (a new one where it leads
 * nowhere), by the same service as chat and page. While it runs, its words are shown in one message that is
 * changed as they come, where the platform can; the end of it lies in the outbox, so that it arrives once,
 * whoever dies. One turn of a key at a time; what comes in meanwhile interrupts it or waits, as configured.
 *
 * Any thread; turns run on threads of their own, at most LIMIT_GATEWAY_TURNS at a time. */
#ifndef TALARIA_GATEWAY_TURNS_H
#define TALARIA_GATEWAY_TURNS_H

#include "chat/inbox.h"
#include "gateway/worker.h"
#include "runtimes/runtime.h"
#include "store/trust.h"
#include "text/settings.h"

typedef struct Turns Turns;

typedef struct TurnsOptions {
    const Homes *homes; /* borrowed, as all of it */
    const Settings *settings;
    const GatewayConnection *served;
    size_t n_served;
    KeyFlags flags;
    bool interrupts;                /* busy: what comes in ends the turn that runs; else it waits */
    const Runtime *const *runtimes; /* NULL: all there are */
    bool plain;                     /* as ServiceOptions has it: for tests */
    int64_t approval_ms;            /* how long an answer is waited for; 0: LIMIT_APPROVAL_MS */
} TurnsOptions;

MUST_CHECK Turns *turns_open(const TurnsOptions *options, Err *err);
/* Ends what runs: it goes on after the next start, or was told. */
Turns *turns_close(Turns *t);
AUTO_FREE(Turns, turns_close)

/* A message of `trust` that was authorised and is no command. When it returns true the row of the inbox is the turn's
 * matter. ERR_BUSY: too much is waiting, try later. */
MUST_CHECK bool turns_message(Turns *t, const InboxRow *row, const Inbound *in, Trust trust,
                              Err *err);

/* The agent's first words at the place to which a session came, on the loaded transcript; nobody's words are
 * kept for it. Nothing where the session's runtime has no model. Promised before the handoff is done, and kept
 * after it, whoever dies in between. */
MUST_CHECK bool turns_promise(Turns *t, OwnStore *own, const Handoff *h, Err *err);
MUST_CHECK bool turns_first(Turns *t, const Handoff *h, Err *err);

/* Turns of processes that are gone are closed: nothing of a session is under way without anyone. */
void turns_tidy(Turns *t);

/* Words of ours, through the outbox: for commands' answers. `id` names them for ever. */
MUST_CHECK bool turns_say(Turns *t, const ChatAddress *to, Str id, Str text, Err *err);

/* The run of a key ends; *ret: there was one. */
MUST_CHECK bool turns_stop(Turns *t, Str key, bool *ret, Err *err);

/* What is on its way for a key. */
typedef enum TurnsDoing {
    TURNS_IDLE,
    TURNS_WAITING, /* for its turn */
    TURNS_RUNNING,
    TURNS_ASKING /* an agent waits for a yes or a no */
} TurnsDoing;
TurnsDoing turns_doing(Turns *t, Str key);

/* An answer to what the run of a key asks, by a message that came in then. ERR_NOT_FOUND: nothing is asked;
 * ERR_CONFLICT: it was answered, or the message is older than the question; ERR_INVALID: no such choice. */
MUST_CHECK bool turns_approve(Turns *t, Str key, Str choice, int64_t received_ms, Err *err);

/* The session of a key; empty: none yet. A new one from now on (the old one is left as it is). */
MUST_CHECK bool turns_session(Turns *t, Arena *a, Str key, Str *ret, Err *err);
MUST_CHECK bool turns_forget(Turns *t, Str key, Err *err);
/* From now on the key leads to that session, which must not be somebody else's: ERR_CONFLICT. */
MUST_CHECK bool turns_resume(Turns *t, const ChatAddress *at, Str session_id, Err *err);
/* A session that came to this place when nobody knew whose it was goes on with whoever writes there first: for somebody
 * who is named in the settings. ERR_BUSY: its agent speaks there just now, and was asked to stop where messages
 * interrupt. */
MUST_CHECK bool turns_claim(Turns *t, const ChatAddress *at, Err *err);

/* What waits in the outbox and is due is sent, on threads of their own; *ret_wait_ms: when to look again. The
 * first time also what a gateway before this one left unfinished: after inbox_recover. */
MUST_CHECK bool turns_deliver(Turns *t, int64_t *ret_wait_ms, Err *err);

#endif
