/* What a night may do and cost, as it is configured. One table: a setting and the option it
 * sets. */
#include "base/limits.h"
#include "sleep/night/night.h"

/* X(how it is read, setting, where it is in NightOptions) */
#define NIGHT_SETTINGS(X)                                                                          \
    X(size, SETTING_SLEEP_MAX_TASKS, max_tasks)                                                    \
    X(int, SETTING_SLEEP_MAX_TOKENS, budget.max_tokens)                                            \
    X(int, SETTING_SLEEP_MAX_CALLS, budget.max_calls)                                              \
    X(real, SETTING_SLEEP_MAX_MINUTES, budget.max_minutes)                                         \
    X(real, SETTING_SLEEP_MAX_USD, budget.max_usd)                                                 \
    X(real, SETTING_SLEEP_VAL_FRACTION, split.val)                                                 \
    X(real, SETTING_SLEEP_TEST_FRACTION, split.test)                                               \
    X(int, SETTING_SLEEP_SEED, split.seed)                                                         \
    X(int, SETTING_SLEEP_EDIT_BUDGET, rules.edit_budget)                                           \
    X(int, SETTING_SLEEP_DREAM_ROLLOUTS, rules.rollouts)                                           \
    X(int, SETTING_SLEEP_DREAM_FACTOR, dream_factor)                                               \
    X(int, SETTING_SLEEP_RECALL_K, recall_k)                                                       \
    X(real, SETTING_SLEEP_GATE_MIXED_WEIGHT, rules.score.weight)                                   \
    X(bool, SETTING_SLEEP_GATE_NO_REGRESSION, rules.no_regression)                                 \
    X(text, SETTING_SLEEP_PREFERENCES, rules.preferences)                                          \
    X(bool, SETTING_SLEEP_EVOLVE_SKILL, rules.evolve_skill)                                        \
    X(bool, SETTING_SLEEP_EVOLVE_MEMORY, rules.evolve_memory)                                      \
    X(bool, SETTING_SLEEP_LLM_MINE, model_miner)                                                   \
    X(bool, SETTING_SLEEP_EVIDENCE_LOG, evidence)                                                  \
    X(size, SETTING_SLEEP_EVIDENCE_MAX_CHARS, evidence_chars)

/* X(flag, setting, where it is, least, most): what would take for ever, or nothing at all, is
 * said. */
#define NIGHT_RANGES(X)                                                                            \
    X("edit-budget", SETTING_SLEEP_EDIT_BUDGET, rules.edit_budget, 1, LIMIT_SLEEP_EDITS)           \
    X("rollouts", SETTING_SLEEP_DREAM_ROLLOUTS, rules.rollouts, 1, LIMIT_SLEEP_ROLLOUTS)           \
    X("dream-factor", SETTING_SLEEP_DREAM_FACTOR, dream_factor, 0, LIMIT_SLEEP_DREAMS)             \
    X("recall", SETTING_SLEEP_RECALL_K, recall_k, 0, LIMIT_SLEEP_ARCHIVE)

static bool within(int64_t value, int64_t min, int64_t max)
{
    return value >= min && value <= max;
}

static size_t setting_size(const Settings *s, SettingId id)
{
    int64_t n = setting_int(s, id);

    return n > 0 ? (size_t)n : 0;
}

static bool bad(SettingId id, const Settings *s, Err *err)
{
    return err_set(err, ERR_INVALID, "'%s' cannot be '%.*s'", setting_infos[id].key,
                   STR_FMT(setting_text(s, id)));
}

bool night_options(Arena *a, const Settings *settings, NightOptions *ret, Err *err)
{
    NightOptions o = { .rules = consolidate_rules(),
                       .split = SPLIT_RULE_DEFAULT,
                       .target = STR("") };

#define X(read, id, place) o.place = setting_##read(settings, id);
    NIGHT_SETTINGS(X)
#undef X
    if (!score_metric_parse(setting_text(settings, SETTING_SLEEP_GATE_METRIC),
                            &o.rules.score.metric))
        return bad(SETTING_SLEEP_GATE_METRIC, settings, err);
    if (!objective_parse(a, setting_text(settings, SETTING_SLEEP_OBJECTIVE), &o.rules.objective))
        return bad(SETTING_SLEEP_OBJECTIVE, settings, err);
#define X(flag, id, place, min, max)                                                               \
    if (!within(o.place, min, max))                                                                \
        return bad(id, settings, err);
    NIGHT_RANGES(X)
#undef X
    o.rules.gate = str_eqz(setting_text(settings, SETTING_SLEEP_GATE_MODE), "on");
    if (!split_check(o.split, err))
        return err_wrap(err, "'sleep.val_fraction' and 'sleep.test_fraction'");
    *ret = o;
    return true;
}

bool night_options_check(const NightOptions *o, Err *err)
{
#define X(flag, id, place, min, max)                                                               \
    if (!within(o->place, min, max))                                                               \
        return err_set(err, ERR_USAGE, "--%s is from %d to %d", flag, min, max);
    NIGHT_RANGES(X)
#undef X
    return split_check(o->split, err);
}
