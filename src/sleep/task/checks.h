/* checks.h - what a person insisted on, as checks that a program can make.
 *
 * A correction says what an answer must be like: "at most 300 characters, no exclamation marks", "as a
 * table: Mount, Used, Free". Each such demand is read by a row of a table into a check of a rule
 * judge. A check is believed only where the history bears it out: the answer that was corrected fails
 * it, and the answers that people were content with pass. */
#ifndef TALARIA_SLEEP_TASK_CHECKS_H
#define TALARIA_SLEEP_TASK_CHECKS_H

#include "base/arena.h"

enum { MAX_BOUND = 100000 }; /* characters that a check may count */

typedef struct Wish {
    const char *op; /* of a rule judge */
    Str arg;        /* a number in digits for max_chars */
    Str says;       /* the same in words, as a rule; empty: what the op says by itself */
    bool telling;   /* so particular that whoever asks for it asks for the same thing */
} Wish;

typedef struct Wishes {
    Wish *items;
    size_t n, cap;
} Wishes;

/* Appends what the correction demands, each once; in English and Chinese. */
void wishes_of_correction(Arena *a, Str correction, Wishes *ret);

/* {"kind":"rule","checks":[...]}; "{}" where there are none. */
Str wishes_judge(Arena *a, const Wish *wishes, size_t n);

/* Tried by which wishes are tried. */
typedef struct Tried {
    const Str *wrong; /* answers that were corrected */
    size_t n_wrong;
    const Str *right; /* answers that were accepted */
    size_t n_right;
} Tried;

/* Whether `request` asks for something that `answer`, given before it, did not have: a correction, also
 * where it blames nobody. */
bool wishes_correct(Arena *a, Str request, Str answer);

/* Whether the answers bear it out. */
bool wish_is_borne_out(Arena *a, const Wish *wish, const Tried *answers);

#endif
