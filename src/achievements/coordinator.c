/* One lock guards everything. Scans run on one thread and files are written by another
 * (coordinator_scan.c); here is what callers get meanwhile. */
#include "achievements/coordinator.h"

#include "achievements/coordinator_inside.h"
#include "achievements/lanes.h"

enum { RETRY_SECONDS = 5 };

/* -- life -- */

static bool find_lanes(Coordinator *c, const HomesQuery *where, const Settings *settings, Err *err)
{
    HomesQuery query = *where;
    Homes homes;

    query.profiles = query.profiles || setting_bool(settings, SETTING_COUNT_PROFILES);
    if (!homes_find(c->arena, &query, &homes, err))
        return false;
    if (c->scan.all)
        return lanes_all(c->arena, &homes, &c->homes, err);
    c->homes = lanes_plugin(c->arena, &homes);
    return true;
}

static Coordinator *dispose(Coordinator *c)
{
    pthread_cond_destroy(&c->ended);
    pthread_cond_destroy(&c->writing);
    pthread_mutex_destroy(&c->lock);
    arena_free(c->arena);
    return mem_free(c);
}

Coordinator *coordinator_open(const HomesQuery *where, const Settings *settings,
                              const CoordinatorOptions *options, Err *err)
{
    Coordinator *c = mem_alloc(sizeof *c);

    c->arena = arena_new();
    c->scan = (ScanOptions){ .homes = &c->homes, .all = options->all };
    if (!find_lanes(c, where, settings, err)) {
        arena_free(c->arena);
        return mem_free(c);
    }
    c->compat = options->compat;
    run_settings(&c->scan, settings);
    c->ttl = setting_int(settings, SETTING_ACHIEVEMENTS_TTL);
    pthread_mutex_init(&c->lock, NULL);
    cond_init(&c->ended);
    cond_init(&c->writing);
    if (pthread_create(&c->writer, NULL, coordinator_write_thread, c) == 0)
        return c;
    (void)err_set(err, ERR_BUSY, "cannot start a thread for the achievements; try again later");
    return dispose(c);
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
    return dispose(c);
}

void coordinator_listen(Coordinator *c, ScanListener *fn, void *ctx)
{
    pthread_mutex_lock(&c->lock);
    ASSERT(c->n_listeners < MAX_LISTENERS);
    c->listeners[c->n_listeners].fn = fn;
    c->listeners[c->n_listeners++].ctx = ctx;
    pthread_mutex_unlock(&c->lock);
}

/* -- answers -- */

uint64_t coordinator_version(const Coordinator *c)
{
    /* Ages are in whole seconds, so an answer holds for one at most. */
    return atomic_load(&c->version) << 32 ^ (uint64_t)now_seconds();
}

/* What the routes of the plugin answer. Borrowed while it is written. */
typedef struct Answer {
    const Snapshot *shown, *current; /* what is shown; the last complete one, or NULL */
    const ScanStatus *status;
    Str error; /* of the last refresh; p NULL: none */
    int64_t ttl, now;
    bool stale; /* `current` is */
    bool all;   /* it is about the whole history: `sources` says whose */
} Answer;

static void put_status(JsonWriter *w, const Answer *a)
{
    static const char *const names[] = {
        [SCAN_IDLE] = "idle", [SCAN_RUNNING] = "running", [SCAN_FAILED] = "failed"
    };
    const ScanStatus *s = a->status;
    int64_t made = a->current ? a->current->generated_at : 0;

    json_begin(w, '{');
    json_field_str(w, "state", str_of(names[s->state]));
    json_field_int_or_null(w, "started_at", s->started_at, s->started_at);
    json_field_int_or_null(w, "finished_at", s->finished_at, s->finished_at);
    json_field_str(w, "last_error", s->last_error[0] ? str_of(s->last_error) : STR_NONE);
    json_field_int_or_null(w, "last_duration_ms", s->last_duration_ms, s->finished_at);
    json_field_int(w, "run_count", (int64_t)s->run_count);
    json_field_int(w, "joined", (int64_t)s->joined);
    json_field_int(w, "sessions_done", (int64_t)s->sessions_done);
    json_field_int(w, "sessions_total", (int64_t)s->sessions_total);
    json_field_int(w, "ttl_seconds", a->ttl);
    json_field_int(w, "snapshot_generated_at", made);
    json_field_int(w, "snapshot_age_seconds", made ? a->now - made : 0);
    json_field_bool(w, "snapshot_stale", a->stale);
    json_end(w, '}');
}

static void put_meta(JsonWriter *w, const Answer *a)
{
    const ScanMeta *m = &a->shown->meta;

    json_field_begin(w, "scan_meta", '{');
    json_field_str(w, "mode", str_of(scan_mode_name(m->mode)));
    json_field_int(w, "sessions_total", m->sessions_total);
    json_field_int(w, "sessions_rescanned", m->sessions_rescanned);
    json_field_int(w, "sessions_reused", m->sessions_reused);
    if (m->mode != MODE_PENDING) {
        json_field_int(w, "sessions_scanned_so_far", m->sessions_total);
        json_field_int(w, "sessions_expected_total", m->sessions_expected);
    }
    json_field_int(w, "sessions_scanned", m->sessions_rescanned);
    json_field_int(w, "messages_scanned", m->messages_scanned);
    json_field_int(w, "duration_ms", m->duration_ms);
    json_field_str(w, "error", a->error);
    json_key(w, "status");
    put_status(w, a);
    json_end(w, '}');
}

static void put_answer(JsonWriter *w, const Answer *a)
{
    const Snapshot *s = a->shown;

    json_key(w, "achievements");
    snapshot_put_items(w, s);
    json_field_int(w, "unlocked_count", s->unlocked);
    json_field_int(w, "discovered_count", s->discovered);
    json_field_int(w, "secret_count", s->secret);
    json_field_int(w, "total_count", (int64_t)catalogue()->n);
    json_field_str(w, "error", a->error);
    json_field_int(w, "generated_at", s->generated_at);
    json_field_bool(w, "is_stale", s == a->current && a->stale);
    put_meta(w, a);
    if (a->all)
        snapshot_put_sources(w, s);
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
        .stale = is_stale(c),
        .all = c->scan.all
    };
}

/* What an earlier process left. Called with the lock held; lets go of it while it reads. */
static void look_back(Coordinator *c)
{
    ScanOptions scan = c->scan;
    uint64_t mark, epoch = c->epoch;
    Snapshot *s;
    bool sure;

    c->restored = true;
    pthread_mutex_unlock(&c->lock);
    s = run_restore(&scan, c->compat, &mark, &sure);
    pthread_mutex_lock(&c->lock);
    if (!s || c->current || c->epoch != epoch) {
        snapshot_free(s);
        return;
    }
    coordinator_put_in_place(c, s);
    c->dirty = false; /* it comes from there */
    c->unsure = !sure;
    c->mark = mark;
    c->version++;
}

/* Called with the lock held: begins what is due, and says whether there is anything to show. */
static bool refresh(Coordinator *c, int wait_ms, Err *err)
{
    int64_t until;

    if (!c->current && !c->restored)
        look_back(c);
    if (!c->current) {
        coordinator_begin(c);
        /* One caller's patience is enough to see that this scan is a long one. */
        until = clock_mono_ms() + (c->overdue ? 0 : wait_ms);
        while (c->status.state == SCAN_RUNNING && cond_wait_until(&c->ended, &c->lock, until))
            ;
        c->overdue = c->status.state == SCAN_RUNNING;
        if (!c->current && c->status.state == SCAN_FAILED)
            return err_set(err, ERR_BUSY, "%s", c->status.last_error);
        return true;
    }
    if (!is_stale(c) ||
        (c->refresh_failed && now_seconds() - c->status.finished_at < RETRY_SECONDS))
        return true;
    if (!c->refresh_failed && !c->unsure && c->mark && lanes_mark(&c->homes) == c->mark) {
        c->current->generated_at = now_seconds(); /* nothing new: it is as good as made now */
        c->version++;
    } else {
        coordinator_begin(c);
    }
    return true;
}

bool coordinator_achievements(Coordinator *c, int wait_ms, bool *ret_waited, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Snapshot *pending = NULL;
    Answer answer;
    bool ok;

    pthread_mutex_lock(&c->lock);
    if (!c->current && !c->restored)
        look_back(c);
    if (ret_waited)
        *ret_waited = !c->current;
    ok = refresh(c, wait_ms, err);
    if (ok) {
        if (!c->current && !c->partial)
            pending = snapshot_pending(now_seconds());
        json_begin(&w, '{');
        answer = answer_with(c, c->current ? c->current : c->partial ? c->partial : pending);
        put_answer(&w, &answer);
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
    put_status(&w, &answer);
    pthread_mutex_unlock(&c->lock);
}

void coordinator_shared(Coordinator *c, uint64_t callers)
{
    pthread_mutex_lock(&c->lock);
    c->status.joined += callers;
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
    coordinator_release(s);
    pthread_mutex_unlock(&c->lock);
}

bool coordinator_rescan(Coordinator *c, int64_t asked_ms, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    Snapshot *s = NULL;
    Answer answer;
    bool ok;

    pthread_mutex_lock(&c->lock);
    if (c->status.state != SCAN_RUNNING && c->ended_ms > asked_ms)
        c->status.joined++;
    else
        coordinator_begin(c);
    while (c->status.state == SCAN_RUNNING)
        pthread_cond_wait(&c->ended, &c->lock);
    ok = c->current;
    if (!ok) {
        (void)err_set(err, ERR_BUSY, "%s",
                      c->status.last_error[0] ? c->status.last_error : "the scan was reset");
    } else {
        json_begin(&w, '{');
        json_field_bool(&w, "ok", c->status.state != SCAN_FAILED);
        answer = answer_with(c, c->current);
        put_answer(&w, &answer);
        s = c->current;
        s->users++;
    }
    pthread_mutex_unlock(&c->lock);
    /* Megabytes of a large history, so written without the lock. */
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

/* s may be NULL: nothing is known yet. */
static void put_recent(JsonWriter *w, const Snapshot *s)
{
    size_t order[MAX_ACHIEVEMENTS], n = s ? snapshot_recent(s, order) : 0;

    json_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        snapshot_put_item(w, s, order[i]);
    json_end(w, ']');
}

bool coordinator_recent(Coordinator *c, Buf *out, Err *err)
{
    JsonWriter w = JSON_WRITER(out, 0);
    bool ok;

    pthread_mutex_lock(&c->lock);
    ok = refresh(c, 10000, err);
    if (ok)
        put_recent(&w, c->current);
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* A scan of the caller's own, which finds nearly everything counted. */
bool coordinator_of_origin(Coordinator *c, int origin, bool recent, Buf *out, Err *err)
{
    Run run = { .scan = c->scan, .compat = c->compat };
    JsonWriter w = JSON_WRITER(out, 0);
    ScanStatus status = { .state = SCAN_IDLE };
    Answer answer = { .status = &status, .ttl = c->ttl, .all = true };
    AUTO(Snapshot) *s = NULL;

    run.scan.origin = origin;
    run.scan.threads = 1;
    s = run_scan(&run, err);
    if (!s)
        return false;
    if (recent) {
        put_recent(&w, s);
        return true;
    }
    answer.shown = answer.current = s;
    answer.now = s->generated_at;
    json_begin(&w, '{');
    put_answer(&w, &answer);
    json_end(&w, '}');
    return true;
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

/* -- reset -- */

/* Called with the lock held. */
static void forget(Coordinator *c)
{
    c->epoch++;
    c->version++;
    coordinator_release(c->current);
    c->current = NULL;
    snapshot_free(c->partial);
    c->partial = NULL;
    c->dirty = c->refresh_failed = c->unsure = c->overdue = false;
}

/* Ends the running scan and drops its findings; removes the files; then drops what a scan may have
 * put in place in between. */
bool coordinator_reset(Coordinator *c, Buf *out, Err *err)
{
    bool ok;

    pthread_mutex_lock(&c->lock);
    forget(c);
    pthread_mutex_unlock(&c->lock);
    ok = run_reset(&c->scan, err);
    pthread_mutex_lock(&c->lock);
    forget(c);
    if (c->status.state != SCAN_RUNNING)
        c->status = (ScanStatus){ .run_count = c->status.run_count };
    pthread_mutex_unlock(&c->lock);
    if (ok)
        buf_addz(out, "{\"ok\": true}");
    return ok;
}
