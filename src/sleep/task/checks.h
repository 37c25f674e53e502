/* checks.h - demands in corrections, as checks that a program can make.
 *
 * A correction says what an answer must be like: "at most 300 characters, no exclamation marks",
 * "as a table: Mount, Used, Free". A table of readers turns such demands into checks of a rule
 * judge. A check is used only if the history confirms it: the corrected answer fails it, and
 * accepted answers pass. */
#ifndef TALARIA_SLEEP_TASK_CHECKS_H
#define TALARIA_SLEEP_TASK_CHECKS_H

#include "text/record.h"

enum { MAX_BOUND = 100000 }; /* characters that a check may count */

typedef struct Demand {
    const char *op; /* of a rule judge */
    Str arg;        /* a number in digits for max_chars */
    Str says;       /* the demand as a rule; empty: the standard sentence of the op */
    bool telling;   /* so specific that two requests with it are for the same task */
} Demand;

typedef LIST_OF(Demand) Demands;

/* Appends what the correction demands, each once; in English and Chinese. */
void demands_of_correction(Arena *a, Str correction, Demands *ret);

/* {"kind":"rule","checks":[...]}; "{}" if there are none. */
Str demands_judge(Arena *a, const Demand *demands, size_t n);

/* Answers that demands are tried on. */
typedef struct Tried {
    const Str *wrong; /* answers that were corrected */
    size_t n_wrong;
    const Str *right; /* answers that were accepted */
    size_t n_right;
} Tried;

/* Whether `request` demands something that the answer before it did not have: a correction, even if
 * it blames nothing. */
bool demands_not_met(Arena *a, Str request, Str answer);

/* Whether the answers confirm it. */
bool demand_is_confirmed(Arena *a, const Demand *wish, const Tried *answers);

#endif
