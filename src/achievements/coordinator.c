/* One lock guards everything; a scan runs on a thread of its own and takes the lock only to tell
 * how far it is and to put its snapshot in place. Files of the plugin are written behind, by a
 * second thread, at most once a minute; state.json, which holds what people earned, at once. */
#include "achievements/coordinator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "achievements/answer.h"
#include "achievements/restore.h"
#include "base/clock.h"
#include "base/limits.h"

enum { FILES_EVERY_MS = 60 * 1000, MOST_LISTENERS = 4, BACKGROUND_NICE = 10, RETRY_SECONDS = 5 };

struct Coordinator {
    Arena *arena; /* of the homes */
    Homes homes;
    bool compat;
    ScanOptions scan; /* as the settings ask for it */
    int64_t ttl;

    pthread_mutex_t lock;
    pthread_cond_t ended;   /* a scan did */
    pthread_cond_t writing; /* the writer has something to do, or shall end */
    ScanStatus status;
    Snapshot *current; /* the last complete one; NULL: none yet */
    Snapshot *partial; /* while there is no complete one */
    _Atomic uint64_t version;
    uint64_t epoch;     /* raised by a reset: scans begun before it are thrown away */
    uint64_t run_epoch; /* in which the running scan began */
    uint64_t mark;      /* of the homes when `current` was made */
    bool refresh_failed;
    char failure[512]; /* of the last refresh, until one succeeds */
    bool restored;     /* it was looked for an answer of an earlier process */
    bool unsure;       /* `current` is such, and the history was written since */

    pthread_t writer;
    int scanners; /* threads that scan, or still tell what they found */
    bool closing;
    bool dirty; /* snapshot and checkpoint are not on the disk as they are */
    int64_t written_ms;

    struct {
        ScanListener *fn;
        void *ctx;
    } listeners[MOST_LISTENERS];
    size_t n_listeners;
};

static int64_t now_seconds(void)
{
    return (int64_t)clock_wall();
}

/* -- telling ------------------------------------------------------------------------------------------- */

void coordinator_listen(Coordinator *c, ScanListener *fn, void *ctx)
{
    pthread_mutex_lock(&c->lock);
    ASSERT(c->n_listeners < MOST_LISTENERS);
    c->listeners[c->n_listeners].fn = fn;
    c->listeners[c->n_listeners++].ctx = ctx;
    pthread_mutex_unlock(&c->lock);
}

static void tell(Coordinator *c, const char *event, const Buf *data)
{
    for (size_t i = 0; i < c->n_listeners; i++)
        c->listeners[i].fn(c->listeners[i].ctx, event, buf_str(data));
}

static void tell_numbers(Coordinator *c, const char *event, const char *first, int64_t a,
                         const char *second, int64_t b)
{
    AUTO_BUF data = BUF(256);
    JsonWriter w = JSON_WRITER(&data, 0);

    json_begin(&w, '{');
    json_field_int(&w, first, a);
    json_field_int(&w, second, b);
    json_end(&w, '}');
    tell(c, event, &data);
}

static void tell_unlock(Coordinator *c, const Snapshot *s, size_t i)
{
    AUTO_BUF data = BUF(KIB(16));
    JsonWriter w = JSON_WRITER(&data, 0);

    snapshot_put_item(&w, s, i);
    tell(c, "unlock", &data);
}

/* -- scanning ------------------------------------------------------------------------------------------ */

static bool on_progress(void *ctx, size_t done, size_t total)
{
    Coordinator *c = ctx;
    bool go_on;

    pthread_mutex_lock(&c->lock);
    go_on = !c->closing && c->epoch == c->run_epoch;
    c->status.sessions_done = done;
    c->status.sessions_total = total;
    c->version++;
    pthread_mutex_unlock(&c->lock);
    tell_numbers(c, "progress", "done", (int64_t)done, "total", (int64_t)total);
    return go_on;
}

/* Shown only while there is nothing complete. */
static void on_partial(void *ctx, const Totals *totals, size_t total)
{
    Coordinator *c = ctx;
    ScanMeta meta = { .mode = MODE_IN_PROGRESS,
                      .sessions_total = totals->sessions,
                      .sessions_expected = (int64_t)total };
    Snapshot *s = snapshot_make(arena_new(), totals, &meta, NULL, c->compat, now_seconds());

    pthread_mutex_lock(&c->lock);
    if (!c->current) {
        snapshot_free(c->partial);
        c->partial = TAKE(s);
        c->version++;
    }
    pthread_mutex_unlock(&c->lock);
    snapshot_free(s);
}

/* Called with the lock held. */
static void release(Snapshot *s)
{
    if (s && --s->users == 0)
        snapshot_free(s);
}

/* Called with the lock held. */
static void put_in_place(Coordinator *c, Snapshot *s)
{
    snapshot_free(c->partial);
    c->partial = NULL;
    release(c->current);
    c->current = s;
    c->dirty = true;
    c->refresh_failed = c->unsure = false;
    pthread_cond_signal(&c->writing);
}

static void finish(Coordinator *c, Snapshot *s, uint64_t mark, const Err *err)
{
    pthread_mutex_lock(&c->lock);
    c->status.finished_at = now_seconds();
    c->status.last_duration_ms = (c->status.finished_at - c->status.started_at) * 1000;
    c->status.run_count++;
    c->version++;
    if (c->run_epoch != c->epoch) {
        c->status.state = SCAN_IDLE; /* a reset came in between, and wins */
        if (s)
            s->users--;
    } else if (s) {
        put_in_place(c, s);
        c->mark = mark;
        c->status.state = SCAN_IDLE;
    } else {
        c->status.state = SCAN_FAILED;
        c->refresh_failed = true;
        snprintf(c->status.last_error, sizeof c->status.last_error, "%s", err->text);
        snprintf(c->failure, sizeof c->failure, "%s", err->text);
    }
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
}

static void tell_all(Coordinator *c, const Run *run, const Snapshot *s)
{
    for (size_t i = 0; i < catalogue()->n; i++)
        if (run->fresh[i])
            tell_unlock(c, s, i);
    tell_numbers(c, "snapshot", "generated_at", s->generated_at, "unlocked", s->unlocked);
}

/* A core is left to whoever waits for a page, where there are several. */
static int all_but_one(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 1 ? (int)cores - 1 : 1;
}

/* This thread, and those it starts: whoever waits for a page goes first. */
static void step_back(void)
{
    (void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE);
}

static void *scan_thread(void *ctx)
{
    Coordinator *c = ctx;
    Run run = { .scan = { .homes = &c->homes,
                          .threads = all_but_one(),
                          .rows = c->scan.rows,
                          .count = c->scan.count,
                          .progress = on_progress,
                          .partial = on_partial,
                          .ctx = c },
                .compat = c->compat };
    Snapshot *s;
    Err err;

    step_back();
    s = run_scan(&run, &err);
    if (s)
        s->users++; /* ours, until everything is told */
    finish(c, s, run.mark, &err);
    if (s)
        tell_all(c, &run, s);
    pthread_mutex_lock(&c->lock);
    release(s);
    c->scanners--;
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Nobody waits for the thread with the lock in hand: it needs it once more at its end. */
static void start_thread(Coordinator *c)
{
    pthread_attr_t alone;
    pthread_t thread;

    pthread_attr_init(&alone);
    pthread_attr_setdetachstate(&alone, PTHREAD_CREATE_DETACHED);
    c->scanners++;
    ASSERT(pthread_create(&thread, &alone, scan_thread, c) == 0);
    pthread_attr_destroy(&alone);
}

/* Begins a scan, or joins the one that runs. Called with the lock held. */
static void begin(Coordinator *c)
{
    if (c->status.state == SCAN_RUNNING) {
        c->status.joined++;
        return;
    }
    c->status.state = SCAN_RUNNING;
    c->run_epoch = c->epoch;
    c->status.started_at = now_seconds();
    c->status.last_error[0] = '\0';
    c->status.sessions_done = c->status.sessions_total = 0;
    c->version++;
    start_thread(c);
}

/* -- files behind -------------------------------------------------------------------------------------- */

/* Called with the lock held; lets go of it while it writes. */
static void write_behind(Coordinator *c)
{
    Snapshot *s = c->current;
    uint64_t epoch = c->epoch;

    c->dirty = false;
    c->written_ms = clock_mono_ms();
    s->users++;
    pthread_mutex_unlock(&c->lock);
    run_write_files(&c->homes, s);
    pthread_mutex_lock(&c->lock);
    release(s);
    if (epoch != c->epoch)
        c->dirty = false;
}

static void *write_thread(void *ctx)
{
    Coordinator *c = ctx;

    step_back();
    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        int64_t due = c->written_ms ? c->written_ms + FILES_EVERY_MS : 0;
        int64_t left = due - clock_mono_ms();
        struct timespec until;

        if (c->dirty && c->current && left <= 0) {
            write_behind(c);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += c->dirty && left > 0 ? left / 1000 + 1 : 3600;
        pthread_cond_timedwait(&c->writing, &c->lock, &until);
    }
    if (c->dirty && c->current)
        write_behind(c);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* -- life ------------------------------------------------------------------------------------------------ */

Coordinator *coordinator_open(const HomesQuery *where, const Settings *settings, bool compat,
                              Err *err)
{
    Coordinator *c = mem_alloc(sizeof *c);
    HomesQuery query = *where;

    c->arena = arena_new();
    query.profiles = query.profiles || setting_bool(settings, SETTING_COUNT_PROFILES);
    if (!homes_find(c->arena, &query, &c->homes, err)) {
        arena_free(c->arena);
        return mem_free(c);
    }
    c->compat = compat;
    run_settings(&c->scan, settings);
    c->ttl = setting_int(settings, SETTING_ACHIEVEMENTS_TTL);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->ended, NULL);
    pthread_cond_init(&c->writing, NULL);
    ASSERT(pthread_create(&c->writer, NULL, write_thread, c) == 0);
    return c;
}

Coordinator *coordinator_free(Coordinator *c)
{
    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->writing);
    while (c->scanners)
        pthread_cond_wait(&c->ended, &c->lock);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->writer, NULL);
    snapshot_free(c->current);
    snapshot_free(c->partial);
    pthread_cond_destroy(&c->ended);
    pthread_cond_destroy(&c->writing);
    pthread_mutex_destroy(&c->lock);
    arena_free(c->arena);
    return mem_free(c);
}

/* -- answers --------------------------------------------------------------------------------------------- */

uint64_t coordinator_version(const Coordinator *c)
{
    /* Ages are in whole seconds, so an answer holds for one at most. */
    return atomic_load(&c->version) << 32 ^ (uint64_t)now_seconds();
}

static bool is_stale(const Coordinator *c)
{
    int64_t age = c->current ? now_seconds() - c->current->generated_at : 0;

    return !c->current || c->refresh_failed || c->unsure || age > c->ttl || age < 0;
}

/* Called with the lock held. */
static Answer answer_with(const Coordinator *c, const Snapshot *shown)
{
    return (Answer){
        .shown = shown,
        .current = c->current,
        .status = &c->status,
        /* The status forgets it when the next scan begins; the answer when one succeeds. */
        .error = c->refresh_failed ? str_of(c->failure) : STR_NONE,
        .ttl = c->ttl,
        .now = now_seconds(),
        .stale = is_stale(c)
    };
}

static void put_answer(JsonWriter *w, const Coordinator *c, const Snapshot *shown)
{
    Answer answer = answer_with(c, shown);

    answer_put(w, &answer);
}

static void wait_for_end(Coordinator *c, int64_t wait_ms)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (c->status.state == SCAN_RUNNING &&
           pthread_cond_timedwait(&c->ended, &c->lock, &until) == 0)
        ;
}

/* What an earlier process left. Called with the lock held; lets go of it while it reads. */
static void look_back(Coordinator *c)
{
    ScanOptions scan = c->scan;
    uint64_t mark, epoch = c->epoch;
    Snapshot *s;
    bool sure;

    c->restored = true;
    scan.homes = &c->homes;
    pthread_mutex_unlock(&c->lock);
    s = restore(&scan, c->compat, &mark, &sure);
    pthread_mutex_lock(&c->lock);
    if (!s || c->current || c->epoch != epoch) {
        snapshot_free(s);
        return;
    }
    put_in_place(c, s);
    c->dirty = false; /* it comes from there */
    c->unsure = !sure;
    c->mark = mark;
    c->version++;
}

/* Called with the lock held: begins what is due, and says whether there is anything to show. */
static bool refresh(Coordinator *c, int wait_ms, Err *err)
{
    uint64_t mark;

    if (!c->current && !c->restored)
        look_back(c);
    if (!c->current) {
        begin(c);
        wait_for_end(c, wait_ms);
        if (!c->current && c->status.state == SCAN_FAILED)
            return err_set(err, ERR_BUSY, "%s", c->status.last_error);
        return true;
    }
    if (!is_stale(c) ||
        (c->refresh_failed && now_seconds() - c->status.finished_at < RETRY_SECONDS))
        return true;
    if (scan_unchanged(&c->homes, c->mark, &mark)) {
        c->current->generated_at = now_seconds(); /* nothing new: it is as good as made now */
        c->version++;
    } else {
        begin(c);
    }
    return true;
}

bool coordinator_achievements(Coordinator *c, int wait_ms, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Snapshot *pending = NULL;
    bool ok;

    pthread_mutex_lock(&c->lock);
    ok = refresh(c, wait_ms, err);
    if (ok) {
        if (!c->current && !c->partial)
            pending = snapshot_pending(now_seconds());
        json_begin(&w, '{');
        put_answer(&w, c, c->current ? c->current : c->partial ? c->partial : pending);
        json_end(&w, '}');
    }
    pthread_mutex_unlock(&c->lock);
    snapshot_free(pending);
    return ok;
}

void coordinator_status_json(Coordinator *c, Buf *out)
{
    JsonWriter w = JSON_WRITER(out, 0);

    Answer answer;

    pthread_mutex_lock(&c->lock);
    answer = answer_with(c, c->current);
    answer_put_status(&w, &answer);
    pthread_mutex_unlock(&c->lock);
}

ScanStatus coordinator_status(Coordinator *c)
{
    ScanStatus status;

    pthread_mutex_lock(&c->lock);
    status = c->status;
    pthread_mutex_unlock(&c->lock);
    return status;
}

static void let_go(Coordinator *c, Snapshot *s)
{
    pthread_mutex_lock(&c->lock);
    release(s);
    pthread_mutex_unlock(&c->lock);
}

bool coordinator_rescan(Coordinator *c, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Snapshot *s = NULL;
    bool ok;

    pthread_mutex_lock(&c->lock);
    begin(c);
    while (c->status.state == SCAN_RUNNING)
        pthread_cond_wait(&c->ended, &c->lock);
    ok = c->current && c->status.state != SCAN_FAILED;
    if (!ok) {
        (void)err_set(err, ERR_BUSY, "%s",
                      c->status.last_error[0] ? c->status.last_error : "the scan was reset");
    } else {
        json_begin(&w, '{');
        json_field_bool(&w, "ok", true);
        put_answer(&w, c, c->current);
        s = c->current;
        s->users++;
    }
    pthread_mutex_unlock(&c->lock);
    /* Megabytes of a large history: nobody else waits for those. */
    if (s) {
        json_key(&w, "aggregate");
        snapshot_put_totals(&w, s);
        json_key(&w, "sessions");
        snapshot_put_sessions(&w, s);
        json_end(&w, '}');
        let_go(c, s);
    }
    return ok;
}

bool coordinator_recent(Coordinator *c, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    size_t order[MOST_ACHIEVEMENTS], n;
    bool ok;

    pthread_mutex_lock(&c->lock);
    ok = refresh(c, 10000, err);
    if (ok) {
        n = c->current ? snapshot_recent(c->current, order) : 0;
        json_begin(&w, '[');
        for (size_t i = 0; i < n; i++)
            snapshot_put_item(&w, c->current, order[i]);
        json_end(&w, ']');
    }
    pthread_mutex_unlock(&c->lock);
    return ok;
}

bool coordinator_badges(Coordinator *c, Str session, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Snapshot *s;
    bool ok;

    pthread_mutex_lock(&c->lock);
    ok = refresh(c, 10000, err);
    s = ok ? c->current : NULL;
    if (s)
        s->users++;
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        return false;
    json_begin(&w, '{');
    json_field_str(&w, "session_id", session);
    json_key(&w, "badges");
    if (s) {
        snapshot_put_session_badges(&w, s, session);
        let_go(c, s);
    } else {
        json_begin(&w, '[');
        json_end(&w, ']');
    }
    json_end(&w, '}');
    return true;
}

/* -- reset ------------------------------------------------------------------------------------------------- */

/* Called with the lock held. */
static void forget(Coordinator *c)
{
    c->epoch++;
    c->version++;
    release(c->current);
    c->current = NULL;
    snapshot_free(c->partial);
    c->partial = NULL;
    c->dirty = c->refresh_failed = c->unsure = false;
}

/* The running scan is told to end and its findings are thrown away; then the files go, alone; then
 * once more whatever a scan may have put in place in between. */
bool coordinator_reset(Coordinator *c, Buf *out, Err *err)
{
    bool ok;

    pthread_mutex_lock(&c->lock);
    forget(c);
    pthread_mutex_unlock(&c->lock);
    ok = run_reset(&c->homes, err);
    pthread_mutex_lock(&c->lock);
    forget(c);
    if (c->status.state != SCAN_RUNNING)
        c->status = (ScanStatus){ .run_count = c->status.run_count };
    pthread_mutex_unlock(&c->lock);
    if (ok)
        buf_addz(out, "{\"ok\": true}");
    return ok;
}
