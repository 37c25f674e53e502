/* asker.h - a backend that asks in text: attempts, judgements and reflections become prompts here.
 *
 * The prompts are answered by a model (backend_model.h) or, through files, by people or other
 * agents (backend_handoff.h). Every prompt begins with SLEEP_MARK. */
#ifndef TALARIA_SLEEP_TRIAL_ASKER_H
#define TALARIA_SLEEP_TRIAL_ASKER_H

#include "sleep/trial/backend.h"

typedef struct Question {
    const char *kind; /* "attempt", "judge", "reflect", "mine" */
    Str prompt;
    int64_t max_tokens;
    Str draw; /* distinguishes samples of the same prompt; empty: the plain answer */
} Question;

typedef struct Asker {
    void *ctx;
    /* The answer, and whether it was in the store. If there is none yet: STR_NONE, and b->pending
     * counts it. */
    bool (*ask)(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                Err *err);
} Asker;

/* Sets attempt, judge, reflect and call; the asker must outlive the backend. */
Backend backend_of_asker(const char *name, Str model, const Asker *asker);

#endif
