/* answers.h - what models answered, so that nothing is paid for twice.
 *
 * A small database of our own in sleep's folder; each answer is there for good before it is used. Old
 * ones go when there are too many. One thread a handle. */
#ifndef TALARIA_SLEEP_TRIAL_ANSWERS_H
#define TALARIA_SLEEP_TRIAL_ANSWERS_H

#include "base/arena.h"
#include "base/err.h"

typedef struct KeptAnswer {
    Str text;
    int64_t tokens;
    double usd, ms; /* what it cost, and how long it took */
    int64_t number; /* counts up */
} KeptAnswer;

typedef struct Answers Answers;

MUST_CHECK Answers *answers_open(Str folder, Err *err);
Answers *answers_close(Answers *s);
AUTO_FREE(Answers, answers_close)

/* A name for what was asked: 64 digits. */
Str answers_key(Arena *a, Str model, const char *kind, Str prompt, Str draw);

MUST_CHECK bool answers_get(Answers *s, Arena *a, Str key, KeptAnswer *ret, bool *ret_found,
                            Err *err);
/* Sets the number. An answer that is there already stays. */
MUST_CHECK bool answers_put(Answers *s, Str key, KeptAnswer *answer, Err *err);
/* The number of the newest; 0 where there is none. */
MUST_CHECK bool answers_last(Answers *s, int64_t *ret, Err *err);

#endif
