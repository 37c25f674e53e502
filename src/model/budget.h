/* budget.h - how much may be spent: calls, tokens, money, time. Shared by all workers of one job.
 *
 * Enforced before a call goes out: what it can cost at most is set aside first, and what it really
 * cost takes its place afterwards. So a budget is never passed, however many workers there are; the
 * last call is refused instead. Thread-safe. */
#ifndef TALARIA_MODEL_BUDGET_H
#define TALARIA_MODEL_BUDGET_H

#include "base/err.h"
#include "model/config.h"

/* 0: no limit. */
typedef struct ModelLimits {
    int64_t calls, tokens; /* input and output together */
    double money;          /* in the currency of the prices; needs prices */
    int64_t ms;            /* from the making of the budget on */
} ModelLimits;

typedef struct ModelSpent {
    int64_t calls, input, output;
    double money;
    int64_t ms;
} ModelSpent;

typedef struct ModelBudget ModelBudget;

ModelBudget *model_budget_new(const ModelLimits *limits);
ModelBudget *model_budget_free(ModelBudget *b);
AUTO_FREE(ModelBudget, model_budget_free)

ModelSpent model_budget_spent(ModelBudget *b);

/* Milliseconds left; INT64_MAX without a limit. */
int64_t model_budget_left_ms(const ModelBudget *b);

/* What usage costs with this model. */
double model_cost(const ModelConfig *config, const ModelUsage *usage);

/* Sets the most that a call may use aside; ERR_REFUSED, naming the limit, where that is too much.
 * Each is followed by one model_budget_settle with the same max and what it came to. */
MUST_CHECK bool model_budget_take(ModelBudget *b, const ModelConfig *config, const ModelUsage *max,
                                  Err *err);
void model_budget_settle(ModelBudget *b, const ModelConfig *config, const ModelUsage *max,
                         const ModelUsage *used);

#endif
