/* What happened in a night: evidence line by line, the report at the end. */
#include <math.h>

#include "base/clock.h"
#include "base/log.h"
#include "sleep/night/night_inside.h"
#include "text/human.h"
#include "text/letters.h"

void night_show(const NightOptions *options, int64_t night, const char *phase, size_t done,
                size_t total)
{
    if (options->watch.show)
        options->watch.show(options->watch.ctx, night, phase, done, total);
    else if (done)
        progress_show(phase, done, total);
}

/* -- Replays -- */

static TaskPair *pair_of(Recorder *r, const TaskRecord *task)
{
    TaskPairs *pairs = &r->report.tasks;
    TaskPair pair = { .id = task->id,
                      .intent = task->intent,
                      .split = task->split,
                      .reference_kind = task->reference_kind,
                      .score_before = -1,
                      .score_after = -1 };

    for (size_t i = 0; i < pairs->n; i++)
        if (str_eq(pairs->items[i].id, task->id))
            return &pairs->items[i];
    LIST_PUSH(r->arena, pairs, pair);
    return &pairs->items[pairs->n - 1];
}

static ReplayResult *copy_result(Recorder *r, const ReplayResult *result)
{
    ReplayResult *copy = ARENA_NEW(r->arena, ReplayResult);

    *copy = *result;
    return copy;
}

static void replayed(void *ctx, const char *phase, const ReplayAsk *ask, const ReplayResult *result)
{
    Recorder *r = ctx;
    bool live = str_eq(ask->docs.skill, r->live.skill) && str_eq(ask->docs.memory, r->live.memory);

    night_show(r->options, r->report.report.night, "replaying", ++r->done, r->expected);
    if (strncmp(phase, "gate_trial", 10) == 0 || strcmp(phase, "final_val") == 0) {
        TaskPair *pair = pair_of(r, ask->task);

        *(live ? &pair->before : &pair->after) = copy_result(r, result);
        *(live ? &pair->score_before : &pair->score_after) =
            score_of(r->options->rules.score, result->hard, result->soft);
    }
    evidence_begin(r->evidence, "replay", "result");
    evidence_str(r->evidence, "phase", str_of(phase));
    evidence_str(r->evidence, "task", ask->task->id);
    evidence_int(r->evidence, "sample", ask->sample);
    evidence_bool(r->evidence, "candidate", !live);
    evidence_real(r->evidence, "hard", result->hard);
    evidence_real(r->evidence, "soft", result->soft);
    evidence_str(r->evidence, "response", result->response);
    evidence_str(r->evidence, "why", result->judge_rationale);
    evidence_end(r->evidence);
}

/* X(kind of question, stage, event) */
#define EXCHANGES(X)                                                                               \
    X("attempt", "replay", "model_call")                                                           \
    X("judge", "replay", "model_call")                                                             \
    X("reflect", "reflect", "exchange")                                                            \
    X("mine", "mine", "miner_exchange")

void recorder_heard(void *ctx, const Heard *e)
{
    Recorder *r = ctx;
    bool reflection = strcmp(e->kind, "reflect") == 0;

    if (!r->begun) {
        LIST_PUSH(r->arena, &r->early, *e);
        if (!r->options->watch.show)
            progress_show("describing tasks", r->early.n, 0);
        return;
    }
    if (reflection)
        r->report.reflect_head = e->reply;
#define X(of, stage, event)                                                                        \
    if (strcmp(e->kind, of) == 0)                                                                  \
        evidence_begin(r->evidence, stage, event);
    EXCHANGES(X)
#undef X
    evidence_str(r->evidence, "kind", str_of(e->kind));
    evidence_str(r->evidence, "key", e->key);
    evidence_bool(r->evidence, "cache_hit", e->kept);
    if (!e->kept || reflection) {
        evidence_str(r->evidence, "prompt", e->prompt);
        evidence_str(r->evidence, "response", e->reply);
    }
    evidence_end(r->evidence);
}

static void reflected(void *ctx, Str target, const EditRecords *edits)
{
    Recorder *r = ctx;

    for (size_t i = 0; i < edits->n; i++) {
        evidence_begin(r->evidence, "reflect", "edits_returned");
        evidence_str(r->evidence, "target", target);
        evidence_str(r->evidence, "op", edits->items[i].op);
        evidence_str(r->evidence, "content", edits->items[i].content);
        evidence_str(r->evidence, "anchor", edits->items[i].anchor);
        evidence_str(r->evidence, "rationale", edits->items[i].rationale);
        evidence_end(r->evidence);
    }
}

static void tried(void *ctx, const GateTrial *trial, const GateEvidence *found)
{
    Recorder *r = ctx;

    evidence_begin(r->evidence, "gate", "baseline");
    evidence_str(r->evidence, "target", trial->target);
    evidence_real(r->evidence, "score", trial->baseline_score);
    evidence_int(r->evidence, "n_tasks", (int64_t)trial->task_deltas.n);
    evidence_end(r->evidence);
    evidence_begin(r->evidence, "gate", "trial");
    evidence_str(r->evidence, "target", trial->target);
    evidence_real(r->evidence, "baseline", trial->baseline_score);
    evidence_real(r->evidence, "candidate", trial->candidate_score);
    evidence_bool(r->evidence, "accepted", trial->accepted);
    if (found) {
        evidence_str(r->evidence, "verdict", found->verdict);
        evidence_int(r->evidence, "draws", found->draws);
        evidence_real(r->evidence, "p", found->p_value);
        evidence_real(r->evidence, "error_rate", found->error_rate);
    }
    evidence_end(r->evidence);
}

ConsolidateWatch recorder_watch(Recorder *r)
{
    return (ConsolidateWatch){ r, replayed, reflected, tried };
}

/* -- The report -- */

void recorder_note(Recorder *r, Str note)
{
    if (note.n)
        LIST_PUSH(r->arena, &r->report.report.notes, note);
}

void recorder_begin(Recorder *r, const Tonight *t, const Backend *b)
{
    SleepReport *s = &r->report.report;

    report_init(&r->report);
    s->night = t->number;
    s->project = t->project;
    s->started_at = t->started_at;
    s->n_sessions = t->n_sessions;
    s->n_tasks = (int64_t)t->tasks.n;
    s->gate_no_regression = r->options->rules.no_regression;
    s->gate_action = STR("reject");
    r->report.backend = str_of(b->name);
    r->report.model = b->model;
    r->report.call_error = t->call_error;
    if (t->call_error.n)
        recorder_note(r, str_printf(r->arena, "an earlier attempt of this night failed: %.*s",
                                    STR_FMT(t->call_error)));
    evidence_begin(r->evidence, "cycle", "start");
    evidence_int(r->evidence, "night", t->number);
    evidence_str(r->evidence, "backend", r->report.backend);
    evidence_str(r->evidence, "model", b->model);
    evidence_int(r->evidence, "n_tasks", s->n_tasks);
    evidence_end(r->evidence);
    r->begun = true;
    for (size_t i = 0; i < r->sessions.n; i++) {
        const SessionDigest *d = &r->sessions.items[i];

        evidence_begin(r->evidence, "harvest", "session");
        evidence_str(r->evidence, "session", d->session_id);
        evidence_str(r->evidence, "project", d->project);
        evidence_str(r->evidence, "started_at", d->started_at);
        evidence_str(r->evidence, "ended_at", d->ended_at);
        evidence_int(r->evidence, "n_user_turns", d->n_user_turns);
        evidence_end(r->evidence);
    }
    for (size_t i = 0; i < r->early.n; i++)
        recorder_heard(r, &r->early.items[i]);
    for (size_t i = 0; i < r->mined.n; i++) {
        const TaskRecord *task = &r->mined.items[i];

        evidence_begin(r->evidence, "mine", "task_mined");
        evidence_str(r->evidence, "task", task->id);
        evidence_str(r->evidence, "intent", task->intent);
        evidence_str(r->evidence, "outcome", task->outcome);
        evidence_int(r->evidence, "n_sessions", (int64_t)task->source_sessions.n);
        evidence_str(r->evidence, "reference_kind", task->reference_kind);
        evidence_end(r->evidence);
    }
    for (size_t i = 0; i < t->tasks.n; i++) {
        evidence_begin(r->evidence, "mine", "task_ready");
        evidence_str(r->evidence, "task", t->tasks.items[i].id);
        evidence_str(r->evidence, "intent", t->tasks.items[i].intent);
        evidence_str(r->evidence, "split", t->tasks.items[i].split);
        evidence_json(r->evidence, "judge", t->tasks.items[i].judge);
        evidence_end(r->evidence);
    }
}

/* The sessions of a task, each once. */
static void add_sessions(Recorder *r, const SkillGroup *group, Str task, EditShare *share)
{
    for (size_t i = 0; i < group->tasks.n; i++) {
        const TaskRecord *t = &group->tasks.items[i];

        for (size_t k = 0; str_eq(t->id, task) && k < t->source_sessions.n; k++)
            strs_add_new(r->arena, &share->sessions, t->source_sessions.items[k]);
    }
}

/* What leaving it out has shown. An edit that was not measured alone has no share and moved nothing
 * that is known. */
static void add_share(Recorder *r, Str skill, const SkillGroup *group, const Consolidation *c,
                      const EditRecord *edit)
{
    EditShare share = { .skill = skill };

    for (size_t i = 0; i < c->attribution.n; i++) {
        const Attribution *found = &c->attribution.items[i];

        if (!str_eq(found->content, edit->content) || !str_eq(found->target, edit->target))
            continue;
        share.share = found->share;
        for (size_t k = 0; k < found->moved_tasks.n; k++) {
            strs_add_new(r->arena, &share.moved_tasks, found->moved_tasks.items[k]);
            add_sessions(r, group, found->moved_tasks.items[k], &share);
        }
        break;
    }
    LIST_PUSH(r->arena, &r->report.shares, share);
}

/* Where several answers were drawn the gate compares their means: the task shows the same
 * figure. */
static void set_task_scores(Recorder *r, const TaskDelta *delta)
{
    for (size_t i = 0; i < r->report.tasks.n; i++) {
        TaskPair *pair = &r->report.tasks.items[i];

        if (!str_eq(pair->id, delta->task_id))
            continue;
        if (pair->before)
            pair->score_before = delta->baseline_score;
        if (pair->after)
            pair->score_after = delta->candidate_score;
    }
}

/* The last trial of the group is what the night comes to. */
static void add_scores(Recorder *r, const Consolidation *c)
{
    const GateTrial *last = c->trials.n ? &c->trials.items[c->trials.n - 1] : NULL;

    for (size_t i = 0; last && i < last->task_deltas.n; i++) {
        double before = last->task_deltas.items[i].baseline_score;
        double after = c->accepted ? last->task_deltas.items[i].candidate_score : before;

        set_task_scores(r, &last->task_deltas.items[i]);
        r->baseline += before;
        r->candidate += after;
        r->squares += (after - before) * (after - before);
        r->val++;
    }
}

static void note_unmatched(Recorder *r, const EditRecord *edit, Str why)
{
    LIST_PUSH(r->arena, &r->report.report.unmatched_edits, *edit);
    evidence_begin(r->evidence, "reflect", "edits_unmatched");
    evidence_str(r->evidence, "op", edit->op);
    evidence_str(r->evidence, "content", edit->content);
    evidence_str(r->evidence, "anchor", edit->anchor);
    evidence_str(r->evidence, "why", why);
    evidence_end(r->evidence);
}

/* Where chance plays a part: how sure the verdict is. */
static void note_odds(Recorder *r, Str skill, const GateEvidence *found)
{
    if (found->error_rate > 0 && str_eqz(found->verdict, "accept") &&
        found->p_value > found->error_rate)
        recorder_note(r, str_printf(r->arena,
                                    "%.*s, %.*s: expired rules removed; no task got worse without "
                                    "them",
                                    STR_FMT(skill), STR_FMT(found->target)));
    else if (found->error_rate > 0)
        recorder_note(
            r, str_printf(r->arena,
                          "%.*s, %.*s: %s after %lld pairs of answers, p = %.4f; false positives "
                          "limited to %.1f %% of nights",
                          STR_FMT(skill), STR_FMT(found->target),
                          str_eqz(found->verdict, "accept")   ? "accepted"
                          : str_eqz(found->verdict, "reject") ? "rejected"
                                                              : "too few answers to decide",
                          (long long)found->draws, found->p_value, 100 * found->error_rate));
}

void recorder_group(Recorder *r, Str skill, const SkillGroup *group, const Consolidation *c)
{
    SleepReport *s = &r->report.report;
    SkillGroupReport g = { .skill_name = skill,
                           .status = STR("consolidated"),
                           .accepted = c->accepted,
                           .gate_action = c->action,
                           .baseline_score = c->baseline,
                           .candidate_score = c->candidate,
                           .n_tasks = (int64_t)group->tasks.n,
                           .n_applied_edits = (int64_t)c->edits.n,
                           .n_rejected_edits = (int64_t)c->rejected.n,
                           .reason = str_of(no_edits_name(c->no_edits)) };

    LIST_PUSH(r->arena, &s->skill_groups, g);
    for (size_t i = 0; i < c->edits.n; i++) {
        LIST_PUSH(r->arena, &s->edits, c->edits.items[i]);
        add_share(r, skill, group, c, &c->edits.items[i]);
    }
    for (size_t i = 0; i < c->rejected.n; i++) {
        EditRecord edit = c->rejected.items[i];

        if (i < c->rejected_why.n && c->rejected_why.items[i].n)
            edit.rationale = c->rejected_why.items[i];
        LIST_PUSH(r->arena, &s->rejected_edits, edit);
    }
    for (size_t i = 0; i < c->unmatched.n; i++)
        note_unmatched(r, &c->unmatched.items[i],
                       i < c->unmatched_why.n ? c->unmatched_why.items[i] : STR(""));
    for (size_t i = 0; i < c->trials.n; i++)
        LIST_PUSH(r->arena, &s->gate_trials, c->trials.items[i]);
    for (size_t i = 0; i < c->evidence.n; i++)
        note_odds(r, skill, &c->evidence.items[i]);
    for (size_t i = 0; i < c->notes.n; i++)
        recorder_note(r, c->notes.items[i]);
    s->accepted = s->accepted || c->accepted;
    s->holdout_leaked = s->holdout_leaked || c->leaked;
    s->n_replayed += c->replayed;
    if (c->accepted || r->groups++ == 0)
        s->gate_action = c->action;
    if (c->no_edits > r->no_edits) /* in the order in which a night gets on */
        r->no_edits = c->no_edits;
    add_scores(r, c);
}

void recorder_left_out(Recorder *r, const SkillGroup *group, const char *status, Str why)
{
    enum { MAX_WHY = 300 };
    SkillGroupReport g = { .skill_name = group->skill_name,
                           .status = str_of(status),
                           .gate_action = STR(""),
                           .n_tasks = (int64_t)group->tasks.n,
                           .reason = str_dup(r->arena, text_cut(why, MAX_WHY)) };

    LIST_PUSH(r->arena, &r->report.report.skill_groups, g);
    recorder_note(r, str_printf(r->arena, "skipped skill '%.*s': %.*s", STR_FMT(g.skill_name),
                                STR_FMT(g.reason)));
}

void recorder_test(Recorder *r, const TaskRecord *task, const ReplayResult *before,
                   const ReplayResult *after)
{
    TaskPair *pair = pair_of(r, task);

    pair->before = copy_result(r, before);
    pair->after = copy_result(r, after);
    pair->score_before = score_of(r->options->rules.score, before->hard, before->soft);
    pair->score_after = score_of(r->options->rules.score, after->hard, after->soft);
    r->test_before += before->hard;
    r->test_after += after->hard;
    r->test++;
    evidence_begin(r->evidence, "test", "held_out_score");
    evidence_str(r->evidence, "task", task->id);
    evidence_real(r->evidence, "hard_before", before->hard);
    evidence_real(r->evidence, "hard", after->hard);
    evidence_real(r->evidence, "soft_before", before->soft);
    evidence_real(r->evidence, "soft", after->soft);
    evidence_end(r->evidence);
}

void recorder_end(Recorder *r, const Backend *b)
{
    SleepReport *s = &r->report.report;

    if (!r->options->watch.show)
        progress_end();
    if (r->val) {
        s->baseline_score = r->baseline / (double)r->val;
        s->candidate_score = r->candidate / (double)r->val;
        if (r->val > 1 && !b->deterministic) { /* of the gain, as paired differences */
            double n = (double)r->val, mean = (r->candidate - r->baseline) / n;
            double spread = sqrt(fmax(0, (r->squares / n - mean * mean) * n / (n - 1)) / n);

            LIST_PUSH(r->arena, &r->report.interval, mean - 1.96 * spread);
            LIST_PUSH(r->arena, &r->report.interval, mean + 1.96 * spread);
        }
    }
    if (!s->accepted)
        s->no_edits_reason = str_of(no_edits_name(r->no_edits ? r->no_edits : NO_EDITS_NO_TASKS));
    if (r->test)
        recorder_note(r, str_printf(r->arena,
                                    "final test on %zu tasks that no decision used: %.1f to %.1f",
                                    r->test, 100 * r->test_before / (double)r->test,
                                    100 * r->test_after / (double)r->test));
    s->tokens_used = b->tokens;
    s->ended_at = human_iso(r->arena, clock_wall());
    r->report.cost_usd = b->usd;
    r->report.n_calls = b->calls;
    evidence_begin(r->evidence, "gate", "decision");
    evidence_bool(r->evidence, "accepted", s->accepted);
    evidence_str(r->evidence, "action", s->gate_action);
    evidence_str(r->evidence, "metric", str_of(score_metric_name(r->options->rules.score.metric)));
    evidence_real(r->evidence, "mixed_weight", r->options->rules.score.weight);
    evidence_int(r->evidence, "n_val", (int64_t)r->val);
    evidence_real(r->evidence, "baseline_sum", r->baseline);
    evidence_real(r->evidence, "candidate_sum", r->candidate);
    evidence_real(r->evidence, "baseline", s->baseline_score);
    evidence_real(r->evidence, "candidate", s->candidate_score);
    evidence_bool(r->evidence, "no_regression", s->gate_no_regression);
    evidence_str(r->evidence, "no_edits_reason", s->no_edits_reason);
    evidence_end(r->evidence);
    evidence_begin(r->evidence, "cycle", "end");
    evidence_int(r->evidence, "calls", b->calls);
    evidence_int(r->evidence, "tokens", b->tokens);
    evidence_end(r->evidence);
}
