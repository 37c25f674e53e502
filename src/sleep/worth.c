/* What a night would cost at most, and what it could find out: said before it is paid for. */
#include "sleep/night.h"

enum { TOKENS_A_CALL = 1500, REFLECTIONS = 2, ROUGH_DRAWS = 3 };

/* What one attempt takes: itself, and where no rule decides a judge that is asked twice. */
static int64_t calls_of(const TaskRecord *task)
{
    return str_eqz(task->reference_kind, "rule") || str_eqz(task->reference_kind, "exact") ? 1 : 3;
}

/* Attempts at one task that decides: up to `draws` pairs in a trial, then without each edit in turn. */
static int64_t val_attempts(const NightOptions *o, const Backend *b, size_t waiting)
{
    int64_t edits = o->rules.edit_budget + (int64_t)waiting;

    return b->deterministic ? 2 + edits : 2 * o->rules.most_draws + edits * ROUGH_DRAWS;
}

/* A trial of the skill, and one of the memory where there is one: in each of them the tasks that teach
 * once a rollout, and those that decide. Test tasks twice. */
static int64_t most_calls(Arena *a, const NightOptions *o, const Backend *b, const NightPlan *plan)
{
    int64_t trials = o->rules.evolve_memory && o->harvest.project.n ? 2 : 1;
    int64_t decides = trials * val_attempts(o, b, plan->waiting),
            teaches = trials * o->rules.rollouts;
    size_t groups = consolidate_route(a, &plan->tasks, STR(NIGHT_MANAGED)).n, more = plan->asks;
    int64_t sum = (int64_t)groups * trials * REFLECTIONS;

    for (size_t i = 0; i < plan->tasks.n; i++) {
        Str split = split_normal(plan->tasks.items[i].split);
        int64_t attempts = str_eqz(split, "val") ? decides : str_eqz(split, "test") ? 2 : teaches;

        sum += attempts * calls_of(&plan->tasks.items[i]);
    }
    /* What a miner is asked about may become tasks as well, of the dearest kind. */
    if (o->max_tasks && plan->tasks.n + more > o->max_tasks)
        more = o->max_tasks > plan->tasks.n ? o->max_tasks - plan->tasks.n : 0;
    return sum + (int64_t)plan->asks + (int64_t)more * 3 * (decides > teaches ? decides : teaches);
}

static const char *verdict_of(const NightWorth *w)
{
    if (!w->plan.train || !w->plan.val)
        return w->plan.asks ? "thin" : "nothing";
    return w->detectable > 0.4 ? "thin" : "worth";
}

static Str sentence_of(Arena *a, const NightWorth *w)
{
    if ((!w->plan.train || !w->plan.val) && w->plan.asks)
        return str_printf(a, "a model would have to say first what %zu tasks are judged by",
                          w->plan.asks);
    if (!w->plan.train || !w->plan.val)
        return STR(
            "nothing new that can be checked came back: keep working, and correct your agent");
    return str_printf(
        a,
        "%zu tasks to try; a gain of %.0f points or more would be seen, a smaller one "
        "probably not",
        w->plan.tasks.n, 100 * w->detectable);
}

/* Without chance, one task that passes is seen. */
static double detectable(const NightOptions *o, const Backend *b, size_t val)
{
    if (!val)
        return 1;
    return b->deterministic ? 1 / (double)val
                            : gate_detectable(val, 0.5, o->rules.alpha, o->rules.most_draws);
}

bool night_worth(Arena *a, const NightOptions *o, Backend *b, double usd_per_token, NightWorth *ret,
                 Err *err)
{
    NightWorth w = { 0 };

    if (!night_plan(a, o, b, &w.plan, err))
        return false;
    w.max_calls = w.plan.tasks.n || w.plan.asks ? most_calls(a, o, b, &w.plan) : 0;
    if (o->budget.max_calls && w.max_calls > o->budget.max_calls)
        w.max_calls = o->budget.max_calls;
    w.max_tokens = w.max_calls * TOKENS_A_CALL;
    if (o->budget.max_tokens && w.max_tokens > o->budget.max_tokens)
        w.max_tokens = o->budget.max_tokens;
    w.max_usd = usd_per_token >= 0 ? usd_per_token * (double)w.max_tokens : -1;
    if (o->budget.max_usd > 0 && w.max_usd > o->budget.max_usd)
        w.max_usd = o->budget.max_usd;
    w.detectable = detectable(o, b, w.plan.val);
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
