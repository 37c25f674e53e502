/* The gate: without chance, with chance, and how often it errs. The long version is bench_gate. */
#include "unit.h"

#include <math.h>

#include "../../bench/noisy.h"
#include "sleep/trial/gate.h"

/* -- the exact test -- */

static const struct {
    double d[12];
    size_t n;
    double p;
} tails[] = {
    { { 0 }, 0, 1 },
    { { 0, 0, 0 }, 3, 1 },
    { { 1 }, 1, 0.5 },
    { { -1 }, 1, 1 },
    { { 1, 1, 1, 1 }, 4, 1.0 / 16 },
    { { 1, 1, 1, -1 }, 4, 5.0 / 16 },
    { { 1, 0, 1, 0, 1, 1 }, 6, 1.0 / 16 },
    { { 0.5, 1 }, 2, 0.25 },
    { { 0.5, -1 }, 2, 0.75 },
    { { 0.25, 0.25, -0.25 }, 3, 0.5 },
    { { 1, 1, 1, 1, 1, 1, 1, 1, -1, -1 }, 10, 56.0 / 1024 },
};

static void tail_is_exact(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        double p = gate_sign_p(a, tails[i].d, tails[i].n);

        if (fabs(p - tails[i].p) > 1e-12)
            fail_msg("row %zu: %.12g, expected %.12g", i, p, tails[i].p);
    }
}

/* -- scores from a table -- */

typedef struct Table {
    const double *base, *cand; /* one a task, the same at every draw */
    int64_t left;              /* draws until the budget ends */
    int64_t max;
} Table;

static bool from_table(void *ctx, size_t task, bool candidate, int64_t nth, double *ret_score,
                       bool *ret_stop, Err *err)
{
    Table *t = ctx;

    (void)err;
    if (t->left-- <= 0) {
        *ret_stop = true;
        return true;
    }
    t->max = nth + 1 > t->max ? nth + 1 : t->max;
    *ret_score = candidate ? t->cand[task] : t->base[task];
    return true;
}

static const struct {
    const char *why;
    double base[10], cand[10];
    size_t n;
    bool deterministic, no_regression;
    int64_t budget;
    Verdict verdict;
    bool blocked;
} cases[] = {
    { "better", { 0, 1 }, { 1, 1 }, 2, true, true, 99, VERDICT_ACCEPT, false },
    { "the same", { 0, 1 }, { 0, 1 }, 2, true, true, 99, VERDICT_REJECT, false },
    { "worse", { 1, 1 }, { 0, 1 }, 2, true, true, 99, VERDICT_REJECT, false },
    { "better, but one is worse",
      { 0, 0, 1 },
      { 1, 1, 0.9 },
      3,
      true,
      true,
      99,
      VERDICT_REJECT,
      true },
    { "the same, and nobody minds",
      { 0, 0, 1 },
      { 1, 1, 0.9 },
      3,
      true,
      false,
      99,
      VERDICT_ACCEPT,
      false },
    { "no number counts as nothing",
      { 0.5, 0.5 },
      { 1, NAN },
      2,
      true,
      false,
      99,
      VERDICT_REJECT,
      false },
    { "no budget", { 0 }, { 1 }, 1, true, true, 1, VERDICT_UNDERPOWERED, false },
    { "drawn: better everywhere",
      { 0, 0, 0 },
      { 1, 1, 1 },
      3,
      false,
      true,
      999,
      VERDICT_ACCEPT,
      false },
    { "drawn: the same", { 0, 1, 0 }, { 0, 1, 0 }, 3, false, true, 999, VERDICT_REJECT, false },
    { "drawn: worse", { 1, 1, 1 }, { 0, 0, 1 }, 3, false, true, 999, VERDICT_REJECT, false },
    { "drawn: better, but one has really become worse",
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
      { 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 },
      10,
      false,
      true,
      999,
      VERDICT_REJECT,
      true },
    { "drawn: and nobody minds",
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 },
      { 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 },
      10,
      false,
      false,
      999,
      VERDICT_ACCEPT,
      false },
    { "drawn: the budget ends before it is sure",
      { 0 },
      { 1 },
      1,
      false,
      true,
      4,
      VERDICT_UNDERPOWERED,
      false },
};

static void verdicts(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Table table = { cases[i].base, cases[i].cand, cases[i].budget, 0 };
        GateInput in = { .n = cases[i].n,
                         .deterministic = cases[i].deterministic,
                         .no_regression = cases[i].no_regression,
                         .alpha = GATE_ALPHA,
                         .max_draws = GATE_MAX_DRAWS,
                         .draw = from_table,
                         .ctx = &table };
        GateResult r;
        Err err;

        assert_true(gate_decide(a, &in, &r, &err));
        if (r.verdict != cases[i].verdict || r.blocked != cases[i].blocked)
            fail_msg("%s: %s%s", cases[i].why, verdict_name(r.verdict),
                     r.blocked ? ", blocked" : "");
        assert_true(table.max <= GATE_MAX_DRAWS);
        if (cases[i].deterministic)
            assert_true(table.max <= 1);
    }
}

/* One task of ten is worse at every draw, by chance once in 1,024: a regression at 0.05 / 10, none
 * at 0.005 / 10. */
static void the_level_asked_for_is_that_of_regressions_too(void **state)
{
    static const double base[10] = { [9] = 1 }, cand[10] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 };
    static const double levels[] = { GATE_ALPHA, GATE_ALPHA / 10 };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        Table table = { base, cand, 999, 0 };
        GateInput in = { .n = 10,
                         .no_regression = true,
                         .alpha = levels[i],
                         .max_draws = GATE_MAX_DRAWS,
                         .draw = from_table,
                         .ctx = &table };
        GateResult r;
        Err err;

        assert_true(gate_decide(a, &in, &r, &err));
        assert_int_equal(r.verdict, i ? VERDICT_ACCEPT : VERDICT_REJECT);
        assert_int_equal(r.blocked, !i);
    }
}

/* -- how often it errs -- */

static void error_rate_holds(void **state)
{
    NoisyShares useless = noisy_nights(24, 0.3, 0, 150, 5);
    NoisyShares useful = noisy_nights(40, 0.6, 0.2, 60, 6);

    (void)state;
    assert_true(useless.accepted <= 0.08); /* 0.05 and two standard errors of 150 trials */
    assert_true(useful.accepted >= 0.8);
    assert_true(useless.max_draws <= GATE_MAX_DRAWS && useful.max_draws <= GATE_MAX_DRAWS);
}

static void detectable_effect_shrinks(void **state)
{
    double few = gate_detectable(3, 0.3, GATE_ALPHA, 10), many = gate_detectable(30, 0.3, 0.05, 10);

    (void)state;
    assert_true(many < few && many > 0.05 && many < 0.2);
    assert_true(gate_detectable(0, 0.3, GATE_ALPHA, 10) == 1);
    assert_true(gate_detectable(14, 0.3, GATE_ALPHA, 10) <= 0.2);
}

static void interval_covers_the_gain(void **state)
{
    GateTask tasks_[5] = { { 0, 1 }, { 0, 1 }, { 0, 0 }, { 0.5, 1 }, { 1, 1 } };
    double low = 0, high = 0;

    (void)state;
    assert_false(gate_interval(tasks_, 2, &low, &high));
    assert_true(gate_interval(tasks_, 5, &low, &high));
    assert_true(fabs(low + 0.1209) < 0.01 && high == 1); /* 0.5 -+ 2.776 * 0.5 / sqrt(5) */
    tasks_[0] = tasks_[1] = tasks_[2] = (GateTask){ 0.2, 0.5 };
    assert_true(gate_interval(tasks_, 3, &low, &high));
    assert_true(fabs(low - 0.3) < 1e-9 && fabs(high - 0.3) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_is_exact),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(the_level_asked_for_is_that_of_regressions_too),
        cmocka_unit_test(error_rate_holds),
        cmocka_unit_test(interval_covers_the_gain),
        cmocka_unit_test(detectable_effect_shrinks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
