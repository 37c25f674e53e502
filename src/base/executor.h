/* executor.h - a bounded pool of threads with a queue.
 *
 * Jobs with the same key run one at a time, in the order of adding; a busy key does not hold up the
 * others. Jobs without a key start in the order of adding. A thread starts when a job would have to
 * wait for one, up to a maximum, and lives until executor_stop. Every function but executor_stop
 * may be called on any thread. */
#ifndef TALARIA_BASE_EXECUTOR_H
#define TALARIA_BASE_EXECUTOR_H

#include "base/err.h"
#include "base/str.h"

typedef struct Executor Executor;

typedef struct ExecutorOptions {
    size_t min_threads, max_threads; /* the first ones start at once */
    size_t max_waiting;              /* 0: no limit */
    void (*run)(void *ctx, void *worker, void *job);
    /* For each job that waits when the executor stops; NULL: those run before it ends. */
    void (*drop)(void *ctx, void *job);
    /* What a thread keeps between jobs, for example a database handle; both on that thread, or both
     * NULL. */
    void *(*begin)(void *ctx);
    void (*end)(void *ctx, void *worker);
    /* On a thread that finds no job. Returns after how many ms to call it again (-1: only after
     * executor_wake or another job). May be NULL. */
    int64_t (*idle)(void *ctx, void *worker);
    void *ctx;
} ExecutorOptions;

MUST_CHECK Executor *executor_start(const ExecutorOptions *options, Err *err);
/* Accepts no more jobs, runs or drops those that wait, and returns when every thread has ended. */
Executor *executor_stop(Executor *x);

/* False: max_waiting jobs wait, the executor is stopping, or no thread can be started. An empty
 * key: no order. */
MUST_CHECK bool executor_add(Executor *x, Str key, void *job);
bool executor_has(Executor *x, Str key); /* a job of this key waits or runs */
bool executor_stopping(Executor *x);

/* Every thread without a job calls `idle` now; one that is calling it does so once more. */
void executor_wake(Executor *x);

#endif
