/* state.h - the running server, as its own files see it. */
#ifndef TALARIA_HTTP_STATE_H
#define TALARIA_HTTP_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "achievements/coordinator.h"
#include "agent/service.h"
#include "http/connections.h"
#include "http/guard.h"
#include "http/jobs.h"
#include "http/request.h"
#include "http/sse.h"
#include "http/streams.h"
#include "http/watch.h"

enum { MAX_DAEMONS = 2 }; /* 127.0.0.1 and [::1] */

/* GET /achievements as it was last answered: see api_achievements.c. */
typedef struct BadgeCache {
    pthread_mutex_t lock;
    struct MHD_Response *plain, *zipped; /* NULL: not asked yet */
    char etag[ETAG_ROOM], etag_zipped[ETAG_ROOM];
    uint64_t version;
    int64_t made_ms; /* monotonic */
    bool refreshing;
    Err failure; /* why there is no answer, where failed */
    bool failed;
    Request *waiting; /* suspended until the refresh is there */
    Job refresh;
} BadgeCache;

/* How the search index stands: see api_search.c. */
typedef struct IndexState {
    pthread_mutex_t lock;
    bool queued; /* the job waits or runs */
    bool updating;
    bool complete; /* an update has come to its end since the start */
    int64_t
        wait_until; /* when searches stop waiting for the first update, monotonic; 0: none has */
    int64_t done, total; /* sessions */
    int64_t looked_ms;   /* when it was last brought up to date, monotonic; 0: never */
    int64_t told_ms;
    Job job;
} IndexState;

/* The last night that was run here, in short. */
typedef struct NightOutcome {
    bool known, dry_run, accepted;
    int64_t night, n_tasks, n_sessions, n_edits;
    double baseline, candidate, at;
    char staging[32], reason[32]; /* name of the night; why there is no edit */
} NightOutcome;

/* The night that runs: see api_sleep_run.c. */
typedef struct NightRun {
    pthread_mutex_t lock;
    bool running, dry_run;
    char backend[16]; /* as asked for; empty: by what is configured */
    int64_t night;
    const char *phase;
    size_t done, total;
    double since;
    int64_t told_ms;
    bool failed;
    Err failure; /* of the last one, where failed */
    NightOutcome last;
    Job job;
} NightRun;

struct Server {
    Arena *arena; /* of the start; nothing is added later */
    ServerOptions options;
    const Homes *homes;
    const Settings *settings;
    Guard guard;
    Str url;
    uint16_t port;
    double started_at;
    struct MHD_Daemon *daemons[MAX_DAEMONS];
    int sockets[MAX_DAEMONS];
    size_t n_daemons;
    Coordinator *coordinator; /* badges over the whole history */
    Coordinator *plugin;      /* what Hermes' plugin counts, with its files */
    Jobs *jobs;
    Sse *sse;
    Watch *watch;
    Streams *streams;
    Connections *connections;
    BadgeCache badges;
    NightRun night;
    pthread_mutex_t service_lock;
    _Atomic(Service *) service; /* NULL: nobody has needed it, or it could not be opened */
    IndexState index;
    atomic_size_t bodies[2]; /* bytes of bodies under way: with a token, without */
    atomic_int active;       /* requests between head and last byte */
    atomic_bool draining;
    atomic_bool ending; /* what runs in the background is to stop */
};

/* server.c: the agent service, opened at the first need; NULL: it cannot be. On a worker. */
Service *server_service(Server *s, Err *err);
/* exchange.c */
Connection *request_connection(const Request *rq);
/* server.c: the answer of a suspended request is there; its connection continues. Any thread. */
void server_resume(Request *rq);

#endif
