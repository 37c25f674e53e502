/* A lane is there as long as it has something to do. A thread takes the lane that waits longest, does one job of
 * it and puts it behind the others: a busy key does not keep the rest waiting. */
#include "gateway/lanes.h"

#include <pthread.h>
#include <time.h>

#include "base/log.h"

enum { BUCKETS = 512, REOPEN_MS = 500 };

typedef struct Job {
    struct Job *next;
    void *work;
} Job;

typedef struct Lane {
    struct Lane *next_bucket, *next_ready;
    char *key;
    Job *first, **last;
    bool busy;
} Lane;

struct Lanes {
    LanesOptions o;
    char *data;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t more;
    Lane *buckets[BUCKETS];
    Lane *ready, **last_ready;
    size_t waiting, running, idle, n_threads;
    pthread_t *threads;
    bool closing;
};

Lanes *lanes_open(const LanesOptions *options)
{
    Lanes *l = mem_alloc(sizeof *l);

    l->o = *options;
    l->data = mem_strdup(options->data);
    l->threads = mem_alloc(options->threads * sizeof *l->threads);
    l->last_ready = &l->ready;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->more, NULL);
    return l;
}

/* -- lanes, under the lock ------------------------------------------------------------------------------ */

static Lane **slot_of(Lanes *l, Str key)
{
    uint32_t h = 2166136261u;
    Lane **at;

    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.p[i]) * 16777619u;
    for (at = &l->buckets[h % BUCKETS]; *at; at = &(*at)->next_bucket)
        if (str_eqz(key, (*at)->key))
            break;
    return at;
}

static void make_ready(Lanes *l, Lane *lane)
{
    lane->next_ready = NULL;
    *l->last_ready = lane;
    l->last_ready = &lane->next_ready;
    pthread_cond_signal(&l->more);
}

static Lane *lane_for(Lanes *l, Str key)
{
    Lane **at = slot_of(l, key);

    if (!*at) {
        *at = mem_alloc(sizeof **at);
        (*at)->key = mem_strdup(key);
        (*at)->last = &(*at)->first;
    }
    return *at;
}

static void forget_lane(Lanes *l, Lane *lane)
{
    Lane **at = slot_of(l, str_of(lane->key));

    *at = lane->next_bucket;
    mem_free(lane->key);
    mem_free(lane);
}

static Lane *next_lane(Lanes *l)
{
    Lane *lane = l->ready;

    l->ready = lane->next_ready;
    if (!l->ready)
        l->last_ready = &l->ready;
    return lane;
}

static void *next_job(Lanes *l, Lane *lane)
{
    Job *job = lane->first;
    void *work = job->work;

    lane->first = job->next;
    if (!lane->first)
        lane->last = &lane->first;
    mem_free(job);
    l->waiting--;
    return work;
}

/* -- threads -------------------------------------------------------------------------------------------- */

static void do_one(Lanes *l, OwnStore *own)
{
    Lane *lane = next_lane(l);
    void *work = next_job(l, lane);

    lane->busy = true;
    l->running++;
    pthread_mutex_unlock(&l->lock);
    l->o.run(l->o.ctx, own, work);
    pthread_mutex_lock(&l->lock);
    l->running--;
    lane->busy = false;
    if (lane->first)
        make_ready(l, lane);
    else
        forget_lane(l, lane);
}

/* A database that cannot be opened now may be so in a moment. */
static OwnStore *open_journal(Lanes *l)
{
    struct timespec pause = { .tv_nsec = REOPEN_MS * 1000000L };
    OwnStore *own = NULL;
    bool closing = false;
    Err err;

    while (!closing && !(own = own_store_open(str_of(l->data), &err))) {
        log_warning("%s", err.text);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&l->lock);
        closing = l->closing;
        pthread_mutex_unlock(&l->lock);
    }
    return own;
}

static void *thread_main(void *ctx)
{
    Lanes *l = ctx;
    AUTO(OwnStore) *own = open_journal(l);

    pthread_mutex_lock(&l->lock);
    while (own && !l->closing) {
        if (l->ready) {
            do_one(l, own);
        } else {
            l->idle++;
            pthread_cond_wait(&l->more, &l->lock);
            l->idle--;
        }
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static void start_thread(Lanes *l)
{
    if (l->n_threads < l->o.threads &&
        pthread_create(&l->threads[l->n_threads], NULL, thread_main, l) == 0)
        l->n_threads++;
}

/* -- from outside ------------------------------------------------------------------------------------------ */

bool lanes_add(Lanes *l, Str key, void *job, Err *err)
{
    bool full;
    Lane *lane;
    Job *row;

    pthread_mutex_lock(&l->lock);
    full = l->waiting >= l->o.max || l->closing;
    if (!full) {
        lane = lane_for(l, key);
        row = mem_alloc(sizeof *row);
        row->work = job;
        *lane->last = row;
        lane->last = &row->next;
        if (!lane->busy && lane->first == row)
            make_ready(l, lane);
        /* Those that are awake may be about to sleep: what waits has to find enough threads anyway. */
        if (++l->waiting > l->idle)
            start_thread(l);
    }
    pthread_mutex_unlock(&l->lock);
    return !full || err_set(err, ERR_BUSY, "too many messages are queued; try again");
}

bool lanes_has(Lanes *l, Str key)
{
    bool has;

    pthread_mutex_lock(&l->lock);
    has = *slot_of(l, key) != NULL;
    pthread_mutex_unlock(&l->lock);
    return has;
}

size_t lanes_count(Lanes *l)
{
    size_t n;

    pthread_mutex_lock(&l->lock);
    n = l->waiting + l->running;
    pthread_mutex_unlock(&l->lock);
    return n;
}

static void drop_all(Lanes *l)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (l->buckets[i]) {
            Lane *lane = l->buckets[i];

            while (lane->first)
                l->o.drop(l->o.ctx, next_job(l, lane));
            forget_lane(l, lane);
        }
}

Lanes *lanes_close(Lanes *l)
{
    if (!l)
        return NULL;
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_broadcast(&l->more);
    pthread_mutex_unlock(&l->lock);
    for (size_t i = 0; i < l->n_threads; i++)
        pthread_join(l->threads[i], NULL);
    drop_all(l);
    pthread_cond_destroy(&l->more);
    pthread_mutex_destroy(&l->lock);
    mem_free(l->threads);
    mem_free(l->data);
    return mem_free(l);
}
