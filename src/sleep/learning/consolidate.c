/* A night may change two documents. The skill's trial uses four fifths of alpha, the memory's the
 * rest, plus what the skill's trial did not use up (because there was none, or it ended in
 * acceptance). So the chance to accept anything useless is at most alpha for both together. */
#include "sleep/learning/consolidate.h"

#include "sleep/learning/attribution.h"
#include "sleep/task/document.h"

#define SKILL_ALPHA 0.8

ConsolidateRules consolidate_rules(void)
{
    return (ConsolidateRules){ .score = SCORE_RULE_DEFAULT,
                               .objective = OBJECTIVE_DEFAULT,
                               .gate = true,
                               .no_regression = true,
                               .alpha = GATE_ALPHA,
                               .max_draws = GATE_MAX_DRAWS,
                               .edit_budget = 4,
                               .rollouts = 1,
                               .evolve_skill = true,
                               .evolve_memory = true,
                               .night = 1 };
}

const char *no_edits_name(NoEdits reason)
{
    static const char *const names[] = {
#define X(reason, name, text) [reason] = name,
        NO_EDITS(X)
#undef X
    };

    return names[reason];
}

/* -- Trials -- */

typedef struct Drawing {
    Work *work;
    const char *phase;
    Docs base, cand;
} Drawing;

static bool draw(void *ctx, size_t task, bool candidate, int64_t nth, double *ret_score,
                 bool *ret_stop, Err *err)
{
    Drawing *d = ctx;
    Work *w = d->work;
    ReplayAsk ask = { .task = &w->sides.val.items[task],
                      .docs = candidate ? d->cand : d->base,
                      .sample = nth,
                      .fresh = !w->backend->deterministic,
                      .phase = d->phase };
    ReplayResult r;

    if (!work_replay(w, &ask, &r, err))
        return false;
    *ret_stop = w->stopped;
    if (!w->stopped)
        *ret_score = work_value(w, &r);
    return true;
}

static bool draws_settled(void *ctx, Err *err)
{
    return backend_settled(((Drawing *)ctx)->work->backend, err);
}

/* once: one draw per task and document, compared as they are. */
static bool compare_docs(Work *w, const char *phase, Docs base, Docs cand, double alpha, bool once,
                         GateResult *ret, Err *err)
{
    Drawing d = { w, phase, base, cand };
    GateInput in = { .n = w->sides.val.n,
                     .deterministic = once || w->backend->deterministic,
                     .no_regression = w->rules->no_regression,
                     .alpha = alpha,
                     .max_draws = once ? 1 : w->rules->max_draws,
                     .draw = draw,
                     .settled = draws_settled,
                     .ctx = &d };

    return gate_decide(w->arena, &in, ret, err);
}

static void record_trial(Work *w, Str target, const GateResult *g, double alpha)
{
    GateTrial trial;
    GateEvidence evidence;

    gate_trial_init(&trial);
    gate_evidence_init(&evidence);
    trial.target = evidence.target = target;
    trial.baseline_score = g->baseline;
    trial.candidate_score = g->candidate;
    trial.accepted = g->verdict == VERDICT_ACCEPT;
    trial.blocked_by_regression = g->blocked;
    evidence.verdict = str_of(verdict_name(g->verdict));
    evidence.draws = g->draws;
    evidence.p_value = g->p;
    evidence.error_rate = w->backend->deterministic ? 0 : alpha;
    for (size_t i = 0; i < w->sides.val.n; i++) {
        const TaskRecord *task = &w->sides.val.items[i];
        const GateTask *t = &g->tasks[i];
        TaskDelta delta = { .task_id = task->id,
                            .tags = task->tags,
                            .baseline_score = t->baseline,
                            .candidate_score = t->candidate,
                            .status = t->regressed                 ? STR("regressed")
                                      : t->candidate > t->baseline ? STR("improved")
                                                                   : STR("unchanged"),
                            .scores_are_finite = true };

        LIST_PUSH(w->arena, &trial.task_deltas, delta);
        if (t->regressed)
            LIST_PUSH(w->arena, &evidence.regressed, task->id);
    }
    LIST_PUSH(w->arena, &w->out.trials, trial);
    LIST_PUSH(w->arena, &w->out.evidence, evidence);
    if (w->watch && w->watch->tried)
        w->watch->tried(w->watch->ctx, &trial, &evidence);
}

/* -- After a trial -- */

/* Harmless edits that were not enough are retried with those of the next night; harmful ones are
 * not. */
static void keep_pending_or_reject(Work *w, const EditRecords *edits, const GateResult *g)
{
    bool harmless = g->verdict == VERDICT_UNDERPOWERED ||
                    (w->backend->deterministic && g->candidate == g->baseline);
    Str why;

    for (size_t i = 0; i < w->sides.val.n; i++)
        harmless &= w->backend->deterministic ? g->tasks[i].candidate >= g->tasks[i].baseline
                                              : !g->tasks[i].regressed;
    why = str_printf(w->arena, "%s (validation score %.1f without it, %.1f with it)%s",
                     g->blocked                   ? "a task got worse"
                     : g->candidate > g->baseline ? "the improvement may be chance"
                     : g->candidate < g->baseline ? "the score got worse"
                                                  : "no effect",
                     100 * g->baseline, 100 * g->candidate,
                     harmless ? "; will be retried next night" : "");

    w->underpowered |= g->verdict == VERDICT_UNDERPOWERED;
    w->waiting = harmless;
    for (size_t i = 0; i < edits->n; i++) {
        work_reject(w, &edits->items[i], why, !harmless);
        if (harmless)
            pending_add(w->arena, w->known, &edits->items[i], w->rules->night, why);
    }
}

static const Attribution *worth_of(const Work *w, const EditRecord *edit)
{
    for (size_t i = 0; i < w->out.attribution.n; i++) {
        const Attribution *row = &w->out.attribution.items[i];

        if (str_eq(row->content, edit->content) && str_eq(row->target, edit->target))
            return row;
    }
    return NULL;
}

/* Sessions of the tasks that the rule has moved; of one that was not measured alone, all that
 * failed. */
static StrList sessions_of(Work *w, const Attribution *row)
{
    StrList sessions = { 0 };

    for (size_t i = 0; row && i < w->sides.val.n; i++) {
        const TaskRecord *task = &w->sides.val.items[i];

        for (size_t k = 0; strs_have(&row->moved_tasks, task->id) && k < task->source_sessions.n;
             k++)
            strs_add_new(w->arena, &sessions, task->source_sessions.items[k]);
    }
    return sessions.n ? sessions : w->sources;
}

static RuleNote note_of(Work *w, const EditRecord *edit, const GateResult *g)
{
    const Attribution *row = worth_of(w, edit);

    return (RuleNote){ .night = w->rules->night,
                       .until = w->rules->night + RULE_NIGHTS,
                       .helpful = 1,
                       .sessions = sessions_of(w, row),
                       .evidence = str_printf(w->arena, "%zu validation tasks: %.1f to %.1f",
                                              w->sides.val.n,
                                              100 * (row ? row->score_without : g->baseline),
                                              100 * (row ? row->score_with : g->candidate)) };
}

/* The accepted edits, each with a note of where it comes from, in the document. */
static bool accept_edits(Work *w, Str target, EditRecords *edits, const GateResult *g, Err *err)
{
    Str *doc = work_doc(&w->now, target);

    if (!work_attribute(w, target, edits, g, err))
        return false;
    for (size_t i = 0; i < edits->n; i++) {
        EditRecords one = { .items = &edits->items[i], .n = 1, .cap = 1 };
        RuleNote note = note_of(w, &edits->items[i], g);
        EditsApplied done;

        if (!edits_apply(w->arena, *doc, &one, &note, &done, err))
            return false;
        *doc = done.text;
        LIST_PUSH(w->arena, &w->out.edits, edits->items[i]);
        rejected_forget(w->arena, w->known, &edits->items[i]);
    }
    return true;
}

static void note_unmatched(Work *w, const EditsApplied *done)
{
    for (size_t i = 0; i < done->unmatched.n; i++) {
        LIST_PUSH(w->arena, &w->out.unmatched, done->unmatched.items[i]);
        LIST_PUSH(w->arena, &w->out.unmatched_why, done->why.items[i]);
        rejected_forget(w->arena, w->known, &done->unmatched.items[i]);
    }
}

/* Deleting what is out of date need not make anything better, only nothing worse: no task where
 * that can be told, else all of them together. */
static bool only_tidies(const Work *w, const EditRecords *edits, const GateResult *g)
{
    for (size_t i = 0; i < edits->n; i++)
        if (!str_eq(edits->items[i].op, STR("delete")) ||
            !str_starts(edits->items[i].rationale, STR("of no use since")))
            return false;
    if (!w->backend->deterministic)
        return edits->n > 0 && !g->stopped && !g->blocked && g->candidate >= g->baseline;
    for (size_t i = 0; i < w->sides.val.n; i++)
        if (g->tasks[i].candidate < g->tasks[i].baseline)
            return false;
    return edits->n > 0;
}

/* Sets w->alpha_left to what the next trial may use. */
static bool try_edits(Work *w, Str target, EditRecords *edits, Err *err)
{
    bool both = w->rules->evolve_skill && w->rules->evolve_memory;
    double all = w->alpha_left,
           alpha = str_eq(target, STR("skill")) && both ? all * SKILL_ALPHA : all;
    const char *phase = str_eq(target, STR("skill")) ? "gate_trial:skill" : "gate_trial:memory";
    GateResult g;
    Docs cand;

    if (!work_screen(w, target, edits, err))
        return false;
    if (w->stopped || !edits->n)
        return true;
    if (!work_without(w, target, edits, edits->n, &cand, err) ||
        !compare_docs(w, phase, w->now, cand, alpha, false, &g, err))
        return false;
    if (only_tidies(w, edits, &g))
        g.verdict = VERDICT_ACCEPT;
    record_trial(w, target, &g, alpha);
    if (g.verdict == VERDICT_ACCEPT)
        return accept_edits(w, target, edits, &g, err);
    w->alpha_left = all - alpha;
    keep_pending_or_reject(w, edits, &g);
    return true;
}

static bool learn_document(Work *w, Str target, Err *err)
{
    EditRecords edits;
    EditsApplied done;

    if (!work_review(w, target, err) || !work_propose(w, target, &edits, err))
        return false;
    w->proposed |= edits.n > 0;
    if (!edits.n || w->stopped)
        return true;
    if (!edits_apply(w->arena, *work_doc(&w->now, target), &edits, NULL, &done, err))
        return err_wrap(err, "the %.*s document", STR_FMT(target));
    note_unmatched(w, &done);
    w->applied |= done.applied.n > 0;
    if (!done.applied.n)
        return true;
    return try_edits(w, target, &done.applied, err);
}

/* -- The end -- */

static NoEdits reason_of(const Work *w)
{
    if (w->out.accepted)
        return NO_EDITS_NONE;
    if (w->stopped)
        return NO_EDITS_BUDGET;
    if (w->underpowered)
        return NO_EDITS_UNDERPOWERED;
    if (w->applied)
        return NO_EDITS_ALL_REJECTED;
    if (w->proposed)
        return NO_EDITS_NOTHING_APPLIED;
    return w->failed ? NO_EDITS_NOTHING_PROPOSED : NO_EDITS_NO_FAILURES;
}

/* What the trials of the night add up to. */
static GateResult from_trials(Work *w)
{
    const GateTrials *trials = &w->out.trials;
    GateResult g = { .verdict = VERDICT_REJECT, .p = 1 };

    g.tasks = ARENA_ARRAY(w->arena, GateTask, w->sides.val.n + 1);
    g.baseline = g.candidate = trials->items[0].baseline_score;
    for (size_t k = 0; k < w->sides.val.n; k++)
        g.tasks[k].baseline = g.tasks[k].candidate =
            trials->items[0].task_deltas.items[k].baseline_score;
    for (size_t i = 0; i < trials->n; i++) {
        const GateTrial *t = &trials->items[i];

        if (!t->accepted)
            continue;
        g.verdict = VERDICT_ACCEPT;
        g.candidate = t->candidate_score;
        for (size_t k = 0; k < w->sides.val.n; k++)
            g.tasks[k].candidate = t->task_deltas.items[k].candidate_score;
    }
    return g;
}

/* A deterministic backend is asked once more about both sides; so is any other that had no
 * trial. */
static bool final_result(Work *w, GateResult *ret, Err *err)
{
    if (w->backend->deterministic || !w->out.trials.n) {
        if (!compare_docs(w, "final_val", w->live, w->now, 0, true, ret, err))
            return false;
        if (!ret->stopped || !w->out.trials.n)
            return true;
    }
    *ret = from_trials(w);
    return true;
}

/* Rejects the accepted edits after all; the live documents stay. */
static void reject_all(Work *w, const char *why)
{
    for (size_t i = 0; i < w->out.edits.n; i++)
        work_reject(w, &w->out.edits.items[i], str_of(why), false);
    w->out.edits.n = 0;
    w->out.docs = w->live;
}

static bool decide_night(Work *w, Err *err)
{
    GateResult g;
    GateStep step;
    bool stopped = w->stopped, tidied;

    w->stopped = false; /* known answers may still be used */
    if (stopped && !w->out.edits.n) {
        w->out.action = STR("reject");
        w->stopped = true;
        reject_all(w, "");
        return true;
    }
    if (!final_result(w, &g, err))
        return false;
    w->stopped |= stopped;
    step = gate_step(g.candidate, g.baseline, g.baseline, 0, w->rules->night);
    tidied = (!(g.candidate > g.baseline) || !w->backend->deterministic) &&
             only_tidies(w, &w->out.edits, &g);
    w->out.accepted = w->out.edits.n && (g.verdict == VERDICT_ACCEPT || tidied);
    g.verdict = w->out.accepted ? VERDICT_ACCEPT : VERDICT_REJECT;
    record_trial(w, STR("final"), &g, w->rules->alpha);
    w->out.evidence.n--; /* the final line repeats what the trials have shown */
    w->out.baseline = g.baseline;
    w->out.candidate = g.candidate;
    w->out.has_interval = gate_interval(g.tasks, w->sides.val.n, &w->out.low, &w->out.high);
    w->out.action = STR("reject");
    if (w->out.accepted) /* deleting rules alone is not a new best */
        w->out.action = tidied ? STR("accept") : str_of(step.action);
    w->out.docs = w->now;
    if (w->out.accepted && w->out.leaked) {
        w->out.accepted = false;
        w->out.action = STR("reject_unverified");
        reject_all(w, "no tasks held out: the training tasks were the only ones to validate it");
    } else if (!w->out.accepted) {
        reject_all(w, "no improvement in the final validation");
    }
    return true;
}

/* -- Without a gate -- */

static bool keep_all(Work *w, Str target, Err *err)
{
    RuleNote note = { .night = w->rules->night, .evidence = STR("not validated") };
    EditRecords edits;
    EditsApplied done;

    note.until = w->rules->night + RULE_NIGHTS;
    if (!work_propose(w, target, &edits, err))
        return false;
    note.sessions = w->sources;
    if (!edits_apply(w->arena, *work_doc(&w->now, target), &edits, &note, &done, err))
        return err_wrap(err, "the %.*s document", STR_FMT(target));
    w->proposed |= edits.n > 0;
    note_unmatched(w, &done);
    *work_doc(&w->now, target) = done.text;
    for (size_t i = 0; i < done.applied.n; i++)
        LIST_PUSH(w->arena, &w->out.edits, done.applied.items[i]);
    return true;
}

static bool without_gate(Work *w, Err *err)
{
    if ((w->rules->evolve_skill && !keep_all(w, STR("skill"), err)) ||
        (w->rules->evolve_memory && !keep_all(w, STR("memory"), err)))
        return false;
    w->out.accepted = w->out.edits.n > 0;
    w->out.action = w->out.accepted ? STR("greedy_applied") : STR("greedy_noop");
    w->out.docs = w->now;
    return true;
}

static bool with_gate(Work *w, Err *err)
{
    return (!w->rules->evolve_skill || learn_document(w, STR("skill"), err)) &&
           (!w->rules->evolve_memory || w->stopped || w->waiting ||
            learn_document(w, STR("memory"), err)) &&
           decide_night(w, err);
}

bool consolidate(Arena *a, Backend *b, const TaskRecords *tasks, Docs live,
                 const ConsolidateRules *rules, KnownEdits *known, Budget *budget,
                 const ConsolidateWatch *watch, Consolidation *ret, Err *err)
{
    Work w = { .arena = a,
               .backend = b,
               .rules = rules,
               .known = known,
               .budget = budget,
               .watch = watch,
               .live = live,
               .now = live,
               .alpha_left = rules->alpha };

    w.out.docs = live;
    w.sides = split_sides(a, tasks);
    w.out.leaked = w.sides.leaked;
    if (!w.sides.val.n) {
        w.out.leaked = false;
        w.out.action = STR("reject");
        w.out.no_edits = NO_EDITS_NO_TASKS;
        *ret = w.out;
        return true;
    }
    if (!(rules->gate ? with_gate(&w, err) : without_gate(&w, err)))
        return false;
    w.out.no_edits = reason_of(&w);
    if (w.stopped)
        LIST_PUSH(a, &w.out.notes, str_printf(a, "the %s budget ran out", w.spent));
    if (!rules->gate)
        LIST_PUSH(a, &w.out.notes, STR("validation is off: these rules are untested"));
    else if (w.out.leaked)
        LIST_PUSH(a, &w.out.notes, STR("no tasks left to hold out for validation"));
    if (w.underpowered)
        LIST_PUSH(a, &w.out.notes, STR("too few tasks to tell an improvement from chance"));
    *ret = w.out;
    return true;
}

/* -- Routing -- */

/* The one hint that all tasks of this id have, else empty. */
static Str hint_of(const TaskRecords *tasks, Str id)
{
    Str hint = STR("");
    bool any = false;

    for (size_t i = 0; i < tasks->n; i++) {
        if (!str_eq(tasks->items[i].id, id))
            continue;
        if (any && !str_eq(tasks->items[i].skill_hint, hint))
            return STR("");
        any = true;
        hint = tasks->items[i].skill_hint;
    }
    return hint;
}

SkillGroups consolidate_route(Arena *a, const TaskRecords *tasks, Str managed)
{
    SkillGroups groups = { 0 };

    for (size_t i = 0; i < tasks->n; i++) {
        Str hint = hint_of(tasks, tasks->items[i].id), name = hint.n ? hint : managed;
        size_t k = 0;

        while (k < groups.n && !str_eq(groups.items[k].skill_name, name))
            k++;
        if (k == groups.n)
            LIST_PUSH(a, &groups, ((SkillGroup){ .skill_name = name }));
        LIST_PUSH(a, &groups.items[k].tasks, tasks->items[i]);
    }
    return groups;
}
