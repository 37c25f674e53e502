/* The scan of a coordinator: a thread that takes the lock only to tell how far it is and to put its
 * snapshot in place. The listeners hear of it after that, without the lock. */
#include <sys/resource.h>
#include <unistd.h>

#include "achievements/coordinator_inside.h"
#include "base/limits.h"

/* -- listeners -- */

static void notify(Coordinator *c, const char *event, const Buf *data)
{
    for (size_t i = 0; i < c->n_listeners; i++)
        c->listeners[i].fn(c->listeners[i].ctx, event, buf_str(data));
}

static void notify_numbers(Coordinator *c, const char *event, const char *first, int64_t a,
                           const char *second, int64_t b)
{
    AUTO_BUF data = BUF(256);
    JsonWriter w = JSON_WRITER(&data, 0);

    json_begin(&w, '{');
    json_field_int(&w, first, a);
    json_field_int(&w, second, b);
    json_end(&w, '}');
    notify(c, event, &data);
}

/* -- scanning -- */

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
    notify_numbers(c, "progress", "done", (int64_t)done, "total", (int64_t)total);
    return go_on;
}

/* Shown only while there is nothing complete. */
static void on_partial(void *ctx, const Totals *totals, size_t total)
{
    Coordinator *c = ctx;
    ScanMeta meta = { .mode = MODE_IN_PROGRESS,
                      .sessions_total = totals->sessions,
                      .sessions_expected = (int64_t)total };
    Snapshot *s = snapshot_make(arena_new(), totals, &meta, &(SnapshotDates){ .compat = c->compat },
                                now_seconds());

    pthread_mutex_lock(&c->lock);
    if (!c->current) {
        snapshot_free(c->partial);
        c->partial = TAKE(s);
        c->version++;
    }
    pthread_mutex_unlock(&c->lock);
    snapshot_free(s);
}

void coordinator_release(Snapshot *s)
{
    if (s && --s->users == 0)
        snapshot_free(s);
}

void coordinator_put_in_place(Coordinator *c, Snapshot *s)
{
    snapshot_free(c->partial);
    c->partial = NULL;
    coordinator_release(c->current);
    c->current = s;
    c->dirty = true;
    c->refresh_failed = c->unsure = false;
    pthread_cond_signal(&c->writing);
}

/* Under the lock. */
static void conclude(Coordinator *c, Snapshot *s, uint64_t mark, const Err *err)
{
    c->status.finished_at = now_seconds();
    c->ended_ms = clock_mono_ms();
    c->status.last_duration_ms = (c->status.finished_at - c->status.started_at) * 1000;
    c->status.run_count++;
    c->overdue = false;
    c->version++;
    if (c->run_epoch != c->epoch) {
        c->status.state = SCAN_IDLE; /* a reset came in between, and wins */
        if (s)
            s->users--;
    } else if (s) {
        coordinator_put_in_place(c, s);
        c->mark = mark;
        c->status.state = SCAN_IDLE;
        c->status.sessions_done = c->status.sessions_total = (size_t)s->meta.sessions_total;
    } else {
        c->status.state = SCAN_FAILED;
        c->refresh_failed = true;
        snprintf(c->status.last_error, sizeof c->status.last_error, "%s", err->text);
        snprintf(c->failure, sizeof c->failure, "%s", err->text);
    }
    pthread_cond_broadcast(&c->ended);
}

/* This thread, and those it starts: requests of a page go first. */
static void step_back(void)
{
    (void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE);
}

static void *scan_thread(void *ctx)
{
    Coordinator *c = ctx;
    Run run = { .scan = c->scan, .compat = c->compat };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    Snapshot *s;
    Err err;

    /* A core is left to requests of a page, where there are several. */
    run.scan.threads = cores > 1 ? (int)cores - 1 : 1;
    run.scan.progress = on_progress;
    run.scan.partial = on_partial;
    run.scan.ctx = c;
    step_back();
    s = run_scan(&run, &err);
    if (s)
        s->users++; /* ours, until the listeners know everything */
    pthread_mutex_lock(&c->lock);
    conclude(c, s, run.mark, &err);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; s && i < catalogue()->n; i++)
        if (run.fresh[i]) {
            AUTO_BUF data = BUF(KIB(16));
            JsonWriter w = JSON_WRITER(&data, 0);

            snapshot_put_item(&w, s, i);
            notify(c, "unlock", &data);
        }
    if (s)
        notify_numbers(c, "snapshot", "generated_at", s->generated_at, "unlocked", s->unlocked);
    pthread_mutex_lock(&c->lock);
    coordinator_release(s);
    c->scanners--;
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* No caller waits for the thread while holding the lock: the thread needs it once more at its
 * end. */
static void start_thread(Coordinator *c)
{
    pthread_attr_t alone;
    pthread_t thread;
    Err err;

    pthread_attr_init(&alone);
    pthread_attr_setdetachstate(&alone, PTHREAD_CREATE_DETACHED);
    c->scanners++;
    if (pthread_create(&thread, &alone, scan_thread, c) != 0) {
        (void)err_set(&err, ERR_BUSY, "cannot start a thread for the scan; try again later");
        c->scanners--;
        conclude(c, NULL, 0, &err);
    }
    pthread_attr_destroy(&alone);
}

void coordinator_begin(Coordinator *c)
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

/* -- writing -- */

/* Files of the plugin are written behind, at most once a minute and at the end; state.json, which
 * holds what people earned, is written by the scan itself, at once. */
enum { FILES_EVERY_MS = 60 * 1000 };

/* Called with the lock held; lets go of it while it writes. */
static void write_behind(Coordinator *c)
{
    Snapshot *s = c->current;
    uint64_t epoch = c->epoch;

    c->dirty = false;
    c->written_ms = clock_mono_ms();
    s->users++;
    pthread_mutex_unlock(&c->lock);
    run_write_files(&c->scan, s);
    pthread_mutex_lock(&c->lock);
    coordinator_release(s);
    if (epoch != c->epoch)
        c->dirty = false;
}

void *coordinator_write_thread(void *ctx)
{
    Coordinator *c = ctx;

    step_back();
    pthread_mutex_lock(&c->lock);
    while (!c->closing) {
        int64_t due = c->written_ms ? c->written_ms + FILES_EVERY_MS : 0;
        bool late = clock_mono_ms() >= due;

        if (c->dirty && c->current && late)
            write_behind(c);
        else
            (void)cond_wait_until(&c->writing, &c->lock, c->dirty && !late ? due : INT64_MAX);
    }
    if (c->dirty && c->current)
        write_behind(c);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}
