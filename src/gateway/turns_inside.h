/* turns_inside.h - turns as their own files see them. */
#ifndef TALARIA_GATEWAY_TURNS_INSIDE_H
#define TALARIA_GATEWAY_TURNS_INSIDE_H

#include <pthread.h>

#include "agent/service.h"
#include "gateway/deliver.h"
#include "gateway/lanes.h"
#include "gateway/turns.h"

/* One that is being made; on the stack of its thread. */
typedef struct Turning {
    struct Turning *next;
    Str key, run_id; /* run_id empty: it has not begun yet */
    bool stopped;    /* somebody asked for its end */
    bool replaced;   /* because of the next message */
} Turning;

struct Turns {
    TurnsOptions o;
    Service *service;
    Arena *arena;
    Home *homes; /* ours, then the others */
    Str *paths;
    size_t n_homes;
    Lanes *turns, *posts;
    pthread_mutex_t lock; /* the next two */
    Turning *turning;
    bool closing;
    pthread_mutex_t journal_lock; /* the rest */
    Journal *journal;             /* of those who call from outside */
    bool looked_back;
};

/* What is to be answered. Belongs to the lane. */
typedef struct TurnJob {
    Arena *arena; /* of all of it */
    int64_t seq;  /* of the inbox; 0: nobody's words */
    Str name;     /* of run and words, for ever: "reply:telegram:17", "first:01J..." */
    Str key, text;
    Place place;
} TurnJob;

const Served *turns_server(const Turns *t, Str platform);
bool turns_closing(Turns *t);

/* turns_route.c: the conversation of a key. *ret_id empty: an internal one that leads nowhere. ERR_REFUSED: an
 * internal one, and there is no model. */
MUST_CHECK bool turn_route(Turns *t, Journal *j, Arena *a, const TurnJob *job, Str *ret_id,
                           Err *err);

/* Which runtime goes on with it; empty: the default. */
MUST_CHECK bool turn_runtime(Turns *t, Arena *a, Str conversation_id, Str *ret_runtime, Err *err);

/* turns_run.c: a lane's work. */
void turn_run(void *turns, Journal *j, void *job);
void turn_drop(void *turns, void *job);

/* turns_show.c: what a run says, as it says it. */
typedef struct Heard {
    Buf text;
    Str status;  /* "completed", "failed", ...; empty: the end was not heard */
    Str trouble; /* what went wrong, in words */
} Heard;

/* Until the run is over. Takes the reference over. */
void turn_watch(Turns *t, Journal *j, Arena *a, const TurnJob *job, Outgoing *out, LiveRun *live,
                Heard *ret);

#endif
