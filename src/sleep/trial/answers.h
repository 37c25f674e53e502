/* answers.h - stored answers of models, so that nothing is paid for twice.
 *
 * A small database in sleep's folder. Each answer is synced before it is used; the oldest are
 * deleted when there are too many. A handle belongs to one thread. */
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

/* The key of a question: 64 digits. */
Str answers_key(Arena *a, Str model, const char *kind, Str prompt, Str draw);

MUST_CHECK bool answers_get(Answers *s, Arena *a, Str key, KeptAnswer *ret, bool *ret_found,
                            Err *err);
/* Sets the number. An answer that exists already stays. */
MUST_CHECK bool answers_put(Answers *s, Str key, KeptAnswer *answer, Err *err);
/* The number of the newest; 0 if there is none. */
MUST_CHECK bool answers_last(Answers *s, int64_t *ret, Err *err);

#endif
