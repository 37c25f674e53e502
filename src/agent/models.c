/* The models that turns ask: a client each, made when a turn first names the model. The configured
 * model has its own place; the other places go to the models that were asked last. A client
 * that a turn holds is never dropped. */
#include "agent/service_inside.h"

static ModelClient *make(Service *s, Str request, Err *err)
{
    AUTO(Arena) *a = arena_new();
    ModelConfig config;

    if (!model_config_of(a, s->options.settings, request, &config, err))
        return NULL;
    return model_client_new(s->net, &config, err);
}

/* Freeing cancels what is out and waits for its last event, which no caller of service_model should
 * do. */
static void free_client(void *client)
{
    model_client_free(client);
}

/* The place for a name that has none: the first free one, else the one whose model was asked
 * longest ago. */
static ServiceModel *place_for(Service *s, Str request)
{
    ServiceModel *oldest = NULL;

    if (!request.n)
        return &s->models[0];
    for (size_t i = 1; i < ARRAY_LEN(s->models); i++) {
        ServiceModel *m = &s->models[i];

        if (!m->client)
            return m;
        if (!m->holders && (!oldest || m->asked < oldest->asked))
            oldest = m;
    }
    return oldest;
}

static ServiceModel *find(Service *s, Str request)
{
    for (size_t i = 0; i < ARRAY_LEN(s->models); i++)
        if (s->models[i].client && str_eqz(request, s->models[i].name))
            return &s->models[i];
    return NULL;
}

/* Under the models' lock, which is one of its own: a turn asks while it holds its lock. */
static ServiceModel *find_or_make(Service *s, Str request, Err *err)
{
    ServiceModel *m = find(s, request);
    ModelClient *client;

    if (m)
        return m;
    m = place_for(s, request);
    if (!m) {
        (void)err_set(err, ERR_BUSY, "%d models are answering at once; try again",
                      LIMIT_SERVICE_MODELS);
        return NULL;
    }
    client = make(s, request, err);
    if (!client)
        return NULL;
    if (m->client)
        service_work(s, free_client, m->client);
    mem_free(m->name);
    *m = (ServiceModel){ .name = mem_strdup(request), .client = client };
    return m;
}

ModelClient *service_model(void *service, Str request, Err *err)
{
    Service *s = service;
    ModelClient *client = NULL;
    ServiceModel *m;

    pthread_mutex_lock(&s->models_lock);
    m = find_or_make(s, request.p ? request : STR(""), err);
    if (m) {
        m->holders++;
        m->asked = ++s->n_asked;
        client = m->client;
    }
    pthread_mutex_unlock(&s->models_lock);
    return client;
}

void service_model_done(void *service, ModelClient *client)
{
    Service *s = service;

    pthread_mutex_lock(&s->models_lock);
    for (size_t i = 0; i < ARRAY_LEN(s->models); i++)
        if (client && s->models[i].client == client)
            s->models[i].holders--;
    pthread_mutex_unlock(&s->models_lock);
}

void service_models_free(Service *s)
{
    for (size_t i = 0; i < ARRAY_LEN(s->models); i++) {
        ModelClient *client;

        pthread_mutex_lock(&s->models_lock);
        client = TAKE(s->models[i].client);
        pthread_mutex_unlock(&s->models_lock);
        model_client_free(client);
        s->models[i].name = mem_free(s->models[i].name);
    }
}
