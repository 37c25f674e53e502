/* A call is a small state machine on the loop's thread:
 *
 *   waiting --(a place is free, no pause)--> out --(terminal)--> gone
 *      ^                                      |
 *      +------- (failed unheard, in time) ----+
 *
 * "waiting" has a time before which it may not go out (0 at first, then the back-off). All state is
 * touched on the loop's thread only. */
#include "model/client.h"

#include <pthread.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/limits.h"
#include "model/dialect.h"
#include "model/fail.h"

enum { BACKOFF_MOST_MS = 16000, DRAIN_MS = 1000, ERROR_BODY = 64 * 1024 };

typedef struct Call {
    ModelClient *client;
    NetId id;
    Arena *arena;
    Buf body;
    bool whole;
    ModelEventFn *fn;
    void (*raw)(void *ctx, Str bytes); /* or NULL */
    void *ctx;
    bool out;           /* a request is on its way */
    bool said;          /* text, reasoning or a tool call was given out: no more tries */
    bool over;          /* the terminal event was given out */
    bool failed, again; /* of the present try */
    int attempt;
    int64_t not_before, began, deadline;
    NetId fetch;
    ModelStream *stream;
    FetchHead head; /* of an answer that is no success */
    Buf error_body;
    ModelFail fail; /* why the present try failed; message in the arena */
    NetTimer timer; /* the deadline */
    struct Call *next, *prev;
} Call;

struct ModelClient {
    Net *net;
    Arena *arena;
    ModelConfig config;
    const char *url;
    const char **headers;
    bool official;
    NetTimer gate; /* when the next waiting call may go out */
    int64_t pause_until;
    int64_t n_out;
    Call ring; /* in the order in which they came */
    _Atomic uint64_t last_id;
    pthread_mutex_t lock;
    pthread_cond_t none;
    size_t count; /* calls begun and not gone; under the lock */
};

/* Looks, soon, whether something may go out. Never at once: the caller may be walking over the
 * calls. */
static void open_gate(ModelClient *c)
{
    net_timer_set(c->net, &c->gate, clock_mono_ms());
}

/* -- the end of a call -- */

static void dispose(Call *k)
{
    ModelClient *c = k->client;

    net_timer_stop(c->net, &k->timer);
    k->prev->next = k->next;
    k->next->prev = k->prev;
    k->stream = model_stream_free(k->stream);
    buf_done(&k->body);
    buf_done(&k->error_body);
    arena_free(k->arena);
    pthread_mutex_lock(&c->lock);
    if (--c->count == 0)
        pthread_cond_broadcast(&c->none);
    pthread_mutex_unlock(&c->lock);
}

static void give(Call *k, const ModelEvent *e)
{
    if (k->over)
        return;
    k->over = model_event_is_last(e);
    k->fn(k->ctx, e);
}

static void give_fail(Call *k)
{
    ModelEvent e = { .kind = MODEL_ERROR, .fail = k->fail };

    e.fail.message = fail_message(k->arena, k->fail.message, k->client->config.key);
    give(k, &e);
}

static void set_fail(Call *k, const ModelFail *fail)
{
    k->failed = true;
    k->fail = *fail;
    k->fail.message = str_dup(k->arena, fail->message);
}

/* -- trying again -- */

/* Twice as long each time, between a half and the whole of it: many callers must not come in
 * step. */
static int64_t backoff_ms(const Call *k)
{
    int64_t span = k->client->config.backoff_ms << (k->attempt - 1);
    uint32_t random = 0;

    if (span > BACKOFF_MOST_MS)
        span = BACKOFF_MOST_MS;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    return span / 2 + (int64_t)(random % (uint64_t)(span / 2 + 1));
}

static bool may_retry(const Call *k, int64_t wait)
{
    const ModelConfig *config = &k->client->config;
    int64_t at = clock_mono_ms() + wait;

    return k->failed && !k->said && !k->over && model_fail_is_retried(&k->fail) &&
           k->attempt < config->tries && at < k->began + config->retry_ms && at < k->deadline;
}

static void retry(Call *k, int64_t wait)
{
    ModelClient *c = k->client;
    ModelEvent e = {
        .kind = MODEL_RETRY, .fail = k->fail, .attempt = k->attempt + 1, .wait_ms = wait
    };

    k->not_before = clock_mono_ms() + wait;
    if (k->fail.kind == MODEL_FAIL_RATE_LIMITED && k->not_before > c->pause_until)
        c->pause_until = k->not_before;
    e.fail.message = fail_message(k->arena, k->fail.message, c->config.key);
    give(k, &e);
}

/* The request is over, well or badly: what now? */
static void end_try(Call *k)
{
    ModelClient *c = k->client;
    int64_t wait = backoff_ms(k);

    if (k->fail.retry_after_ms > 0)
        wait = k->fail.retry_after_ms;
    k->out = false;
    c->n_out--;
    k->stream = model_stream_free(k->stream);
    if (may_retry(k, wait)) {
        retry(k, wait);
    } else {
        if (k->failed)
            give_fail(k);
        dispose(k);
    }
    open_gate(c);
}

/* -- one try -- */

/* A failure waits for the end of the request, where it is decided whether it is the last word. */
static void on_event(void *ctx, const ModelEvent *e)
{
    Call *k = ctx;

    if (e->kind == MODEL_ERROR) {
        set_fail(k, &e->fail);
        return;
    }
    k->said = true;
    give(k, e);
}

static bool on_head(void *ctx, const FetchHead *head)
{
    Call *k = ctx;
    Str type = fetch_header(head, "content-type");
    bool stream = str_find_nocase(type, STR("text/event-stream")) < type.n;

    if (head->status >= 200 && head->status < 300) {
        /* What the server says it sends counts, not what it was asked for. */
        k->stream = model_stream_new(k->client->config.dialect, !stream, on_event, k);
        return true;
    }
    k->head = (FetchHead){ head->status, str_dup(k->arena, head->lines) };
    return true;
}

static bool on_body(void *ctx, Str bytes)
{
    Call *k = ctx;

    if (k->raw && !k->over)
        k->raw(k->ctx, bytes);
    if (!k->stream) {
        buf_add(&k->error_body, str_head(bytes, ERROR_BODY - k->error_body.n));
        return k->error_body.n < ERROR_BODY;
    }
    /* Everything was said; let the connection come to its end, so that it can be used again. */
    if (!model_stream_feed(k->stream, bytes))
        fetch_drain(k->client->net, k->fetch, DRAIN_MS);
    return true;
}

static void on_done(void *ctx, const FetchDone *done)
{
    Call *k = ctx;
    ModelFail broken = fail_of_fetch(done);

    if (k->head.status && done->end != FETCH_CANCELLED) {
        ModelFail fail = fail_of_body(k->arena, &k->head, buf_str(&k->error_body));

        set_fail(k, &fail);
    } else if (k->stream) {
        if (done->end == FETCH_OK || done->end == FETCH_CUT)
            model_stream_end(k->stream);
        else
            model_stream_fail(k->stream, &broken);
        if (done->end == FETCH_CANCELLED && !k->over)
            set_fail(k, &broken);
    } else {
        set_fail(k, &broken);
    }
    end_try(k);
}

static void send_out(Call *k)
{
    ModelClient *c = k->client;
    static const FetchHandlers handlers = { on_head, on_body, on_done };
    FetchRequest r = { .method = "POST",
                       .url = c->url,
                       .headers = c->headers,
                       .body = buf_str(&k->body),
                       .times = c->config.times,
                       .proxy = c->config.proxy.n ? c->config.proxy.p : NULL,
                       .secret = c->config.key.n > 0,
                       .allow_plain = c->config.allow_plain };
    Err err;

    k->failed = false;
    k->fail = (ModelFail){ .retry_after_ms = -1 };
    k->head = (FetchHead){ 0 };
    buf_clear(&k->error_body);
    k->attempt++;
    k->out = true;
    c->n_out++;
    r.times.total = k->deadline - clock_mono_ms();
    if (k->whole) /* nothing comes before all of it */
        r.times.first = 0;
    if (r.times.total < 1)
        r.times.total = 1;
    if (fetch_start(c->net, &r, &handlers, k, &k->fetch, &err))
        return;
    set_fail(k, &(ModelFail){ .kind = MODEL_FAIL_NETWORK,
                              .retry_after_ms = -1,
                              .message = str_of(err.text) });
    end_try(k);
}

/* -- the queue -- */

static int64_t may_go_at(const Call *k)
{
    int64_t pause = k->client->pause_until;

    return k->not_before > pause ? k->not_before : pause;
}

/* Sends out the next that may go; else sets the gate for when one may. */
static void on_gate(void *ctx)
{
    ModelClient *c = ctx;
    int64_t now = clock_mono_ms(), soonest = INT64_MAX;

    for (Call *k = c->ring.next; k != &c->ring && c->n_out < c->config.at_once; k = k->next) {
        if (k->out)
            continue;
        if (may_go_at(k) <= now) {
            open_gate(c); /* for the one after it: sending may change the list */
            send_out(k);
            return;
        }
        if (may_go_at(k) < soonest)
            soonest = may_go_at(k);
    }
    if (soonest != INT64_MAX)
        net_timer_set(c->net, &c->gate, soonest);
}

static void end_waiting(Call *k, ModelFailKind kind, Str why)
{
    ModelClient *c = k->client;

    set_fail(k, &(ModelFail){ .kind = kind, .retry_after_ms = -1, .message = why });
    give_fail(k);
    dispose(k);
    open_gate(c);
}

static void on_deadline(void *ctx)
{
    Call *k = ctx;

    if (!k->out) /* else the request's own total ends it */
        end_waiting(k, MODEL_FAIL_TIMEOUT, STR("not finished in time"));
}

static void enqueue(void *ctx)
{
    Call *k = ctx;
    ModelClient *c = k->client;

    k->prev = c->ring.prev;
    k->next = &c->ring;
    k->prev->next = k;
    c->ring.prev = k;
    net_timer_set(c->net, &k->timer, k->deadline);
    open_gate(c);
}

/* -- requests -- */

static bool write_body(const ModelClient *c, const ModelRequest *r, Buf *body, Err *err)
{
    JsonWriter w = JSON_WRITER(body, 0);
    ModelRequest sent = *r;

    if (!sent.max_tokens)
        sent.max_tokens = c->config.max_tokens;

    if (r->n_stop && c->config.dialect == MODEL_OPENAI_RESPONSES)
        return err_set(err, ERR_INVALID, "openai-responses has no stop sequences");
    json_begin(&w, '{');
    json_field_str(&w, "model", c->config.name);
    json_field_bool(&w, "stream", !r->whole);
    if (r->temperature)
        json_field_double(&w, "temperature", *r->temperature);
    dialect_of(c->config.dialect)->write(&w, &sent, c->official);
    json_end(&w, '}');
    if (buf_full(body))
        return err_set(err, ERR_TOO_LARGE, "more than %d bytes for a model", LIMIT_MODEL_REQUEST);
    return true;
}

static bool take_place(ModelClient *c, Err *err)
{
    bool ok;

    pthread_mutex_lock(&c->lock);
    ok = c->count < LIMIT_MODEL_QUEUE;
    if (ok)
        c->count++;
    pthread_mutex_unlock(&c->lock);
    return ok ? true : err_set(err, ERR_BUSY, "%d calls of the model wait", LIMIT_MODEL_QUEUE);
}

bool model_start(ModelClient *c, const ModelRequest *request, ModelEventFn *fn, void *ctx,
                 NetId *ret_id, Err *err)
{
    Buf body = BUF(LIMIT_MODEL_REQUEST);
    Arena *a;
    Call *k;

    if (!write_body(c, request, &body, err) || !take_place(c, err)) {
        buf_done(&body);
        return false;
    }
    a = arena_new();
    k = ARENA_NEW(a, Call);
    *k = (Call){ .client = c,
                 .arena = a,
                 .body = body,
                 .whole = request->whole,
                 .fn = fn,
                 .raw = request->raw,
                 .ctx = ctx };
    k->id = ++c->last_id;
    k->error_body = BUF(ERROR_BODY);
    k->began = clock_mono_ms();
    k->deadline = k->began + (request->deadline_ms ? request->deadline_ms : c->config.times.total);
    k->timer = (NetTimer){ .fn = on_deadline, .ctx = k };
    *ret_id = k->id; /* before any event can come */
    net_post(c->net, enqueue, k);
    return true;
}

typedef struct Order {
    ModelClient *client;
    NetId id; /* 0: all */
} Order;

static void obey(void *ctx)
{
    Order *order = ctx;
    ModelClient *c = order->client;

    /* The waiting ones first, else each place that comes free would send one of them out. */
    for (int out = 0; out < 2; out++) {
        for (Call *k = c->ring.next, *next; k != &c->ring; k = next) {
            next = k->next;
            if (k->out == out && (!order->id || order->id == k->id)) {
                if (k->out)
                    fetch_cancel(k->client->net, k->fetch);
                else
                    end_waiting(k, MODEL_FAIL_CANCELLED, STR("cancelled"));
            }
        }
    }
    mem_free(order);
}

static void give_order(ModelClient *c, NetId id)
{
    Order *order = mem_alloc(sizeof *order);

    *order = (Order){ .client = c, .id = id };
    net_post(c->net, obey, order);
}

void model_cancel(ModelClient *c, NetId id)
{
    give_order(c, id);
}

void model_cancel_all(ModelClient *c)
{
    give_order(c, 0);
}

/* -- the client itself -- */

static void make_headers(ModelClient *c)
{
    const Dialect *d = dialect_of(c->config.dialect);
    size_t n = 0;

    c->headers = ARENA_ARRAY(c->arena, const char *, 8);
    c->headers[n++] = "Content-Type: application/json";
    for (const char *const *h = d->headers; h && *h; h++)
        c->headers[n++] = *h;
    if (c->config.key.n)
        c->headers[n++] = str_printf(c->arena, "%s%.*s", d->key_header, STR_FMT(c->config.key)).p;
}

ModelClient *model_client_new(Net *net, const ModelConfig *config, Err *err)
{
    ModelClient *c = mem_alloc(sizeof *c);
    Str url;

    c->net = net;
    c->arena = arena_new();
    c->config = *config;
    c->config.base_url = str_dup(c->arena, config->base_url);
    c->config.name = str_dup(c->arena, config->name);
    c->config.key = str_dup(c->arena, config->key);
    c->config.proxy = (Str){ str_z(c->arena, config->proxy), config->proxy.n };
    if (!model_url(c->arena, &c->config, &url, err)) {
        arena_free(c->arena);
        return mem_free(c);
    }
    c->url = url.p;
    c->official = model_is_official(&c->config);
    make_headers(c);
    c->ring.next = c->ring.prev = &c->ring;
    c->gate = (NetTimer){ .fn = on_gate, .ctx = c };
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->none, NULL);
    return c;
}

/* Last on the loop's thread; counted as a call, so that freeing waits for it. */
static void close_gate(void *ctx)
{
    ModelClient *c = ctx;

    net_timer_stop(c->net, &c->gate);
    pthread_mutex_lock(&c->lock);
    if (--c->count == 0)
        pthread_cond_broadcast(&c->none);
    pthread_mutex_unlock(&c->lock);
}

static void wait_for_none(ModelClient *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->count)
        pthread_cond_wait(&c->none, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

ModelClient *model_client_free(ModelClient *c)
{
    if (!c)
        return NULL;
    model_cancel_all(c);
    wait_for_none(c);
    pthread_mutex_lock(&c->lock);
    c->count++;
    pthread_mutex_unlock(&c->lock);
    net_post(c->net, close_gate, c);
    wait_for_none(c);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->none);
    arena_free(c->arena);
    return mem_free(c);
}

const ModelConfig *model_client_config(const ModelClient *c)
{
    return &c->config;
}
