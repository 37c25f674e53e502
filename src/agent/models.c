/* The models that turns ask: a client each, made when it is first asked for, kept while the service lives. */
#include "agent/service_inside.h"

static ModelClient *make(Service *s, Str wish, Err *err)
{
    AUTO(Arena) *a = arena_new();
    ModelConfig config;

    if (!model_config_of(a, s->options.settings, wish, &config, err))
        return NULL;
    return model_client_new(s->net, &config, err);
}

/* Under the models' lock, which is one of its own: a turn asks while it holds its lock. */
static ModelClient *find_or_make(Service *s, Str wish, Err *err)
{
    ServiceModel *m;

    for (size_t i = 0; i < s->n_models; i++)
        if (str_eqz(wish, s->models[i].name))
            return s->models[i].client;
    if (s->n_models == ARRAY_LEN(s->models)) {
        (void)err_set(err, ERR_BUSY,
                      "%d models are in use, and no more fit: restart to forget them",
                      LIMIT_SERVICE_MODELS);
        return NULL;
    }
    m = &s->models[s->n_models];
    m->client = make(s, wish, err);
    if (!m->client)
        return NULL;
    m->name = mem_strdup(wish);
    s->n_models++;
    return m->client;
}

ModelClient *service_model(void *service, Str wish, Err *err)
{
    Service *s = service;
    ModelClient *client;

    pthread_mutex_lock(&s->models_lock);
    client = find_or_make(s, wish.p ? wish : STR(""), err);
    pthread_mutex_unlock(&s->models_lock);
    return client;
}

void service_models_free(Service *s)
{
    for (size_t i = 0; i < s->n_models; i++) {
        model_client_free(s->models[i].client);
        mem_free(s->models[i].name);
    }
    s->n_models = 0;
}
