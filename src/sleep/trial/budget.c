/* One unit of the plan is about what one attempt and its judgement take. */
#include "sleep/trial/budget.h"

#include "base/clock.h"

enum { NOTE_EVERY_MS = 1000 };
enum { UNIT_TOKENS = 1500, UNITS_A_TASK = 3, MAX_NIGHTS = 4, MAX_ROLLOUTS = 5 };

void budget_start(Budget *b)
{
    b->started_ms = clock_mono_ms();
}

int64_t budget_elapsed_ms(const Budget *b)
{
    return b->before_ms + (b->started_ms ? clock_mono_ms() - b->started_ms : 0);
}

void budget_spend(Budget *b, int64_t calls, int64_t tokens, double usd)
{
    int64_t elapsed;

    if (!b)
        return;
    b->calls += calls;
    b->tokens += tokens;
    b->usd += usd;
    elapsed = b->note ? budget_elapsed_ms(b) : 0;
    if (elapsed - b->noted_ms >= NOTE_EVERY_MS) {
        b->noted_ms = elapsed;
        b->note(b->note_ctx, elapsed);
    }
}

const char *budget_spent(const Budget *b, int64_t calls)
{
    if (!b)
        return NULL;
    if (b->max_tokens && b->tokens >= b->max_tokens)
        return "tokens";
    if (b->max_calls && b->calls + calls > b->max_calls)
        return "calls";
    if (b->max_usd > 0 && b->usd >= b->max_usd)
        return "money";
    if (b->max_minutes > 0 && (double)budget_elapsed_ms(b) >= b->max_minutes * 60e3)
        return "minutes";
    return NULL;
}

bool budget_left(const Budget *b)
{
    return !budget_spent(b, 1);
}

static int64_t within(int64_t n, int64_t max)
{
    return n < 1 ? 1 : n > max ? max : n;
}

BudgetPlan budget_plan(int64_t tokens, int64_t n_tasks)
{
    int64_t tasks = n_tasks < 1 ? 1 : n_tasks, a_night = UNITS_A_TASK * tasks, units, surplus;
    BudgetPlan plan = { .nights = 2, .rollouts = 1 };

    if (tokens <= 0)
        return plan;
    units = tokens / UNIT_TOKENS;
    plan.nights = within(units / a_night, MAX_NIGHTS);
    surplus = units - plan.nights * a_night;
    plan.rollouts = within(1 + surplus / tasks, MAX_ROLLOUTS);
    return plan;
}
