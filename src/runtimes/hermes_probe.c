/* Whether a Hermes answers, and what it can do. */
#include "net/call.h"
#include "runtimes/hermes_link.h"
#include "runtimes/lines.h"
#include "runtimes/runtimes.h"

enum { PROBE_MS = 2000, MAX_ANSWER = 1 << 20 };

static bool get(const RuntimeHost *host, Arena *a, const HermesLink *link, const char *path,
                CallAnswer *ret, Err *err)
{
    const char *headers[] = { NULL, NULL };
    FetchRequest request = { .method = "GET",
                             .url = str_printf(a, "%.*s%s", STR_FMT(link->base), path).p,
                             .headers = headers,
                             .secret = link->key.n > 0,
                             .max = MAX_ANSWER,
                             .times = { .connect = PROBE_MS, .total = PROBE_MS } };

    if (link->key.n)
        headers[0] = str_printf(a, "Authorization: Bearer %.*s", STR_FMT(link->key)).p;
    if (!call_wait(host->net, a, &request, ret, err))
        return false;
    if (ret->end != FETCH_OK)
        ret->status = 0;
    return true;
}

static Str why_not(Arena *a, const HermesLink *link, const CallAnswer *answer)
{
    if (!answer->status)
        return hermes_unreachable(a, link, str_of(answer->detail));
    if (answer->status == 401 || answer->status == 403)
        return str_printf(a,
                          "Hermes at %.*s refused the API key (HTTP %d); run 'talaria config set "
                          "hermes.api_key'",
                          STR_FMT(link->base), answer->status);
    return str_printf(a, "%.*s answered HTTP %d, which is not a Hermes API server",
                      STR_FMT(link->base), answer->status);
}

/* Most servers say their version only here. */
static void read_health(const RuntimeHost *host, Arena *a, const HermesLink *link, RuntimeCaps *ret)
{
    AUTO(JsonDoc) *doc = NULL;
    CallAnswer answer;
    Err ignored;

    if (get(host, a, link, "/health", &answer, &ignored) && answer.status == 200)
        doc = json_parse_mended(a, answer.body);
    if (doc)
        ret->version = str_dup(a, version_in(str_at(json_root(doc), "version")));
}

bool hermes_probe(const RuntimeHost *host, Arena *a, RuntimeCaps *ret, Err *err)
{
    AUTO(JsonDoc) *doc = NULL;
    CallAnswer answer;
    HermesLink link;
    Json root;
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
    if (!get(host, a, &link, "/v1/capabilities", &answer, err))
        return false;
    doc = json_parse_mended(a, answer.body);
    root = doc ? json_root(doc) : (Json){ 0 };
    ret->available = doc != NULL && answer.status == 200;
    ret->version = str_dup(a, version_in(str_at(root, "version")));
    ret->model = str_dup(a, str_at(root, "model"));
    ret->approvals = true_at(at(root, "features"), "run_approval_response");
    if (!ret->available)
        ret->detail = why_not(a, &link, &answer);
    else if (!ret->version.n)
        read_health(host, a, &link, ret);
    return true;
}
