/* What a night would cost at most, and what it could find out: said before it is paid for. */
#include "sleep/night.h"

enum { TOKENS_A_CALL = 1500, REFLECTIONS = 4, ROUGH_DRAWS = 3 };

/* What one attempt takes: itself, and where no rule decides a judge that is asked twice. */
static int64_t calls_of(const TaskRecord *task)
{
    return str_eqz(task->reference_kind, "rule") || str_eqz(task->reference_kind, "exact") ? 1 : 3;
}

/* Train tasks once a rollout, under each of two documents. Val tasks by up to `draws` pairs in each of
 * two trials, then without each edit in turn; test tasks twice. */
static int64_t most_calls(const NightOptions *o, const Backend *b, const TaskRecords *tasks)
{
    int64_t draws = b->deterministic ? 1 : o->rules.most_draws, sum = REFLECTIONS;
    int64_t left_out = o->rules.edit_budget * (b->deterministic ? 1 : ROUGH_DRAWS);

    for (size_t i = 0; i < tasks->n; i++) {
        Str split = split_normal(tasks->items[i].split);
        int64_t attempts = str_eqz(split, "val")    ? 2 * (2 * draws + left_out)
                           : str_eqz(split, "test") ? 2
                                                    : 2 * o->rules.rollouts;

        sum += attempts * calls_of(&tasks->items[i]);
    }
    /* A miner asks once about every task that rules do not decide. */
    for (size_t i = 0; i < tasks->n && o->model_miner && b->call; i++)
        sum += !str_eqz(tasks->items[i].reference_kind, "rule");
    return sum;
}

static const char *verdict_of(const NightWorth *w)
{
    if (!w->plan.train || !w->plan.val)
        return "nothing";
    return w->detectable > 0.4 ? "thin" : "worth";
}

static Str sentence_of(Arena *a, const NightWorth *w)
{
    if (!w->plan.train || !w->plan.val)
        return STR(
            "nothing new that can be checked came back: keep working, and correct your agent");
    return str_printf(a,
                      "%zu tasks that came back; a gain of %.0f points or more would be seen, a "
                      "smaller one probably not",
                      w->plan.tasks.n, 100 * w->detectable);
}

bool night_worth(Arena *a, const NightOptions *o, const Backend *b, double usd_per_token,
                 NightWorth *ret, Err *err)
{
    NightWorth w = { 0 };

    if (!night_plan(a, o, b, &w.plan, err))
        return false;
    w.max_calls = w.plan.tasks.n ? most_calls(o, b, &w.plan.tasks) : 0;
    if (o->budget.max_calls && w.max_calls > o->budget.max_calls)
        w.max_calls = o->budget.max_calls;
    w.max_tokens = w.max_calls * TOKENS_A_CALL;
    if (o->budget.max_tokens && w.max_tokens > o->budget.max_tokens)
        w.max_tokens = o->budget.max_tokens;
    w.max_usd = usd_per_token >= 0 ? usd_per_token * (double)w.max_tokens : -1;
    if (o->budget.max_usd > 0 && w.max_usd > o->budget.max_usd)
        w.max_usd = o->budget.max_usd;
    w.detectable = w.plan.val ? gate_detectable(w.plan.val, 0.5, o->rules.alpha,
                                                b->deterministic ? 1 : o->rules.most_draws)
                              : 1;
    w.verdict = verdict_of(&w);
    w.text = sentence_of(a, &w);
    *ret = w;
    return true;
}

void night_worth_put(JsonWriter *w, const NightWorth *worth)
{
    json_field_int(w, "sessions", (int64_t)worth->plan.n_sessions);
    json_field_int(w, "tasks", (int64_t)worth->plan.tasks.n);
    json_field_int(w, "recurring", (int64_t)worth->plan.recurring);
    json_field_int(w, "checkable", (int64_t)worth->plan.checkable);
    json_field_int(w, "train", (int64_t)worth->plan.train);
    json_field_int(w, "val", (int64_t)worth->plan.val);
    json_field_int(w, "test", (int64_t)worth->plan.test);
    json_field_int(w, "max_calls", worth->max_calls);
    json_field_int(w, "max_tokens", worth->max_tokens);
    if (worth->max_usd >= 0)
        json_field_double(w, "max_cost_usd", worth->max_usd);
    else
        json_field_null(w, "max_cost_usd");
    json_field_double(w, "detectable_effect", worth->detectable);
    json_field_str(w, "verdict", str_of(worth->verdict));
    json_field_str(w, "text", worth->text);
}
