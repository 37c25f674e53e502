/* From its beginning to its end: what tonight is about, and in which order things happen. Who learns is
 * in night_learn.c, what is staged and remembered in night_stage.c. */
#include "sleep/night/night.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/stage.h"
#include "sleep/learning/known.h"
#include "sleep/learning/rejected.h"
#include "sleep/night/night_inside.h"
#include "sleep/task/rules.h"
#include "text/human.h"
#include "text/redact.h"

enum { LOCK_MS = 2000 };

/* -- what it is about ------------------------------------------------------------------------------------ */

static bool open_state(Night *w, Err *err)
{
    const Homes *homes = w->options->harvest.sources.homes;
    Recovery recovery = { 0 };
    Str note;

    w->home = sleep_home(w->arena, homes->data);
    if (!sleep_home_make(&w->home, err))
        return false;
    w->lock = state_lock(w->arena, w->home.state, LOCK_MS, err);
    if (!w->lock)
        return err->kind == ERR_BUSY ? err_wrap(err, "another night is running") : false;
    if (!adopt_recover(w->arena, &w->home, &recovery, err) ||
        !state_load(w->arena, w->home.state, &w->state, &note, err))
        return false;
    if (note.n)
        log_note("%.*s", STR_FMT(note));
    w->past = state_project(w->arena, &w->state, w->options->harvest.project);
    return true;
}

/* A night that ended, but could not say so any more, is over. */
static bool was_finished(const Night *w, const Tonight *t)
{
    for (size_t i = 0; i < w->state.history.n; i++)
        if (t->night.n && str_eq(w->state.history.items[i].staging, t->night))
            return true;
    return false;
}

/* The tasks are settled here, and written down. Sessions that began after the night did are not
 * its business: those who answer its questions leave sessions too. */
static bool find_tasks(Night *w, double until, Err *err)
{
    Tonight *t = &w->tonight;
    NightPlan plan;

    night_show(w->options, t->number, "reading", 0, 0);
    w->backend->paid_before = t->paid_before;
    if (!tonight_tasks(w->arena, w->options, until, w->backend, w->past, &w->budget, &plan, err))
        return false;
    t->tasks = plan.tasks;
    t->n_sessions = (int64_t)plan.n_sessions;
    t->reviewed = plan.reviewed;
    t->has_tasks = true;
    w->recorder.sessions = plan.sessions;
    w->recorder.mined = plan.mined;
    if (!t->tasks.n)
        return tonight_forget(w->arena, &w->home, t->dry_run, err);
    return (t->dry_run || stage_reserve(w->arena, &w->home, clock_wall(), &t->night, err)) &&
           tonight_save(w->arena, &w->home, t, err);
}

static bool begin_anew(Night *w, Str key, Err *err)
{
    Tonight *t = &w->tonight;

    *t = (Tonight){ .dry_run = w->options->dry_run,
                    .key = key,
                    .project = w->options->harvest.project,
                    .number = w->past->night + 1,
                    .started_at = human_iso(w->arena, clock_wall()),
                    .call_error = STR(""),
                    .paid_before = w->backend->last_answer };
    /* A model that mines is asked before there are tasks: that the night has begun is kept too. */
    if (w->backend->call && w->options->model_miner && !w->options->tasks_file &&
        !tonight_save(w->arena, &w->home, t, err))
        return false;
    return find_tasks(w, 0, err);
}

static bool go_on(Night *w, Err *err)
{
    double began = 0;

    log_note("resuming the night that started at %.*s", STR_FMT(w->tonight.started_at));
    w->budget.before_ms = tonight_elapsed(w->arena, &w->home, w->tonight.dry_run);
    w->backend->paid_before = w->tonight.paid_before;
    if (w->tonight.has_tasks)
        return true;
    if (!human_parse_time(w->tonight.started_at, &began))
        began = 0;
    return find_tasks(w, began + 1, err);
}

static void note_elapsed(void *ctx, int64_t ms)
{
    Night *w = ctx;

    tonight_note_elapsed(w->clock_path, ms);
}

static bool begin(Night *w, Err *err)
{
    Str key = tonight_key(w->arena, w->options, w->backend);
    bool found, over;

    w->clock_path = tonight_clock_path(w->arena, &w->home, w->options->dry_run);
    w->budget.note = note_elapsed;
    w->budget.note_ctx = w;
    if (!tonight_load(w->arena, &w->home, w->options->dry_run, &w->tonight, &found, err))
        return false;
    if (!tonight_sweep(w->arena, &w->home, found ? w->tonight.night : STR(""), err))
        return false;
    over = found && was_finished(w, &w->tonight);
    w->resumed = found && !over && str_eq(w->tonight.key, key);
    if (w->resumed)
        return go_on(w, err);
    if (found && !tonight_forget(w->arena, &w->home, w->options->dry_run, err))
        return false;
    return (w->options->dry_run || tonight_discard_others(w->arena, &w->home, err)) &&
           begin_anew(w, key, err);
}

/* -- the whole -------------------------------------------------------------------------------------------- */

/* In the night's folder; a night that leaves none leaves no evidence. */
static bool open_evidence(Night *w, Err *err)
{
    Str path;

    if (!w->options->evidence || !w->tonight.night.n)
        return true;
    path = str_join_path(w->arena, night_folder(w->arena, &w->home, w->tonight.night),
                         STR(EVIDENCE_FILE));
    w->recorder.evidence = evidence_open(
        str_z(w->arena, path), (EvidenceOptions){ .max_chars = w->options->evidence_chars }, err);
    return w->recorder.evidence != NULL;
}

/* A rough guess, for the bar alone. */
static size_t expected_replays(const Night *w)
{
    size_t draws = w->backend->deterministic ? 4 : 12;

    return w->tonight.tasks.n * draws;
}

/* Another one answers better or worse by itself: that is no merit of the skill. */
static void note_other_model(Night *w)
{
    Str last = w->state.last_model_key, now = night_model_key(w);

    if (last.n && !str_eq(last, now))
        recorder_note(&w->recorder,
                      str_printf(w->arena,
                                 "model changed from '%.*s' to '%.*s' since the last night: the "
                                 "scores are not comparable",
                                 STR_FMT(last), STR_FMT(now)));
}

static bool sleep_through(Night *w, NightDone *ret, Err *err)
{
    bool staged = w->tonight.night.n > 0;

    if (!open_evidence(w, err))
        return false;
    /* Two nights may begin in one second; what was answered until then tells them apart. */
    w->backend->night = str_printf(w->arena, "%.*s#%lld", STR_FMT(w->tonight.started_at),
                                   (long long)w->tonight.paid_before);
    recorder_begin(&w->recorder, &w->tonight, w->backend);
    note_other_model(w);
    w->recorder.expected = expected_replays(w);
    w->known = known_book_read(w->arena, w->past->pending);
    if (!night_find_targets(w, err) || !night_learn(w, err) || !night_measure(w, err))
        return false;
    if (w->tonight.tasks.n == 0)
        recorder_note(&w->recorder, w->past->last_harvest.n && !w->options->tasks_file
                                        ? STR("no new tasks to learn from since the last night")
                                        : STR("no recurring task to learn from"));
    recorder_end(&w->recorder, w->backend);
    if (staged && !night_publish(w, ret, err))
        return false;
    if (w->options->dry_run)
        return tonight_forget(w->arena, &w->home, true, err);
    return night_remember(w, err);
}

/* For the run that goes on, and for its report. What cannot be written down was at least said. */
static void note_failure(Night *w, const Err *err)
{
    Err ignored;

    if (w->budget.noted_ms) /* there is a file of it already */
        note_elapsed(w, budget_elapsed_ms(&w->budget));
    if (!w->backend->failed || err->kind == ERR_INTERRUPTED || !w->tonight.key.n)
        return;
    w->tonight.call_error = redact_text(w->arena, str_of(err->text));
    if (!tonight_save(w->arena, &w->home, &w->tonight, &ignored))
        log_debug("the failure is not noted: %s", ignored.text);
}

static Night night_of(Arena *a, const NightOptions *options, Backend *backend)
{
    Night w = { .arena = a, .options = options, .backend = backend, .budget = options->budget };

    w.recorder.arena = a;
    w.recorder.options = options;
    w.place = (PlaceQuery){ .homes = options->harvest.sources.homes,
                            .claude_home = options->harvest.sources.roots.claude,
                            .project = options->harvest.project,
                            .target = options->target,
                            .extra_roots = options->skill_roots };
    return w;
}

bool night_targets(Arena *a, const NightOptions *options, Backend *backend,
                   const TaskRecords *tasks, Night *ret, Err *err)
{
    *ret = night_of(a, options, backend);
    ret->tonight.tasks = *tasks;
    return night_find_targets(ret, err);
}

bool night_run(Arena *a, const NightOptions *options, Backend *backend, NightDone *ret, Err *err)
{
    Night w = night_of(a, options, backend);
    NightDone done = { .staging = STR(""), .folder = STR("") };
    bool ok;

    backend->heard = recorder_heard;
    backend->heard_ctx = &w.recorder;
    budget_start(&w.budget);
    ok = open_state(&w, err) && begin(&w, err) && sleep_through(&w, &done, err);
    backend->heard = NULL;
    if (!ok)
        note_failure(&w, err);
    if (!evidence_close(w.recorder.evidence) && ok)
        log_warning("some evidence could not be written");
    lock_release(w.lock);
    if (!ok)
        return false;
    done.report = w.recorder.report;
    done.resumed = w.resumed;
    done.tasks_reviewed = w.tonight.reviewed;
    *ret = done;
    return true;
}

bool night_plan(Arena *a, const NightOptions *options, Backend *backend, NightPlan *ret, Err *err)
{
    SleepHome home = sleep_home(a, options->harvest.sources.homes->data);
    const StateProject *past;
    SleepState state;
    KnownBook known;
    Str note;

    if (!state_load(a, home.state, &state, &note, err))
        return false;
    past = state_project(a, &state, options->harvest.project);
    if (!tonight_tasks(a, options, 0, backend, past, NULL, ret, err))
        return false;
    ret->old_rules = past->night >= RULE_NIGHTS;
    known = known_book_read(a, past->pending);
    for (size_t i = 0; i < known.n; i++)
        ret->waiting += pending_for(a, &known.items[i].edits, STR("skill")).n +
                        pending_for(a, &known.items[i].edits, STR("memory")).n;
    return true;
}
