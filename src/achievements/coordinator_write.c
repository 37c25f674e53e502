/* Files of the plugin are written behind, at most once a minute and at the end; state.json, which holds
 * what people earned, is written by the scan itself, at once. */
#include "achievements/coordinator_inside.h"

enum { FILES_EVERY_MS = 60 * 1000 };

/* Called with the lock held; lets go of it while it writes. */
static void write_behind(Coordinator *c)
{
    Snapshot *s = c->current;
    uint64_t epoch = c->epoch;

    c->dirty = false;
    c->written_ms = clock_mono_ms();
    s->users++;
    pthread_mutex_unlock(&c->lock);
    run_write_files(&c->scan, s);
    pthread_mutex_lock(&c->lock);
    coordinator_release(s);
    if (epoch != c->epoch)
        c->dirty = false;
}

void *coordinator_write_thread(void *ctx)
{
    Coordinator *c = ctx;

    coordinator_step_back();
    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        int64_t due = c->written_ms ? c->written_ms + FILES_EVERY_MS : 0;
        bool late = clock_mono_ms() >= due;

        if (c->dirty && c->current && late)
            write_behind(c);
        else
            (void)cond_wait_until(&c->writing, &c->lock, c->dirty && !late ? due : INT64_MAX);
    }
    if (c->dirty && c->current)
        write_behind(c);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}
