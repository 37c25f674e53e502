/* Those who look at a run. A subscriber is a place in the run's frames; nothing is copied for it, so that a
 * slow one costs no memory: it is sent away for the sake of its connection alone. */
#include "agent/runlog_inside.h"
#include "base/clock.h"
#include "base/limits.h"

enum { LOOK_MS = 1000 }; /* between two calls of runlog_beat, about */

static const Str sign_of_life = STR_INIT(": hb\n\n");

void sub_join(RunSub *s, LiveRun *run, int64_t after)
{
    s->run = run;
    s->moved_ms = clock_mono_ms();
    pthread_mutex_lock(&run->lock);
    s->at = after > 0 ? (size_t)after : 0;
    s->prev = NULL;
    s->next = run->subs;
    if (s->next)
        s->next->prev = s;
    run->subs = s;
    pthread_mutex_unlock(&run->lock);
}

void sub_leave(RunSub *s)
{
    LiveRun *run = s->run;

    if (!run)
        return;
    pthread_mutex_lock(&run->lock);
    if (s->next)
        s->next->prev = s->prev;
    if (s->prev)
        s->prev->next = s->next;
    else
        run->subs = s->next;
    pthread_mutex_unlock(&run->lock);
    s->run = live_drop(run);
}

/* Under the run's lock. */
static bool is_over(const RunSub *s)
{
    return s->dropped || s->run->over || atomic_load(&s->run->log->quiet);
}

static void fall_asleep(RunSub *s)
{
    s->waits = true;
    if (s->sleep)
        s->sleep(s->ctx);
}

const Frame *sub_next(RunSub *s, bool *ret_over)
{
    const Frame *f = NULL;

    pthread_mutex_lock(&s->run->lock);
    *ret_over = false;
    if (s->at < s->run->shown && !s->dropped)
        f = s->run->frames[s->at++];
    else if (is_over(s))
        *ret_over = true;
    else
        fall_asleep(s);
    s->moved_ms = clock_mono_ms();
    pthread_mutex_unlock(&s->run->lock);
    return f;
}

static size_t take(RunSub *s, char *out, size_t max)
{
    size_t n = 0;

    while (s->at < s->run->shown && n < max) {
        const Frame *f = s->run->frames[s->at];
        size_t part = f->n - s->offset < max - n ? f->n - s->offset : max - n;

        memcpy(out + n, f->bytes + s->offset, part);
        n += part;
        s->offset += part;
        if (s->offset == f->n) {
            s->offset = 0;
            s->at++;
        }
    }
    return n;
}

ssize_t sub_read(RunSub *s, char *out, size_t max)
{
    ssize_t n;

    pthread_mutex_lock(&s->run->lock);
    n = s->dropped ? 0 : (ssize_t)take(s, out, max);
    if (n == 0 && is_over(s)) {
        n = -1;
    } else if (n == 0 && s->beat && max >= sign_of_life.n) {
        memcpy(out, sign_of_life.p, sign_of_life.n);
        n = (ssize_t)sign_of_life.n;
    } else if (n == 0) {
        fall_asleep(s);
    }
    s->beat = false;
    s->moved_ms = clock_mono_ms();
    pthread_mutex_unlock(&s->run->lock);
    return n;
}

bool sub_wait(RunSub *s)
{
    bool over;

    pthread_mutex_lock(&s->run->lock);
    over = is_over(s);
    s->moved_ms = clock_mono_ms();
    if (!over)
        fall_asleep(s);
    pthread_mutex_unlock(&s->run->lock);
    return over;
}

bool live_has_more(LiveRun *run, int64_t after)
{
    bool more;

    pthread_mutex_lock(&run->lock);
    more = !run->over || (after < 0 ? 0 : (size_t)after) < run->shown;
    pthread_mutex_unlock(&run->lock);
    return more;
}

/* -- all of them --------------------------------------------------------------------------------- */

static void wake(RunSub *s)
{
    if (s->waits) {
        s->waits = false;
        s->wake(s->ctx);
    }
}

/* One who has something to read and does not is slow; one who waits is not, and one who waits for the end reads nothing
 * before it: between that call and its reading it does not wait, but it is not slow either. A sign of life is for those who have heard
 * nothing for long: thousands of them at once would hold up everybody's words. */
static void look_at(LiveRun *run, int64_t now)
{
    bool quiet = atomic_load(&run->log->quiet);

    pthread_mutex_lock(&run->lock);
    for (RunSub *s = run->subs; s; s = s->next) {
        int64_t since = now - s->moved_ms;

        if (!s->waits && !s->only_end && since > LIMIT_RUN_SLOW_MS && !s->dropped) {
            s->dropped = true;
            s->wake(s->ctx);
        }
        s->beat = s->beat || (s->waits && since > LIMIT_RUN_BEAT_MS - LOOK_MS);
        if (quiet || (s->beat && !s->only_end))
            wake(s);
    }
    pthread_mutex_unlock(&run->lock);
}

void runlog_beat(RunLog *log)
{
    int64_t now = clock_mono_ms();

    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < RUN_BUCKETS; i++)
        for (LiveRun *run = log->buckets[i]; run; run = run->next)
            look_at(run, now);
    pthread_mutex_unlock(&log->lock);
}

void runlog_quiet(RunLog *log)
{
    atomic_store(&log->quiet, true);
    runlog_beat(log);
}
