/* A worker looks at the databases' inodes before it uses its store again: a database that was made,
 * replaced or taken away since then (by `talaria demo`, by a restored backup), or whose write-ahead
 * log was, is seen by the next request without a restart. That is two stats for each home.
 *
 * All connections of a process to one file share one index of its log (-shm). Where that is another
 * file now, a new connection would join the old one as long as anybody has it: so a change begins a
 * new generation, and the first store of it waits until those of the last are closed. */
#include "http/jobs.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/cond.h"
#include "base/executor.h"
#include "base/limits.h"

enum { IDLE_MS = 30000, LET_GO_MS = 300 };

typedef struct Mark {
    bool present;
    dev_t device;
    ino_t inode, log_index; /* log_index: 0 where there is none */
} Mark;

struct Worker {
    Jobs *jobs;
    int64_t used_ms; /* monotonic: when its last job ended */
    Arena *arena;    /* homes and marks; renewed with the store */
    Homes homes;
    bool homes_known;    /* changes under the lock, like the next */
    uint64_t generation; /* of homes and store */
    Mark *marks;
    Store *store;
};

#define X(name, threads) +(threads)
enum { WORKERS = 0 JOB_LANES(X) };
#undef X

struct Jobs {
    HomesQuery where;
    pthread_mutex_t lock;
    Executor *lanes[LANE_COUNT];
    bool ending; /* no lane accepts jobs, and some are gone */
    uint64_t generation;
    pthread_cond_t let_go; /* a worker has closed its store */
    Worker workers[WORKERS];
    size_t n_workers;
};

/* -- the worker's store -- */

static Mark mark_of(const Home *home, Arena *a)
{
    struct stat st;
    Mark ret = { 0 };

    if (stat(str_z(a, home->database), &st) != 0)
        return ret;
    ret = (Mark){ .present = true, .device = st.st_dev, .inode = st.st_ino };
    if (stat(str_printf(a, "%.*s-shm", STR_FMT(home->database)).p, &st) == 0)
        ret.log_index = st.st_ino;
    return ret;
}

/* An index of the log that appears is the one that our own reading made. */
static bool changed(Worker *w)
{
    AUTO(Arena) *a = arena_new();

    for (size_t i = 0; i < w->homes.n; i++) {
        Mark now = mark_of(&w->homes.all[i], a), *then = &w->marks[i];

        if (now.present != then->present || now.inode != then->inode ||
            now.device != then->device || (then->log_index && now.log_index != then->log_index))
            return true;
        then->log_index = now.log_index;
    }
    return false;
}

/* Under the lock, which is free while the store is closed: that may take a checkpoint, and requests
 * come in meanwhile. Until then homes_known holds. */
static void let_go(Worker *w, bool trim)
{
    pthread_mutex_unlock(&w->jobs->lock);
    w->store = store_free(w->store);
    w->arena = arena_free(w->arena);
    if (trim)
        malloc_trim(0); /* an idle server is small */
    pthread_mutex_lock(&w->jobs->lock);
    w->homes_known = false;
    pthread_cond_broadcast(&w->jobs->let_go);
}

static bool older_ones_open(const Jobs *jobs)
{
    for (size_t i = 0; i < WORKERS; i++)
        if (jobs->workers[i].homes_known && jobs->workers[i].generation != jobs->generation)
            return true;
    return false;
}

/* Lets go of what is of an older generation. One that a long job keeps open is waited for a moment;
 * then the next request tries again. */
static void renew(Worker *w)
{
    Jobs *jobs = w->jobs;
    bool moved = w->homes_known && changed(w);
    int64_t until = clock_mono_ms() + LET_GO_MS;

    pthread_mutex_lock(&jobs->lock);
    if (moved && w->generation == jobs->generation) {
        jobs->generation++;
        for (size_t i = 0; i < LANE_COUNT && !jobs->ending; i++)
            executor_wake(jobs->lanes[i]);
    }
    if (w->homes_known && w->generation != jobs->generation)
        let_go(w, false);
    while (!w->homes_known && older_ones_open(jobs) &&
           cond_wait_until(&jobs->let_go, &jobs->lock, until))
        ;
    if (!w->homes_known)
        w->generation = jobs->generation - (older_ones_open(jobs) ? 1 : 0);
    pthread_mutex_unlock(&jobs->lock);
}

bool worker_homes(Worker *w, const Homes **ret, Err *err)
{
    renew(w);
    if (!w->homes_known) {
        if (!w->arena)
            w->arena = arena_new();
        if (!homes_find(w->arena, &w->jobs->where, &w->homes, err))
            return false;
        w->marks = ARENA_ARRAY(w->arena, Mark, w->homes.n + 1);
        for (size_t i = 0; i < w->homes.n; i++)
            w->marks[i] = mark_of(&w->homes.all[i], w->arena);
        pthread_mutex_lock(&w->jobs->lock);
        w->homes_known = true;
        pthread_mutex_unlock(&w->jobs->lock);
    }
    *ret = &w->homes;
    return true;
}

bool worker_store(Worker *w, Store **ret, Err *err)
{
    const Homes *homes;

    if (!worker_homes(w, &homes, err))
        return false;
    if (!w->store)
        w->store = store_open(homes, err);
    *ret = w->store;
    return w->store != NULL;
}

/* -- Threads -- */

static void *begin_worker(void *ctx)
{
    Jobs *jobs = ctx;
    Worker *w;

    pthread_mutex_lock(&jobs->lock);
    w = &jobs->workers[jobs->n_workers++];
    w->jobs = jobs;
    pthread_mutex_unlock(&jobs->lock);
    return w;
}

static void end_worker(void *ctx, void *worker)
{
    Jobs *jobs = ctx;

    pthread_mutex_lock(&jobs->lock);
    let_go(worker, false);
    pthread_mutex_unlock(&jobs->lock);
}

static void run_job(void *ctx, void *worker, void *job)
{
    Worker *w = worker;
    Job *j = job;

    (void)ctx;
    j->run(j->ctx, w);
    w->used_ms = clock_mono_ms();
}

/* Closes a store that is of an older generation, or that no job has used for a while. */
static int64_t on_idle(void *ctx, void *worker)
{
    Jobs *jobs = ctx;
    Worker *w = worker;
    int64_t left = w->used_ms + IDLE_MS - clock_mono_ms();

    if (!w->arena)
        return -1;
    pthread_mutex_lock(&jobs->lock);
    if (w->generation != jobs->generation || left <= 0)
        let_go(w, w->generation == jobs->generation);
    pthread_mutex_unlock(&jobs->lock);
    return w->arena ? left : -1;
}

Jobs *jobs_start(const HomesQuery *where, Err *err)
{
    static const size_t threads[] = {
#define X(name, n) n,
        JOB_LANES(X)
#undef X
    };
    Jobs *jobs = mem_alloc(sizeof *jobs);

    jobs->where = *where;
    pthread_mutex_init(&jobs->lock, NULL);
    cond_init(&jobs->let_go);
    for (size_t i = 0; i < LANE_COUNT; i++) {
        jobs->lanes[i] = executor_start(&(ExecutorOptions){ .min_threads = 1,
                                                            .max_threads = threads[i],
                                                            .max_waiting = LIMIT_HTTP_JOBS,
                                                            .run = run_job,
                                                            .begin = begin_worker,
                                                            .end = end_worker,
                                                            .idle = on_idle,
                                                            .ctx = jobs },
                                        err);
        if (!jobs->lanes[i])
            return jobs_stop(jobs);
    }
    return jobs;
}

bool jobs_add(Jobs *jobs, JobLane lane, Job *job)
{
    bool accepted;

    pthread_mutex_lock(&jobs->lock);
    accepted = !jobs->ending && executor_add(jobs->lanes[lane], STR_NONE, job);
    pthread_mutex_unlock(&jobs->lock);
    return accepted;
}

Jobs *jobs_stop(Jobs *jobs)
{
    if (!jobs)
        return NULL;
    pthread_mutex_lock(&jobs->lock);
    jobs->ending = true;
    pthread_mutex_unlock(&jobs->lock);
    for (size_t i = 0; i < LANE_COUNT; i++)
        executor_stop(jobs->lanes[i]);
    pthread_cond_destroy(&jobs->let_go);
    pthread_mutex_destroy(&jobs->lock);
    return mem_free(jobs);
}
