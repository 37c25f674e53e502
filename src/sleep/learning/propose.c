/* Replays the train tasks, has the backend reflect on the failures, and proposes the edits it
 * returns: after the pending edits of earlier nights, and without the rejected ones. */
#include "sleep/learning/attribution.h"
#include "sleep/task/document.h"

enum { REFLECT_CALLS = 2 }; /* a reply that is not a list of edits is asked for once more */

/* Best and worst rollout of one train task. */
static bool roll_out(Work *w, const char *phase, const TaskRecord *task, ReplayedList *failures,
                     ReplayedList *successes, Err *err)
{
    Replayed best = { .task = *task }, worst = { .task = *task };
    double high = -1, low = 2;

    for (int64_t k = 0; k < w->rules->rollouts || k == 0; k++) {
        ReplayAsk ask = { task, w->now, k, false, phase };
        ReplayResult r;
        double value;

        if (!work_replay(w, &ask, &r, err))
            return false;
        if (w->stopped)
            return true;
        value = work_value(w, &r);
        if (value > high) {
            high = value;
            best.result = r;
        }
        if (value < low) {
            low = value;
            worst.result = r;
        }
        if (w->backend->deterministic)
            break;
    }
    if (worst.result.hard < 1)
        LIST_PUSH(w->arena, failures, worst);
    if (best.result.hard >= 1)
        LIST_PUSH(w->arena, successes, best);
    return true;
}

static bool is_listed(Arena *a, const EditRecords *edits, const EditRecord *edit)
{
    Str key = edit_key(a, edit);

    for (size_t i = 0; i < edits->n; i++)
        if (str_eq(edit_key(a, &edits->items[i]), key))
            return true;
    return false;
}

/* At most the budget of edits that no earlier night knows, behind those that wait. */
static void keep_new(Work *w, Str target, const EditRecords *from, EditRecords *to)
{
    int64_t kept = 0;

    for (size_t i = 0; i < from->n && kept < w->rules->edit_budget; i++) {
        EditRecord edit = from->items[i];

        edit.target = target;
        if (rejected_find(w->arena, w->known, &edit) || is_listed(w->arena, to, &edit))
            continue;
        LIST_PUSH(w->arena, to, edit);
        kept++;
    }
}

bool work_propose(Work *w, Str target, EditRecords *ret, Err *err)
{
    ReplayedList failures = { 0 }, successes = { 0 };
    EditRecords fresh = { 0 }, edits = pending_for(w->arena, w->known, target);
    ReflectAsk ask = { .failures = &failures,
                       .successes = &successes,
                       .target = target,
                       .edit_budget = w->rules->edit_budget,
                       .preferences = w->rules->preferences,
                       .known = w->known };
    const char *phase = str_eq(target, STR("skill")) ? "train" : "train_post_skill";

    for (size_t i = 0; i < w->sides.train.n && !w->stopped; i++)
        if (!roll_out(w, phase, &w->sides.train.items[i], &failures, &successes, err))
            return false;
    ask.docs =
        (Docs){ document_bare(w->arena, w->now.skill), document_bare(w->arena, w->now.memory) };
    w->sources = (StrList){ 0 };
    for (size_t i = 0; i < failures.n; i++)
        for (size_t k = 0; k < failures.items[i].task.source_sessions.n; k++)
            strs_add_new(w->arena, &w->sources, failures.items[i].task.source_sessions.items[k]);
    w->failed |= failures.n > 0;
    if (!backend_settled(w->backend, err))
        return false;
    if (failures.n)
        work_stop(w, w->backend->deterministic ? 1 : REFLECT_CALLS);
    if (failures.n && !w->stopped) {
        int64_t calls = w->backend->calls, tokens = w->backend->tokens;
        double usd = w->backend->usd;

        if (!w->backend->reflect(w->backend, w->arena, &ask, &fresh, err))
            return err_wrap(err, "cannot reflect on the %.*s", STR_FMT(target));
        budget_spend(w->budget, w->backend->calls - calls, w->backend->tokens - tokens,
                     w->backend->usd - usd);
        if (w->watch && w->watch->reflected)
            w->watch->reflected(w->watch->ctx, target, &fresh);
    }
    keep_new(w, target, &fresh, &edits);
    *ret = edits;
    return true;
}
