/* jobs.h - the few threads that may wait: for a database, a scan, a lock.
 *
 * Lanes keep short work from standing behind long work: reads of the page in one, scans and the
 * study in another, the refresh of the badges in a third, a night, which may take hours, in a
 * fourth. A worker keeps its own Store (a Store is one thread's) while there is something to
 * do and closes it after half a minute without. */
#ifndef TALARIA_HTTP_JOBS_H
#define TALARIA_HTTP_JOBS_H

#include "store/store.h"

typedef struct Jobs Jobs;
typedef struct Worker Worker;

/* X(name, threads) */
#define JOB_LANES(X)                                                                               \
    X(LANE_READ, 2)                                                                                \
    X(LANE_SLOW, 2)                                                                                \
    X(LANE_BADGES, 1)                                                                              \
    X(LANE_NIGHT, 1)

typedef enum JobLane {
#define X(name, threads) name,
    JOB_LANES(X)
#undef X
        LANE_COUNT
} JobLane;

typedef struct Job {
    void (*run)(void *ctx, Worker *worker);
    void *ctx;
} Job;

MUST_CHECK Jobs *jobs_start(const HomesQuery *where, Err *err);
/* Takes the job, which the caller keeps alive until it has run; false when LIMIT_HTTP_JOBS wait. */
MUST_CHECK bool jobs_add(Jobs *jobs, JobLane lane, Job *job);
/* Runs what waits, then ends the threads. */
Jobs *jobs_stop(Jobs *jobs);

/* -- for jobs, of the worker that runs them -- */

MUST_CHECK bool worker_homes(Worker *w, const Homes **ret, Err *err);
MUST_CHECK bool worker_store(Worker *w, Store **ret, Err *err);

#endif
