/* A lane holds the waiting jobs of one key and exists only while it has some or one runs. A thread
 * takes the lane that has waited longest, runs one job of it and puts the lane behind the others. A
 * job without a key has a lane to itself, which the table of keys does not know. */
#include "base/executor.h"

#include <pthread.h>
#include <uthash.h>
#include <utlist.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/cond.h"

typedef struct Task {
    struct Task *prev, *next;
    void *job;
} Task;

typedef struct Lane {
    struct Lane *prev, *next; /* in Executor.ready */
    UT_hash_handle hh;
    char *key; /* NULL: none */
    Task *tasks;
    bool busy;
} Lane;

struct Executor {
    ExecutorOptions o;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    Lane *lanes; /* by key */
    Lane *ready; /* lanes with a job to start, the one that has waited longest first */
    size_t waiting, idle, n_threads;
    pthread_t *threads;
    uint64_t wakes; /* calls of executor_wake */
    bool stopping;
};

/* -- Lanes, under the lock -- */

static Lane *find_lane(Executor *x, Str key)
{
    Lane *lane = NULL;

    if (key.n)
        HASH_FIND(hh, x->lanes, key.p, key.n, lane);
    return lane;
}

static Lane *new_lane(Executor *x, Str key)
{
    Lane *lane = mem_alloc(sizeof *lane);

    if (key.n) {
        lane->key = mem_strdup(key);
        HASH_ADD_KEYPTR(hh, x->lanes, lane->key, key.n, lane);
    }
    return lane;
}

static void free_lane(Executor *x, Lane *lane)
{
    if (lane->key)
        HASH_DELETE(hh, x->lanes, lane);
    mem_free(lane->key);
    mem_free(lane);
}

static void *take_job(Executor *x, Lane *lane)
{
    Task *task = lane->tasks;
    void *job = task->job;

    DL_DELETE(lane->tasks, task);
    mem_free(task);
    x->waiting--;
    return job;
}

/* -- Threads -- */

static void run_next(Executor *x, void *worker)
{
    Lane *lane = x->ready;
    void *job = take_job(x, lane);

    DL_DELETE(x->ready, lane);
    lane->busy = true;
    pthread_mutex_unlock(&x->lock);
    x->o.run(x->o.ctx, worker, job);
    pthread_mutex_lock(&x->lock);
    lane->busy = false;
    if (lane->tasks)
        DL_APPEND(x->ready, lane);
    else
        free_lane(x, lane);
}

static void wait_for_job(Executor *x, void *worker)
{
    uint64_t wakes = x->wakes;
    int64_t wait = -1, until;

    if (x->o.idle) {
        pthread_mutex_unlock(&x->lock);
        wait = x->o.idle(x->o.ctx, worker);
        pthread_mutex_lock(&x->lock);
    }
    until = wait < 0 ? INT64_MAX : clock_mono_ms() + wait;
    x->idle++;
    while (!x->ready && !x->stopping && wakes == x->wakes &&
           cond_wait_until(&x->changed, &x->lock, until))
        ;
    x->idle--;
}

static void *thread_main(void *ctx)
{
    Executor *x = ctx;
    void *worker = x->o.begin ? x->o.begin(x->o.ctx) : NULL;

    pthread_mutex_lock(&x->lock);
    while (!x->stopping || (x->ready && !x->o.drop)) {
        if (x->ready)
            run_next(x, worker);
        else
            wait_for_job(x, worker);
    }
    pthread_mutex_unlock(&x->lock);
    if (x->o.end)
        x->o.end(x->o.ctx, worker);
    return NULL;
}

/* Under the lock. */
static bool start_thread(Executor *x)
{
    if (x->n_threads == x->o.max_threads ||
        pthread_create(&x->threads[x->n_threads], NULL, thread_main, x) != 0)
        return false;
    x->n_threads++;
    return true;
}

Executor *executor_start(const ExecutorOptions *options, Err *err)
{
    Executor *x = mem_alloc(sizeof *x);
    bool ok = true;

    ASSERT(options->max_threads && options->min_threads <= options->max_threads);
    x->o = *options;
    x->threads = mem_alloc(options->max_threads * sizeof *x->threads);
    pthread_mutex_init(&x->lock, NULL);
    cond_init(&x->changed);
    pthread_mutex_lock(&x->lock);
    while (ok && x->n_threads < options->min_threads)
        ok = start_thread(x);
    pthread_mutex_unlock(&x->lock);
    if (ok)
        return x;
    (void)err_set(err, ERR_INTERNAL, "cannot start a thread");
    return executor_stop(x);
}

Executor *executor_stop(Executor *x)
{
    if (!x)
        return NULL;
    pthread_mutex_lock(&x->lock);
    x->stopping = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    for (size_t i = 0; i < x->n_threads; i++)
        pthread_join(x->threads[i], NULL);
    while (x->ready) {
        Lane *lane = x->ready;

        DL_DELETE(x->ready, lane);
        while (lane->tasks)
            x->o.drop(x->o.ctx, take_job(x, lane));
        free_lane(x, lane);
    }
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    mem_free(x->threads);
    return mem_free(x);
}

/* -- From outside -- */

bool executor_add(Executor *x, Str key, void *job)
{
    bool accepted;

    pthread_mutex_lock(&x->lock);
    accepted = !x->stopping && (!x->o.max_waiting || x->waiting < x->o.max_waiting);
    /* Threads counted as idle may have been signalled for earlier jobs: there must be one for each
     * that waits. */
    if (accepted && x->waiting + 1 > x->idle)
        accepted = start_thread(x) || x->n_threads;
    if (accepted) {
        Lane *lane = find_lane(x, key);
        Task *task = mem_alloc(sizeof *task);

        if (!lane)
            lane = new_lane(x, key);
        task->job = job;
        if (!lane->busy && !lane->tasks)
            DL_APPEND(x->ready, lane);
        DL_APPEND(lane->tasks, task);
        x->waiting++;
        pthread_cond_signal(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
    return accepted;
}

bool executor_has(Executor *x, Str key)
{
    bool has;

    pthread_mutex_lock(&x->lock);
    has = find_lane(x, key) != NULL;
    pthread_mutex_unlock(&x->lock);
    return has;
}

bool executor_stopping(Executor *x)
{
    bool stopping;

    pthread_mutex_lock(&x->lock);
    stopping = x->stopping;
    pthread_mutex_unlock(&x->lock);
    return stopping;
}

void executor_wake(Executor *x)
{
    pthread_mutex_lock(&x->lock);
    x->wakes++;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}
