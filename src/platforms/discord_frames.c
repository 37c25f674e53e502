/* How the socket's thread hands on what comes to the thread that reads, and how everybody is told how things
 * stand. The queue has a most: who cannot keep up hangs up, and is sent again what was not stored. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/discord_inside.h"

/* -- what others see ------------------------------------------------------------------------------------------- */

void discord_state(Connection *c, LinkState state)
{
    pthread_mutex_lock(&c->lock);
    if (c->health.state != state && c->health.state != LINK_REFUSED) {
        c->health.state = state;
        c->health.since_ms = (int64_t)(clock_wall() * 1000);
    }
    pthread_mutex_unlock(&c->lock);
}

void discord_trouble(Connection *c, const char *text)
{
    pthread_mutex_lock(&c->lock);
    if (c->health.state != LINK_REFUSED) {
        snprintf(c->error_text, sizeof c->error_text, "%s", text);
        c->health.error_ms = (int64_t)(clock_wall() * 1000);
    }
    pthread_mutex_unlock(&c->lock);
}

bool discord_refused(Connection *c)
{
    bool is;

    pthread_mutex_lock(&c->lock);
    is = c->health.state == LINK_REFUSED;
    pthread_mutex_unlock(&c->lock);
    return is;
}

static struct timespec at_mono(int64_t ms)
{
    return (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
}

bool discord_wait(Connection *c, int64_t until)
{
    struct timespec at = at_mono(until);
    bool stopping;

    pthread_mutex_lock(&c->lock);
    while (!c->stopping && clock_mono_ms() < until)
        pthread_cond_timedwait(&c->changed, &c->lock, &at);
    stopping = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return !stopping;
}

/* -- frames: from the socket's thread to ours -------------------------------------------------------------------- */

static void on_text(void *ctx, Str text)
{
    Connection *c = ctx;
    Frame *f = mem_alloc(sizeof *f + text.n);

    f->n = text.n;
    memcpy(f->text, text.p, text.n);
    pthread_mutex_lock(&c->lock);
    if (c->waiting + f->n > LIMIT_DISCORD_FRAMES) {
        /* We are too slow for it. It sends again what we have not stored. */
        c->closed = true;
        c->close_code = DISCORD_CLOSE_TO_RESUME;
        f = mem_free(f);
    } else if (!c->closed) {
        *c->last = f;
        c->last = &f->next;
        c->waiting += f->n;
        f = NULL;
    }
    c->health.heard_ms = (int64_t)(clock_wall() * 1000);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    mem_free(f);
}

static void on_closed(void *ctx, int code, Str why)
{
    Connection *c = ctx;

    pthread_mutex_lock(&c->lock);
    if (!c->closed) {
        c->closed = true;
        c->close_code = code;
        snprintf(c->close_why, sizeof c->close_why, "%.*s",
                 STR_FMT(str_head(why, sizeof c->close_why - 1)));
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

Frame *discord_frames_free(Frame *f)
{
    while (f) {
        Frame *next = f->next;

        mem_free(f);
        f = next;
    }
    return NULL;
}

Frame *discord_frames_take(Connection *c, int64_t until, bool *ret_closed, bool *ret_stop)
{
    struct timespec at = at_mono(until);
    Frame *all;

    pthread_mutex_lock(&c->lock);
    while (!c->first && !c->closed && !c->stopping && clock_mono_ms() < until)
        pthread_cond_timedwait(&c->changed, &c->lock, &at);
    all = c->first;
    c->first = NULL;
    c->last = &c->first;
    c->waiting = 0;
    *ret_closed = c->closed;
    *ret_stop = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return all;
}

bool discord_dial(Connection *c, const char *url, Err *err)
{
    static const WsHandlers handlers = { on_text, on_closed };

    pthread_mutex_lock(&c->lock);
    c->closed = false;
    c->close_why[0] = '\0';
    pthread_mutex_unlock(&c->lock);
    c->link.ws = ws_open(url, NULL, &handlers, c, err);
    return c->link.ws != NULL;
}

void discord_hang_up(Connection *c)
{
    struct timespec at = at_mono(clock_mono_ms() + 1000);

    if (!c->link.ws)
        return;
    pthread_mutex_lock(&c->lock);
    while (!c->closed && pthread_cond_timedwait(&c->changed, &c->lock, &at) == 0)
        ;
    pthread_mutex_unlock(&c->lock);
    c->link.ws = ws_free(c->link.ws);
    c->first = discord_frames_free(c->first);
    c->last = &c->first;
    c->waiting = 0;
}
