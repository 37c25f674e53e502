/* turns_inside.h - the internals of turns, shared by turns*.c and turn_files.c. */
#ifndef TALARIA_GATEWAY_TURNS_INSIDE_H
#define TALARIA_GATEWAY_TURNS_INSIDE_H

#include <pthread.h>

#include "agent/service.h"
#include "gateway/deliver.h"
#include "gateway/lanes.h"
#include "gateway/turns.h"
#include "text/json.h"

/* A runtime's request for approval. */
typedef struct Ask {
    Str id;  /* the runtime's id of it; empty: no request is open */
    Str row; /* id of the question in the outbox */
    Str choices[4];
    size_t n_choices;
    int64_t since_ms; /* wall clock: earlier messages cannot be an answer */
    bool answered;
} Ask;

/* A turn that is running, on the stack of its thread; other threads read it under the lock. */
typedef struct ActiveTurn {
    struct ActiveTurn *next;
    Str key, run_id; /* run_id empty: the run has not started */
    bool stopped;    /* it was asked to end */
    bool replaced;   /* by the next message */
    Ask ask;
} ActiveTurn;

struct Turns {
    TurnsOptions o;
    Service *service;
    Arena *arena;
    Home *homes; /* ours, then the others */
    Str *paths;
    size_t n_homes;
    Lanes *turns, **posts; /* posts: one for each connection */
    pthread_mutex_t lock;  /* the next two */
    ActiveTurn *active;
    bool closing;
    pthread_mutex_t journal_lock; /* the rest */
    OwnStore *journal;            /* for calls from other threads */
    bool looked_back;
};

/* A message to answer; owned by its lane. */
typedef struct TurnJob {
    Arena *arena; /* of all of it */
    int64_t seq;  /* inbox row; 0: the agent speaks first */
    Str name;     /* permanent name of the run: "reply:telegram:17", "first:01J..." */
    Str words;    /* id of the answer in the outbox: the name, or another one if the request was
                     repeated */
    Str key, text;
    ChatAddress place;
    Trust trust;
    InboundFile *files; /* attached to the message */
    size_t n_files, more_files;
} TurnJob;

const GatewayConnection *turns_server(const Turns *t, Str platform);
bool turns_closing(Turns *t);
/* Sends the due messages of that chat soon. */
void turns_post(Turns *t, OwnStore *own, Str platform, Str place);

/* turns_route.c: the conversation of the job's key; *ret_id empty: the agent was to speak first,
 * and the session is gone. ERR_REFUSED: the agent was to speak first, and there is no model. */
MUST_CHECK bool turn_route(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Str *ret_id,
                           Err *err);

/* The runtime that continues it; empty: the default. */
MUST_CHECK bool turn_runtime(Turns *t, Arena *a, Str conversation_id, Str *ret_runtime, Err *err);

/* turns_run.c: a lane's work. */
void turn_run(void *turns, OwnStore *own, void *job);
void turn_drop(void *turns, void *job);
/* Its topic is gone, so its key changes. */
void active_turn_move(Turns *t, ActiveTurn *me, Str key);

/* turns_show.c: the answer of a run, shown while it grows. */
typedef struct TurnOutcome {
    Buf text;
    size_t told; /* bytes of the text that earlier messages, before a prompt, contain */
    Str status;  /* "completed", "failed", ...; empty: the run ended without a status */
    Str trouble; /* the error, for people */
} TurnOutcome;

/* Returns when the run is over. Releases the reference. */
void turn_watch(Turns *t, OwnStore *own, const TurnJob *job, ActiveTurn *me, Outgoing *out,
                LiveRun *live, TurnOutcome *ret);

/* turns_ask.c: requests for approval during a turn. On the turn's thread. */
typedef struct Prompt {
    Turns *turns;
    OwnStore *journal;
    const TurnJob *job;
    ActiveTurn *me;
    Ask ask;
    Str what;
    Str tool;      /* the tool that is running; empty: none */
    int64_t until; /* clock_mono_ms: when the prompt expires; 0: it was not posted yet */
    bool late;
} Prompt;

/* A progress event of the run. *ret_asks: it now waits for an answer. */
void prompt_on_progress(Prompt *k, const Frame *f, const JsonDoc *doc, bool *ret_asks);
/* Posts an open prompt; denies one that has expired. */
void prompt_update(Prompt *k, int64_t now);
bool prompt_is_open(const Prompt *k);
/* The run is over: withdraws its prompt. */
void prompt_close(Prompt *k);

/* turn_files.c: downloads the files of a message and attaches them to its turn.
 *
 * They are stored as those of `ask --file`, so that every runtime gets them the same way. A file
 * that cannot be downloaded never fails the turn: a line tells agent and sender why. A turn that is
 * repeated after a crash finds the files that were stored before. */

/* Copies the message's list of files to the job's arena. */
void turn_files_keep(TurnJob *job, const Inbound *in);

/* Sets files and text of the request: its own files, and those of the message before if that turn
 * was interrupted. Waits for the platform at most LIMIT_INBOUND_FILES_MS and one call. Fails only
 * if the gateway stops: ERR_INTERRUPTED. */
MUST_CHECK bool turn_files_fetch(Turns *t, Arena *a, const TurnJob *job, ChatRequest *request,
                                 Err *err);

#endif
