/* service.h - the agent service: a message goes in, a run comes out.
 *
 * A turn goes through: admit, load, context, skills, graph, continuity, dispatch, normalise,
 * persist, done. Admission is on the caller's thread: when service_chat returns, the user's message
 * is on disk and the run has a log (runlog.h). The rest is on the service's threads, even if the
 * caller goes away. A failure of context, skills or graph never fails the turn; a failure of the
 * store or the runtime ends it with one error and one done.
 *
 * Any thread. Returned text lives in the arena that was passed in. */
#ifndef TALARIA_AGENT_SERVICE_H
#define TALARIA_AGENT_SERVICE_H

#include "agent/knowledge.h"
#include "agent/runlog.h"
#include "store/trust.h"

typedef struct Service Service;

typedef struct ServiceOptions {
    const Homes *homes; /* borrowed, as settings */
    const Settings *settings;
    const Runtime *const *runtimes; /* NULL: all */
    PrepareFn *prepare;             /* builds the context; NULL: knowledge.h */
    bool plain;                     /* no context and no tools: for tests and benchmarks */
} ServiceOptions;

/* Also closes runs that a dead process left unfinished. */
MUST_CHECK Service *service_open(const ServiceOptions *options, Err *err);
/* Cancels the running turns and waits for their end. */
Service *service_close(Service *s);
AUTO_FREE(Service, service_close)

RunLog *service_log(Service *s);

/* A database handle for this thread, from a pool. */
MUST_CHECK Runs *service_borrow_runs(Service *s, Err *err);
void service_return_runs(Service *s, Runs *r);

/* A new conversation. ERR_INVALID: unknown runtime; ERR_NOT_FOUND: unknown template. */
MUST_CHECK bool service_begin(Service *s, const Conversation *c, Err *err);
/* Deletes it with its files: its first turn was refused, and it is empty. */
void service_unbegin(Service *s, Str conversation_id);

/* Makes a session of any history folder a conversation (conversations_adopt.h) with the messages
 * that its model would be sent now, every tool call with its result. *ret_id may be the session's
 * id. */
MUST_CHECK bool service_adopt(Service *s, Arena *a, const Home *home, Str session_id, Str *ret_id,
                              Err *err);

/* Closes runs whose process is gone, as opening does. */
MUST_CHECK bool service_recover(Service *s, Err *err);
/* The same for callers without a service, and so without runs. */
MUST_CHECK bool service_close_dead(Str data, Err *err);

/* -- Turns -- */

typedef struct ChatRequest {
    Str conversation_id, text;
    Trust trust;  /* what the turn may know and which runtimes it may use */
    Str runtime;  /* empty: the conversation's, else the default */
    Str model;    /* empty: the conversation's, else the runtime's default */
    Str idem_key; /* empty: none */
    const Str *files;
    size_t n_files;
    int64_t deadline_ms; /* 0: the limit */
    int64_t max_tokens;  /* of the answer, for a runtime with its own model; 0: its default */
    bool refresh;        /* read the user memory again, for this turn and later ones */
    Str surface;         /* the chat platform; empty: terminal or page */
    bool internal;       /* an instruction to the agent: no user message is stored */
    Str instead_of;      /* answer the message of this abandoned run; empty: a new message */
} ChatRequest;

/* ERR_CONFLICT: a run of the conversation is not over (it is *ret), the session was moved
 * elsewhere, or the key was used for another request; ERR_REFUSED: the runtime needs more trust;
 * ERR_BUSY: LIMIT_RUNS turns are running. *ret_live is a reference. A repeated idempotency key
 * returns the same run. */
MUST_CHECK bool service_chat(Service *s, Arena *a, const ChatRequest *request, Run *ret,
                             LiveRun **ret_live, Err *err);
/* The run ends soon with done{cancelled}; no effect if it is over. ERR_NOT_FOUND. */
MUST_CHECK bool service_cancel(Service *s, Str run_id, Err *err);
/* ERR_CONFLICT: no such approval is pending; ERR_INVALID: not one of its choices. */
MUST_CHECK bool service_approve(Service *s, Str run_id, Str approval_id, Str choice, Err *err);

/* -- Runtimes -- */

/* By name or alias; empty: the default. NULL and ERR_INVALID: unknown. */
MUST_CHECK const Runtime *service_runtime(Service *s, Str name, Err *err);
const Runtime *const *service_runtimes(Service *s);
/* May take up to two seconds. */
MUST_CHECK bool service_probe(Service *s, Arena *a, const Runtime *runtime, RuntimeCaps *ret,
                              Err *err);

#endif
