#include "sleep/trial/backend_model.h"

#include "base/clock.h"
#include "model/call.h"
#include "sleep/trial/answers.h"

struct ModelBackend {
    Net *net;
    ModelClient *client;
    Answers *answers;
    Str model;        /* in the client's config */
    int64_t *counted; /* numbers of answers that were counted as spent in this run */
    size_t n, cap;
    Asker asker;
    Backend backend;
};

static void spend(ModelBackend *m, Backend *b, const KeptAnswer *answer)
{
    b->calls++;
    b->tokens += answer->tokens;
    b->usd += answer->usd;
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 256;
        m->counted = mem_resize(m->counted, m->cap, sizeof *m->counted);
    }
    m->counted[m->n++] = answer->number;
}

/* An answer that this night had before it was interrupted: it costs now what it cost then, once. */
static bool was_paid_tonight(const ModelBackend *m, const Backend *b, const KeptAnswer *answer)
{
    if (answer->number <= b->paid_before)
        return false;
    for (size_t i = 0; i < m->n; i++)
        if (m->counted[i] == answer->number)
            return false;
    return true;
}

static bool ask_model(ModelBackend *m, Arena *a, const Question *q, KeptAnswer *ret, Err *err)
{
    int64_t start = clock_mono_ns();
    ModelAnswer answer;

    if (!model_ask(a, m->client, q->prompt, q->max_tokens, NULL, &answer, err))
        return false;
    *ret = (KeptAnswer){ .text = answer.text,
                         .tokens = answer.usage.input + answer.usage.output,
                         .usd = answer.cost,
                         .ms = (double)(clock_mono_ns() - start) / 1e6 };
    return true;
}

static bool ask(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                Err *err)
{
    ModelBackend *m = ctx;
    Str key = answers_key(a, m->model, q->kind, q->prompt, q->draw);
    KeptAnswer answer;
    bool found;

    if (!answers_get(m->answers, a, key, &answer, &found, err))
        return false;
    *ret_kept = found;
    b->key = key;
    if (!found &&
        (!ask_model(m, a, q, &answer, err) || !answers_put(m->answers, key, &answer, err)))
        return false;
    if (!found || was_paid_tonight(m, b, &answer))
        spend(m, b, &answer);
    b->waited_ms += answer.ms;
    *ret = answer.text;
    return true;
}

double model_backend_price(const ModelConfig *config)
{
    if (config->price_input <= 0 && config->price_output <= 0)
        return -1;
    /* Three quarters of a night's tokens go in. */
    return (0.75 * config->price_input + 0.25 * config->price_output) / 1e6;
}

ModelBackend *model_backend_new(const SleepHome *home, const ModelConfig *config, Err *err)
{
    AUTO(ModelBackend) *m = mem_alloc(sizeof *m);

    m->net = net_new(err);
    if (!m->net)
        return NULL;
    m->client = model_client_new(m->net, config, err);
    if (!m->client)
        return NULL;
    m->answers = answers_open(home->folder, err);
    if (!m->answers)
        return NULL;
    m->model = model_client_config(m->client)->name;
    m->asker = (Asker){ m, ask };
    m->backend = backend_of_asker("model", m->model, &m->asker);
    if (!answers_last(m->answers, &m->backend.last_answer, err))
        return NULL;
    return TAKE(m);
}

ModelBackend *model_backend_free(ModelBackend *m)
{
    if (m) {
        model_client_free(m->client);
        net_free(m->net);
        answers_close(m->answers);
        mem_free(m->counted);
    }
    return mem_free(m);
}

Backend *model_backend(ModelBackend *m)
{
    return &m->backend;
}
