#include "sleep/night.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "sleep/adopt.h"
#include "sleep/document.h"
#include "sleep/known.h"
#include "sleep/night_inside.h"
#include "sleep/stage.h"
#include "text/human.h"

enum { LOCK_MS = 2000, LEAST_GROUP = 12, MOST_PROPOSALS = 64 };

/* One document that is worked on: where it lives, and what it was. */
typedef struct Target {
    Str skill; /* its name */
    ItemKind kind;
    LiveDoc live, memory;
    Docs docs; /* the skill as it is replayed: scaffolded where there is none yet */
    SkillGroup group;
    Consolidation done;
} Target;

typedef struct Work {
    Arena *arena;
    const NightOptions *options;
    Backend *backend;
    SleepHome home;
    FileLock *lock;
    SleepState state;
    StateProject *past;
    KnownBook known;
    Tonight tonight;
    bool resumed;
    Recorder recorder;
    Budget budget;
    PlaceQuery place;
    Str *roots;
    size_t n_roots;
    Str managed_path;
    Target *targets;
    size_t n_targets;
} Work;

NightOptions night_options(void)
{
    enum { TASKS = 40, TOKENS = 400000 };

    return (NightOptions){ .rules = consolidate_rules(),
                           .split = SPLIT_RULE_DEFAULT,
                           .target = STR(""),
                           .max_tasks = TASKS,
                           .budget = { .max_tokens = TOKENS },
                           .evidence = true,
                           .model_miner = true };
}

/* -- what it is about ------------------------------------------------------------------------------------ */

static bool open_state(Work *w, Err *err)
{
    const Homes *homes = w->options->harvest.sources.homes;
    Recovery recovery;
    Str note;

    w->home = sleep_home(w->arena, homes->data);
    if (!sleep_home_make(&w->home, err))
        return false;
    w->lock = state_lock(w->arena, w->home.state, LOCK_MS, err);
    if (!w->lock)
        return err_wrap(err, "another night is under way");
    if (!adopt_recover(w->arena, &w->home, &recovery, err) ||
        !state_load(w->arena, w->home.state, &w->state, &note, err))
        return false;
    if (note.n)
        log_note("%.*s", STR_FMT(note));
    w->past = state_project(w->arena, &w->state, w->options->harvest.project);
    return true;
}

/* A night that ended, but could not say so any more, is over. */
static bool was_finished(const Work *w, const Tonight *t)
{
    for (size_t i = 0; i < w->state.history.n; i++)
        if (t->night.n && str_eq(w->state.history.items[i].staging, t->night))
            return true;
    return false;
}

/* The tasks are settled here, and written down. Sessions that began after the night did are not
 * its business: those who answer its questions leave sessions too. */
static bool find_tasks(Work *w, double until, Err *err)
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
    if (!t->tasks.n)
        return tonight_forget(w->arena, &w->home, t->dry_run, err);
    return (t->dry_run || stage_reserve(w->arena, &w->home, clock_wall(), &t->night, err)) &&
           tonight_save(w->arena, &w->home, t, err);
}

static bool begin_anew(Work *w, Str key, Err *err)
{
    Tonight *t = &w->tonight;

    *t = (Tonight){ .dry_run = w->options->dry_run,
                    .key = key,
                    .project = w->options->harvest.project,
                    .number = w->past->night + 1,
                    .started_at = human_iso(w->arena, clock_wall()),
                    .paid_before = w->backend->last_answer };
    /* A model that mines is asked before there are tasks: that the night has begun is kept too. */
    if (w->backend->call && w->options->model_miner && !w->options->tasks_file &&
        !tonight_save(w->arena, &w->home, t, err))
        return false;
    return find_tasks(w, 0, err);
}

static bool go_on(Work *w, Err *err)
{
    double began = 0;

    log_note("going on with the night that began at %.*s", STR_FMT(w->tonight.started_at));
    w->backend->paid_before = w->tonight.paid_before;
    if (w->tonight.has_tasks)
        return true;
    if (!human_parse_time(w->tonight.started_at, &began))
        began = 0;
    return find_tasks(w, began + 1, err);
}

static bool begin(Work *w, Err *err)
{
    Str key = tonight_key(w->arena, w->options, w->backend);
    bool found, over;

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

/* -- who learns ---------------------------------------------------------------------------------------- */

/* A group by itself must have tasks on both sides, and, where chance plays, enough of them. */
static bool can_stand_alone(const Work *w, const SkillGroup *group)
{
    size_t val = 0, train = 0;

    for (size_t i = 0; i < group->tasks.n; i++) {
        Str split = split_normal(group->tasks.items[i].split);

        val += str_eqz(split, "val");
        train += str_eqz(split, "train");
    }
    return val && train && (w->backend->deterministic || group->tasks.n >= LEAST_GROUP);
}

static void add_tasks(Arena *a, const SkillGroup *from, SkillGroup *to)
{
    for (size_t i = 0; i < from->tasks.n; i++)
        LIST_PUSH(a, &to->tasks, from->tasks.items[i]);
}

static bool read_docs(Work *w, Target *t, Str path, Err *err)
{
    static const char about[] = "What people kept asking for, learned from their sessions. Read it "
                                "before answering recurring requests of this user.";
    Str memory = w->options->harvest.project.n
                     ? str_join_path(w->arena, w->options->harvest.project, STR("CLAUDE.md"))
                     : STR("");

    if (!live_read(w->arena, path, &t->live, err))
        return false;
    t->docs.skill =
        t->live.bytes.n ? t->live.bytes : document_scaffold(w->arena, t->skill, str_of(about));
    if (t->kind == ITEM_MANAGED && memory.n && !live_read(w->arena, memory, &t->memory, err))
        return false;
    t->docs.memory = t->memory.bytes.p ? t->memory.bytes : STR("");
    return true;
}

static bool add_target(Work *w, const SkillGroup *group, Str name, ItemKind kind, Str path,
                       Err *err)
{
    Target *t = &w->targets[w->n_targets++];

    *t = (Target){ .skill = name, .kind = kind, .group = *group };
    return read_docs(w, t, path, err);
}

/* A skill is called as its folder is. */
static Str name_of_skill(Str path)
{
    size_t end = path.n > strlen("/SKILL.md") ? path.n - strlen("/SKILL.md") : 0, from = end;

    while (from && path.p[from - 1] != '/')
        from--;
    return str_skip(str_head(path, end), from);
}

/* A skill that was used and is found learns from its own tasks; all else goes to the managed one. */
static bool find_targets(Work *w, Err *err)
{
    SkillGroups groups = consolidate_route(w->arena, &w->tonight.tasks, STR(NIGHT_MANAGED));
    SkillGroup rest = { 0 };

    w->targets = ARENA_ARRAY(w->arena, Target, groups.n + 2);
    if (!place_of_managed(w->arena, &w->place, STR(NIGHT_MANAGED), &w->managed_path, err) ||
        !skill_roots(w->arena, &w->place, &w->roots, &w->n_roots, err))
        return false;
    rest.skill_name = name_of_skill(w->managed_path);
    for (size_t i = 0; i < groups.n; i++) {
        const SkillGroup *g = &groups.items[i];
        Str path = STR_NONE;
        bool own = !w->options->target.n && !str_eqz(g->skill_name, NIGHT_MANAGED) &&
                   w->n_targets < MOST_PROPOSALS && can_stand_alone(w, g) &&
                   skill_find(w->arena, w->roots, w->n_roots, g->skill_name, &path) == SKILL_FOUND;

        if (!own)
            add_tasks(w->arena, g, &rest);
        else if (!add_target(w, g, g->skill_name, ITEM_SKILL, path, err))
            return false;
    }
    return !rest.tasks.n ||
           add_target(w, &rest, rest.skill_name, ITEM_MANAGED, w->managed_path, err);
}

/* -- learning ------------------------------------------------------------------------------------------- */

static bool learn(Work *w, Err *err)
{
    ConsolidateWatch watch = recorder_watch(&w->recorder);
    ConsolidateRules rules = w->options->rules;

    rules.night = w->tonight.number;
    rules.alpha /=
        (double)(w->n_targets ? w->n_targets : 1); /* the rate is that of the whole night */
    for (size_t i = 0; i < w->n_targets; i++) {
        Target *t = &w->targets[i];
        KnownEdits *known = known_book_of(w->arena, &w->known, t->skill);

        rules.evolve_memory = w->options->rules.evolve_memory && t->memory.path.n;
        w->recorder.live = t->docs;
        if (!consolidate(w->arena, w->backend, &t->group.tasks, t->docs, &rules, known, &w->budget,
                         &watch, &t->done, err))
            return err_wrap(err, "skill '%.*s'", STR_FMT(t->skill));
        recorder_group(&w->recorder, t->skill, &t->group, &t->done);
    }
    return true;
}

static bool measure(Work *w, const Target *t, const TaskRecord *task, Err *err)
{
    ReplayAsk ask = { .task = task, .docs = t->docs, .phase = "test" };
    ReplayResult before, after;

    if (!replay_task(w->backend, w->arena, &ask, &w->budget, &before, err))
        return false;
    after = before;
    ask.docs = t->done.docs;
    if (t->done.accepted && !replay_task(w->backend, w->arena, &ask, &w->budget, &after, err))
        return false;
    recorder_test(&w->recorder, task, &before, &after);
    return true;
}

/* Tasks that nothing was decided by: what the new documents are worth on them. */
static bool measure_test(Work *w, Err *err)
{
    for (size_t i = 0; i < w->n_targets; i++) {
        const TaskRecords *tasks = &w->targets[i].group.tasks;

        for (size_t k = 0; k < tasks->n && budget_left(&w->budget); k++)
            if (str_eqz(split_normal(tasks->items[k].split), "test") &&
                !measure(w, &w->targets[i], &tasks->items[k], err))
                return false;
    }
    return backend_settled(w->backend, err);
}

/* -- staging -------------------------------------------------------------------------------------------- */

static size_t proposals_of(const Work *w, StageProposal *ret)
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

static bool publish(Work *w, NightDone *ret, Err *err)
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
                             .skill_roots = w->roots,
                             .n_roots = w->n_roots };
    StageFile files[3];
    Manifest manifest;

    request.n_proposals = proposals_of(w, proposals);
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

static bool remember(Work *w, Err *err)
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
    w->state.last_model_key =
        str_printf(w->arena, "%s:%.*s", w->backend->name, STR_FMT(w->backend->model));
    state_add_history(w->arena, &w->state, row);
    return state_save(w->home.state, &w->state, err) &&
           tonight_forget(w->arena, &w->home, false, err);
}

/* -- the whole -------------------------------------------------------------------------------------------- */

/* In the night's folder; a night that leaves none leaves no evidence. */
static bool open_evidence(Work *w, Err *err)
{
    Str path;

    if (!w->options->evidence || !w->tonight.night.n)
        return true;
    path = str_join_path(w->arena, night_folder(w->arena, &w->home, w->tonight.night),
                         STR(EVIDENCE_FILE));
    w->recorder.evidence = evidence_open(str_z(w->arena, path), (EvidenceOptions){ 0 }, err);
    return w->recorder.evidence != NULL;
}

/* A rough guess, for the bar alone. */
static size_t expected_replays(const Work *w)
{
    size_t draws = w->backend->deterministic ? 4 : 12;

    return w->tonight.tasks.n * draws;
}

static bool sleep_through(Work *w, NightDone *ret, Err *err)
{
    bool staged = w->tonight.night.n > 0;

    if (!open_evidence(w, err))
        return false;
    w->backend->night = w->tonight.started_at;
    recorder_begin(&w->recorder, &w->tonight, w->backend, w->options);
    w->recorder.expected = expected_replays(w);
    w->known = known_book_read(w->arena, w->past->pending);
    if (!find_targets(w, err) || !learn(w, err) || !measure_test(w, err))
        return false;
    if (w->tonight.tasks.n == 0)
        recorder_note(&w->recorder, STR("nothing that came back could be learned from"));
    recorder_end(&w->recorder, w->backend, &w->budget);
    if (staged && !publish(w, ret, err))
        return false;
    if (w->options->dry_run)
        return tonight_forget(w->arena, &w->home, true, err);
    return remember(w, err);
}

bool night_run(Arena *a, const NightOptions *options, Backend *backend, NightDone *ret, Err *err)
{
    Work w = { .arena = a, .options = options, .backend = backend, .budget = options->budget };
    NightDone done = { .staging = STR(""), .folder = STR("") };
    bool ok;

    w.recorder.arena = a;
    w.place = (PlaceQuery){ .homes = options->harvest.sources.homes,
                            .claude_home = options->harvest.sources.roots.claude,
                            .project = options->harvest.project,
                            .target = options->target,
                            .extra_roots = options->skill_roots.items,
                            .n_extra_roots = options->skill_roots.n };
    budget_start(&w.budget);
    ok = open_state(&w, err) && begin(&w, err) && sleep_through(&w, &done, err);
    if (!evidence_close(w.recorder.evidence) && ok)
        log_warning("a part of the evidence could not be written");
    lock_release(w.lock);
    if (!ok)
        return false;
    done.report = w.recorder.report;
    done.resumed = w.resumed;
    done.tasks_reviewed = w.tonight.reviewed;
    *ret = done;
    return true;
}

bool night_plan(Arena *a, const NightOptions *options, const Backend *backend, NightPlan *ret,
                Err *err)
{
    SleepHome home = sleep_home(a, options->harvest.sources.homes->data);
    Backend silent = *backend; /* the same, but it is not asked */
    SleepState state;
    Str note;

    silent.call = NULL;
    return state_load(a, home.state, &state, &note, err) &&
           tonight_tasks(a, options, 0, &silent, state_project(a, &state, options->harvest.project),
                         NULL, ret, err);
}
