/* The names of the tables in model.h. */
#include "model/model.h"

static const char *const dialects[] = {
#define X(id, name) [id] = name,
    MODEL_DIALECTS(X)
#undef X
};

static const char *const events[] = {
#define X(id, name) [id] = name,
    MODEL_EVENTS(X)
#undef X
};

static const char *const finishes[] = {
#define X(id, name) [id] = name,
    MODEL_FINISHES(X)
#undef X
};

static const struct {
    const char *name;
    bool again;
} fails[] = {
#define X(id, name, again) [id] = { name, again },
    MODEL_FAILS(X)
#undef X
};

const char *model_dialect_name(ModelDialect dialect)
{
    return dialects[dialect];
}

bool model_dialect_of(Str name, ModelDialect *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        if (str_eqz(name, dialects[i])) {
            *ret = (ModelDialect)i;
            return true;
        }
    }
    return false;
}

const char *model_event_name(ModelEventKind kind)
{
    return events[kind];
}

const char *model_finish_name(ModelFinish finish)
{
    return finishes[finish];
}

const char *model_fail_name(ModelFailKind kind)
{
    return fails[kind].name;
}

bool model_fail_is_retried(const ModelFail *fail)
{
    return fails[fail->kind].again && !fail->final;
}
