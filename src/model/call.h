/* call.h - a call of a model for those who can wait: one function, one answer. */
#ifndef TALARIA_MODEL_CALL_H
#define TALARIA_MODEL_CALL_H

#include "model/budget.h"
#include "model/client.h"

typedef struct ModelAnswer {
    Str text, reasoning;
    ModelToolCall *calls;
    size_t n_calls;
    ModelFinish finish;
    ModelUsage usage; /* estimated where the server told nothing */
    double cost;
    int64_t ms, first_ms; /* until the end; until the first word, -1: none came */
    int attempts;
    ModelFail fail; /* kind MODEL_FAIL_NONE: all is well */
} ModelAnswer;

/* Waits for the whole answer, which lives in the arena. False and err where there is none; then the
 * fail, the times and the usage in *ret still hold (a budget that is used up has no fail). The
 * budget may be NULL. Any thread but the loop's; model_cancel_all from another thread ends it. */
MUST_CHECK bool model_call(Arena *a, ModelClient *client, const ModelRequest *request,
                           ModelBudget *budget, ModelAnswer *ret, Err *err);

/* The same with one user message; max_tokens 0: the server's default. */
MUST_CHECK bool model_ask(Arena *a, ModelClient *client, Str prompt, int64_t max_tokens,
                          ModelBudget *budget, ModelAnswer *ret, Err *err);

/* The failure as an Err that names the model. Always false. */
bool model_fail_to_err(const ModelConfig *config, const ModelFail *fail, Err *err);

#endif
