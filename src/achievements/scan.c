#include "achievements/scan.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "achievements/cache.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

enum { MOST_THREADS = 8, SAVE_EVERY_MS = 500, LOOK_EVERY_MS = 50, PARTIAL_EVERY = 250 };

/* Counted otherwise, kept apart. */
static Str topic_of(Arena *a, const ScanOptions *o)
{
    return str_printf(a, "achievements %d%d%d%d%d", o->rows.archived, o->rows.compacted,
                      o->rows.all_models, o->count.double_encoded, o->count.memory_writes);
}

/* One session to be counted, or taken as it was. */
typedef struct Work {
    SessionRow row;
    size_t home;
    bool done;
} Work;

typedef struct HomeState {
    RecordCache cache;
    int64_t last_message;
    Str *newer; /* sorted */
    size_t n_newer;
    bool changed;
} HomeState;

typedef struct Job {
    const ScanOptions *options;
    Arena *arena; /* of the records; guarded by the lock once workers run */
    Work *work;
    Record *records;
    size_t n;
    HomeState *homes;
    size_t next; /* the first that no worker has taken */
    size_t done;
    int64_t rescanned, reused, messages;
    bool stop;
    bool one_reader; /* a database is in rollback-journal mode */
    Err err;
    bool failed;
    int running;
    pthread_mutex_t lock;
    pthread_cond_t moved;
} Job;

/* -- what there is to do ----------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static bool is_newer(const HomeState *home, Str id)
{
    return home->n_newer && bsearch(&id, home->newer, home->n_newer, sizeof id, by_text);
}

static void load_cache(Job *job, size_t home)
{
    Str bytes;

    if (!job->options->full &&
        index_get(job->options->index, job->arena, topic_of(job->arena, job->options),
                  job->options->homes->all[home].path, STR(""), STR(""), &bytes) &&
        !cache_unpack(job->arena, bytes, &job->homes[home].cache))
        log_note("what was counted before is of another version; counting anew");
}

/* The newest message first, then the list: what comes in between is read next time. */
static bool list_home(Job *job, size_t home, Work **all, size_t *n, size_t *cap, Err *err)
{
    AUTO(Rows) *rows = rows_open(&job->options->homes->all[home], &job->options->rows, err);
    HomeState *state = &job->homes[home];
    SessionRow *sessions;
    size_t n_sessions;

    if (!rows)
        return false;
    job->one_reader = job->one_reader || rows_want_one_reader(rows);
    load_cache(job, home);
    if (!rows_newer(rows, job->arena, state->cache.last_message, &state->newer, &state->n_newer,
                    &state->last_message, err) ||
        !rows_sessions(rows, job->arena, &sessions, &n_sessions, err))
        return false;
    if (state->n_newer)
        qsort(state->newer, state->n_newer, sizeof *state->newer, by_text);
    for (size_t i = 0; i < n_sessions; i++) {
        Work work = { .row = sessions[i], .home = home };

        if (work.row.id.n)
            ARENA_PUSH(job->arena, *all, *n, *cap, work);
    }
    state->changed = state->cache.n != n_sessions || state->n_newer;
    return true;
}

/* Within a home the order is there already; between homes the newer comes first. */
static int newest_first(const void *left, const void *right)
{
    const Work *a = left, *b = right;

    if (a->row.started_at != b->row.started_at)
        return a->row.started_at > b->row.started_at ? -1 : 1;
    if (a->home != b->home)
        return a->home < b->home ? -1 : 1;
    return a->row.rowid < b->row.rowid ? -1 : a->row.rowid > b->row.rowid;
}

static void reuse(Job *job)
{
    for (size_t i = 0; i < job->n; i++) {
        Work *w = &job->work[i];
        HomeState *home = &job->homes[w->home];
        const Record *known = cache_find(job->arena, &home->cache, w->row.id);

        if (!known || known->mark != w->row.mark || is_newer(home, w->row.id))
            continue;
        job->records[i] = *known;
        w->done = true;
        job->done++;
        job->reused++;
    }
}

static bool plan(Job *job, Err *err)
{
    const Homes *homes = job->options->homes;
    size_t cap = 0;

    job->homes = ARENA_ARRAY(job->arena, HomeState, homes->n);
    for (size_t i = 0; i < homes->n; i++) {
        if (!homes->all[i].present && homes->all[i].kind != HOME_GIVEN)
            continue;
        if (!list_home(job, i, &job->work, &job->n, &cap, err)) {
            /* One home that cannot be read must not hide the others. */
            if (homes->n == 1)
                return false;
            log_warning("left out: %s", err->text);
        }
    }
    if (job->n)
        qsort(job->work, job->n, sizeof *job->work, newest_first);
    job->records = ARENA_ARRAY(job->arena, Record, job->n + 1);
    reuse(job);
    return true;
}

/* -- counting ------------------------------------------------------------------------------------------ */

typedef struct Worker {
    Job *job;
    Scanner *scanner;
    Rows *rows[LIMIT_HOMES];
    Arena *scratch;
} Worker;

static void count_message(void *ctx, const RowMessage *m)
{
    const ScanRow row = { .role = m->role,
                          .content = m->content,
                          .tool_calls = m->tool_calls,
                          .tool_name = m->tool_name,
                          .content_is_blob = m->content_is_blob };

    scanner_row(ctx, &row);
}

static bool count_session(Worker *w, const Work *work, Record *ret, SessionMetrics *ret_metrics,
                          int64_t *ret_messages, Err *err)
{
    const SessionRow *s = &work->row;
    double newest = 0;
    Str preview = STR("");

    if (!w->rows[work->home])
        w->rows[work->home] =
            rows_open(&w->job->options->homes->all[work->home], &w->job->options->rows, err);
    if (!w->rows[work->home])
        return false;
    scanner_begin(w->scanner);
    if (!rows_messages(w->rows[work->home], s->id, count_message, w->scanner, ret_messages, err) ||
        !rows_describe(w->rows[work->home], w->scratch, s->id, &newest,
                       s->title.n ? NULL : &preview, err))
        return false;
    *ret = (Record){ .id = s->id, .source = s->source, .model = s->model, .mark = s->mark };
    ret->started_at = s->started_at;
    ret->title = s->title.n ? s->title : preview.n ? preview : STR("Untitled");
    ret->last_active = s->last_activity_at > newest ? s->last_activity_at : newest;
    if (ret->last_active == 0)
        ret->last_active = s->started_at;
    scanner_end(w->scanner, w->scratch, ret_metrics);
    return true;
}

static bool take(Job *job, size_t *ret)
{
    while (job->next < job->n && job->work[job->next].done)
        job->next++;
    *ret = job->next;
    return !job->stop && job->next++ < job->n;
}

static void *work_through(void *ctx)
{
    Worker *w = ctx;
    Job *job = w->job;
    size_t at;

    pthread_mutex_lock(&job->lock);
    while (take(job, &at)) {
        SessionMetrics metrics;
        int64_t messages = 0;
        Record record;
        bool ok;
        Err err;

        pthread_mutex_unlock(&job->lock);
        arena_reset(w->scratch);
        ok = count_session(w, &job->work[at], &record, &metrics, &messages, &err);
        pthread_mutex_lock(&job->lock);
        if (!ok) {
            job->failed = job->stop = true;
            job->err = err;
            break;
        }
        /* The worker's scratch goes; what is kept moves to the job's arena. */
        record.title = str_dup(job->arena, record.title);
        record_set(job->arena, &record, &job->homes[job->work[at].home].cache.tools, &metrics);
        job->records[at] = record;
        job->work[at].done = true;
        job->homes[job->work[at].home].changed = true;
        job->done++;
        job->rescanned++;
        job->messages += messages;
    }
    job->running--;
    pthread_cond_signal(&job->moved);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

/* -- putting aside --------------------------------------------------------------------------------------- */

/* What is done of each home, as one blob. A session that is not done is not in it, so that the next
 * scan reads it whatever the number of the last message. */
static void save(Job *job)
{
    AUTO(Arena) *a = arena_new();
    const Homes *homes = job->options->homes;

    for (size_t home = 0; home < homes->n; home++) {
        const Record **list = ARENA_ARRAY(a, const Record *, job->n + 1);
        AUTO_BUF bytes = BUF(LIMIT_OUTPUT_BYTES);
        size_t n = 0;

        if (!job->homes[home].changed)
            continue;
        for (size_t i = 0; i < job->n; i++)
            if (job->work[i].done && job->work[i].home == home)
                list[n++] = &job->records[i];
        cache_pack(list, n, job->homes[home].last_message, &job->homes[home].cache.tools, &bytes);
        if (!buf_full(&bytes))
            index_put(job->options->index, topic_of(a, job->options), homes->all[home].path,
                      STR(""), STR(""), buf_str(&bytes));
    }
    index_commit(job->options->index);
}

/* -- running --------------------------------------------------------------------------------------------- */

static void wait_a_little(Job *job)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_EVERY_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_cond_timedwait(&job->moved, &job->lock, &until);
}

/* The longest run from the newest on in which every session is done. */
static size_t done_in_order(const Job *job)
{
    size_t n = 0;

    while (n < job->n && job->work[n].done)
        n++;
    return n;
}

static void watch(Job *job)
{
    const ScanOptions *o = job->options;
    int64_t saved = clock_mono_ms();
    size_t shown = 0;

    pthread_mutex_lock(&job->lock);
    while (job->running) {
        wait_a_little(job);
        if (o->progress && !o->progress(o->ctx, job->done, job->n) && !job->stop) {
            job->stop = job->failed = true;
            (void)err_set(&job->err, ERR_INTERRUPTED, "the scan was interrupted");
        }
        if (o->partial && job->running && done_in_order(job) >= shown + PARTIAL_EVERY) {
            shown = done_in_order(job);
            o->partial(o->ctx, job->records, shown, job->n);
        }
        if (clock_mono_ms() - saved > SAVE_EVERY_MS && job->running) {
            save(job);
            saved = clock_mono_ms();
        }
    }
    pthread_mutex_unlock(&job->lock);
}

static void worker_done(Worker *w)
{
    scanner_free(w->scanner);
    arena_free(w->scratch);
    for (size_t i = 0; i < LIMIT_HOMES; i++)
        rows_close(w->rows[i]);
}

static size_t threads_for(const Job *job)
{
    long cores = job->options->threads ? job->options->threads : sysconf(_SC_NPROCESSORS_ONLN);
    size_t left = job->n - job->done, most = left / 16 + 1;

    if (cores < 1 || job->one_reader)
        cores = 1;
    if ((size_t)cores < most)
        most = (size_t)cores;
    return left == 0 ? 0 : most > MOST_THREADS ? MOST_THREADS : most;
}

static bool run_workers(Job *job, Err *err)
{
    size_t n = threads_for(job), begun = 0;
    pthread_t threads[MOST_THREADS];
    AUTO(Arena) *a = arena_new();
    Worker *workers = ARENA_ARRAY(a, Worker, n + 1);

    for (; begun < n; begun++) {
        workers[begun] = (Worker){ .job = job, .scratch = arena_new() };
        workers[begun].scanner = scanner_new(err);
        if (!workers[begun].scanner) {
            job->stop = job->failed = true;
            job->err = *err;
            worker_done(&workers[begun]);
            break;
        }
        scanner_set(workers[begun].scanner, &job->options->count);
        pthread_mutex_lock(&job->lock);
        job->running++;
        pthread_mutex_unlock(&job->lock);
        ASSERT(pthread_create(&threads[begun], NULL, work_through, &workers[begun]) == 0);
    }
    if (begun)
        watch(job);
    for (size_t i = 0; i < begun; i++) {
        pthread_join(threads[i], NULL);
        worker_done(&workers[i]);
    }
    if (job->failed)
        *err = job->err;
    return !job->failed;
}

bool scan_run(const ScanOptions *options, Scan *ret, Err *err)
{
    AUTO(Arena) *arena = arena_new();
    int64_t begun = clock_mono_ms();
    Job job = { .options = options, .arena = arena };
    bool ok;

    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.moved, NULL);
    ok = plan(&job, err) && run_workers(&job, err);
    if (job.homes)
        save(&job);
    pthread_cond_destroy(&job.moved);
    pthread_mutex_destroy(&job.lock);
    if (!ok)
        return false;
    *ret = (Scan){ .arena = TAKE(arena),
                   .records = job.records,
                   .n = job.n,
                   .rescanned = job.rescanned,
                   .reused = job.reused,
                   .messages = job.messages,
                   .duration_ms = clock_mono_ms() - begun };
    return true;
}

/* -- nothing new ----------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

bool scan_unchanged(const Homes *homes, uint64_t mark, uint64_t *ret_mark)
{
    static const char *const files[] = { "", "-wal", "-journal" };
    uint64_t hash = mix(0xcbf29ce484222325u, &(int){ RULES_VERSION }, sizeof(int));
    bool fresh = false;

    for (size_t i = 0; i < homes->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(files); k++) {
            char path[LIMIT_PATH_BYTES];
            struct stat st = { 0 };

            snprintf(path, sizeof path, "%.*s%s", STR_FMT(homes->all[i].database), files[k]);
            /* An empty log says nothing, and readers make it. */
            if (stat(path, &st) != 0 || st.st_size == 0)
                continue;
            hash = mix(hash, &st.st_ino, sizeof st.st_ino);
            hash = mix(hash, &st.st_size, sizeof st.st_size);
            hash = mix(hash, &st.st_mtim, sizeof st.st_mtim);
            /* Written within the clock's last ticks: a further write could look the same. */
            fresh = fresh || clock_wall() - (double)st.st_mtim.tv_sec < 2;
        }
    *ret_mark = fresh ? 0 : hash >> 1;
    return !fresh && mark == *ret_mark && mark != 0;
}
