/* fold.h - what a history comes to, conversation by conversation, in the order in which it
 * happened.
 *
 * Where chunk sums say what rows come to, this looks at every record: parts that compression cut
 * are one conversation, and the day on which a badge was earned is that of the conversation in
 * which the running total crossed its threshold. */
#ifndef TALARIA_ACHIEVEMENTS_FOLD_H
#define TALARIA_ACHIEVEMENTS_FOLD_H

#include "achievements/sum.h"
#include "recall/origin.h"
#include "store/homes.h"

typedef struct FoldQuery {
    const Homes *lanes;
    int origin;  /* 0: all; else 1 + the Origin that is wanted */
    Str session; /* the conversation with this part alone; empty: all */
    bool dates;  /* `at` is wanted */
} FoldQuery;

typedef struct Fold {
    Totals totals;
    int64_t sources[ORIGIN_COUNT];            /* conversations of each */
    int64_t at[MAX_ACHIEVEMENTS][TIER_COUNT]; /* unix seconds; 0: not reached. A badge without
                                                  tiers has its time in the first */
} Fold;

/* Text of the peaks is that of the records. */
void fold_records(const Record *records, size_t n, const FoldQuery *query, Fold *ret);

#endif
