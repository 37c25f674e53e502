#include "model/call.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "text/tokens.h"

enum { MAX_TOKENS_UNSAID = 4096 }; /* set aside where a request names no most */

/* Shared with the loop's thread until the last event. */
typedef struct Waiting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    Arena *arena;
    ModelAnswer answer;
    size_t cap_calls;
    Buf text, reasoning;
    bool has_usage;
    int64_t began;
} Waiting;

static void take_call(Waiting *w, const ModelToolCall *call)
{
    ModelToolCall copy = { str_dup(w->arena, call->id), str_dup(w->arena, call->name),
                           str_dup(w->arena, call->arguments) };

    ARENA_PUSH(w->arena, w->answer.calls, w->answer.n_calls, w->cap_calls, copy);
}

static void take_event(Waiting *w, const ModelEvent *e)
{
    ModelAnswer *answer = &w->answer;

    if (e->kind != MODEL_RETRY && e->kind != MODEL_ERROR && answer->first_ms < 0)
        answer->first_ms = clock_mono_ms() - w->began;
    switch (e->kind) {
    case MODEL_TEXT:
        buf_add(&w->text, e->text);
        break;
    case MODEL_REASONING:
        buf_add(&w->reasoning, e->text);
        break;
    case MODEL_TOOL_CALL:
        take_call(w, &e->call);
        break;
    case MODEL_RETRY:
        answer->attempts = e->attempt;
        break;
    case MODEL_USAGE:
        answer->usage = e->usage;
        w->has_usage = true;
        break;
    case MODEL_FINISH:
        answer->finish = e->finish;
        break;
    case MODEL_ERROR:
        answer->fail = e->fail;
        answer->fail.message = str_dup(w->arena, e->fail.message);
        break;
    }
}

static void on_event(void *ctx, const ModelEvent *e)
{
    Waiting *w = ctx;

    pthread_mutex_lock(&w->lock);
    take_event(w, e);
    w->over = model_event_is_last(e);
    if (w->over)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

/* -- usage -- */

static int64_t estimate_input(const ModelRequest *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_messages; i++) {
        n += tokens_estimate(r->messages[i].text) + 4;
        for (size_t k = 0; k < r->messages[i].n_calls; k++)
            n += tokens_estimate(r->messages[i].calls[k].arguments) + 8;
    }
    for (size_t i = 0; i < r->n_tools; i++)
        n += tokens_estimate(r->tools[i].schema) + tokens_estimate(r->tools[i].description) + 8;
    return (int64_t)n;
}

static void settle_usage(Waiting *w, const ModelRequest *r)
{
    ModelAnswer *answer = &w->answer;
    size_t said = tokens_estimate(buf_str(&w->text)) + tokens_estimate(buf_str(&w->reasoning));

    if (w->has_usage)
        return;
    answer->usage.estimated = true;
    /* Nothing came, nothing was paid, as far as anyone can tell. */
    if (answer->fail.kind != MODEL_FAIL_NONE && !said)
        return;
    answer->usage.input = estimate_input(r);
    answer->usage.output = (int64_t)said;
}

/* -- the call -- */

bool model_fail_to_err(const ModelConfig *config, const ModelFail *fail, Err *err)
{
    ErrKind kind = fail->kind == MODEL_FAIL_CANCELLED ? ERR_INTERRUPTED
                   : fail->kind == MODEL_FAIL_AUTH    ? ERR_REFUSED
                   : fail->kind == MODEL_FAIL_BAD_REQUEST || fail->kind == MODEL_FAIL_CONTEXT ||
                           fail->kind == MODEL_FAIL_FILTER
                       ? ERR_INVALID
                       : ERR_IO;

    if (fail->status >= 300)
        return err_set(err, kind, "model '%.*s': %s (HTTP %d): %.*s", STR_FMT(config->name),
                       model_fail_name(fail->kind), fail->status, STR_FMT(fail->message));
    return err_set(err, kind, "model '%.*s': %s: %.*s", STR_FMT(config->name),
                   model_fail_name(fail->kind), STR_FMT(fail->message));
}

/* False: it could not even begin. */
static bool run(Waiting *w, ModelClient *client, const ModelRequest *request, Err *err)
{
    NetId id;
    bool ok;

    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->began = clock_mono_ms();
    ok = model_start(client, request, on_event, w, &id, err);
    if (ok) {
        pthread_mutex_lock(&w->lock);
        while (!w->over)
            pthread_cond_wait(&w->changed, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
    w->answer.ms = clock_mono_ms() - w->began;
    w->answer.text = str_dup(w->arena, buf_str(&w->text));
    w->answer.reasoning = str_dup(w->arena, buf_str(&w->reasoning));
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    return ok;
}

bool model_call(Arena *a, ModelClient *client, const ModelRequest *request, ModelBudget *budget,
                ModelAnswer *ret, Err *err)
{
    const ModelConfig *config = model_client_config(client);
    Waiting w = { .arena = a,
                  .answer = { .first_ms = -1, .attempts = 1, .fail.retry_after_ms = -1 },
                  .text = BUF(LIMIT_MODEL_ANSWER),
                  .reasoning = BUF(LIMIT_MODEL_ANSWER) };
    ModelRequest r = *request;
    ModelUsage max = { .input = estimate_input(request),
                       .output = r.max_tokens         ? r.max_tokens
                                 : config->max_tokens ? config->max_tokens
                                                      : MAX_TOKENS_UNSAID };
    bool begun;

    *ret = w.answer;
    if (budget && !model_budget_take(budget, config, &max, err))
        return false;
    if (!r.deadline_ms)
        r.deadline_ms = config->times.total;
    if (budget && model_budget_left_ms(budget) < r.deadline_ms)
        r.deadline_ms = model_budget_left_ms(budget) + 1;
    begun = run(&w, client, &r, err);
    if (begun)
        settle_usage(&w, request);
    if (budget)
        model_budget_settle(budget, config, &max, &w.answer.usage);
    buf_done(&w.text);
    buf_done(&w.reasoning);
    w.answer.cost = model_cost(config, &w.answer.usage);
    *ret = w.answer;
    if (begun && ret->fail.kind != MODEL_FAIL_NONE)
        return model_fail_to_err(config, &ret->fail, err);
    return begun;
}

bool model_ask(Arena *a, ModelClient *client, Str prompt, int64_t max_tokens, ModelBudget *budget,
               ModelAnswer *ret, Err *err)
{
    ModelMessage message = { .role = MODEL_USER, .text = prompt };
    ModelRequest request = { .messages = &message, .n_messages = 1, .max_tokens = max_tokens };

    return model_call(a, client, &request, budget, ret, err);
}
