/* A subscriber with nothing to read is marked as waiting under the feed's lock and woken under the
 * same lock, so it cannot miss a frame. */
#include "agent/feed.h"

#include "base/clock.h"
#include "base/limits.h"

enum { BEAT_EVERY_MS = 1000 }; /* between two calls of feed_beat, about */

void feed_init(Feed *feed, const char *id)
{
    feed->id = id;
    pthread_mutex_init(&feed->lock, NULL);
}

void feed_done(Feed *feed)
{
    ASSERT(!feed->subs);
    for (size_t i = 0; i < feed->n; i++)
        mem_free(feed->frames[i]);
    feed->frames = mem_free(feed->frames);
    pthread_mutex_destroy(&feed->lock);
}

Frame *frame_new(FrameEvent event, const char *name, int64_t seq, Str data)
{
    Frame *f = mem_alloc(sizeof *f + data.n);

    f->event = event;
    f->name = name;
    f->seq = seq;
    f->created_ms = clock_wall_ms();
    f->n = data.n;
    memcpy(f->bytes, data.p, data.n);
    return f;
}

/* Under the lock: removes the oldest frames until the rest is within the limits. */
static void evict(Feed *feed)
{
    size_t n = 0;

    while (feed->n - n > feed->max_frames || feed->bytes > feed->max_bytes) {
        feed->bytes -= feed->frames[n]->n;
        mem_free(feed->frames[n++]);
    }
    feed->n -= n;
    feed->evicted += n;
    memmove(feed->frames, feed->frames + n, feed->n * sizeof(Frame *));
    for (Subscriber *s = feed->subs; n && s; s = s->next)
        if (s->at < feed->evicted && !s->dropped) {
            s->dropped = true;
            s->wake(s->ctx);
        }
}

void feed_add(Feed *feed, Frame *f)
{
    if (feed->n == feed->cap) {
        feed->cap = feed->cap ? feed->cap * 2 : 16;
        feed->frames = mem_resize(feed->frames, feed->cap, sizeof(Frame *));
    }
    feed->frames[feed->n++] = f;
    feed->bytes += f->n;
    if (feed->max_frames)
        evict(feed);
}

static void wake_waiting(Subscriber *s)
{
    if (s->waits) {
        s->waits = false;
        s->wake(s->ctx);
    }
}

void feed_wake(Feed *feed)
{
    for (Subscriber *s = feed->subs; s; s = s->next)
        if (feed->over || feed->closed || !s->only_end)
            wake_waiting(s);
}

/* A subscriber that has something to read and does not read it is slow. One with only_end is not:
 * it reads nothing before the end. Only those that were silent for long get a heartbeat: thousands
 * of heartbeats at once would delay everybody's frames. */
void feed_beat(Feed *feed, int64_t now_ms)
{
    pthread_mutex_lock(&feed->lock);
    for (Subscriber *s = feed->subs; s; s = s->next) {
        int64_t since = now_ms - s->moved_ms;

        if (s->only_end)
            continue;
        if (!s->waits && since > LIMIT_RUN_SLOW_MS && !s->dropped) {
            s->dropped = true;
            s->wake(s->ctx);
        }
        s->beat = s->beat || (s->waits && since > LIMIT_RUN_BEAT_MS - BEAT_EVERY_MS);
        if (s->beat)
            wake_waiting(s);
    }
    pthread_mutex_unlock(&feed->lock);
}

void feed_close(Feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->closed = true;
    feed_wake(feed);
    pthread_mutex_unlock(&feed->lock);
}

/* -- Reading -- */

void feed_join(Feed *feed, Subscriber *s, size_t after)
{
    s->feed = feed;
    s->moved_ms = clock_mono_ms();
    pthread_mutex_lock(&feed->lock);
    s->at = after == SIZE_MAX ? feed->evicted + feed->n : after;
    s->prev = NULL;
    s->next = feed->subs;
    if (s->next)
        s->next->prev = s;
    feed->subs = s;
    pthread_mutex_unlock(&feed->lock);
}

void feed_leave(Subscriber *s)
{
    Feed *feed = s->feed;

    pthread_mutex_lock(&feed->lock);
    if (s->next)
        s->next->prev = s->prev;
    if (s->prev)
        s->prev->next = s->next;
    else
        feed->subs = s->next;
    pthread_mutex_unlock(&feed->lock);
    s->feed = NULL;
}

/* Under the lock, as the next one. */
static bool is_over(const Subscriber *s)
{
    return s->dropped || s->feed->over || s->feed->closed;
}

static void fall_asleep(Subscriber *s)
{
    s->waits = true;
    if (s->sleep)
        s->sleep(s->ctx);
}

const Frame *sub_next(Subscriber *s, bool *ret_over)
{
    const Frame *f = NULL;

    pthread_mutex_lock(&s->feed->lock);
    *ret_over = false;
    if (s->at < s->feed->shown && !s->dropped)
        f = s->feed->frames[s->at++];
    else if (is_over(s))
        *ret_over = true;
    else
        fall_asleep(s);
    s->moved_ms = clock_mono_ms();
    pthread_mutex_unlock(&s->feed->lock);
    return f;
}

ssize_t sub_read(Subscriber *s, FrameCopy *copy, char *out, size_t max)
{
    Feed *feed = s->feed;
    size_t n = 0;
    bool over;

    pthread_mutex_lock(&feed->lock);
    while (!s->dropped && s->at < feed->shown && n < max) {
        size_t part = copy(feed, feed->frames[s->at - feed->evicted], s->offset, out + n, max - n);

        n += part;
        s->offset += part;
        if (n < max) { /* there was room for more than this frame */
            s->offset = 0;
            s->at++;
        }
    }
    over = n == 0 && is_over(s);
    if (n == 0 && !over && s->beat)
        n = copy(feed, NULL, 0, out, max);
    else if (n == 0 && !over)
        fall_asleep(s);
    s->beat = false;
    s->moved_ms = clock_mono_ms();
    pthread_mutex_unlock(&feed->lock);
    return over ? -1 : (ssize_t)n;
}

bool sub_wait(Subscriber *s)
{
    bool over;

    pthread_mutex_lock(&s->feed->lock);
    over = is_over(s);
    s->moved_ms = clock_mono_ms();
    if (!over)
        fall_asleep(s);
    pthread_mutex_unlock(&s->feed->lock);
    return over;
}
