/* service.h - the agent service: a message goes in, a run comes out.
 *
 * admit, load, context, skills, graph, continuity, dispatch, normalise, persist, done. Admission is the
 * caller's: when service_chat returns, the user's words are on the disk and the run has a log to look at
 * (runlog.h). The rest happens on the service's own threads, whoever goes away. Trouble with context,
 * skills or graph makes a turn poorer, never fails it; trouble with the store or the runtime ends it with
 * one error and one done.
 *
 * Any thread. Text that is handed out lives in the arena that was passed in. */
#ifndef TALARIA_AGENT_SERVICE_H
#define TALARIA_AGENT_SERVICE_H

#include "agent/knowledge.h"
#include "agent/runlog.h"
#include "store/trust.h"

typedef struct Service Service;

typedef struct ServiceOptions {
    const Homes *homes; /* borrowed, as settings */
    const Settings *settings;
    const Runtime *const *runtimes; /* NULL: all there are */
    /* What makes a turn richer: NULL is what this machine knows (knowledge.h). */
    PrepareFn *prepare;
    bool plain; /* nothing does, and there are no tools: for tests and the bench */
} ServiceOptions;

/* Closes what a process that is gone left unfinished. */
MUST_CHECK Service *service_open(const ServiceOptions *options, Err *err);
/* Cancels what runs and waits for it. */
Service *service_close(Service *s);
AUTO_FREE(Service, service_close)

RunLog *service_log(Service *s);

/* A handle of the database for this thread, until it is given back. */
MUST_CHECK Runs *service_borrow_runs(Service *s, Err *err);
void service_return_runs(Service *s, Runs *r);

/* A new conversation. ERR_INVALID where there is no such runtime, ERR_NOT_FOUND where no such template. */
MUST_CHECK bool service_begin(Service *s, const Conversation *c, Err *err);
/* Takes it back, with its files: its first turn was refused, and nothing was said in it. */
void service_unbegin(Service *s, Str conversation_id);

/* A session of any home as a conversation of ours (conversations_adopt.h): the words that its model would be
 * sent now, every call with its result. The id of the conversation, which may be that of the session. */
MUST_CHECK bool service_adopt(Service *s, Arena *a, const Home *home, Str session_id, Str *ret_id,
                              Err *err);

/* Closes runs whose process is gone, as opening does. */
MUST_CHECK bool service_recover(Service *s, Err *err);
/* The same in our home for who has no service, and so no runs of their own. */
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
    int64_t max_tokens;  /* of the answer, for a runtime with a model of its own; 0: its default */
    bool refresh;        /* what is remembered of the user as it is now, from this turn on */
    Str surface;         /* the chat platform from which it is asked; empty: terminal or page */
    bool internal;       /* nobody said it: the runtime is told, no words of a user are kept */
    Str instead_of;      /* a run that died: its message is answered anew; empty: it is a new one */
} ChatRequest;

/* ERR_CONFLICT: a run of the conversation is not over (ret is that one), the session lives elsewhere now, or
 * the key was used for something else; ERR_REFUSED: the runtime is not for that level of trust; ERR_BUSY:
 * LIMIT_RUNS run. *ret_live is a reference. An idempotency key that was used gives that run again. */
MUST_CHECK bool service_chat(Service *s, Arena *a, const ChatRequest *request, Run *ret,
                             LiveRun **ret_live, Err *err);
/* Leads to done{cancelled} soon. ERR_NOT_FOUND; one that is over is left as it is. */
MUST_CHECK bool service_cancel(Service *s, Str run_id, Err *err);
/* ERR_CONFLICT: nothing of that id waits for an answer; ERR_INVALID: that was not among the choices. */
MUST_CHECK bool service_approve(Service *s, Str run_id, Str approval_id, Str choice, Err *err);

/* -- Runtimes -- */

/* By name or alias, also the default for the empty name; NULL and ERR_INVALID: there is none. */
MUST_CHECK const Runtime *service_runtime(Service *s, Str name, Err *err);
const Runtime *const *service_runtimes(Service *s);
/* May take up to two seconds. */
MUST_CHECK bool service_probe(Service *s, Arena *a, const Runtime *runtime, RuntimeCaps *ret,
                              Err *err);

#endif
