#include "gateway/rounds.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/arena.h"
#include "base/log.h"

enum { TROUBLE_MS = 2000 };

struct Rounds {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t bell;
    bool called, ends;
    RoundFn *fn;
    void *ctx;
    char told[ERR_TEXT_BYTES]; /* the trouble that was told last */
};

static struct timespec after(int64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* False: it is time to end. */
static bool rest(Rounds *r, int64_t ms)
{
    struct timespec until = after(ms < 0 ? 0 : ms);
    bool goes_on;
    int e = 0;

    pthread_mutex_lock(&r->lock);
    while (!r->called && !r->ends && e != ETIMEDOUT)
        e = ms < 0 ? pthread_cond_wait(&r->bell, &r->lock)
                   : pthread_cond_timedwait(&r->bell, &r->lock, &until);
    r->called = false;
    goes_on = !r->ends;
    pthread_mutex_unlock(&r->lock);
    return goes_on;
}

static void tell(Rounds *r, const Err *err)
{
    log_at(strcmp(r->told, err->text) == 0 ? LOG_DEBUG : LOG_WARNING, "%s", err->text);
    memcpy(r->told, err->text, sizeof r->told);
}

static void *loop(void *ctx)
{
    Rounds *r = ctx;
    int64_t wait;

    do {
        Err err = { 0 };

        wait = TROUBLE_MS;
        if (!r->fn(r->ctx, &wait, &err)) {
            tell(r, &err);
            wait = TROUBLE_MS;
        } else {
            r->told[0] = 0;
        }
    } while (rest(r, wait));
    return NULL;
}

Rounds *rounds_begin(RoundFn *fn, void *ctx, Err *err)
{
    Rounds *r = mem_alloc(sizeof *r);
    pthread_condattr_t attr;

    _Static_assert(sizeof r->told == sizeof err->text, "a whole trouble fits");
    r->fn = fn;
    r->ctx = ctx;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->bell, &attr);
    pthread_condattr_destroy(&attr);
    errno = pthread_create(&r->thread, NULL, loop, r);
    if (errno == 0)
        return r;
    err_set_errno(err, "cannot start a thread");
    pthread_cond_destroy(&r->bell);
    pthread_mutex_destroy(&r->lock);
    return mem_free(r);
}

Rounds *rounds_end(Rounds *r)
{
    if (r) {
        pthread_mutex_lock(&r->lock);
        r->ends = true;
        pthread_cond_signal(&r->bell);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
        pthread_cond_destroy(&r->bell);
        pthread_mutex_destroy(&r->lock);
        mem_free(r);
    }
    return NULL;
}

void rounds_call(Rounds *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->called = true;
    pthread_cond_signal(&r->bell);
    pthread_mutex_unlock(&r->lock);
}
