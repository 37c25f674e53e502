/* What a night would cost at most, and what it could find out: said before it is paid for. */
#include "sleep/night/night_inside.h"

/* Tokens beside the documents, which are sent in full: those of a question with its answer, and what
 * reflecting on whole traces and asking a miner take on top. A token has three bytes at the least. */
enum {
    TOKENS_A_CALL = 1500,
    TOKENS_TO_REFLECT = 20000,
    TOKENS_TO_MINE = 5000,
    BYTES_A_TOKEN = 3,
    REFLECTIONS = 2
};

typedef struct Most {
    int64_t calls, tokens;
} Most;

static void add(Most *m, int64_t calls, int64_t tokens_each)
{
    m->calls += calls;
    m->tokens += calls * tokens_each;
}

/* Attempts at one task that decides: up to `draws` pairs in a trial, then without each edit in turn; and
 * once there may be rules whose nights are over, with and without each of a few. */
static int64_t val_attempts(const NightOptions *o, const Backend *b, const NightPlan *plan)
{
    int64_t edits = o->rules.edit_budget + (int64_t)plan->waiting;

    if (b->deterministic)
        return 2 + edits;
    return 2 * o->rules.most_draws + edits * ROUGH_DRAWS +
           (plan->old_rules ? (1 + REVIEWED_BY_DRAWS) * ROUGH_DRAWS : 0);
}

static int64_t tokens_of(const Target *t)
{
    return TOKENS_A_CALL + (int64_t)(t->docs.skill.n + t->docs.memory.n) / BYTES_A_TOKEN;
}

/* A trial of the skill, and one of the memory where there is one: in each of them the tasks that teach
 * once a rollout, and those that decide. Test tasks twice. */
static void add_target(Most *m, const NightOptions *o, const Backend *b, const NightPlan *plan,
                       const Target *t)
{
    int64_t trials = o->rules.evolve_memory && t->memory.path.n ? 2 : 1, tokens = tokens_of(t);

    add(m, trials * REFLECTIONS, tokens + TOKENS_TO_REFLECT);
    for (size_t i = 0; i < t->group.tasks.n; i++) {
        const TaskRecord *task = &t->group.tasks.items[i];
        Str split = split_of(task);
        int64_t attempts = str_eqz(split, "val")    ? trials * val_attempts(o, b, plan)
                           : str_eqz(split, "test") ? 2
                                                    : trials * o->rules.rollouts;

        add(m, attempts * replay_calls(b, task), tokens);
    }
}

/* What a miner is asked about may become tasks as well, of the dearest kind. */
static void add_asks(Most *m, const NightOptions *o, const Backend *b, const NightPlan *plan,
                     int64_t tokens)
{
    int64_t trials = o->rules.evolve_memory && o->harvest.project.n ? 2 : 1;
    int64_t decides = trials * val_attempts(o, b, plan), teaches = trials * o->rules.rollouts;
    size_t more = plan->asks;

    if (o->max_tasks && plan->tasks.n + more > o->max_tasks)
        more = o->max_tasks > plan->tasks.n ? o->max_tasks - plan->tasks.n : 0;
    add(m, (int64_t)plan->asks, TOKENS_TO_MINE);
    add(m, (int64_t)more * 3 * (decides > teaches ? decides : teaches), tokens);
    if (!plan->tasks.n && more)
        add(m, trials * REFLECTIONS, tokens + TOKENS_TO_REFLECT);
}

static bool find_most(Arena *a, const NightOptions *o, Backend *b, const NightPlan *plan, Most *ret,
                      Err *err)
{
    int64_t tokens = TOKENS_A_CALL;
    Most m = { 0 };
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

static const char *verdict_of(const NightWorth *w)
{
    if (!w->plan.train || !w->plan.val)
        return w->plan.asks ? "thin" : "nothing";
    return w->detectable > 0.4 ? "thin" : "worth";
}

static Str sentence_of(Arena *a, const NightWorth *w)
{
    if ((!w->plan.train || !w->plan.val) && w->plan.asks)
        return str_printf(
            a, "No automatic checks yet: a model has to define them for %zu tasks first.",
            w->plan.asks);
    if (!w->plan.train || !w->plan.val)
        return STR(
            "Nothing to learn yet: sleep needs tasks that you repeat and correct. Try again after "
            "more sessions.");
    return str_printf(
        a, "Worth a run: %zu tasks, enough to detect an improvement of %.0f points or more.",
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
    Most max;

    if (!night_plan(a, o, b, &w.plan, err) || !find_most(a, o, b, &w.plan, &max, err))
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
    json_key(w, "budget_plan");
    json_begin(w, '{');
    json_field_int(w, "nights", worth->good_for.nights);
    json_field_int(w, "rollouts", worth->good_for.rollouts);
    json_end(w, '}');
    json_field_str(w, "verdict", str_of(worth->verdict));
    json_field_str(w, "text", worth->text);
}
