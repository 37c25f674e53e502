/* The maximum cost of a night and the improvement it could detect, estimated before anything is
 * paid. */
#include "sleep/night/night_inside.h"

/* Tokens beside the documents, which are sent in full: those of a question with its answer, and
 * what reflecting on whole traces and asking a miner take on top. A token has three bytes at the
 * least. */
enum {
    TOKENS_A_CALL = 1500,
    TOKENS_TO_REFLECT = 20000,
    TOKENS_TO_MINE = 5000,
    BYTES_A_TOKEN = 3,
    REFLECTIONS = 2
};

typedef struct Cost {
    int64_t calls, tokens;
} Cost;

static void add_calls(Cost *m, int64_t calls, int64_t tokens_each)
{
    m->calls += calls;
    m->tokens += calls * tokens_each;
}

/* Attempts at one task that decides: up to `draws` pairs in a trial, then without each edit in
 * turn; and once there may be rules whose nights are over, with and without each of a few. */
static int64_t val_attempts(const NightOptions *o, const Backend *b, const NightPlan *plan)
{
    int64_t edits = o->rules.edit_budget + (int64_t)plan->waiting;

    if (b->deterministic)
        return 2 + edits;
    return 2 * o->rules.max_draws + edits * ROUGH_DRAWS +
           (plan->old_rules ? (1 + REVIEWED_BY_DRAWS) * ROUGH_DRAWS : 0);
}

static int64_t tokens_of(const Target *t)
{
    return TOKENS_A_CALL + (int64_t)(t->docs.skill.n + t->docs.memory.n) / BYTES_A_TOKEN;
}

/* A trial of the skill, and one of the memory where there is one: in each of them the tasks that
 * teach once a rollout, and those that decide. Test tasks twice. */
static void add_target(Cost *m, const NightOptions *o, const Backend *b, const NightPlan *plan,
                       const Target *t)
{
    int64_t trials = o->rules.evolve_memory && t->memory.path.n ? 2 : 1, tokens = tokens_of(t);

    add_calls(m, trials * REFLECTIONS, tokens + TOKENS_TO_REFLECT);
    for (size_t i = 0; i < t->group.tasks.n; i++) {
        const TaskRecord *task = &t->group.tasks.items[i];
        Str split = split_of(task);
        int64_t attempts = str_eqz(split, "val")    ? trials * val_attempts(o, b, plan)
                           : str_eqz(split, "test") ? 2
                                                    : trials * o->rules.rollouts;

        add_calls(m, attempts * replay_calls(b, task), tokens);
    }
}

/* What a miner is asked about may become tasks as well, of the dearest kind. */
static void add_asks(Cost *m, const NightOptions *o, const Backend *b, const NightPlan *plan,
                     int64_t tokens)
{
    int64_t trials = o->rules.evolve_memory && o->harvest.project.n ? 2 : 1;
    int64_t decides = trials * val_attempts(o, b, plan), teaches = trials * o->rules.rollouts;
    size_t more = plan->asks;

    if (o->max_tasks && plan->tasks.n + more > o->max_tasks)
        more = o->max_tasks > plan->tasks.n ? o->max_tasks - plan->tasks.n : 0;
    add_calls(m, (int64_t)plan->asks, TOKENS_TO_MINE);
    add_calls(m, (int64_t)more * 3 * (decides > teaches ? decides : teaches), tokens);
    if (!plan->tasks.n && more)
        add_calls(m, trials * REFLECTIONS, tokens + TOKENS_TO_REFLECT);
}

static bool find_max_cost(Arena *a, const NightOptions *o, Backend *b, const NightPlan *plan,
                          Cost *ret, Err *err)
{
    int64_t tokens = TOKENS_A_CALL;
    Cost m = { 0 };
    Night w;

    if (!night_targets(a, o, b, &plan->tasks, &w, err))
        return false;
    for (size_t i = 0; i < w.n_targets; i++) {
        add_target(&m, o, b, plan, &w.targets[i]);
        tokens = tokens_of(&w.targets[i]) > tokens ? tokens_of(&w.targets[i]) : tokens;
    }
    if (plan->asks)
        add_asks(&m, o, b, plan, tokens);
    *ret = m;
    return true;
}

static void set_verdict(Arena *a, NightWorth *w)
{
    if ((!w->plan.train || !w->plan.val) && w->plan.asks) {
        w->verdict = STR("thin");
        w->text = str_printf(
            a, "No automatic checks yet: a model has to define them for %zu tasks first.",
            w->plan.asks);
    } else if (!w->plan.train || !w->plan.val) {
        w->verdict = STR("nothing");
        w->text = STR("Nothing to learn yet: sleep needs tasks that you repeat and correct. Try "
                      "again after more sessions.");
    } else {
        w->verdict = w->detectable > 0.4 ? STR("thin") : STR("worth");
        w->text = str_printf(
            a, "Worth a run: %zu tasks, enough to detect an improvement of %.0f points or more.",
            w->plan.tasks.n, 100 * w->detectable);
    }
}

bool night_worth(Arena *a, const NightOptions *o, Backend *b, double usd_per_token, NightWorth *ret,
                 Err *err)
{
    NightWorth w = { 0 };
    Cost max;

    if (!night_plan(a, o, b, &w.plan, err) || !find_max_cost(a, o, b, &w.plan, &max, err))
        return false;
    w.max_calls = max.calls;
    w.max_tokens = max.tokens;
    if (o->budget.max_calls && w.max_calls > o->budget.max_calls)
        w.max_calls = o->budget.max_calls;
    if (o->budget.max_tokens && w.max_tokens > o->budget.max_tokens)
        w.max_tokens = o->budget.max_tokens;
    w.max_usd = usd_per_token >= 0 ? usd_per_token * (double)w.max_tokens : -1;
    if (o->budget.max_usd > 0 && w.max_usd > o->budget.max_usd)
        w.max_usd = o->budget.max_usd;
    w.good_for = budget_plan(o->budget.max_tokens, (int64_t)w.plan.tasks.n);
    /* Without chance, a single task that passes is detected. */
    w.detectable = !w.plan.val ? 1
                   : b->deterministic
                       ? 1 / (double)w.plan.val
                       : gate_detectable(w.plan.val, 0.5, o->rules.alpha, o->rules.max_draws);
    set_verdict(a, &w);
    *ret = w;
    return true;
}

static const RecordField budget_fields[] = {
    RECORD_FIELD(BudgetPlan, nights),
    RECORD_FIELD(BudgetPlan, rollouts),
};
static const RecordTable budget_record = RECORD(BudgetPlan, "budget plan", budget_fields);

static const RecordField worth_fields[] = {
    RECORD_FIELD(NightWorth, plan.n_sessions, .key = "sessions"),
    RECORD_FIELD(NightWorth, plan.tasks.n, .key = "tasks"),
    RECORD_FIELD(NightWorth, plan.recurring, .key = "recurring"),
    RECORD_FIELD(NightWorth, plan.checkable, .key = "checkable"),
    RECORD_FIELD(NightWorth, plan.train, .key = "train"),
    RECORD_FIELD(NightWorth, plan.val, .key = "val"),
    RECORD_FIELD(NightWorth, plan.test, .key = "test"),
    RECORD_FIELD(NightWorth, max_calls),
    RECORD_FIELD(NightWorth, max_tokens),
    RECORD_FIELD(NightWorth, max_usd, .key = "max_cost_usd", .when_empty = RECORD_NULL_NEGATIVE),
    RECORD_FIELD(NightWorth, detectable, .key = "detectable_effect"),
    RECORD_NESTED(NightWorth, good_for, &budget_record, .key = "budget_plan"),
    RECORD_FIELD(NightWorth, verdict),
    RECORD_FIELD(NightWorth, text),
};
static const RecordTable worth_record = RECORD(NightWorth, "worth", worth_fields);

void night_worth_put(JsonWriter *w, const NightWorth *worth)
{
    record_put_fields(w, &worth_record, worth);
}
