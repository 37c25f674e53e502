/* asker.h - a backend that puts its questions as text: attempts, judgements and reflections become
 * prompts here, whoever answers them.
 *
 * Two answer: a model (backend_model.h) and people or other agents, through files (backend_handoff.h).
 * Every prompt begins with a mark, so that a night never learns from its own questions. */
#ifndef TALARIA_SLEEP_TRIAL_ASKER_H
#define TALARIA_SLEEP_TRIAL_ASKER_H

#include "sleep/trial/backend.h"

typedef struct Question {
    const char *kind; /* "attempt", "judge", "reflect", "mine" */
    Str prompt;
    int64_t max_tokens;
    Str draw; /* tells further samples of the same prompt apart; empty: the plain answer */
} Question;

typedef struct Asker {
    void *ctx;
    /* The answer, and whether it was there before. Where there is none yet: STR_NONE, and b->pending
     * counts it. */
    bool (*ask)(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                Err *err);
} Asker;

/* Sets attempt, judge, reflect and call; the asker must outlive the backend. */
Backend backend_of_asker(const char *name, Str model, const Asker *asker);

#endif
