#include "achievements/evaluate.h"

#include <math.h>

const char *badge_state_name(BadgeState state)
{
    static const char *const names[] = {
#define X(name, text) [name] = (text),
        BADGE_STATES(X)
#undef X
    };

    return names[state];
}

static BadgeState state_of(const Achievement *a, const Badge *b, bool any_progress)
{
    if (b->unlocked)
        return BADGE_UNLOCKED;
    return a->secret && !any_progress ? BADGE_SECRET : BADGE_DISCOVERED;
}

/* Divide first, then multiply: 29 of 100 gives 28, and people's files say so. */
static int percent_of_tier(int64_t progress, int64_t from, int64_t to)
{
    double span = to - from > 1 ? (double)(to - from) : 1;
    double percent = floor((double)(progress - from) / span * 100);

    return percent < 0 ? 0 : percent > 99 ? 99 : (int)percent;
}

static Badge tiered(const Achievement *a, int64_t value)
{
    Badge b = { .tier = -1, .next_tier = -1, .progress = value };
    int reached = 0;

    while (reached < TIER_COUNT && value >= a->tiers[reached])
        reached++;
    b.tier = reached - 1;
    b.next_tier = reached < TIER_COUNT ? reached : -1;
    b.next_threshold = a->tiers[reached < TIER_COUNT ? reached : TIER_COUNT - 1];
    b.progress_pct =
        reached == TIER_COUNT
            ? 100
            : percent_of_tier(value, reached ? a->tiers[reached - 1] : 0, a->tiers[reached]);
    b.unlocked = reached > 0;
    b.discovered = value > 0 || !a->secret;
    b.state = state_of(a, &b, value > 0);
    return b;
}

/* The parts are summed left to right in plain double; newer Pythons add more cleverly and
 * differ. */
static Badge required(const Achievement *a, const int64_t *totals)
{
    Badge b = { .tier = -1, .next_tier = -1, .unlocked = true, .next_threshold = 100 };
    bool any = false;
    double sum = 0;

    for (size_t i = 0; i < a->n_requirements; i++) {
        const Requirement *r = &a->requirements[i];
        int64_t value = totals[r->aggregate];
        double part = (double)value / (double)(r->at_least > 1 ? r->at_least : 1);

        sum += part < 1.0 ? part : 1.0;
        b.unlocked = b.unlocked && value >= r->at_least;
        any = any || value > 0;
    }
    b.progress = (int64_t)floor(sum / (double)a->n_requirements * 100);
    b.progress_pct = b.unlocked ? 100 : b.progress < 99 ? (int)b.progress : 99;
    b.discovered = any || !a->secret;
    b.state = state_of(a, &b, any);
    return b;
}

Badge badge_evaluate(const Achievement *a, const int64_t *totals)
{
    return a->tiered ? tiered(a, totals[a->aggregate]) : required(a, totals);
}

Badge badge_pending(const Achievement *a)
{
    return (Badge){ .state = a->secret ? BADGE_SECRET : BADGE_DISCOVERED,
                    .tier = -1,
                    .next_tier = a->tiered ? 0 : -1,
                    .next_threshold = a->tiered ? a->tiers[0] : 1 };
}
