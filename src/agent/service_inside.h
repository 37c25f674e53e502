/* service_inside.h - the internals of the service. */
#ifndef TALARIA_AGENT_SERVICE_INSIDE_H
#define TALARIA_AGENT_SERVICE_INSIDE_H

#include <pthread.h>

#include "agent/graph.h"
#include "agent/service.h"
#include "base/executor.h"
#include "base/file.h"
#include "base/limits.h"
#include "runtimes/trace.h"

typedef struct Turn Turn;

typedef struct ServiceModel {
    char *name;          /* as requested; empty: the configured model */
    ModelClient *client; /* NULL: the slot is free */
    size_t holders;      /* turns that use it */
    uint64_t asked;      /* number of the last request for it */
} ServiceModel;

struct Service {
    ServiceOptions options;
    const Runtime *const *runtimes;
    RuntimeHost host;
    RuntimeHost bare; /* for guests: without the owner's knowledge */
    Net *net;
    RunLog *log;
    Executor *pool;       /* work that may wait: for a file, the database, a tool */
    Knowledge *knowledge; /* NULL: none */
    RuntimeTool tools[KNOWLEDGE_TOOLS];
    char owner[ID_CHARS];
    char *owner_path;
    FileLock *owner_lock;
    pthread_mutex_t models_lock;
    ServiceModel models[LIMIT_SERVICE_MODELS]; /* the first slot: the configured model */
    uint64_t n_asked;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t idle;
    Turn *turns; /* all that are not over */
    size_t n_turns;
    bool closing;
    Runs *spare[8]; /* idle handles */
    size_t n_spare;
    double costs[TASK_KIND_COUNT]; /* seconds, by kind of step; 0: not known */
    int64_t costs_ms;              /* when they were read; 0: never */
    int64_t pruned_ms;             /* when old events were last swept; 0: never */
};

/* One turn. A worker owns it while it is prepared, the loop while the runtime is running, the
 * writer at its end; `lock` is for cancel and approve, which come from other threads. */
struct Turn {
    Service *service;
    Turn *prev, *next;
    int holders; /* under the service's lock */
    Arena *arena;
    Run run;
    ChatRequest chat; /* in the arena */
    const Runtime *runtime;
    Str thread; /* name of its continuity */
    LiveRun *live;
    Frames frames;
    size_t logged;    /* bytes of all frames */
    int64_t terminal; /* seq of the first terminal frame; 0: not reached */

    Conversation conversation;
    ChatTurn *recent;
    size_t n_recent;
    Summary summary;
    Continuity continuity;
    Str *handles; /* of other runtimes in this conversation */
    size_t n_handles;
    double costs[TASK_KIND_COUNT];
    Prepared prepared;
    Str template, no_template; /* the template of the examples; why there is none */
    bool enriched;             /* `prepared` is filled */
    RuntimeRequest request;

    pthread_mutex_t lock;
    RuntimeRun *running;
    bool cancelled, over;
    char waiting[128]; /* id of the pending approval; empty: none */
    char offered[64];  /* its choices: "once|deny" */

    Buf text;
    Passages passages;
    RunTrace trace;
    bool acted; /* a tool was used */
    bool lost;  /* the runtime did not know the handle; the history is sent again */
    ContinuityMode mode;
    Str handle, model; /* reported by the runtime; in the arena */
    RuntimeUsage usage;
    Attachment attachments[4];
    RunEnd end;
};

/* Whether it may use memory, past sessions, notes, skills and templates. */
static inline bool turn_knows(const Turn *turn)
{
    return trust_has(turn->chat.trust, RIGHT_KNOWLEDGE);
}

/* prepare.c: everything before the runtime. False: the store failed. */
MUST_CHECK bool turn_load(Turn *turn, Runs *r, Err *err);
void turn_enrich(Turn *turn);
void turn_build_request(Turn *turn);

/* summary_model.c: the next generation of the summary, in the background. */
void turn_summarise(Turn *turn, Str model, int64_t through);

/* turn.c */
void turn_start(void *turn); /* on a worker, to the dispatch */
void turn_cancel(Turn *turn);
void turn_release(Turn *turn); /* drops a reference */

/* models.c */
ModelClient *service_model(void *service, Str wish, Err *err); /* until service_model_done */
void service_model_done(void *service, ModelClient *client);
void service_models_free(Service *s);

/* owners.c: the name under which this process runs turns; runs of dead processes; pruning. */
MUST_CHECK bool service_own(Service *s, Err *err);
void service_disown(Service *s);
bool service_is_gone(void *service, Str run_id, Str owner);
void service_tidy(Service *s); /* in the background, once a day at most */

/* service.c */
/* fn(arg) on a thread of the pool. Any thread; never waits. */
void service_work(void *service, void (*fn)(void *arg), void *arg);
void service_end_turn(Service *s, Turn *turn); /* it is over */
void service_refresh(Service *s);              /* the search index, in the background */

#endif
