/* budget.h - the limits of a night, and what it has spent.
 *
 * Zero means no limit. Callers of the model check budget_spent before and call budget_spend after.
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
    /* Called about every second with the time the night has taken, to store it; or NULL. */
    void (*note)(void *ctx, int64_t elapsed_ms);
    void *note_ctx;
    int64_t noted_ms;
    const atomic_bool *stop; /* once true, the next replay fails with ERR_INTERRUPTED; or NULL */
} Budget;

void budget_start(Budget *b);
void budget_spend(Budget *b, int64_t calls, int64_t tokens, double usd);

int64_t budget_elapsed_ms(const Budget *b); /* including earlier runs of the night */

/* False when one of the limits is reached; NULL is no budget. */
bool budget_left(const Budget *b);
/* The limit that is reached: "tokens", "calls", "minutes", "money"; NULL: none. calls: how many
 * more calls are planned, since only their number is known in advance. */
const char *budget_spent(const Budget *b, int64_t calls);

/* How many nights and rollouts a token budget allows; 0 tokens: no budget. */
typedef struct BudgetPlan {
    int64_t nights, rollouts;
} BudgetPlan;
BudgetPlan budget_plan(int64_t tokens, int64_t n_tasks);

#endif
