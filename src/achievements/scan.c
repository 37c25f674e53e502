#include "achievements/scan.h"

#include <pthread.h>
#include <unistd.h>

#include "achievements/delta.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/executor.h"
#include "base/limits.h"
#include "base/log.h"

enum { MAX_THREADS = 8, SAVE_EVERY_MS = 500, LOOK_EVERY_MS = 50, PARTIAL_EVERY = 250 };

/* Counted otherwise, kept apart. */
Str scan_topic(Arena *a, const ScanOptions *o)
{
    return str_printf(a, "achievements %s%d%d%d%d%d", o->all ? "all " : "", o->rows.archived,
                      o->rows.compacted, o->rows.all_models, o->count.double_encoded,
                      o->count.memory_writes);
}

typedef struct Job {
    const ScanOptions *options;
    Arena *arena; /* of the records; guarded by the lock once workers run */
    Delta delta;
    size_t next; /* the first that no worker has taken */
    size_t done;
    int64_t messages;
    bool stop;
    Err err;
    bool failed;
    int running;
    pthread_mutex_t lock;
    pthread_cond_t moved;
} Job;

/* -- counting -- */

typedef struct Worker {
    Job *job;
    Scanner *scanner;
    Rows *rows[LIMIT_HOMES];
    size_t home; /* that was read last */
    Reader *reader;
    Arena *scratch, *kept; /* of a session; of the handles */
} Worker;

static void rest(Worker *w)
{
    if (w->rows[w->home])
        rows_rest(w->rows[w->home]);
}

/* A worker ends its read before it waits for the lock. */
static void lock_job(Worker *w)
{
    if (pthread_mutex_trylock(&w->job->lock) == 0)
        return;
    rest(w);
    pthread_mutex_lock(&w->job->lock);
}

/* The home's handle; the read of another one ends. */
static Rows *rows_of(Worker *w, size_t home, Err *err)
{
    bool fresh;

    if (w->home != home)
        rest(w);
    w->home = home;
    fresh = !w->rows[home];
    if (fresh)
        w->rows[home] = rows_open(&w->job->options->homes->all[home], &w->job->options->rows, err);
    if (fresh && w->rows[home] && w->job->options->all)
        rows_count_once(w->kept, w->job->options->homes, &w->job->options->homes->all[home],
                        w->rows[home]);
    return w->rows[home];
}

static void count_message(void *ctx, const RowMessage *m)
{
    const ScanRow row = { .id = m->id,
                          .role = m->role,
                          .content = m->content,
                          .tool_calls = m->tool_calls,
                          .tool_name = m->tool_name,
                          .content_is_blob = m->content_is_blob };

    scanner_row(ctx, &row);
}

static Record record_of(const Work *work, double newest)
{
    const SessionRow *s = &work->row;
    Record r = { .home = work->home,
                 .rowid = s->rowid,
                 .id = s->id,
                 .title = s->title,
                 .source = s->source,
                 .conversation = s->conversation,
                 .covered = s->covered,
                 .begun_there = s->begun_there,
                 .model = s->model,
                 .mark = s->mark,
                 .started_at = s->started_at,
                 .last_active = s->last_activity_at > newest ? s->last_activity_at : newest };

    if (r.last_active == 0)
        r.last_active = s->started_at;
    return r;
}

static bool count_rows(Worker *w, const Work *work, Record *ret, int64_t *ret_messages, Err *err)
{
    Rows *rows = rows_of(w, work->home, err);
    Str preview = STR("");
    RowsSeen seen;

    if (!rows || !rows_messages(rows, work->row.id, count_message, w->scanner, &seen, err) ||
        (!work->row.title.n && !rows_preview(rows, w->scratch, work->row.id, &preview, err)))
        return false;
    *ret_messages = seen.n;
    *ret = record_of(work, seen.newest);
    if (!ret->title.n)
        ret->title = preview.n ? preview : STR("Untitled");
    return true;
}

/* A transcript that cannot be read does not stop the scan: it counts for nothing until it
 * changes. */
static void count_file(Worker *w, const Work *work, Record *ret, int64_t *ret_messages)
{
    Err why;

    rest(w);
    if (!w->reader)
        w->reader = reader_new();
    if (!transcript_count(w->reader, w->scanner, work->file, ret_messages, &why))
        log_warning("'%.*s' is not counted: %s", STR_FMT(work->file->path), why.text);
    *ret = record_of(work, 0);
}

/* Called with the lock held. The worker's scratch goes; what is kept moves to the job's arena. */
static void put_counted(Job *job, Work *work, Record *record, const SessionMetrics *metrics)
{
    HomeDelta *home = &job->delta.homes[work->home];
    Chunk *chunk = &home->chunks[work->chunk];

    record->title = str_dup(job->arena, record->title);
    record_set(job->arena, record, chunk->tools, metrics);
    ARENA_PUSH(job->arena, chunk->all, chunk->n, chunk->cap, *record);
    chunk->unsaved = chunk->stale = home->changed = true;
    work->done = true;
    job->done++;
}

static void work_through(void *ctx, void *thread, void *worker)
{
    Worker *w = worker;
    Job *job = ctx;

    (void)thread;
    lock_job(w);
    while (!job->stop && job->next < job->delta.n) {
        Work *work = &job->delta.work[job->next++];
        SessionMetrics metrics;
        int64_t messages = 0;
        Record record;
        bool ok = true;
        Err err;

        pthread_mutex_unlock(&job->lock);
        arena_reset(w->scratch);
        scanner_begin(w->scanner);
        if (work->file)
            count_file(w, work, &record, &messages);
        else
            ok = count_rows(w, work, &record, &messages, &err);
        if (ok)
            scanner_end(w->scanner, w->scratch, &metrics);
        lock_job(w);
        if (!ok) {
            job->failed = job->stop = true;
            job->err = err;
            break;
        }
        put_counted(job, work, &record, &metrics);
        job->messages += messages;
    }
    rest(w);
    job->running--;
    pthread_cond_signal(&job->moved);
    pthread_mutex_unlock(&job->lock);
}

/* -- running -- */

/* Called with the lock held. */
static void save(Job *job)
{
    delta_sum(&job->delta, job->arena, job->options->homes->n);
    delta_save(&job->delta, job->options);
}

static void watch(Job *job)
{
    const ScanOptions *o = job->options;
    size_t known = job->delta.sessions - job->delta.n, shown = 0;
    int64_t saved = clock_mono_ms();

    pthread_mutex_lock(&job->lock);
    while (job->running) {
        (void)cond_wait_until(&job->moved, &job->lock, clock_mono_ms() + LOOK_EVERY_MS);
        if (o->progress && !o->progress(o->ctx, known + job->done, job->delta.sessions) &&
            !job->stop) {
            job->stop = job->failed = true;
            (void)err_set(&job->err, ERR_INTERRUPTED, "the scan was interrupted");
        }
        if (o->partial && job->running && job->done >= shown + PARTIAL_EVERY) {
            AUTO(Arena) *a = arena_new();
            Totals totals;

            shown = job->done;
            delta_sum(&job->delta, job->arena, o->homes->n);
            delta_totals(&job->delta, a, o->homes->n, &totals);
            o->partial(o->ctx, &totals, job->delta.sessions);
        }
        if (clock_mono_ms() - saved > SAVE_EVERY_MS && job->running) {
            save(job);
            saved = clock_mono_ms();
        }
    }
    /* Reports a scan that was over before the first look, too. */
    if (o->progress)
        (void)o->progress(o->ctx, known + job->done, job->delta.sessions);
    pthread_mutex_unlock(&job->lock);
}

static void worker_done(Worker *w)
{
    scanner_free(w->scanner);
    reader_free(w->reader);
    arena_free(w->scratch);
    for (size_t i = 0; i < LIMIT_HOMES; i++)
        rows_close(w->rows[i]);
    arena_free(w->kept);
}

static size_t threads_for(const Job *job)
{
    long cores = job->options->threads ? job->options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t left = job->delta.n, max = left / 16 + 1;

    if (cores < 1 || job->delta.one_reader)
        cores = 1;
    if ((size_t)cores < max)
        max = (size_t)cores;
    return left == 0 ? 0 : max > MAX_THREADS ? MAX_THREADS : max;
}

static bool run_workers(Job *job, Err *err)
{
    size_t n = threads_for(job), begun = 0;
    ScannerOptions count = job->options->count;
    AUTO(Arena) *a = arena_new();
    Worker *workers = ARENA_ARRAY(a, Worker, n + 1);
    Executor *pool =
        n ? executor_start(&(ExecutorOptions){ .max_threads = n, .run = work_through, .ctx = job },
                           err)
          : NULL;

    for (; begun < n; begun++) {
        workers[begun] = (Worker){ .job = job, .scratch = arena_new(), .kept = arena_new() };
        for (size_t i = 0; begun == 0 && i < job->options->homes->n; i++)
            workers[begun].rows[i] = TAKE(job->delta.homes[i].rows);
        workers[begun].scanner = scanner_new(err);
        if (!workers[begun].scanner) {
            job->stop = job->failed = true;
            job->err = *err;
            worker_done(&workers[begun]);
            break;
        }
        count.map_tools = job->options->all;
        scanner_set(workers[begun].scanner, &count);
        pthread_mutex_lock(&job->lock);
        job->running++;
        pthread_mutex_unlock(&job->lock);
        if (!executor_add(pool, STR_NONE, &workers[begun]))
            work_through(job, NULL, &workers[begun]); /* without a thread it is done here */
    }
    if (begun)
        watch(job);
    executor_stop(pool);
    for (size_t i = 0; i < begun; i++)
        worker_done(&workers[i]);
    if (job->failed)
        *err = job->err;
    return !job->failed;
}

_Static_assert(LIMIT_HOMES <= 64, "a home is a bit of Scan.read");

/* Where nothing is put aside the records are handed over as they are; of a scan that read
 * everything they are complete. */
static void gather(const Job *job, Scan *ret)
{
    size_t n = 0;

    ret->records = ARENA_ARRAY(job->arena, Record, job->delta.sessions + 1);
    for (size_t h = 0; h < job->options->homes->n; h++)
        for (size_t i = 0; i < job->delta.homes[h].n_chunks; i++) {
            const Chunk *chunk = &job->delta.homes[h].chunks[i];

            for (size_t k = 0; k < chunk->n; k++)
                ret->records[n++] = chunk->all[k];
        }
    records_sort(ret->records, n);
}

static void conclude(Job *job, Scan *ret)
{
    const ScanOptions *o = job->options;

    *ret = (Scan){ .topic = scan_topic(job->arena, o),
                   .n = job->delta.sessions,
                   .rescanned = (int64_t)job->done,
                   .reused = (int64_t)(job->delta.sessions - job->delta.n),
                   .messages = job->messages,
                   .partial = job->delta.partial,
                   .stamp = delta_stamp(&job->delta, o->homes->n) };
    for (size_t i = 0; i < o->homes->n; i++)
        ret->read |= (uint64_t)job->delta.homes[i].read << i;
    delta_totals(&job->delta, job->arena, o->homes->n, &ret->totals);
    if (!index_works(o->index))
        gather(job, ret);
}

bool scan_run(const ScanOptions *options, Scan *ret, Err *err)
{
    AUTO(Arena) *arena = arena_new();
    int64_t begun = clock_mono_ms();
    Job job = { .options = options, .arena = arena };
    bool ok;

    pthread_mutex_init(&job.lock, NULL);
    cond_init(&job.moved);
    ok = delta_make(&job.delta, arena, options, err);
    if (ok) {
        ok = run_workers(&job, err);
        save(&job);
    }
    delta_close(&job.delta, options->homes->n);
    pthread_cond_destroy(&job.moved);
    pthread_mutex_destroy(&job.lock);
    if (!ok)
        return false;
    conclude(&job, ret);
    ret->arena = TAKE(arena);
    ret->duration_ms = clock_mono_ms() - begun;
    return true;
}
