/* gate.h - the statistical test that decides whether a candidate is better than the baseline.
 *
 * The same val tasks are answered under both documents. With a deterministic backend the candidate
 * must be strictly better in the mean, with no task worse. Otherwise the gate draws fresh answers,
 * one pair per task and round, and applies an exact test to the paired differences at three fixed
 * looks; the chance to accept an edit that changes nothing is at most `alpha` over all looks. A
 * task counts as worse only if its own differences are significant.
 *
 * The gate knows neither models nor documents: it gets scores through one function. */
#ifndef TALARIA_SLEEP_TRIAL_GATE_H
#define TALARIA_SLEEP_TRIAL_GATE_H

#include "base/arena.h"
#include "base/err.h"

enum { GATE_MAX_DRAWS = 10 };
#define GATE_ALPHA 0.05

typedef enum Verdict { VERDICT_ACCEPT, VERDICT_REJECT, VERDICT_UNDERPOWERED } Verdict;
const char *verdict_name(Verdict v); /* accept | reject | underpowered */

/* Draws one score within 0..1 of a task under one of the two documents; nth counts fresh draws from
 * 0. *ret_stop: the budget is spent and nothing was drawn. */
typedef bool GateDraw(void *ctx, size_t task, bool candidate, int64_t nth, double *ret_score,
                      bool *ret_stop, Err *err);

typedef struct GateInput {
    size_t n; /* val tasks */
    bool deterministic, no_regression;
    double alpha;
    int64_t max_draws; /* per task and document */
    GateDraw *draw;
    /* Called before the draws are evaluated; false ends the trial because some are pending. May be
     * NULL. */
    bool (*settled)(void *ctx, Err *err);
    void *ctx;
} GateInput;

typedef struct GateTask {
    double baseline, candidate; /* means of the draws */
    int64_t draws;
    bool regressed;
} GateTask;

typedef struct GateResult {
    Verdict verdict;
    double baseline, candidate; /* means over the tasks */
    GateTask *tasks;
    bool blocked;  /* better, but a task is worse */
    bool stopped;  /* the budget ended it */
    int64_t draws; /* pairs, all tasks together */
    double p;      /* of the last look; 1 if nothing was tested */
} GateResult;

/* False when a draw failed. */
MUST_CHECK bool gate_decide(Arena *a, const GateInput *in, GateResult *ret, Err *err);

/* P(sum of the differences under random signs >= the observed sum): exact, for differences within
 * -1..1, rounded to twentieths. */
double gate_sign_p(Arena *a, const double *differences, size_t n);

/* The 95 % confidence interval of the gain, from the spread over the tasks. False for fewer than
 * three tasks. */
bool gate_interval(const GateTask *tasks, size_t n, double *ret_low, double *ret_high);

/* The smallest gain over the pass rate `base` that the gate detects with a power of 80 % on n val
 * tasks. */
double gate_detectable(size_t n, double base, double alpha, int64_t max_draws);

/* Compares a candidate's score with the current one and the best so far. */
typedef struct GateStep {
    const char *action; /* accept_new_best | accept | reject */
    double current, best;
    int64_t best_step;
} GateStep;
GateStep gate_step(double candidate, double current, double best, int64_t best_step, int64_t step);

#endif
