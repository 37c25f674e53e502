#include "gateway/rounds.h"

#include "base/arena.h"
#include "base/executor.h"
#include "base/log.h"

enum { RETRY_MS = 2000 };

struct Rounds {
    Executor *executor; /* one thread without jobs: its idle time is the rounds */
    RoundFn *fn;
    void *ctx;
    char logged[ERR_TEXT_BYTES]; /* the last failure */
};

static int64_t make_round(void *ctx, void *worker)
{
    Rounds *r = ctx;
    int64_t wait = RETRY_MS;
    Err err = { 0 };

    (void)worker;
    if (r->fn(r->ctx, &wait, &err)) {
        r->logged[0] = 0;
        return wait;
    }
    log_at(strcmp(r->logged, err.text) == 0 ? LOG_DEBUG : LOG_WARNING, "%s", err.text);
    memcpy(r->logged, err.text, sizeof r->logged);
    return RETRY_MS;
}

Rounds *rounds_begin(RoundFn *fn, void *ctx, Err *err)
{
    Rounds *r = mem_alloc(sizeof *r);

    _Static_assert(sizeof r->logged == sizeof err->text, "the whole text fits");
    r->fn = fn;
    r->ctx = ctx;
    r->executor = executor_start(
        &(ExecutorOptions){ .min_threads = 1, .max_threads = 1, .idle = make_round, .ctx = r },
        err);
    return r->executor ? r : mem_free(r);
}

Rounds *rounds_end(Rounds *r)
{
    if (r)
        executor_stop(r->executor);
    return mem_free(r);
}

void rounds_call(Rounds *r)
{
    if (r)
        executor_wake(r->executor);
}
