/* Leave one out: the documents with all edits against the documents without this one. With a
 * deterministic backend a single replay says it exactly; otherwise a few fresh draws say it
 * roughly, which is good enough for a report and for nothing else. */
#include "sleep/learning/attribution.h"

#include <math.h>

#include "sleep/task/document.h"

enum { REVIEWED_RULES = 32 };

Str *work_doc(Docs *docs, Str target)
{
    return str_eq(target, STR("memory")) ? &docs->memory : &docs->skill;
}

double work_value(const Work *w, const ReplayResult *r)
{
    return score_reward(w->rules->objective, score_of(w->rules->score, r->hard, r->soft),
                        (double)r->tokens, r->latency_ms);
}

void work_stop(Work *w, int64_t calls)
{
    const char *spent = budget_spent(w->budget, calls);

    w->stopped |= spent != NULL;
    w->spent = spent ? spent : w->spent;
}

bool work_replay(Work *w, const ReplayAsk *ask, ReplayResult *ret, Err *err)
{
    work_stop(w, replay_calls(w->backend, ask->task));
    if (w->stopped)
        return true;
    if (!replay_task(w->backend, w->arena, ask, w->budget, ret, err))
        return false;
    w->out.replayed++;
    if (w->watch && w->watch->replayed)
        w->watch->replayed(w->watch->ctx, ask->phase, ask, ret);
    return true;
}

/* Mean of the draws of one task. */
static bool mean_of_task(Work *w, const char *phase, const TaskRecord *task, Docs docs, double *ret,
                         Err *err)
{
    int64_t draws = w->backend->deterministic ? 1 : ROUGH_DRAWS;
    double sum = 0;

    for (int64_t k = 0; k < draws; k++) {
        ReplayAsk ask = { task, docs, k, !w->backend->deterministic, phase };
        ReplayResult r;

        if (!work_replay(w, &ask, &r, err))
            return false;
        if (w->stopped)
            return true;
        sum += work_value(w, &r);
    }
    *ret = sum / (double)draws;
    return true;
}

bool work_mean(Work *w, const char *phase, const TaskRecords *tasks, Docs docs, double *values,
               double *ret, Err *err)
{
    double sum = 0, value = 0;

    for (size_t i = 0; i < tasks->n; i++) {
        if (!mean_of_task(w, phase, &tasks->items[i], docs, &value, err))
            return false;
        if (w->stopped)
            return true;
        sum += value;
        if (values)
            values[i] = value;
    }
    *ret = tasks->n ? sum / (double)tasks->n : 0;
    return backend_settled(w->backend, err);
}

void work_reject(Work *w, const EditRecord *edit, Str why, bool remember)
{
    LIST_PUSH(w->arena, &w->out.rejected, *edit);
    LIST_PUSH(w->arena, &w->out.rejected_why, why);
    if (remember)
        rejected_add(w->arena, w->known, edit, w->rules->night, why);
}

/* -- Leaving one out -- */

static EditRecords all_but(Arena *a, const EditRecords *edits, size_t left_out)
{
    EditRecords rest = { 0 };

    for (size_t i = 0; i < edits->n; i++)
        if (i != left_out)
            LIST_PUSH(a, &rest, edits->items[i]);
    return rest;
}

bool work_without(Work *w, Str target, const EditRecords *edits, size_t i, Docs *ret, Err *err)
{
    EditRecords rest = all_but(w->arena, edits, i);
    EditsApplied done;
    Docs docs = w->now;

    if (!edits_apply(w->arena, *work_doc(&docs, target), &rest, NULL, &done, err))
        return err_wrap(err, "the %.*s document", STR_FMT(target));
    *work_doc(&docs, target) = done.text;
    *ret = docs;
    return true;
}

bool work_screen(Work *w, Str target, EditRecords *edits, Err *err)
{
    Docs docs;
    double with, without;

    if (!w->backend->deterministic)
        return true; /* one draw a task would only add noise to the choice */
    for (size_t i = 0; i < edits->n && edits->n > 1 && !w->stopped;) {
        if (!work_without(w, target, edits, edits->n, &docs, err) ||
            !work_mean(w, "screen", &w->sides.train, docs, NULL, &with, err) || w->stopped)
            return w->stopped;
        if (!work_without(w, target, edits, i, &docs, err) ||
            !work_mean(w, "screen", &w->sides.train, docs, NULL, &without, err) || w->stopped)
            return w->stopped;
        if (without <= with) {
            i++;
            continue;
        }
        work_reject(w, &edits->items[i],
                    str_printf(w->arena, "training score %.1f with it, %.1f without", 100 * with,
                               100 * without),
                    true);
        *edits = all_but(w->arena, edits, i);
    }
    return true;
}

/* -- What each one is worth -- */

/* Scores on val: the mean, and each task's. */
typedef struct ValScores {
    double mean, *tasks;
} ValScores;

static void add_row(Work *w, Str target, const EditRecord *edit, const ValScores *with,
                    const ValScores *without)
{
    Attribution row;

    attribution_init(&row);
    row.target = target;
    row.rule_id = id_of_rule(w->arena, edit->content);
    row.content = edit->content;
    row.score_with = with->mean;
    row.score_without = without->mean;
    row.gain = with->mean - without->mean;
    for (size_t i = 0; i < w->sides.val.n; i++)
        if (with->tasks[i] > without->tasks[i])
            LIST_PUSH(w->arena, &row.moved_tasks, w->sides.val.items[i].id);
    LIST_PUSH(w->arena, &w->out.attribution, row);
}

static bool score_without(Work *w, Str target, const EditRecords *edits, size_t i, ValScores *ret,
                          Err *err)
{
    Docs docs;

    ret->mean = 0;
    ret->tasks = ARENA_ARRAY(w->arena, double, w->sides.val.n + 1);
    return work_without(w, target, edits, i, &docs, err) &&
           work_mean(w, "attribution", &w->sides.val, docs, ret->tasks, &ret->mean, err);
}

bool work_attribute(Work *w, Str target, EditRecords *edits, const GateResult *trial, Err *err)
{
    Attributions *all = &w->out.attribution;
    size_t from = all->n;
    double sum = 0;
    ValScores with = { trial->candidate, ARENA_ARRAY(w->arena, double, w->sides.val.n + 1) };

    for (size_t i = 0; i < w->sides.val.n; i++)
        with.tasks[i] = trial->tasks[i].candidate;
    for (size_t i = 0; i < edits->n;) {
        ValScores without;

        if (!score_without(w, target, edits, i, &without, err))
            return false;
        if (w->stopped)
            break;
        /* An edit without which val is just as good is not needed: fewer rules are better rules. */
        if (w->backend->deterministic && edits->n > 1 && without.mean >= with.mean) {
            work_reject(w, &edits->items[i], STR("no effect on the validation score"), true);
            *edits = all_but(w->arena, edits, i);
            with = without;
            all->n = from; /* the others contribute more now: measure them again */
            i = 0;
            continue;
        }
        add_row(w, target, &edits->items[i++], &with, &without);
    }
    for (size_t i = from; i < all->n; i++)
        sum += fmax(0, all->items[i].gain);
    for (size_t i = from; i < all->n && sum > 0; i++)
        all->items[i].share = fmax(0, all->items[i].gain) / sum;
    return true;
}

/* -- Rules of earlier nights -- */

/* What is remembered of a rule: that it is to go, or that it may stay. */
static EditRecord about_rule(const Rule *rule, Str target, Str op)
{
    EditRecord edit;

    edit_init(&edit);
    edit.target = target;
    edit.op = op;
    edit.anchor = rule->note.id;
    edit.content = rule->text;
    return edit;
}

static void count_rule(Work *w, Str target, Rule *rule, double with, double without)
{
    bool helps = with > without, harms = with < without;

    rule->note.helpful += helps;
    rule->note.harmful += harms;
    if (helps)
        rule->note.until = w->rules->night + RULE_NIGHTS;
    if (helps && !w->backend->deterministic) {
        EditRecord stays = about_rule(rule, target, STR("keep"));

        rule_kept(w->arena, w->known, &stays, w->rules->night, STR("helpful"));
    }
    if (harms || (!helps && w->rules->night > rule->note.until)) {
        EditRecord goes = about_rule(rule, target, STR("delete"));

        goes.rationale =
            str_printf(w->arena, "of no use since night %lld", (long long)rule->note.until);
        pending_add(w->arena, w->known, &goes, w->rules->night, STR("out of date"));
    }
    rule->raw = STR_NONE; /* to be written with the new counters */
}

/* Draws cost money: the result of a review counts for as long as a rule does, even if nothing was
 * accepted with which the rule's note could have been written. */
static bool is_settled(const Work *w, Str target, const Rule *rule)
{
    const Str ops[] = { STR("keep"), STR("delete") };

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        EditRecord edit = about_rule(rule, target, ops[i]);
        const KnownEdit *k = rejected_find(w->arena, w->known, &edit);

        if (k && (str_eqz(k->status, "pending") || w->rules->night <= k->night + RULE_NIGHTS))
            return true;
    }
    return false;
}

/* A deterministic backend is free and exact: it reviews every rule. Any other reviews a few expired
 * rules per night. */
static bool is_reviewed(const Work *w, Str target, const Rule *rule, size_t so_far)
{
    if (!rule->note.id.n)
        return false;
    if (w->backend->deterministic)
        return so_far < REVIEWED_RULES;
    return so_far < REVIEWED_BY_DRAWS && w->rules->night > rule->note.until &&
           !is_settled(w, target, rule);
}

bool work_review(Work *w, Str target, Err *err)
{
    EditRecord deletion = { .op = STR("delete") };
    EditRecords edits = { .items = &deletion, .n = 1 };
    Document doc;
    double with, without;
    bool found = false;
    Rule *rule;
    size_t n = 0;

    if (!document_parse(w->arena, *work_doc(&w->now, target), &doc, err))
        return err_wrap(err, "the %.*s document", STR_FMT(target));
    for (size_t i = 0; !found && (rule = document_rule(&doc, i)); i++)
        found = is_reviewed(w, target, rule, 0);
    if (!found)
        return true;
    if (!work_mean(w, "review", &w->sides.val, w->now, NULL, &with, err))
        return false;
    for (size_t i = 0; (rule = document_rule(&doc, i)) && !w->stopped; i++) {
        Docs docs;

        if (!is_reviewed(w, target, rule, n))
            continue;
        n++;
        deletion.anchor = rule->note.id;
        if (!work_without(w, target, &edits, 1, &docs, err) ||
            !work_mean(w, "review", &w->sides.val, docs, NULL, &without, err))
            return false;
        if (!w->stopped)
            count_rule(w, target, rule, with, without);
    }
    *work_doc(&w->now, target) = document_write(w->arena, &doc);
    return true;
}
