/* service_inside.h - the service as its own files see it. */
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
    char *name;          /* as it was wished for; empty: the configured one */
    ModelClient *client; /* NULL: the place is free */
    size_t holders;      /* turns that use it now */
    uint64_t asked;      /* the number of the last request for it */
} ServiceModel;

struct Service {
    ServiceOptions options;
    const Runtime *const *runtimes;
    RuntimeHost host;
    RuntimeHost bare; /* for those who may not know what the owner knows */
    Net *net;
    RunLog *log;
    Executor *pool;       /* work that may wait: for a file, the database, a tool */
    Knowledge *knowledge; /* NULL: none */
    RuntimeTool tools[KNOWLEDGE_TOOLS];
    char owner[ID_CHARS];
    char *owner_path;
    FileLock *owner_lock;
    pthread_mutex_t models_lock;
    ServiceModel models[LIMIT_SERVICE_MODELS]; /* the first is the configured one's */
    uint64_t n_asked;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t idle;
    Turn *turns; /* every turn that is not over */
    size_t n_turns;
    bool closing;
    Runs *spare[8]; /* handles that nobody uses */
    size_t n_spare;
    double costs[TASK_KIND_COUNT]; /* seconds, by kind of step; 0: not known */
    int64_t costs_ms;              /* when they were read; 0: never */
    int64_t pruned_ms;             /* when old events were last swept; 0: never */
};

/* One turn. It belongs to a worker while it is prepared, to the loop while the runtime speaks, to the writer
 * at its end; `lock` is for those who come from outside: cancel and approve. */
struct Turn {
    Service *service;
    Turn *prev, *next;
    int holders; /* under the service's lock */
    Arena *arena;
    Run run;
    ChatRequest chat; /* in the arena */
    const Runtime *runtime;
    Str thread; /* the name of its handle */
    LiveRun *live;
    Frames frames;
    size_t logged;    /* bytes of what the frames say */
    int64_t terminal; /* seq of the first frame of the end; 0: not there yet */

    Conversation conversation;
    ChatTurn *recent;
    size_t n_recent;
    Summary summary;
    Continuity continuity;
    Str *handles; /* of the other programs that took part */
    size_t n_handles;
    double costs[TASK_KIND_COUNT];
    Prepared prepared;
    Str template, no_template; /* the one that the examples are of; why there is none */
    bool enriched;             /* it is there */
    RuntimeRequest request;

    pthread_mutex_t lock;
    RuntimeRun *running;
    bool cancelled, over;
    char waiting[128]; /* id of the approval that waits for an answer; empty: none */
    char offered[64];  /* its choices: "once|deny" */

    Buf text;
    Passages passages;
    RunTrace trace;
    bool acted; /* a tool was used */
    bool lost;  /* the handle was of no use; what was said so far is told anew */
    ContinuityMode mode;
    Str handle, model; /* as the runtime said; in the arena */
    RuntimeUsage usage;
    Attachment attachments[4];
    RunEnd end;
};

/* Whether it may know of memory, past sessions, notes, skills and templates. */
static inline bool turn_knows(const Turn *turn)
{
    return trust_has(turn->chat.trust, RIGHT_KNOWLEDGE);
}

/* prepare.c: everything before the runtime. False: the store is of no use. */
MUST_CHECK bool turn_load(Turn *turn, Runs *r, Err *err);
void turn_enrich(Turn *turn);
void turn_build_request(Turn *turn);

/* summary_model.c: the next generation of the summary, in the background. */
void turn_summarise(Turn *turn, Str model, int64_t through);

/* turn.c */
void turn_start(void *turn); /* on a worker, to the dispatch */
void turn_cancel(Turn *turn);
void turn_release(Turn *turn); /* gives a reference back */

/* models.c */
ModelClient *service_model(void *service, Str wish, Err *err); /* until service_model_done */
void service_model_done(void *service, ModelClient *client);
void service_models_free(Service *s);

/* owners.c: the name under which this process runs turns; runs whose process is gone; what is too old. */
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
