/* Whether a Hermes answers, and what it can do. */
#include <pthread.h>

#include "net/fetch.h"
#include "runtimes/hermes_link.h"
#include "runtimes/lines.h"
#include "runtimes/runtimes.h"

enum { PROBE_MS = 2000, ANSWER_MOST = 1 << 20 };

typedef struct Ask {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    int status;
    char detail[128];
    Buf body;
} Ask;

static bool on_body(void *ctx, Str bytes)
{
    Ask *ask = ctx;

    buf_add(&ask->body, bytes);
    return !buf_full(&ask->body);
}

static void on_done(void *ctx, const FetchDone *done)
{
    Ask *ask = ctx;

    pthread_mutex_lock(&ask->lock);
    ask->status = done->end == FETCH_OK ? done->status : 0;
    snprintf(ask->detail, sizeof ask->detail, "%s", done->detail);
    ask->over = true;
    pthread_cond_signal(&ask->changed);
    pthread_mutex_unlock(&ask->lock);
}

static bool fetch(const RuntimeHost *host, Arena *a, const HermesLink *link, const char *path,
                  Ask *ask, Err *err)
{
    static const FetchHandlers handlers = { NULL, on_body, on_done };
    const char *headers[] = { NULL, NULL };
    FetchRequest request = { .method = "GET",
                             .url = str_printf(a, "%.*s%s", STR_FMT(link->base), path).p,
                             .headers = headers,
                             .secret = link->key.n > 0,
                             .times = { .connect = PROBE_MS, .total = PROBE_MS } };
    NetId id;

    if (link->key.n)
        headers[0] = str_printf(a, "Authorization: Bearer %.*s", STR_FMT(link->key)).p;
    if (!fetch_start(host->net, &request, &handlers, ask, &id, err))
        return false;
    pthread_mutex_lock(&ask->lock);
    while (!ask->over)
        pthread_cond_wait(&ask->changed, &ask->lock);
    pthread_mutex_unlock(&ask->lock);
    return true;
}

static Str why_not(Arena *a, const HermesLink *link, const Ask *ask)
{
    if (!ask->status)
        return hermes_unreachable(a, link, str_of(ask->detail));
    if (ask->status == 401 || ask->status == 403)
        return str_printf(a,
                          "Hermes at %.*s refused the API key (HTTP %d); run 'talaria config set "
                          "hermes.api_key'",
                          STR_FMT(link->base), ask->status);
    return str_printf(a, "%.*s answered HTTP %d, which is not a Hermes API server",
                      STR_FMT(link->base), ask->status);
}

static void read_capabilities(Arena *a, const HermesLink *link, const Ask *ask, RuntimeCaps *ret)
{
    AUTO(JsonDoc) *doc = json_parse_mended(a, buf_str(&ask->body));
    Json root = doc ? json_root(doc) : (Json){ 0 };

    ret->available = doc != NULL && ask->status == 200;
    ret->version = str_dup(a, version_in(str_at(root, "version")));
    ret->model = str_dup(a, str_at(root, "model"));
    ret->approvals = true_at(at(root, "features"), "run_approval_response");
    if (!ret->available)
        ret->detail = why_not(a, link, ask);
}

/* Most have it there. */
static void read_health(const RuntimeHost *host, Arena *a, const HermesLink *link, RuntimeCaps *ret)
{
    Ask ask = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    ask.body = BUF(ANSWER_MOST);
    if (fetch(host, a, link, "/health", &ask, &ignored) && ask.status == 200)
        doc = json_parse_mended(a, buf_str(&ask.body));
    if (doc)
        ret->version = str_dup(a, version_in(str_at(json_root(doc), "version")));
    buf_done(&ask.body);
}

bool hermes_probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    Ask ask = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    HermesLink link;
    Err why;

    *ret = (RuntimeCaps){ .resumes = true,
                          .has_model = true,
                          .tools = true,
                          .streams = true,
                          .max_parallel = 10, /* runs at once, by its own limit */
                          .model = STR(""),
                          .version = STR(""),
                          .detail = STR("") };
    if (!hermes_link(a, host->settings, &link, &why)) {
        ret->detail = str_dup(a, str_of(why.text));
        return true;
    }
    ask.body = BUF(ANSWER_MOST);
    if (!fetch(host, a, &link, "/v1/capabilities", &ask, err))
        return false;
    read_capabilities(a, &link, &ask, ret);
    if (ret->available && !ret->version.n)
        read_health(host, a, &link, ret);
    buf_done(&ask.body);
    return true;
}
