/* turns_inside.h - turns as their own files see them. */
#ifndef TALARIA_GATEWAY_TURNS_INSIDE_H
#define TALARIA_GATEWAY_TURNS_INSIDE_H

#include <pthread.h>

#include "agent/service.h"
#include "gateway/deliver.h"
#include "gateway/lanes.h"
#include "gateway/turns.h"
#include "text/json.h"

/* What a runtime waits for: whether it may do something. */
typedef struct Ask {
    Str id;  /* the runtime's name of it; empty: nothing is asked */
    Str row; /* of the outbox: the question */
    Str choices[4];
    size_t n_choices;
    int64_t since_ms; /* wall clock: nobody can have answered before */
    bool answered;
} Ask;

/* One that is being made; on the stack of its thread. Others look at it under the lock. */
typedef struct ActiveTurn {
    struct ActiveTurn *next;
    Str key, run_id; /* run_id empty: it has not begun yet */
    bool stopped;    /* somebody asked for its end */
    bool replaced;   /* because of the next message */
    Ask ask;
} ActiveTurn;

struct Turns {
    TurnsOptions o;
    Service *service;
    Arena *arena;
    Home *homes; /* ours, then the others */
    Str *paths;
    size_t n_homes;
    Lanes *turns, **posts; /* posts: for each that is served */
    pthread_mutex_t lock;  /* the next two */
    ActiveTurn *active;
    bool closing;
    pthread_mutex_t journal_lock; /* the rest */
    OwnStore *journal;            /* of those who call from outside */
    bool looked_back;
};

/* What is to be answered. Belongs to the lane. */
typedef struct TurnJob {
    Arena *arena; /* of all of it */
    int64_t seq;  /* of the inbox; 0: nobody's words */
    Str name;     /* of the run, for ever: "reply:telegram:17", "first:01J..." */
    Str words; /* of its words in the outbox; the same, and another one when it was asked for again */
    Str key, text;
    ChatAddress place;
    Trust trust;
    InboundFile *files; /* that came with it */
    size_t n_files, more_files;
} TurnJob;

const GatewayConnection *turns_server(const Turns *t, Str platform);
bool turns_closing(Turns *t);
/* What waits at that place and is due goes out soon. */
void turns_post(Turns *t, OwnStore *own, Str platform, Str place);

/* turns_route.c: the conversation of a key. *ret_id empty: an internal one that leads nowhere. ERR_REFUSED: an
 * internal one, and there is no model. */
MUST_CHECK bool turn_route(Turns *t, OwnStore *own, Arena *a, const TurnJob *job, Str *ret_id,
                           Err *err);

/* Which runtime goes on with it; empty: the default. */
MUST_CHECK bool turn_runtime(Turns *t, Arena *a, Str conversation_id, Str *ret_runtime, Err *err);

/* turns_run.c: a lane's work. */
void turn_run(void *turns, OwnStore *own, void *job);
void turn_drop(void *turns, void *job);
/* Its thread is gone: it is found by another key. */
void active_turn_move(Turns *t, ActiveTurn *me, Str key);

/* turns_show.c: what a run says, as it says it. */
typedef struct TurnOutcome {
    Buf text;
    size_t told; /* so much of it was told already, before the runtime asked something */
    Str status;  /* "completed", "failed", ...; empty: the end was not heard */
    Str trouble; /* what went wrong, in words */
} TurnOutcome;

/* Until the run is over. Takes the reference over. */
void turn_watch(Turns *t, OwnStore *own, const TurnJob *job, ActiveTurn *me, Outgoing *out,
                LiveRun *live, TurnOutcome *ret);

/* turns_ask.c: what a runtime asks on the way. On the turn's thread. */
typedef struct Prompt {
    Turns *turns;
    OwnStore *journal;
    const TurnJob *job;
    ActiveTurn *me;
    Ask ask; /* as it was heard */
    Str what;
    Str tool;      /* that was begun last and is not over; empty: none */
    int64_t until; /* clock_mono_ms: then nobody is waited for any more; 0: it was not posted yet */
    bool late;
} Prompt;

/* A progress of the run: *ret_asks: from here on it waits for an answer. */
void prompt_on_progress(Prompt *k, const Frame *f, const JsonDoc *doc, bool *ret_asks);
/* The question goes out; one that nobody answered in time is denied. */
void prompt_update(Prompt *k, int64_t now);
bool prompt_is_open(const Prompt *k);
/* The run is over, and with it whatever it asked. */
void prompt_close(Prompt *k);

/* turn_files.c: files that came with a message: fetched, and given to its turn.
 *
 * They are kept as those of `ask --file` are, so every runtime gets them the same way. A file that cannot be had
 * never fails the turn: agent and sender are told in a line why it was not read. A turn that is made again after a
 * death finds what was kept before. */

/* What the message says of them, into the job's arena. */
void turn_files_keep(TurnJob *job, const Inbound *in);

/* Files and text of the wish, whose conversation is known: its own, and those of the message before where that was
 * interrupted. Waits for the platform, LIMIT_INBOUND_FILES_MS at most and one call. False only where everything ends: ERR_INTERRUPTED. */
MUST_CHECK bool turn_files_fetch(Turns *t, Arena *a, const TurnJob *job, ChatRequest *request,
                                 Err *err);

#endif
