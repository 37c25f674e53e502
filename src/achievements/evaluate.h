/* evaluate.h - from totals to tiers: pure arithmetic, in plain double, as the reference does it. */
#ifndef TALARIA_ACHIEVEMENTS_EVALUATE_H
#define TALARIA_ACHIEVEMENTS_EVALUATE_H

#include "achievements/catalogue.h"

/* X(name, as it is written) */
#define BADGE_STATES(X)                                                                            \
    X(BADGE_UNLOCKED, "unlocked")                                                                  \
    X(BADGE_DISCOVERED, "discovered")                                                              \
    X(BADGE_SECRET, "secret")

typedef enum BadgeState {
#define X(name, text) name,
    BADGE_STATES(X)
#undef X
} BadgeState;

const char *badge_state_name(BadgeState state);

typedef struct Badge {
    bool unlocked, discovered;
    BadgeState state;
    int tier, next_tier; /* index of the tier's name; -1: none */
    int64_t progress, next_threshold;
    int progress_pct;
} Badge;

/* totals: one value for each of the catalogue's aggregates. */
Badge badge_evaluate(const Achievement *a, const int64_t *totals);

/* Before the first scan: nothing is known. */
Badge badge_pending(const Achievement *a);

#endif
