/* gate.h - is the candidate really better, or was it luck?
 *
 * The same val tasks are answered under both documents. A deterministic source is judged without
 * chance: strictly better in the mean, no task worse. Any other is asked again and again with fresh
 * draws, a pair a task and round, and judged by an exact test on the paired differences at three fixed
 * looks; the chance to accept an edit that changes nothing is at most `alpha` over all looks together.
 * A task counts as worse only with evidence of its own.
 *
 * The gate knows neither models nor documents: it asks for scores through one function. */
#ifndef TALARIA_SLEEP_TRIAL_GATE_H
#define TALARIA_SLEEP_TRIAL_GATE_H

#include "base/arena.h"
#include "base/err.h"

enum { GATE_MAX_DRAWS = 10 };
#define GATE_ALPHA 0.05

typedef enum Verdict { VERDICT_ACCEPT, VERDICT_REJECT, VERDICT_UNDERPOWERED } Verdict;
const char *verdict_name(Verdict v); /* accept | reject | underpowered */

/* One score within 0..1 of a task under one of the two documents; nth counts from 0 and is a fresh draw
 * each. *ret_stop ends the asking: the budget is spent, and nothing was drawn. */
typedef bool GateDraw(void *ctx, size_t task, bool candidate, int64_t nth, double *ret_score,
                      bool *ret_stop, Err *err);

typedef struct GateInput {
    size_t n; /* val tasks */
    bool deterministic, no_regression;
    double alpha;
    int64_t max_draws; /* a task and document */
    GateDraw *draw;
    /* Asked before what was drawn is looked at; false ends the trial: some of it is still to come. May
     * be NULL. */
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
    double p;      /* of the last look; 1 where nothing was tested */
} GateResult;

/* False when a draw failed. */
MUST_CHECK bool gate_decide(Arena *a, const GateInput *in, GateResult *ret, Err *err);

/* P(sum of the differences under random signs >= what it is): exact, for differences within -1..1,
 * which count in steps of a twentieth. */
double gate_sign_p(Arena *a, const double *differences, size_t n);

/* Where the gain lies for tasks like these, nineteen times in twenty: from the spread of the tasks' own
 * gains. False for fewer than three tasks. */
bool gate_interval(const GateTask *tasks, size_t n, double *ret_low, double *ret_high);

/* The share of val passes that must come on top of `base` for the gate to see it four times in
 * five, with n val tasks: what a night of this size can find. */
double gate_detectable(size_t n, double base, double alpha, int64_t max_draws);

/* How a score moves what is kept: the step from current to candidate, and the best so far. */
typedef struct GateStep {
    const char *action; /* accept_new_best | accept | reject */
    double current, best;
    int64_t best_step;
} GateStep;
GateStep gate_step(double candidate, double current, double best, int64_t best_step, int64_t step);

#endif
