#include "model/budget.h"

#include <pthread.h>

#include "base/clock.h"

struct ModelBudget {
    pthread_mutex_t lock;
    ModelLimits limits;
    ModelSpent spent;     /* without ms */
    int64_t aside_tokens; /* for calls that are out */
    double aside_money;
    int64_t began;
};

ModelBudget *model_budget_new(const ModelLimits *limits)
{
    ModelBudget *b = mem_alloc(sizeof *b);

    pthread_mutex_init(&b->lock, NULL);
    b->limits = *limits;
    b->began = clock_mono_ms();
    return b;
}

ModelBudget *model_budget_free(ModelBudget *b)
{
    if (b)
        pthread_mutex_destroy(&b->lock);
    return mem_free(b);
}

ModelSpent model_budget_spent(ModelBudget *b)
{
    ModelSpent spent;

    pthread_mutex_lock(&b->lock);
    spent = b->spent;
    pthread_mutex_unlock(&b->lock);
    spent.ms = clock_mono_ms() - b->began;
    return spent;
}

int64_t model_budget_left_ms(const ModelBudget *b)
{
    int64_t left = b->began + b->limits.ms - clock_mono_ms();

    return !b->limits.ms ? INT64_MAX : left > 0 ? left : 0;
}

double model_cost(const ModelConfig *config, const ModelUsage *usage)
{
    return ((double)usage->input * config->price_input +
            (double)usage->output * config->price_output) /
           1e6;
}

static int64_t tokens_of(const ModelUsage *u)
{
    return u->input + u->output;
}

static bool fits(const ModelBudget *b, const ModelConfig *config, const ModelUsage *max, Err *err)
{
    const ModelLimits *l = &b->limits;
    int64_t tokens = b->spent.input + b->spent.output + b->aside_tokens + tokens_of(max);
    double money = b->spent.money + b->aside_money + model_cost(config, max);

    if (model_budget_left_ms(b) == 0)
        return err_set(err, ERR_REFUSED, "the budget of time is used up");
    if (l->calls && b->spent.calls >= l->calls)
        return err_set(err, ERR_REFUSED, "the budget of %lld calls is used up",
                       (long long)l->calls);
    if (l->tokens && tokens > l->tokens)
        return err_set(err, ERR_REFUSED, "the budget of %lld tokens has no room for a call",
                       (long long)l->tokens);
    if (l->money > 0 && config->price_input <= 0 && config->price_output <= 0)
        return err_set(err, ERR_INVALID,
                       "a budget of money needs model.price_input and model.price_output");
    if (l->money > 0 && money > l->money)
        return err_set(err, ERR_REFUSED, "the budget of %.2f has no room for a call", l->money);
    return true;
}

bool model_budget_take(ModelBudget *b, const ModelConfig *config, const ModelUsage *max, Err *err)
{
    bool ok;

    pthread_mutex_lock(&b->lock);
    ok = fits(b, config, max, err);
    if (ok) {
        b->spent.calls++;
        b->aside_tokens += tokens_of(max);
        b->aside_money += model_cost(config, max);
    }
    pthread_mutex_unlock(&b->lock);
    return ok;
}

void model_budget_settle(ModelBudget *b, const ModelConfig *config, const ModelUsage *max,
                         const ModelUsage *used)
{
    pthread_mutex_lock(&b->lock);
    b->aside_tokens -= tokens_of(max);
    b->aside_money -= model_cost(config, max);
    b->spent.input += used->input;
    b->spent.output += used->output;
    b->spent.money += model_cost(config, used);
    pthread_mutex_unlock(&b->lock);
}
