/* The runs that somebody holds, by id, and their frames. What is added is announced to the writer
 * (runlog_writer.c), where a run stands in the list at most once.
 *
 * Locks: the log's (table, list) before a run's (frames, subscribers). */
#include "agent/runlog.h"

#include "agent/runlog_inside.h"
#include "base/clock.h"

/* -- The table of runs -- */

/* Under the log's lock. */
static LiveRun *find_live(RunLog *log, Str id)
{
    LiveRun *run;

    HASH_FIND(hh, log->live, id.p, id.n, run);
    if (run)
        run->holders++;
    return run;
}

static LiveRun *live_new(RunLog *log, Str id)
{
    LiveRun *run = mem_alloc(sizeof *run);

    ASSERT(id.n < sizeof run->id);
    memcpy(run->id, id.p, id.n);
    run->log = log;
    run->holders = 1;
    feed_init(&run->feed, run->id);
    return run;
}

/* Under the log's lock. */
static void enter(RunLog *log, LiveRun *run)
{
    run->feed.closed = log->quiet;
    HASH_ADD_STR(log->live, id, run);
}

static void forget(LiveRun *run)
{
    feed_done(&run->feed);
    mem_free(run);
}

LiveRun *live_hold(LiveRun *run)
{
    pthread_mutex_lock(&run->log->lock);
    run->holders++;
    pthread_mutex_unlock(&run->log->lock);
    return run;
}

LiveRun *live_drop(LiveRun *run)
{
    bool last;

    if (!run)
        return NULL;
    pthread_mutex_lock(&run->log->lock);
    last = --run->holders == 0;
    if (last)
        HASH_DEL(run->log->live, run);
    pthread_mutex_unlock(&run->log->lock);
    if (last)
        forget(run);
    return NULL;
}

const char *live_id(const LiveRun *run)
{
    return run->id;
}

LiveRun *runlog_begin(RunLog *log, Str run_id)
{
    LiveRun *run = live_new(log, run_id);

    run->live = true;
    pthread_mutex_lock(&log->lock);
    enter(log, run);
    pthread_mutex_unlock(&log->lock);
    return run;
}

bool runlog_is_live(RunLog *log, Str run_id)
{
    LiveRun *run;
    bool live = false;

    pthread_mutex_lock(&log->lock);
    run = find_live(log, run_id);
    pthread_mutex_unlock(&log->lock);
    if (run) {
        pthread_mutex_lock(&run->feed.lock);
        live = run->live && !run->feed.over;
        pthread_mutex_unlock(&run->feed.lock);
    }
    live_drop(run);
    return live;
}

/* -- Frames -- */

static Frame *run_frame(FrameEvent event, int64_t seq, Str data)
{
    return frame_new(event, frame_event_name(event), seq, data);
}

/* Under the log's lock: the run into the writer's list, where it is at most once. */
static void list(RunLog *log, LiveRun *run)
{
    if (run->listed)
        return;
    run->listed = true;
    run->holders++;
    run->next_dirty = NULL;
    *log->last_dirty = run;
    log->last_dirty = &run->next_dirty;
    pthread_cond_signal(&log->more);
}

void live_add(LiveRun *run, FrameEvent event, int64_t seq, Str data)
{
    Frame *f = run_frame(event, seq, data);

    pthread_mutex_lock(&run->feed.lock);
    ASSERT(seq == (int64_t)run->feed.n + 1);
    feed_add(&run->feed, f);
    pthread_mutex_unlock(&run->feed.lock);
    /* The last frames wait for live_end: they belong into its transaction. */
    if (event == FRAME_DONE || event == FRAME_ERROR)
        return;
    pthread_mutex_lock(&run->log->lock);
    list(run->log, run);
    pthread_mutex_unlock(&run->log->lock);
}

void live_end(LiveRun *run, int64_t from, const RunEnd *end, LiveEnded *ended, void *ctx)
{
    pthread_mutex_lock(&run->log->lock);
    pthread_mutex_lock(&run->feed.lock);
    run->end = end;
    run->end_from = (size_t)from - 1;
    run->ended = ended;
    run->ended_ctx = ctx;
    pthread_mutex_unlock(&run->feed.lock);
    list(run->log, run);
    pthread_mutex_unlock(&run->log->lock);
}

void live_add_instead(LiveRun *run, FrameEvent event, int64_t seq, Str data)
{
    Frame *f = run_frame(event, seq, data);

    pthread_mutex_lock(&run->feed.lock);
    while (run->feed.n >= (size_t)seq)
        mem_free(run->feed.frames[--run->feed.n]);
    feed_add(&run->feed, f);
    pthread_mutex_unlock(&run->feed.lock);
}

/* -- Finding -- */

static FrameEvent event_of(Str type)
{
    for (int e = FRAME_METADATA; e <= FRAME_DONE; e++)
        if (str_eqz(type, frame_event_name((FrameEvent)e)))
            return (FrameEvent)e;
    return FRAME_PROGRESS;
}

static LiveRun *load(RunLog *log, Runs *r, Str id, Err *err)
{
    AUTO(Arena) *a = arena_new();
    LiveRun *run;
    RunEvent *events;
    size_t n;
    Run row;

    if (!runs_get(r, a, id, &row, err))
        return NULL;
    if (!row.ended_ms) {
        (void)err_set(err, ERR_CONFLICT, "run '%.*s' belongs to another process", STR_FMT(id));
        return NULL;
    }
    if (!runs_events(r, a, id, 0, &events, &n, err))
        return NULL;
    run = live_new(log, row.id);
    for (size_t i = 0; i < n; i++)
        feed_add(&run->feed, run_frame(event_of(events[i].type), events[i].seq, events[i].payload));
    run->saved = run->feed.shown = run->feed.n;
    run->feed.over = true;
    return run;
}

LiveRun *runlog_find(RunLog *log, Runs *r, Str run_id, Err *err)
{
    LiveRun *run, *loaded;

    pthread_mutex_lock(&log->lock);
    run = find_live(log, run_id);
    pthread_mutex_unlock(&log->lock);
    if (run)
        return run;
    loaded = load(log, r, run_id, err);
    if (!loaded)
        return NULL;
    pthread_mutex_lock(&log->lock);
    run = find_live(log, run_id);
    if (!run)
        enter(log, loaded);
    pthread_mutex_unlock(&log->lock);
    if (!run)
        return loaded;
    forget(loaded);
    return run;
}

/* -- Subscribers -- */

void sub_join(Subscriber *s, LiveRun *run, int64_t after)
{
    s->run = run;
    feed_join(&run->feed, s, after > 0 ? (size_t)after : 0);
}

void sub_leave(Subscriber *s)
{
    if (s->run) {
        feed_leave(s);
        s->run = live_drop(s->run);
    }
}

bool live_has_more(LiveRun *run, int64_t after)
{
    bool more;

    pthread_mutex_lock(&run->feed.lock);
    more = !run->feed.over || (after < 0 ? 0 : (size_t)after) < run->feed.shown;
    pthread_mutex_unlock(&run->feed.lock);
    return more;
}

void runlog_beat(RunLog *log)
{
    int64_t now = clock_mono_ms();

    pthread_mutex_lock(&log->lock);
    for (LiveRun *run = log->live; run; run = run->hh.next)
        feed_beat(&run->feed, now);
    pthread_mutex_unlock(&log->lock);
}

void runlog_quiet(RunLog *log)
{
    pthread_mutex_lock(&log->lock);
    log->quiet = true;
    for (LiveRun *run = log->live; run; run = run->hh.next)
        feed_close(&run->feed);
    pthread_mutex_unlock(&log->lock);
}
