/* One writer, many runs. The writer takes the runs that have something new, puts all of it into one
 * transaction and shows it. While it commits, the next list grows: under load the batches grow by
 * themselves, and a lone event waits for nothing.
 *
 * The end of a run costs as much as a dozen words, and many runs may end at once: a round takes all
 * words that it finds, and only a few ends. */
#include "agent/runlog_inside.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/log.h"

enum {
    RUNS_A_ROUND = 128, /* a round takes about two milliseconds at the most */
    PIECE = 64,         /* so many events of one run come to their place at once: one run a round */
    ENDS_A_ROUND = 6,
    CHECKPOINT_EVENTS = 4096,       /* when nobody has said anything for a while */
    CHECKPOINT_AT_ONCE = 16 * 4096, /* when somebody always does */
    PAUSE_MS = 200,
};

/* -- The writer -- */

static RunEvent event_of(const LiveRun *run, const Frame *f)
{
    return (RunEvent){ .run_id = str_of(run->id),
                       .seq = f->seq,
                       .type = str_of(f->name),
                       .payload = frame_data(f),
                       .created_ms = f->created_ms };
}

/* Under the run's lock: what is to be written of it. Its last frames belong to its end. */
static void gather(LiveRun *run, Arena *a, Batch *b)
{
    size_t to = run->feed.n;

    while (!run->ends && to > run->saved && run->feed.frames[to - 1]->event >= FRAME_ERROR)
        to--;
    run->taken = to;
    run->places = run->ends || (to - run->placed >= PIECE && b->n_events < PIECE);
    for (size_t i = run->placed; run->places && i < to; i++)
        ARENA_PUSH(a, b->events, b->n_events, b->cap_events, event_of(run, run->feed.frames[i]));
    for (size_t i = run->saved; !run->places && i < to; i++)
        ARENA_PUSH(a, b->said, b->n_said, b->cap_said, event_of(run, run->feed.frames[i]));
    if (run->ends)
        ARENA_PUSH(a, b->ends, b->n_ends, b->cap_ends, *run->end);
}

/* What the disk took is shown. What it did not take is shown all the same, save for the end: the
 * words go on, and the rest is tried again with the next batch. */
static void show(LiveRun *run, bool saved, const Err *err)
{
    LiveEnded *ended = NULL;
    void *ctx;

    pthread_mutex_lock(&run->feed.lock);
    if (saved)
        run->saved = run->taken;
    if (saved && run->places)
        run->placed = run->taken;
    if (run->ends) {
        ended = run->ended;
        ctx = run->ended_ctx;
        run->end = NULL;
        run->feed.shown = saved ? run->taken : run->end_from;
    } else {
        run->feed.shown = run->taken;
    }
    if (!ended)
        feed_wake(&run->feed);
    pthread_mutex_unlock(&run->feed.lock);
    if (!ended)
        return;
    ended(ctx, saved, err);
    pthread_mutex_lock(&run->feed.lock);
    run->feed.shown = run->feed.n;
    run->feed.over = true;
    feed_wake(&run->feed);
    pthread_mutex_unlock(&run->feed.lock);
}

/* -- Ends are synced by another thread, so that nobody's words wait for the disk -- */

static void hand_on(RunLog *log, LiveRun *run)
{
    pthread_mutex_lock(&log->lock);
    run->next_unsynced = log->unsynced;
    log->unsynced = run;
    pthread_cond_signal(&log->to_sync);
    pthread_mutex_unlock(&log->lock);
}

static void sync_some(RunLog *log, LiveRun *first)
{
    Err err;

    if (!runs_sync(log->syncer_runs, &err))
        log_warning("%s", err.text);
    for (LiveRun *run = first, *next; run; run = next) {
        next = run->next_unsynced;
        show(run, true, NULL);
        live_drop(run);
    }
}

/* Under the log's lock. A checkpoint holds up whoever writes next, who has to begin the write-ahead
 * log anew and to sync that: it waits for a pause, up to a point. */
static bool checkpoint_is_due(const RunLog *log, int64_t *ret_when)
{
    *ret_when = INT64_MAX;
    if (!log->grown || (log->grown < CHECKPOINT_EVENTS && !log->written))
        return false;
    *ret_when = log->wrote_ms + PAUSE_MS;
    return log->written || log->grown >= CHECKPOINT_AT_ONCE || clock_mono_ms() >= *ret_when;
}

/* Under the log's lock. */
static void wait_for_work(RunLog *log, bool *ret_checkpoint)
{
    int64_t when;

    while (!(*ret_checkpoint = checkpoint_is_due(log, &when)) && !log->unsynced && !log->written)
        (void)cond_wait_until(&log->to_sync, &log->lock, when);
}

static void tidy(RunLog *log)
{
    Err err;

    if (!runs_sweep(log->syncer_runs, &err))
        log_warning("%s", err.text);
    runs_checkpoint(log->syncer_runs);
}

static void *sync_all(void *ctx)
{
    RunLog *log = ctx;

    pthread_mutex_lock(&log->lock);
    for (;;) {
        LiveRun *first;
        bool checkpoint;

        wait_for_work(log, &checkpoint);
        first = log->unsynced;
        if (!first && !checkpoint)
            break;
        log->unsynced = NULL;
        if (checkpoint)
            log->grown = 0;
        pthread_mutex_unlock(&log->lock);
        if (first) /* those who wait for an answer go first */
            sync_some(log, first);
        if (checkpoint)
            tidy(log);
        pthread_mutex_lock(&log->lock);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* -- The writer's rounds -- */

static void settle(RunLog *log, LiveRun *run, bool saved, const Err *err)
{
    if (saved && run->ends) {
        hand_on(log, run);
    } else {
        show(run, saved, err);
        live_drop(run);
    }
}

static bool write_down(RunLog *log, const Batch *b, Err *err)
{
    size_t stale = 0;

    if (!runs_write(log->runs,
                    &(RunBatch){ b->events, b->n_events, b->ends, b->n_ends, b->said, b->n_said },
                    &stale, err))
        return false;
    if (stale)
        log_warning("%zu handles of runtimes were changed by somebody else meanwhile", stale);
    return true;
}

/* A batch that fails as a whole is written run by run, so that one run's trouble stays its own. */
static void write_alone(RunLog *log, LiveRun *run)
{
    AUTO(Arena) *a = arena_new();
    Batch b = { 0 };
    bool saved;
    Err err;

    pthread_mutex_lock(&run->feed.lock);
    gather(run, a, &b);
    pthread_mutex_unlock(&run->feed.lock);
    saved = write_down(log, &b, &err);
    if (!saved)
        log_warning("run '%s' could not be written: %s", run->id, err.text);
    settle(log, run, saved, &err);
}

static void count_events(RunLog *log, size_t n)
{
    pthread_mutex_lock(&log->lock);
    log->grown += n;
    log->wrote_ms = clock_mono_ms();
    /* Once it waits for the pause it needs no call, until there is no more waiting. */
    if ((log->grown >= CHECKPOINT_EVENTS && log->grown - n < CHECKPOINT_EVENTS) ||
        log->grown >= CHECKPOINT_AT_ONCE)
        pthread_cond_signal(&log->to_sync);
    pthread_mutex_unlock(&log->lock);
}

static void write_batch(RunLog *log, LiveRun *first)
{
    AUTO(Arena) *a = arena_new();
    Batch b = { 0 };
    bool saved;
    Err err;

    for (LiveRun *run = first; run; run = run->next_taken) {
        pthread_mutex_lock(&run->feed.lock);
        gather(run, a, &b);
        pthread_mutex_unlock(&run->feed.lock);
    }
    saved = (!b.n_events && !b.n_said && !b.n_ends) || write_down(log, &b, &err);
    for (LiveRun *run = first, *next; run; run = next) {
        next = run->next_taken;
        if (saved)
            settle(log, run, true, NULL);
        else
            write_alone(log, run);
    }
    count_events(log, b.n_events + b.n_said);
}

/* -- What a round takes -- */

/* The ends that have waited longest. */
static size_t take_ends(RunLog *log, LiveRun ***tail)
{
    size_t n = 0;

    for (; log->ending_runs && n < ENDS_A_ROUND; n++) {
        LiveRun *run = log->ending_runs;

        log->ending_runs = run->next_ending;
        run->ends = true;
        **tail = run;
        *tail = &run->next_taken;
    }
    if (!log->ending_runs)
        log->last_ending = &log->ending_runs;
    return n;
}

/* Under the log's lock. */
static bool has_end(LiveRun *run)
{
    bool has;

    pthread_mutex_lock(&run->feed.lock);
    has = run->end != NULL;
    pthread_mutex_unlock(&run->feed.lock);
    return has;
}

/* Under the log's lock. */
static void let_end_wait(RunLog *log, LiveRun *run)
{
    run->holders++;
    run->next_ending = NULL;
    *log->last_ending = run;
    log->last_ending = &run->next_ending;
}

/* Under the log's lock. */
static LiveRun *pop_dirty(RunLog *log)
{
    LiveRun *run = log->dirty;

    log->dirty = run->next_dirty;
    if (!log->dirty)
        log->last_dirty = &log->dirty;
    run->listed = false;
    return run;
}

/* Under the log's lock: the runs of a round, by next_taken. */
static LiveRun *take(RunLog *log)
{
    LiveRun *first = NULL, **tail = &first;
    size_t n_ends = take_ends(log, &tail);

    for (size_t n = 0; log->dirty && n < RUNS_A_ROUND; n++) {
        LiveRun *run = pop_dirty(log);
        bool end = has_end(run);

        run->ends = end && n_ends < ENDS_A_ROUND;
        n_ends += run->ends;
        if (end && !run->ends)
            let_end_wait(log, run);
        *tail = run;
        tail = &run->next_taken;
    }
    *tail = NULL;
    return first;
}

static void *write_all(void *ctx)
{
    RunLog *log = ctx;

    pthread_mutex_lock(&log->lock);
    for (;;) {
        LiveRun *first;

        while (!log->dirty && !log->ending_runs && !log->ending)
            pthread_cond_wait(&log->more, &log->lock);
        if (!log->dirty && !log->ending_runs)
            break;
        first = take(log);
        pthread_mutex_unlock(&log->lock);
        write_batch(log, first);
        pthread_mutex_lock(&log->lock);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* Reads once: a handle that has not read yet has no log to sync. */
static bool open_handles(RunLog *log, Str data_folder, Err *err)
{
    AUTO(Arena) *a = arena_new();
    bool found;
    Run run;

    log->runs = runs_open(data_folder, err);
    log->syncer_runs = log->runs ? runs_open(data_folder, err) : NULL;
    return log->syncer_runs && runs_by_key(log->syncer_runs, a, STR("-"), &run, &found, err);
}

RunLog *runlog_open(Str data_folder, Err *err)
{
    RunLog *log = mem_alloc(sizeof *log);

    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->more, NULL);
    cond_init(&log->to_sync);
    log->last_dirty = &log->dirty;
    log->last_ending = &log->ending_runs;
    if (!open_handles(log, data_folder, err))
        return runlog_close(log);
    log->writing = pthread_create(&log->writer, NULL, write_all, log) == 0;
    log->syncing = log->writing && pthread_create(&log->syncer, NULL, sync_all, log) == 0;
    if (log->syncing)
        return log;
    (void)err_set(err, ERR_INTERNAL, "cannot start a thread");
    return runlog_close(log);
}

RunLog *runlog_close(RunLog *log)
{
    if (!log)
        return NULL;
    pthread_mutex_lock(&log->lock);
    log->ending = true;
    pthread_cond_signal(&log->more);
    pthread_mutex_unlock(&log->lock);
    if (log->writing)
        pthread_join(log->writer, NULL);
    pthread_mutex_lock(&log->lock);
    log->written = true;
    pthread_cond_signal(&log->to_sync);
    pthread_mutex_unlock(&log->lock);
    if (log->syncing)
        pthread_join(log->syncer, NULL);
    runs_close(log->runs);
    runs_close(log->syncer_runs);
    pthread_cond_destroy(&log->more);
    pthread_cond_destroy(&log->to_sync);
    pthread_mutex_destroy(&log->lock);
    return mem_free(log);
}
