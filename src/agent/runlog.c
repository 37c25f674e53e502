/* The runs that somebody holds, by id, and their frames. What is added is announced to the writer
 * (runlog_writer.c), where a run stands in the list at most once.
 *
 * Locks: the log's (table, list) before a run's (frames, subscribers). */
#include "agent/runlog.h"

#include "agent/runlog_inside.h"
#include "base/clock.h"

/* -- the table of runs ------------------------------------------------------------------------- */

static size_t bucket_of(Str id)
{
    size_t h = 5381;

    for (size_t i = 0; i < id.n; i++)
        h = h * 33 + (unsigned char)id.p[i];
    return h % RUN_BUCKETS;
}

/* Under the log's lock. */
static LiveRun *look_up(RunLog *log, Str id)
{
    for (LiveRun *run = log->buckets[bucket_of(id)]; run; run = run->next)
        if (str_eqz(id, run->id)) {
            run->holders++;
            return run;
        }
    return NULL;
}

static LiveRun *live_new(RunLog *log, Str id)
{
    LiveRun *run = mem_alloc(sizeof *run);

    ASSERT(id.n < sizeof run->id);
    memcpy(run->id, id.p, id.n);
    run->log = log;
    run->holders = 1;
    pthread_mutex_init(&run->lock, NULL);
    return run;
}

/* Under the log's lock. */
static void enter(RunLog *log, LiveRun *run)
{
    LiveRun **bucket = &log->buckets[bucket_of(str_of(run->id))];

    run->next = *bucket;
    *bucket = run;
}

static void forget(LiveRun *run)
{
    ASSERT(!run->subs);
    for (size_t i = 0; i < run->n; i++)
        mem_free(run->frames[i]);
    mem_free(run->frames);
    pthread_mutex_destroy(&run->lock);
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
    LiveRun **at;
    bool last;

    if (!run)
        return NULL;
    pthread_mutex_lock(&run->log->lock);
    last = --run->holders == 0;
    if (last) {
        at = &run->log->buckets[bucket_of(str_of(run->id))];
        while (*at != run)
            at = &(*at)->next;
        *at = run->next;
    }
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
    run = look_up(log, run_id);
    pthread_mutex_unlock(&log->lock);
    if (run) {
        pthread_mutex_lock(&run->lock);
        live = run->live && !run->over;
        pthread_mutex_unlock(&run->lock);
    }
    live_drop(run);
    return live;
}

/* -- frames ------------------------------------------------------------------------------------- */

static Frame *frame_new(const char *id, FrameEvent event, int64_t seq, Str data)
{
    char head[128];
    int n = snprintf(head, sizeof head, "id: %s:%lld\nevent: %s\ndata: ", id, (long long)seq,
                     frame_event_name(event));
    Frame *f = mem_alloc(sizeof *f + (size_t)n + data.n + 2);

    f->event = event;
    f->seq = seq;
    f->created_ms = clock_wall_ms();
    f->data_at = (size_t)n;
    f->n = (size_t)n + data.n + 2;
    memcpy(f->bytes, head, (size_t)n);
    memcpy(f->bytes + n, data.p, data.n);
    memcpy(f->bytes + n + data.n, "\n\n", 2);
    return f;
}

/* Under the run's lock. */
static void push(LiveRun *run, Frame *f)
{
    ASSERT(f->seq == (int64_t)run->n + 1);
    if (run->n == run->cap) {
        run->cap = run->cap ? run->cap * 2 : 16;
        run->frames = mem_resize(run->frames, run->cap, sizeof(Frame *));
    }
    run->frames[run->n++] = f;
}

/* Under the log's lock: the run into the writer's list, where it stands at most once. */
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
    Frame *f = frame_new(run->id, event, seq, data);

    pthread_mutex_lock(&run->lock);
    push(run, f);
    pthread_mutex_unlock(&run->lock);
    /* The last frames wait for live_end: they belong into its transaction. */
    if (event == FRAME_DONE || event == FRAME_ERROR)
        return;
    pthread_mutex_lock(&run->log->lock);
    list(run->log, run);
    pthread_mutex_unlock(&run->log->lock);
}

/* Under both locks: once the writer has seen the end of a run, it does not find the run in its list again. */

void live_end(LiveRun *run, int64_t from, const RunEnd *end, LiveEnded *ended, void *ctx)
{
    pthread_mutex_lock(&run->log->lock);
    pthread_mutex_lock(&run->lock);
    run->end = end;
    run->end_from = (size_t)from - 1;
    run->ended = ended;
    run->ended_ctx = ctx;
    pthread_mutex_unlock(&run->lock);
    list(run->log, run);
    pthread_mutex_unlock(&run->log->lock);
}

void live_add_instead(LiveRun *run, FrameEvent event, int64_t seq, Str data)
{
    Frame *f = frame_new(run->id, event, seq, data);

    pthread_mutex_lock(&run->lock);
    while (run->n >= (size_t)seq)
        mem_free(run->frames[--run->n]);
    push(run, f);
    pthread_mutex_unlock(&run->lock);
}

/* -- finding ------------------------------------------------------------------------------------ */

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
        push(run, frame_new(run->id, event_of(events[i].type), events[i].seq, events[i].payload));
    run->saved = run->shown = run->n;
    run->over = true;
    return run;
}

LiveRun *runlog_find(RunLog *log, Runs *r, Str run_id, Err *err)
{
    LiveRun *run, *loaded;

    pthread_mutex_lock(&log->lock);
    run = look_up(log, run_id);
    pthread_mutex_unlock(&log->lock);
    if (run)
        return run;
    loaded = load(log, r, run_id, err);
    if (!loaded)
        return NULL;
    pthread_mutex_lock(&log->lock);
    run = look_up(log, run_id);
    if (!run)
        enter(log, loaded);
    pthread_mutex_unlock(&log->lock);
    if (!run)
        return loaded;
    forget(loaded);
    return run;
}
