/* budget.h - what a night may cost, and what it has cost.
 *
 * Zero is no limit. The counting is done by whoever calls the model; whoever spends asks before.
 * Not thread-safe. */
#ifndef TALARIA_SLEEP_TRIAL_BUDGET_H
#define TALARIA_SLEEP_TRIAL_BUDGET_H

#include <stdatomic.h>

#include "base/str.h"

typedef struct Budget {
    int64_t max_tokens, max_calls;
    double max_minutes, max_usd;
    int64_t tokens, calls; /* spent */
    double usd;
    int64_t started_ms; /* on the monotonic clock; 0: not started */
    int64_t before_ms;  /* taken by runs of the same night that did not end */
    /* Told now and then, after what was spent, how long the night has taken: to be kept; or NULL. */
    void (*note)(void *ctx, int64_t elapsed_ms);
    void *note_ctx;
    int64_t noted_ms;
    const atomic_bool *stop; /* once true, the next replay fails with ERR_INTERRUPTED; or NULL */
} Budget;

void budget_start(Budget *b);
void budget_spend(Budget *b, int64_t calls, int64_t tokens, double usd);

int64_t budget_elapsed_ms(const Budget *b); /* with what came before */

/* False when one of the limits is reached; NULL is no budget. */
bool budget_left(const Budget *b);
/* "tokens", "calls", "minutes", "money", or NULL while there is something left. calls: how many more are
 * wanted at once; what they cost is known only afterwards, how many they are is known before. */
const char *budget_spent(const Budget *b, int64_t calls);

/* How many nights and rollouts a budget of tokens is good for; 0 tokens: no budget. */
typedef struct BudgetPlan {
    int64_t nights, rollouts;
} BudgetPlan;
BudgetPlan budget_plan(int64_t tokens, int64_t n_tasks);

#endif
