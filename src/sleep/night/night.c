/* A night from beginning to end: its tasks, the order of its steps, and what it stages and saves.
 * Who learns is in night_learn.c. */
#include "sleep/night/night.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/adoption/adopt.h"
#include "sleep/adoption/stage.h"
#include "sleep/learning/known.h"
#include "sleep/night/night_inside.h"
#include "sleep/task/rules.h"
#include "text/human.h"
#include "text/redact.h"

enum { LOCK_MS = 2000 };

/* -- What it is about -- */

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

/* Finds the tasks and saves them. Sessions that began after the night are ignored: agents that
 * answer its questions leave sessions too. */
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

static bool begin_new(Night *w, Str key, Err *err)
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

static bool resume(Night *w, Err *err)
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

static bool begin_or_resume(Night *w, Err *err)
{
    Str key = tonight_key(w->arena, w->options, w->backend);
    bool found, over = false;

    w->clock_path = tonight_clock_path(w->arena, &w->home, w->options->dry_run);
    w->budget.note = note_elapsed;
    w->budget.note_ctx = w;
    if (!tonight_load(w->arena, &w->home, w->options->dry_run, &w->tonight, &found, err))
        return false;
    if (!tonight_sweep(w->arena, &w->home, found ? w->tonight.night : STR(""), err))
        return false;
    /* A night that is in the history has ended, even if its file was not removed. */
    for (size_t i = 0; found && w->tonight.night.n && i < w->state.history.n; i++)
        over |= str_eq(w->state.history.items[i].staging, w->tonight.night);
    w->resumed = found && !over && str_eq(w->tonight.key, key);
    if (w->resumed)
        return resume(w, err);
    if (found && !tonight_forget(w->arena, &w->home, w->options->dry_run, err))
        return false;
    return (w->options->dry_run || tonight_discard_others(w->arena, &w->home, err)) &&
           begin_new(w, key, err);
}

/* -- What it leaves: proposals and reports in the staging folder, and the state -- */

static size_t proposals_of(const Night *w, StageProposal *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n_targets; i++) {
        const Target *t = &w->targets[i];

        if (!t->done.accepted)
            continue;
        if (!str_eq(t->done.docs.skill, t->docs.skill))
            ret[n++] = (StageProposal){ t->kind, t->skill, &t->live, t->done.docs.skill };
        if (t->memory.path.n && !str_eq(t->done.docs.memory, t->docs.memory))
            ret[n++] =
                (StageProposal){ ITEM_MEMORY, STR("CLAUDE.md"), &t->memory, t->done.docs.memory };
    }
    return n;
}

static bool publish(Night *w, NightDone *ret, Err *err)
{
    StageProposal *proposals = ARENA_ARRAY(w->arena, StageProposal, 2 * w->n_targets + 1);
    AUTO_BUF json = BUF(LIMIT_SLEEP_FILE);
    AUTO_BUF md = BUF(LIMIT_SLEEP_FILE);
    AUTO_BUF diagnostics = BUF(LIMIT_SLEEP_FILE);
    StageRequest request = { .night = w->tonight.night,
                             .accepted = w->recorder.report.report.accepted,
                             .live_skill_path = w->managed_path,
                             .live_memory_path = STR(""),
                             .proposals = proposals,
                             .skill_roots = w->roots };
    StageFile files[4];
    Manifest manifest;
    bool managed = false;

    request.n_proposals = proposals_of(w, proposals);
    for (size_t i = 0; i < request.n_proposals; i++)
        managed |= proposals[i].kind != ITEM_SKILL;
    report_json(&json, &w->recorder.report);
    report_md(&md, &w->recorder.report);
    report_diagnostics(&diagnostics, &w->recorder.report);
    if (buf_full(&json) || buf_full(&md) || buf_full(&diagnostics))
        return err_set(err, ERR_TOO_LARGE, "the report of the night is too large");
    files[0] = (StageFile){ STR("report.json"), buf_str(&json) };
    files[1] = (StageFile){ STR("report.md"), buf_str(&md) };
    files[2] = (StageFile){ STR("diagnostics.json"), buf_str(&diagnostics) };
    request.files = files;
    request.n_files = 3;
    if (w->options->auto_adopt && managed)
        files[request.n_files++] = (StageFile){ STR(ADOPT_REQUEST), STR("") };
    if (!stage_publish(w->arena, &w->home, &request, &manifest, err))
        return false;
    ret->staging = w->tonight.night;
    ret->folder = night_folder(w->arena, &w->home, w->tonight.night);
    for (size_t i = 0; i < manifest.n; i++) {
        LIST_PUSH(w->arena, &ret->staged_skills, manifest.items[i].name);
        ret->has_managed |= manifest.items[i].kind != ITEM_SKILL;
    }
    evidence_begin(w->recorder.evidence, "stage", "staged");
    evidence_str(w->recorder.evidence, "night", w->tonight.night);
    evidence_int(w->recorder.evidence, "proposals", (int64_t)manifest.n);
    evidence_end(w->recorder.evidence);
    return true;
}

static Str model_key(const Night *w)
{
    return str_printf(w->arena, "%s:%.*s", w->backend->name, STR_FMT(w->backend->model));
}

static bool save_state(Night *w, Err *err)
{
    const SleepReport *s = &w->recorder.report.report;
    HistoryRow row = { .night = w->tonight.number,
                       .project = w->tonight.project,
                       .accepted = s->accepted,
                       .baseline = s->baseline_score,
                       .candidate = s->candidate_score,
                       .n_tasks = s->n_tasks,
                       .staging = w->tonight.night };

    w->state.night++;
    w->past->night = w->tonight.number;
    if (!w->options->tasks_file)
        w->past->last_harvest = w->tonight.started_at;
    w->past->pending = known_book_text(w->arena, &w->known);
    state_archive(w->arena, w->past, &w->tonight.tasks);
    w->state.last_model_key = model_key(w);
    state_add_history(w->arena, &w->state, row);
    return state_save(w->home.state, &w->state, err) &&
           tonight_forget(w->arena, &w->home, false, err);
}

/* -- The whole -- */

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

static bool sleep_through(Night *w, NightDone *ret, Err *err)
{
    Str last = w->state.last_model_key, now = model_key(w);

    if (!open_evidence(w, err))
        return false;
    /* Two nights may begin in one second; what was answered until then tells them apart. */
    w->backend->night = str_printf(w->arena, "%.*s#%lld", STR_FMT(w->tonight.started_at),
                                   (long long)w->tonight.paid_before);
    recorder_begin(&w->recorder, &w->tonight, w->backend);
    if (last.n && !str_eq(last, now)) /* another model scores differently by itself */
        recorder_note(&w->recorder,
                      str_printf(w->arena,
                                 "model changed from '%.*s' to '%.*s' since the last night: the "
                                 "scores are not comparable",
                                 STR_FMT(last), STR_FMT(now)));
    w->recorder.expected = w->tonight.tasks.n * (w->backend->deterministic ? 4 : 12); /* a guess */
    w->known = known_book_read(w->arena, w->past->pending);
    if (!night_find_targets(w, err) || !night_learn(w, err) || !night_measure(w, err))
        return false;
    if (w->tonight.tasks.n == 0)
        recorder_note(&w->recorder, w->past->last_harvest.n && !w->options->tasks_file
                                        ? STR("no new tasks to learn from since the last night")
                                        : STR("no recurring task to learn from"));
    recorder_end(&w->recorder, w->backend);
    if (w->tonight.night.n && !publish(w, ret, err))
        return false;
    if (w->options->dry_run)
        return tonight_forget(w->arena, &w->home, true, err);
    return save_state(w, err);
}

/* For the run that continues, and for its report. What cannot be written down was at least said. */
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
    ok = open_state(&w, err) && begin_or_resume(&w, err) && sleep_through(&w, &done, err);
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
