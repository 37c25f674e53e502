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
#include "base/limits.h"

enum { IDLE_SECONDS = 30, LET_GO_MS = 300 };

typedef struct Lane {
    Job *first, **last;
    size_t waiting;
    pthread_cond_t more;
} Lane;

typedef struct Mark {
    bool present;
    dev_t device;
    ino_t inode, log_index; /* log_index: 0 where there is none */
} Mark;

struct Worker {
    Jobs *jobs;
    Lane *lane;
    pthread_t thread;
    bool running;
    Arena *arena; /* homes and marks; renewed with the store */
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
    Lane lanes[LANE_COUNT];
    bool ending;
    uint64_t generation;
    pthread_cond_t let_go; /* a worker has closed its store */
    Worker workers[WORKERS];
};

/* -- the worker's store ------------------------------------------------------------------------ */

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

/* Under the lock, which is free while the store is closed: that may take a checkpoint, and requests come in meanwhile.
 * Until then homes_known holds. */
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
    struct timespec until;

    pthread_mutex_lock(&jobs->lock);
    if (moved && w->generation == jobs->generation) {
        jobs->generation++;
        for (size_t i = 0; i < LANE_COUNT; i++)
            pthread_cond_broadcast(&jobs->lanes[i].more);
    }
    if (w->homes_known && w->generation != jobs->generation)
        let_go(w, false);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LET_GO_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!w->homes_known && older_ones_open(jobs) &&
           pthread_cond_timedwait(&jobs->let_go, &jobs->lock, &until) == 0)
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

/* -- threads ------------------------------------------------------------------------------------ */

/* The next job, or NULL at the end; lets go of the store where nothing comes for a while. */
static Job *take(Worker *w)
{
    Lane *lane = w->lane;
    Job *job;

    while (!lane->first && !w->jobs->ending) {
        struct timespec until;

        if (!w->arena) {
            pthread_cond_wait(&lane->more, &w->jobs->lock);
            continue;
        }
        if (w->generation != w->jobs->generation) {
            let_go(w, false);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_SECONDS;
        if (pthread_cond_timedwait(&lane->more, &w->jobs->lock, &until) != 0)
            let_go(w, true);
    }
    job = lane->first;
    if (job) {
        lane->first = job->next;
        lane->waiting--;
        if (!lane->first)
            lane->last = &lane->first;
    }
    return job;
}

static void *work(void *ctx)
{
    Worker *w = ctx;
    Job *job;

    pthread_mutex_lock(&w->jobs->lock);
    while ((job = take(w)) != NULL) {
        pthread_mutex_unlock(&w->jobs->lock);
        job->run(job->ctx, w);
        pthread_mutex_lock(&w->jobs->lock);
    }
    let_go(w, false);
    pthread_mutex_unlock(&w->jobs->lock);
    return NULL;
}

static void monotonic_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

Jobs *jobs_start(const HomesQuery *where, Err *err)
{
    static const int threads[] = {
#define X(name, n) n,
        JOB_LANES(X)
#undef X
    };
    Jobs *jobs = mem_alloc(sizeof *jobs);
    size_t n = 0;

    jobs->where = *where;
    pthread_mutex_init(&jobs->lock, NULL);
    monotonic_cond(&jobs->let_go);
    for (size_t i = 0; i < LANE_COUNT; i++) {
        jobs->lanes[i].last = &jobs->lanes[i].first;
        monotonic_cond(&jobs->lanes[i].more);
    }
    for (size_t i = 0; i < LANE_COUNT; i++)
        for (int k = 0; k < threads[i]; k++, n++) {
            Worker *w = &jobs->workers[n];

            w->jobs = jobs;
            w->lane = &jobs->lanes[i];
            w->running = pthread_create(&w->thread, NULL, work, w) == 0;
            if (!w->running) {
                (void)err_set(err, ERR_INTERNAL, "cannot start a thread");
                jobs_stop(jobs);
                return NULL;
            }
        }
    return jobs;
}

bool jobs_add(Jobs *jobs, JobLane lane, Job *job)
{
    Lane *to = &jobs->lanes[lane];
    bool taken;

    pthread_mutex_lock(&jobs->lock);
    taken = to->waiting < LIMIT_HTTP_JOBS && !jobs->ending;
    if (taken) {
        job->next = NULL;
        *to->last = job;
        to->last = &job->next;
        to->waiting++;
        pthread_cond_signal(&to->more);
    }
    pthread_mutex_unlock(&jobs->lock);
    return taken;
}

Jobs *jobs_stop(Jobs *jobs)
{
    if (!jobs)
        return NULL;
    pthread_mutex_lock(&jobs->lock);
    jobs->ending = true;
    for (size_t i = 0; i < LANE_COUNT; i++)
        pthread_cond_broadcast(&jobs->lanes[i].more);
    pthread_mutex_unlock(&jobs->lock);
    for (size_t i = 0; i < WORKERS; i++)
        if (jobs->workers[i].running)
            pthread_join(jobs->workers[i].thread, NULL);
    for (size_t i = 0; i < LANE_COUNT; i++)
        pthread_cond_destroy(&jobs->lanes[i].more);
    pthread_cond_destroy(&jobs->let_go);
    pthread_mutex_destroy(&jobs->lock);
    return mem_free(jobs);
}
