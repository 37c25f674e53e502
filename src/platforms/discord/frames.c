/* How the socket's thread hands on what comes to the thread that reads. The queue has a most: who
 * cannot keep up hangs up, and is sent again what was not stored. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/discord/inside.h"

/* -- frames: from the socket's thread to ours -- */

static void on_text(void *ctx, Str text)
{
    Connection *c = ctx;
    Frame *f = mem_alloc(sizeof *f + text.n);

    f->n = text.n;
    memcpy(f->text, text.p, text.n);
    pthread_mutex_lock(&c->wire.lock);
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
    c->wire.heard_ms = clock_wall_ms();
    pthread_cond_broadcast(&c->wire.changed);
    pthread_mutex_unlock(&c->wire.lock);
    mem_free(f);
}

static void on_closed(void *ctx, int code, Str why)
{
    Connection *c = ctx;

    pthread_mutex_lock(&c->wire.lock);
    if (!c->closed) {
        c->closed = true;
        c->close_code = code;
        snprintf(c->close_why, sizeof c->close_why, "%.*s",
                 STR_FMT(str_head(why, sizeof c->close_why - 1)));
    }
    pthread_cond_broadcast(&c->wire.changed);
    pthread_mutex_unlock(&c->wire.lock);
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
    Frame *all;

    pthread_mutex_lock(&c->wire.lock);
    while (!c->first && !c->closed && connection_goes_on(&c->wire) && clock_mono_ms() < until)
        connection_wait(&c->wire, until);
    all = c->first;
    c->first = NULL;
    c->last = &c->first;
    c->waiting = 0;
    *ret_closed = c->closed;
    *ret_stop = !connection_goes_on(&c->wire);
    pthread_mutex_unlock(&c->wire.lock);
    return all;
}

bool discord_dial(Connection *c, const char *url, Err *err)
{
    static const WsHandlers handlers = { on_text, on_closed };

    pthread_mutex_lock(&c->wire.lock);
    c->closed = false;
    c->close_why[0] = '\0';
    pthread_mutex_unlock(&c->wire.lock);
    c->link.ws = ws_open(url, NULL, &handlers, c, err);
    return c->link.ws != NULL;
}

void discord_hang_up(Connection *c)
{
    int64_t until = clock_mono_ms() + 1000;

    if (!c->link.ws)
        return;
    pthread_mutex_lock(&c->wire.lock);
    while (!c->closed && clock_mono_ms() < until)
        connection_wait(&c->wire, until);
    pthread_mutex_unlock(&c->wire.lock);
    c->link.ws = ws_free(c->link.ws);
    c->first = discord_frames_free(c->first);
    c->last = &c->first;
    c->waiting = 0;
}
