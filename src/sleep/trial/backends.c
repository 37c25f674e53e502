#include "sleep/trial/backends.h"

#include "sleep/trial/backend_mock.h"
#include "sleep/trial/backend_model.h"

Str answerer_kind(const AnswererOptions *options, const Settings *settings)
{
    if (options->kind.n)
        return options->kind;
    return model_config_exists(settings) ? STR("model") : STR("mock");
}

static bool open_model(Arena *a, const SleepHome *home, const Settings *settings, Str name,
                       Answerer *ret, Err *err)
{
    ModelConfig config;

    if (!model_config(a, settings, &config, err))
        return err_wrap(err, "backend 'model'");
    if (name.n)
        config.name = name;
    ret->usd_per_token = model_backend_price(&config);
    ret->model = model_backend_new(home, &config, err);
    ret->backend = ret->model ? model_backend(ret->model) : NULL;
    return ret->model != NULL;
}

bool answerer_open(Arena *a, const SleepHome *home, const Settings *settings,
                   const AnswererOptions *options, Answerer *ret, Err *err)
{
    Str kind = answerer_kind(options, settings);

    *ret = (Answerer){ .usd_per_token = -1 };
    if (!sleep_home_make(home, err))
        return false;
    if (str_eqz(kind, "model"))
        return open_model(a, home, settings, options->model, ret, err);
    if (str_eqz(kind, "handoff")) {
        ret->handoff = handoff_backend_new(home);
        ret->backend = handoff_backend(ret->handoff);
        return true;
    }
    if (!str_eqz(kind, "mock"))
        return err_set(err, ERR_INVALID, "no backend '%.*s'", STR_FMT(kind));
    ret->mock = backend_mock();
    ret->backend = &ret->mock;
    return true;
}

void answerer_close(Answerer *who)
{
    who->model = model_backend_free(who->model);
    who->handoff = handoff_backend_free(who->handoff);
}

bool answerer_can_count(const Answerer *who, const Budget *budget, Err *err)
{
    if (budget->max_usd > 0 && who->model && who->usd_per_token < 0)
        return err_set(
            err, ERR_USAGE,
            "a budget in money needs the prices of the model: set 'model.price_input' and "
            "'model.price_output'");
    return true;
}
