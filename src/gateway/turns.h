/* turns.h - agent turns for messages from chat platforms.
 *
 * A message addressed to the agent becomes a turn of the session that its key is routed to, or of a
 * new session. The same service runs it as for terminal and page. While it runs, one message shows
 * the answer and is edited as the answer grows, if the platform can edit. The final text is in the
 * outbox, so that it arrives once, whichever process dies. A key has one turn at a time; a message
 * that arrives meanwhile interrupts it or waits, as configured.
 *
 * Any thread; turns run on their own threads, at most LIMIT_GATEWAY_TURNS at a time. */
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
    bool interrupts;                /* a new message ends the running turn; else it waits */
    const Runtime *const *runtimes; /* NULL: all */
    bool plain;                     /* as in ServiceOptions: for tests */
    int64_t approval_ms;            /* time to answer a prompt; 0: LIMIT_APPROVAL_MS */
} TurnsOptions;

MUST_CHECK Turns *turns_open(const TurnsOptions *options, Err *err);
/* Cancels running turns; the next gateway resumes those whose answer is not in the outbox. */
Turns *turns_close(Turns *t);
AUTO_FREE(Turns, turns_close)

/* An authorised message that is not a command. On success the turn owns the inbox row. ERR_BUSY:
 * the queue is full, try later. */
MUST_CHECK bool turns_message(Turns *t, const InboxRow *row, const Inbound *in, Trust trust,
                              Err *err);

/* The agent speaks first in the chat that received a session, without a user message; not if the
 * session's runtime has no model. turns_promise records it before the handoff is done, turns_first
 * carries it out afterwards, so that a crash in between loses nothing. */
MUST_CHECK bool turns_promise(Turns *t, OwnStore *own, const Handoff *h, Err *err);
MUST_CHECK bool turns_first(Turns *t, const Handoff *h, Err *err);

/* Closes runs whose process has died. */
void turns_tidy(Turns *t);

/* Queues a message in the outbox, for example the answer to a command. The same `id` is sent
 * once. */
MUST_CHECK bool turns_say(Turns *t, const ChatAddress *to, Str id, Str text, Err *err);

/* Cancels the run of a key; *ret: there was one. */
MUST_CHECK bool turns_stop(Turns *t, Str key, bool *ret, Err *err);

/* The state of a key. */
typedef enum TurnsDoing {
    TURNS_IDLE,
    TURNS_WAITING, /* queued */
    TURNS_RUNNING,
    TURNS_ASKING /* the agent waits for an approval */
} TurnsDoing;
TurnsDoing turns_doing(Turns *t, Str key);

/* Answers the prompt of a key's run, by a message received at that time. ERR_NOT_FOUND: no prompt
 * is open; ERR_CONFLICT: it was answered, or the message is older than the prompt; ERR_INVALID: no
 * such choice. */
MUST_CHECK bool turns_approve(Turns *t, Str key, Str choice, int64_t received_ms, Err *err);

/* The session of a key; empty: none yet. turns_forget: the next message starts a new one, the old
 * one stays. */
MUST_CHECK bool turns_session(Turns *t, Arena *a, Str key, Str *ret, Err *err);
MUST_CHECK bool turns_forget(Turns *t, Str key, Err *err);
/* Routes the chat to that session. ERR_CONFLICT: it is routed to another chat. */
MUST_CHECK bool turns_resume(Turns *t, const ChatAddress *at, Str session_id, Err *err);
/* A session that was handed over to a group without a known owner goes to the first listed user who
 * writes there; call it for listed users only. ERR_BUSY: its agent is speaking there; if messages
 * interrupt, it was asked to stop. */
MUST_CHECK bool turns_claim(Turns *t, const ChatAddress *at, Err *err);

/* Sends the due messages of the outbox, on other threads; *ret_wait_ms: when to call again. The
 * first call, after inbox_recover, also resumes what an earlier gateway left unfinished. */
MUST_CHECK bool turns_deliver(Turns *t, int64_t *ret_wait_ms, Err *err);

#endif
