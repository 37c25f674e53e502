#include "gateway/lanes.h"

#include <time.h>

#include "base/executor.h"
#include "base/log.h"

enum { REOPEN_MS = 500 };

struct Lanes {
    LanesOptions o;
    char *data;
    Executor *executor;
};

/* A database that cannot be opened now may open in a moment. NULL: the lanes are closing. */
static void *open_store(void *ctx)
{
    const Lanes *l = ctx;
    struct timespec pause = { .tv_nsec = REOPEN_MS * 1000000L };
    OwnStore *own = NULL;
    Err err;

    while (!executor_stopping(l->executor) && !(own = own_store_open(str_of(l->data), &err))) {
        log_warning("%s", err.text);
        nanosleep(&pause, NULL);
    }
    return own;
}

static void close_store(void *ctx, void *own)
{
    (void)ctx;
    own_store_close(own);
}

static void run_job(void *ctx, void *own, void *job)
{
    const Lanes *l = ctx;

    l->o.run(l->o.ctx, own, job);
}

static void drop_job(void *ctx, void *job)
{
    const Lanes *l = ctx;

    l->o.drop(l->o.ctx, job);
}

Lanes *lanes_open(const LanesOptions *options)
{
    Lanes *l = mem_alloc(sizeof *l);
    Err never; /* no thread is started yet */

    l->o = *options;
    l->data = mem_strdup(options->data);
    l->executor = executor_start(&(ExecutorOptions){ .max_threads = options->threads,
                                                     .max_waiting = options->max,
                                                     .run = run_job,
                                                     .drop = drop_job,
                                                     .begin = open_store,
                                                     .end = close_store,
                                                     .ctx = l },
                                 &never);
    return l;
}

Lanes *lanes_close(Lanes *l)
{
    if (!l)
        return NULL;
    executor_stop(l->executor);
    mem_free(l->data);
    return mem_free(l);
}

bool lanes_add(Lanes *l, Str key, void *job, Err *err)
{
    return executor_add(l->executor, key, job) ||
           err_set(err, ERR_BUSY, "too many messages are queued; try again");
}

bool lanes_has(Lanes *l, Str key)
{
    return executor_has(l->executor, key);
}
