/* Those who look at a run. A subscriber is a place in the run's frames; nothing is copied for it, so that a
 * slow one costs no memory: it is sent away for the sake of its connection alone. */
#include "agent/runlog_inside.h"
#include "base/clock.h"
#include "base/limits.h"

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

static size_t take(RunSub *s, char *out, size_t most)
{
    size_t n = 0;

    while (s->at < s->run->shown && n < most) {
        const Frame *f = s->run->frames[s->at];
        size_t part = f->n - s->offset < most - n ? f->n - s->offset : most - n;

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

ssize_t sub_read(RunSub *s, char *out, size_t most)
{
    ssize_t n;

    pthread_mutex_lock(&s->run->lock);
    n = s->dropped ? 0 : (ssize_t)take(s, out, most);
    if (n == 0 && is_over(s)) {
        n = -1;
    } else if (n == 0 && s->beat && most >= sign_of_life.n) {
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

/* One who has something to read and does not is slow; one who waits is not. */
static void look_at(LiveRun *run, int64_t now, bool beat)
{
    pthread_mutex_lock(&run->lock);
    for (RunSub *s = run->subs; s; s = s->next) {
        bool slow = !s->waits && now - s->moved_ms > LIMIT_RUN_SLOW_MS;

        if (slow && !s->dropped) {
            s->dropped = true;
            s->wake(s->ctx);
        }
        s->beat = s->beat || beat;
        if (beat && (!s->only_end || atomic_load(&run->log->quiet)))
            wake(s);
    }
    pthread_mutex_unlock(&run->lock);
}

static void each_run(RunLog *log, int64_t now, bool beat)
{
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < RUN_BUCKETS; i++)
        for (LiveRun *run = log->buckets[i]; run; run = run->next)
            look_at(run, now, beat);
    pthread_mutex_unlock(&log->lock);
}

/* Where nobody has called it for long there was nobody to read either: the count begins anew. */
void runlog_beat(RunLog *log)
{
    int64_t now = clock_mono_ms(), since = now - log->last_beat;
    bool beat = since >= LIMIT_RUN_BEAT_MS;

    if (beat)
        log->last_beat = now;
    each_run(log, now, beat && since < 2 * LIMIT_RUN_BEAT_MS);
}

void runlog_quiet(RunLog *log)
{
    atomic_store(&log->quiet, true);
    each_run(log, clock_mono_ms(), true);
}
