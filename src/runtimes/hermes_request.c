/* The requests of a turn: which route, which fields. */
#include "runtimes/hermes_request.h"

/* The frame of the run says what was late: its timer comes first. */
enum { HEALTH_MS = 2000, SLACK_MS = 2000 };

/* -- fields -- */

const char *const *hermes_headers(HermesRun *h)
{
    Arena *a = h->run.arena;
    const char **headers = ARENA_ARRAY(a, const char *, 5);
    size_t n = 0;

    headers[n++] = "Content-Type: application/json";
    if (h->link.key.n) {
        headers[n++] = str_printf(a, "Authorization: Bearer %.*s", STR_FMT(h->link.key)).p;
        /* Without a key a server refuses the header; then the history goes along instead. */
        headers[n++] = str_printf(a, "X-Hermes-Session-Id: %.*s", STR_FMT(h->handle.session)).p;
    }
    return headers;
}

static void put_message(JsonWriter *w, const char *role, Str text)
{
    json_begin(w, '{');
    json_field_str(w, "role", str_of(role));
    json_field_str(w, "content", text);
    json_end(w, '}');
}

static void put_history(JsonWriter *w, const RuntimeRequest *r)
{
    for (size_t i = 0; i < r->n_history; i++)
        put_message(w, r->history[i].from_user ? "user" : "assistant", r->history[i].text);
}

static void chat_body(HermesRun *h, JsonWriter *w)
{
    json_field_str(w, "model", h->run.request.model.n ? h->run.request.model : STR("hermes-agent"));
    json_field_bool(w, "stream", true);
    json_field_begin(w, "messages", '[');
    if (h->preamble.n)
        put_message(w, "system", h->preamble);
    if (!h->link.key.n)
        put_history(w, &h->run.request);
    put_message(w, "user", h->user);
    json_end(w, ']');
}

static void responses_body(HermesRun *h, JsonWriter *w)
{
    json_field_str(w, "model", h->run.request.model.n ? h->run.request.model : STR("hermes-agent"));
    json_field_bool(w, "stream", true);
    json_field_str(w, "conversation", h->handle.session);
    if (h->preamble.n)
        json_field_str(w, "instructions", h->preamble);
    json_field_str(w, "input", h->user);
}

/* Runs load no history of their own, whatever the session. */
static void runs_body(HermesRun *h, JsonWriter *w)
{
    json_field_str(w, "session_id", h->handle.session);
    if (h->preamble.n)
        json_field_str(w, "instructions", h->preamble);
    json_field_begin(w, "conversation_history", '[');
    put_history(w, &h->run.request);
    json_end(w, ']');
    json_field_str(w, "input", h->user);
}

static void session_body(HermesRun *h, JsonWriter *w)
{
    json_field_str(w, "message", h->user);
    if (h->preamble.n)
        json_field_str(w, "system_message", h->preamble);
}

static void create_body(HermesRun *h, JsonWriter *w)
{
    json_field_str(w, "id", h->handle.session);
}

typedef struct Route {
    const char *method, *format; /* of the path; the id of the session or of the run is put in */
    void (*body)(HermesRun *h, JsonWriter *w);
} Route;

static Route route_of(const HermesRun *h, Step step)
{
    static const Route turns[] = {
        [HERMES_SESSION] = { "POST", "/api/sessions/%.*s/chat/stream", session_body },
        [HERMES_RUNS] = { "GET", "/v1/runs/%.*s/events", NULL },
        [HERMES_RESPONSES] = { "POST", "/v1/responses", responses_body },
        [HERMES_CHAT] = { "POST", "/v1/chat/completions", chat_body },
    };

    switch (step) {
    case PROBE:
        return (Route){ "GET", "/v1/capabilities", NULL };
    case HEALTH:
        return (Route){ "GET", "/health", NULL };
    case CREATE:
        return (Route){ "POST", "/api/sessions", create_body };
    case SUBMIT:
        return (Route){ "POST", "/v1/runs", runs_body };
    case POLL:
        return (Route){ "GET", "/v1/runs/%.*s", NULL };
    default:
        return turns[h->dialect];
    }
}

const char *hermes_url(HermesRun *h, const char *format)
{
    Arena *a = h->run.arena;
    Str id = h->dialect == HERMES_SESSION ? h->handle.session : h->stream.run;
    Str text = str_of(format), spot = STR("%.*s");
    size_t hole = str_find(text, spot);

    if (hole == text.n)
        return str_printf(a, "%.*s%s", STR_FMT(h->link.base), format).p;
    return str_printf(a, "%.*s%.*s%.*s%.*s", STR_FMT(h->link.base), STR_FMT(str_head(text, hole)),
                      STR_FMT(id), STR_FMT(str_skip(text, hole + spot.n)))
        .p;
}

FetchRequest hermes_request(HermesRun *h, Step step, Buf *body)
{
    const RuntimeRequest *r = &h->run.request;
    Route route = route_of(h, step);
    JsonWriter w = JSON_WRITER(body, 0);
    FetchRequest request = { .method = route.method,
                             .url = hermes_url(h, route.format),
                             .headers = hermes_headers(h),
                             .secret = h->link.key.n > 0,
                             .times = { .connect = r->connect_ms,
                                        .total = run_left_ms(&h->run) + SLACK_MS } };

    if (step == HEALTH && request.times.total > HEALTH_MS)
        request.times.total = HEALTH_MS;
    if (route.body) {
        json_begin(&w, '{');
        route.body(h, &w);
        json_end(&w, '}');
        request.body = buf_str(body);
    }
    return request;
}
