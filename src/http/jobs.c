/* A worker looks at the databases' inodes before it uses its store again: a database that was made,
 * replaced or taken away since then (by `talaria demo`, by a restored backup) is seen by the next
 * request without a restart. That is a stat for each home. */
#include "http/jobs.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/limits.h"

enum { IDLE_SECONDS = 30 };

typedef struct Lane {
    Job *first, **last;
    size_t waiting;
    pthread_cond_t more;
} Lane;

typedef struct Mark {
    bool present;
    dev_t device;
    ino_t inode;
} Mark;

struct Worker {
    Jobs *jobs;
    Lane *lane;
    pthread_t thread;
    bool running;
    Arena *arena; /* homes and marks; renewed with the store */
    Homes homes;
    bool homes_known;
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
    Worker workers[WORKERS];
};

/* -- the worker's store ------------------------------------------------------------------------ */

static Mark mark_of(const Home *home, Arena *a)
{
    struct stat st;

    if (stat(str_z(a, home->database), &st) != 0)
        return (Mark){ 0 };
    return (Mark){ .present = true, .device = st.st_dev, .inode = st.st_ino };
}

static bool changed(Worker *w)
{
    AUTO(Arena) *a = arena_new();

    for (size_t i = 0; i < w->homes.n; i++) {
        Mark now = mark_of(&w->homes.all[i], a), *then = &w->marks[i];

        if (now.present != then->present || now.inode != then->inode || now.device != then->device)
            return true;
    }
    return false;
}

static void let_go(Worker *w)
{
    w->store = store_free(w->store);
    w->arena = arena_free(w->arena);
    w->homes_known = false;
}

bool worker_homes(Worker *w, const Homes **ret, Err *err)
{
    if (w->homes_known && changed(w))
        let_go(w);
    if (!w->homes_known) {
        if (!w->arena)
            w->arena = arena_new();
        if (!homes_find(w->arena, &w->jobs->where, &w->homes, err))
            return false;
        w->marks = ARENA_ARRAY(w->arena, Mark, w->homes.n + 1);
        for (size_t i = 0; i < w->homes.n; i++)
            w->marks[i] = mark_of(&w->homes.all[i], w->arena);
        w->homes_known = true;
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
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += IDLE_SECONDS;
        if (pthread_cond_timedwait(&lane->more, &w->jobs->lock, &until) != 0) {
            let_go(w);
            malloc_trim(0); /* an idle server is small */
        }
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
    pthread_mutex_unlock(&w->jobs->lock);
    let_go(w);
    return NULL;
}

static void lane_init(Lane *lane)
{
    pthread_condattr_t attr;

    lane->last = &lane->first;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&lane->more, &attr);
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
    for (size_t i = 0; i < LANE_COUNT; i++)
        lane_init(&jobs->lanes[i]);
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
    pthread_mutex_destroy(&jobs->lock);
    return mem_free(jobs);
}
