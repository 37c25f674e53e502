/* A night that runs inside the server.
 *
 * It has its own lane: it may take hours, and nothing may wait for it. One at a time, here and
 * over all programs: a night holds the lock of sleep's state, which dies with its holder. When the
 * server ends the night is interrupted between two replays; whoever runs the next one continues
 * there. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/api.h"
#include "http/routes.h"
#include "sleep/learning/state.h"
#include "sleep/trial/backends.h"
#include "text/redact.h"

enum { TELL_MS = 100 };

/* -- what is told -- */

static void put_run(JsonWriter *w, const NightRun *run)
{
    json_field_int(w, "night", run->night);
    json_field_str(w, "phase", str_of(run->phase));
    json_field_int(w, "done", (int64_t)run->done);
    json_field_int(w, "total", (int64_t)run->total);
}

static void tell(Server *s)
{
    AUTO_BUF data = BUF(KIB(4));
    JsonWriter w = JSON_WRITER(&data, 0);

    json_begin(&w, '{');
    put_run(&w, &s->night);
    json_end(&w, '}');
    sse_publish(s->sse, "sleep", buf_str(&data));
}

/* A new phase is told at once, the rest ten times a second. */
static void show(void *ctx, int64_t night, const char *phase, size_t done, size_t total)
{
    Server *s = ctx;
    NightRun *run = &s->night;
    int64_t now = clock_mono_ms();
    bool fresh;

    pthread_mutex_lock(&run->lock);
    fresh = strcmp(run->phase, phase) != 0;
    run->night = night;
    run->phase = phase;
    run->done = done;
    run->total = total > done ? total : done;
    if (fresh || now - run->told_ms >= TELL_MS) {
        run->told_ms = now;
        tell(s);
    }
    pthread_mutex_unlock(&run->lock);
}

void api_night_changed(Server *s)
{
    pthread_mutex_lock(&s->night.lock);
    if (!s->night.running)
        s->night.phase = "changed";
    tell(s);
    pthread_mutex_unlock(&s->night.lock);
}

bool api_night_runs(Server *s)
{
    bool runs;

    pthread_mutex_lock(&s->night.lock);
    runs = s->night.running;
    pthread_mutex_unlock(&s->night.lock);
    return runs;
}

bool api_night_elsewhere(Arena *a, const SleepHome *home)
{
    AUTO(FileLock) *lock = NULL;
    Err err;

    lock = state_lock(a, home->state, 0, &err);
    return !lock && err.kind == ERR_BUSY;
}

static void put_running(JsonWriter *w, const NightRun *run, bool elsewhere)
{
    json_key(w, "running");
    if (!run->running && !elsewhere) {
        json_put_null(w);
        return;
    }
    json_begin(w, '{');
    if (run->running) {
        put_run(w, run);
        json_field_bool(w, "dry_run", run->dry_run);
        json_field_double(w, "since", run->since);
    }
    json_field_bool(w, "elsewhere", !run->running);
    json_end(w, '}');
}

static void put_last(JsonWriter *w, const NightOutcome *last)
{
    json_key(w, "last");
    if (!last->known) {
        json_put_null(w);
        return;
    }
    json_begin(w, '{');
    json_field_int(w, "night", last->night);
    json_field_bool(w, "dry_run", last->dry_run);
    json_field_bool(w, "accepted", last->accepted);
    json_field_double(w, "baseline", last->baseline);
    json_field_double(w, "candidate", last->candidate);
    json_field_int(w, "n_tasks", last->n_tasks);
    json_field_int(w, "n_sessions", last->n_sessions);
    json_field_int(w, "n_edits", last->n_edits);
    json_field_str(w, "no_edits_reason", str_of(last->reason));
    json_field_str(w, "staging", str_of(last->staging));
    json_field_double(w, "at", last->at);
    json_end(w, '}');
}

void api_night_put(Server *s, JsonWriter *w, bool elsewhere)
{
    NightRun *run = &s->night;

    pthread_mutex_lock(&run->lock);
    put_running(w, run, elsewhere);
    put_last(w, &run->last);
    if (run->failed)
        json_field_str(w, "last_error", str_of(run->failure.text));
    else
        json_field_null(w, "last_error");
    pthread_mutex_unlock(&run->lock);
}

/* -- the night -- */

/* With --home that home alone. */
bool api_night_options(Server *s, Arena *a, const Homes *homes, NightOptions *ret, Err *err)
{
    if (!night_options(a, s->settings, ret, err))
        return false;
    ret->harvest.sources.homes = homes;
    ret->harvest.sources.hermes = s->options.where.home != NULL;
    return transcript_roots(a, NULL, NULL, &ret->harvest.sources.roots, err);
}

static NightOutcome outcome_of(const NightDone *done, bool dry_run)
{
    const SleepReport *r = &done->report.report;
    NightOutcome o = { .known = true,
                       .dry_run = dry_run,
                       .accepted = r->accepted,
                       .night = r->night,
                       .n_tasks = r->n_tasks,
                       .n_sessions = r->n_sessions,
                       .n_edits = (int64_t)r->edits.n,
                       .baseline = r->baseline_score,
                       .candidate = r->candidate_score,
                       .at = clock_wall() };

    snprintf(o.staging, sizeof o.staging, "%.*s", STR_FMT(done->staging));
    snprintf(o.reason, sizeof o.reason, "%.*s", STR_FMT(r->no_edits_reason));
    return o;
}

static bool sleep_once(Server *s, Worker *worker, NightOutcome *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO_ANSWERER who = { 0 };
    AnswererOptions answerer = { .kind = str_of(s->night.backend) };
    NightOptions options;
    const Homes *homes;
    SleepHome home;
    NightDone done;

    if (!worker_homes(worker, &homes, err) || !api_night_options(s, a, homes, &options, err))
        return false;
    home = sleep_home(a, homes->data);
    options.dry_run = s->night.dry_run;
    options.watch = (NightWatch){ s, show };
    options.budget.stop = &s->ending;
    if (!answerer_open(a, &home, s->settings, &answerer, &who, err) ||
        !answerer_can_count(&who, &options.budget, err) ||
        !night_run(a, &options, who.backend, &done, err))
        return false;
    *ret = outcome_of(&done, options.dry_run);
    return true;
}

static void run_night(void *ctx, Worker *worker)
{
    Server *s = ctx;
    NightRun *run = &s->night;
    NightOutcome outcome;
    Err err;
    bool ok = sleep_once(s, worker, &outcome, &err);

    pthread_mutex_lock(&run->lock);
    run->failed = !ok;
    if (ok) {
        run->last = outcome;
    } else {
        AUTO(Arena) *a = arena_new();

        run->failure.kind = err.kind;
        snprintf(run->failure.text, sizeof run->failure.text, "%.*s",
                 STR_FMT(redact_text(a, str_of(err.text))));
        log_warning("the night failed: %s", run->failure.text);
    }
    run->running = false;
    run->phase = ok ? "done" : "failed";
    run->done = run->total;
    tell(s);
    pthread_mutex_unlock(&run->lock);
}

/* -- the route -- */

static bool begin(Server *s, Str backend, bool dry_run)
{
    NightRun *run = &s->night;
    bool begun = false;

    pthread_mutex_lock(&run->lock);
    if (!run->running) {
        snprintf(run->backend, sizeof run->backend, "%.*s", STR_FMT(backend));
        run->dry_run = dry_run;
        run->night = 0;
        run->phase = "beginning";
        run->done = run->total = 0;
        run->since = clock_wall();
        run->failed = false;
        run->last = (NightOutcome){ 0 };
        run->job = (Job){ .run = run_night, .ctx = s };
        run->running = begun = jobs_add(s->jobs, LANE_NIGHT, &run->job);
        tell(s);
    }
    pthread_mutex_unlock(&run->lock);
    return begun;
}

bool route_sleep_run(Request *rq, Err *err)
{
    AUTO(JsonDoc) *doc = request_json(rq, err);
    AnswererOptions answerer = { .kind = STR("") };
    bool dry_run = false;
    const Homes *homes;
    SleepHome home;
    JsonWriter w;

    if (!doc || !field_str(json_root(doc), "backend", &answerer.kind, err) ||
        !field_bool(json_root(doc), "dry_run", &dry_run, err) || !request_homes(rq, &homes, err))
        return false;
    if (answerer.kind.n && !str_is_one_of(answerer.kind, "mock|model"))
        return err_set(err, ERR_INVALID, "'backend' must be mock or model");
    home = sleep_home(rq->arena, homes->data);
    if (api_night_elsewhere(rq->arena, &home) || !begin(rq->server, answerer.kind, dry_run))
        return err_set(err, ERR_CONFLICT, "a night is already running");
    rq->reply.status = 202;
    w = reply_json(rq);
    json_field_bool(&w, "dry_run", dry_run);
    json_field_str(&w, "backend", answerer_kind(&answerer, rq->server->settings));
    return reply_end(&w);
}
