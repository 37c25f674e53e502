#include "agent/workers.h"

#include <pthread.h>

#include "base/arena.h"

enum { THREADS = 4 };

typedef struct Task {
    void (*fn)(void *arg);
    void *arg;
    struct Task *next;
} Task;

struct Workers {
    pthread_mutex_t lock;
    pthread_cond_t more;
    Task *first, **last;
    bool ending;
    pthread_t threads[THREADS];
    size_t n;
};

static void *work(void *ctx)
{
    Workers *pool = ctx;

    pthread_mutex_lock(&pool->lock);
    for (;;) {
        Task *task;

        while (!pool->first && !pool->ending)
            pthread_cond_wait(&pool->more, &pool->lock);
        task = pool->first;
        if (!task)
            break;
        pool->first = task->next;
        if (!pool->first)
            pool->last = &pool->first;
        pthread_mutex_unlock(&pool->lock);
        task->fn(task->arg);
        mem_free(task);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

Workers *workers_start(Err *err)
{
    Workers *pool = mem_alloc(sizeof *pool);

    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->more, NULL);
    pool->last = &pool->first;
    while (pool->n < THREADS && pthread_create(&pool->threads[pool->n], NULL, work, pool) == 0)
        pool->n++;
    if (pool->n)
        return pool;
    (void)err_set(err, ERR_INTERNAL, "cannot start a thread");
    return workers_stop(pool);
}

void workers_add(Workers *pool, void (*fn)(void *arg), void *arg)
{
    Task *task = mem_alloc(sizeof *task);

    *task = (Task){ .fn = fn, .arg = arg };
    pthread_mutex_lock(&pool->lock);
    *pool->last = task;
    pool->last = &task->next;
    pthread_cond_signal(&pool->more);
    pthread_mutex_unlock(&pool->lock);
}

Workers *workers_stop(Workers *pool)
{
    if (!pool)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->more);
    pthread_mutex_destroy(&pool->lock);
    return mem_free(pool);
}
