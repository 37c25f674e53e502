/* One thread a connection: it may wait for as long as it likes, and closing wakes it from
 * everything that it waits for, be it a call or a pause. The waits have a little chance in them, so
 * that many who were thrown out together do not come back together. */
#include "platforms/connection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cond.h"
#include "base/log.h"

enum { FIRST_WAIT_MS = 500, MAX_WAIT_MS = 60000, MAX_TOKEN = 1024 };

/* -- beginning and end -- */

bool connection_base_url(Arena *a, const char *platform, Str configured, const char *public_one,
                         Str *ret, Err *err)
{
    FetchRequest probe = { .method = "POST", .secret = true };
    Str base = str_trim(configured);

    while (str_ends(base, STR("/")))
        base = str_head(base, base.n - 1);
    if (!base.n)
        base = str_of(public_one);
    probe.url = str_z(a, base);
    if (!fetch_check(&probe, err))
        return err_wrap(err, "%s's api_base", platform);
    *ret = base;
    return true;
}

bool connection_fits_header(Str token)
{
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] <= ' ' || token.p[i] > '~')
            return false;
    return token.n < MAX_TOKEN;
}

void connection_init(ConnectionBase *w, const char *platform, PlatformHost *host)
{
    *w = (ConnectionBase){ .platform = platform,
                           .host = host,
                           .stop = CALL_STOP,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .state = CONNECTION_CONNECTING,
                           .since_ms = clock_wall_ms() };
    host->config = NULL;
    host->cursor = STR_NONE;
    cond_init(&w->changed);
}

void connection_done(ConnectionBase *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

bool connection_start(ConnectionBase *w, void *(*run)(void *), void *ctx, Err *err)
{
    errno = pthread_create(&w->thread, NULL, run, ctx);
    return !errno || err_errno(err, "cannot start a thread for %s", w->platform);
}

void connection_end(ConnectionBase *w)
{
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    call_stop(w->host->net, &w->stop);
    pthread_join(w->thread, NULL);
}

/* -- how things stand -- */

void connection_heard(ConnectionBase *w)
{
    pthread_mutex_lock(&w->lock);
    w->heard_ms = clock_wall_ms();
    pthread_mutex_unlock(&w->lock);
}

/* Under the lock. */
static void set_error(ConnectionBase *w, const char *text)
{
    snprintf(w->error, sizeof w->error, "%s", text);
    w->error_ms = clock_wall_ms();
}

/* What it was refused for is not covered by what follows from that. */
void connection_trouble(ConnectionBase *w, const char *text)
{
    pthread_mutex_lock(&w->lock);
    if (connection_goes_on(w))
        set_error(w, text);
    pthread_mutex_unlock(&w->lock);
}

void connection_set_state(ConnectionBase *w, ConnectionState state, const char *why)
{
    bool news;

    pthread_mutex_lock(&w->lock);
    news = connection_goes_on(w) && w->state != state;
    if (why && connection_goes_on(w))
        set_error(w, why);
    if (news) {
        w->state = state;
        w->since_ms = clock_wall_ms();
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    if (news && why)
        log_warning("%s: %s", w->platform, why);
}

void connection_health(ConnectionBase *w, Arena *a, Health *ret)
{
    pthread_mutex_lock(&w->lock);
    *ret = (Health){ .state = w->state,
                     .since_ms = w->since_ms,
                     .heard_ms = w->heard_ms,
                     .error = str_dup(a, str_of(w->error)),
                     .error_ms = w->error_ms };
    pthread_mutex_unlock(&w->lock);
}

PlatformFault connection_fault(const ConnectionBase *w, const char *call)
{
    return w->host->fault ? w->host->fault(w->host->fault_ctx, call) : FAULT_NONE;
}

bool connection_broken(const ConnectionBase *w, PlatformFault fault, Sent *ret, Err *err)
{
    ret->unsure = fault == FAULT_LOST;
    return err_set(err, ERR_IO, "the connection to %s was lost", w->platform);
}

/* -- waiting -- */

bool connection_goes_on(const ConnectionBase *w)
{
    return !w->closing && w->state != CONNECTION_REFUSED;
}

void connection_wait(ConnectionBase *w, int64_t until)
{
    (void)cond_wait_until(&w->changed, &w->lock, until);
}

bool connection_rest(ConnectionBase *w, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    bool on;

    pthread_mutex_lock(&w->lock);
    while (connection_goes_on(w) && clock_mono_ms() < until)
        connection_wait(w, until);
    on = connection_goes_on(w);
    pthread_mutex_unlock(&w->lock);
    return on;
}

int64_t connection_next_wait(ConnectionBase *w)
{
    int64_t wait = w->tries < 7 ? (int64_t)FIRST_WAIT_MS << w->tries : MAX_WAIT_MS;

    w->tries++;
    if (wait > MAX_WAIT_MS)
        wait = MAX_WAIT_MS;
    return wait / 2 + (int64_t)arc4random_uniform((uint32_t)(wait / 2 + 1));
}
