/* Calls of a model against a server of our own: tries, waits, bounds, secrets, and what is left. */
#include "loopback.h"

#include <malloc.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "model/call.h"
#include "model/fail.h"
#include "text/json.h"

#define KEY "sk-test-0123456789abcdefghijklmnop"

#define SSE_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define HELLO                                                                                      \
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n"                                \
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],"                              \
    "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4}}\n\n"                                \
    "data: [DONE]\n\n"
#define ERROR_HEAD(status, more)                                                                   \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n" more "\r\n"

static const LoopbackReply good = { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE };
static const LoopbackReply busy = {
    STR_INIT(ERROR_HEAD("500 No", "") "{\"error\":{\"message\":\"x\"}}"), 0, 0, LOOPBACK_CLOSE
};
static const LoopbackReply hang = { STR_INIT(SSE_HEAD), 0, 0, LOOPBACK_HANG };

static Net *net;

static int net_up(void **state)
{
    Err err;

    (void)state;
    net = net_new(&err);
    return net ? 0 : -1;
}

static int net_down(void **state)
{
    (void)state;
    net = net_free(net);
    return 0;
}

static ModelConfig config_for(Arena *a, uint16_t port)
{
    ModelConfig c = model_config_plain(str_printf(a, "http://127.0.0.1:%u/v1", port), STR("m"),
                                       MODEL_OPENAI_CHAT, STR(KEY));

    c.backoff_ms = 2;
    c.retry_ms = 5000;
    c.times = (FetchTimes){ .connect = 2000, .first = 2000, .idle = 2000, .total = 20000 };
    return c;
}

static ModelClient *client_for(Arena *a, uint16_t port)
{
    ModelConfig c = config_for(a, port);
    Err err;
    ModelClient *client = model_client_new(net, &c, &err);

    assert_non_null(client);
    return client;
}

/* -- one call, one server, a row of replies -- */

static const struct {
    const char *name;
    LoopbackReply replies[4];
    size_t n_replies, requests; /* made in all */
    ModelFailKind fail;
    const char *text;
} cases[] = {
    { "good", { { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE } }, 1, 1, 0, "Hello" },
    { "byte by byte", { { STR_INIT(SSE_HEAD HELLO), 1, 0, LOOPBACK_CLOSE } }, 1, 1, 0, "Hello" },
    { "half closed", { { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_HALF } }, 1, 1, 0, "Hello" },
    { "never closed", { { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_HANG } }, 1, 1, 0, "Hello" },
    { "reset after the end",
      { { STR_INIT(SSE_HEAD HELLO), 0, 5000, LOOPBACK_RESET } },
      1,
      1,
      0,
      "Hello" },
    { "500 then good",
      { { STR_INIT(ERROR_HEAD("500 No", "") "oops"), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE } },
      2,
      2,
      0,
      "Hello" },
    { "429, 503, dropped, then good",
      { { STR_INIT(ERROR_HEAD("429 Slow", "Retry-After: 0\r\n") "{}"), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(ERROR_HEAD("503 No", "") "{}"), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(""), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE } },
      4,
      4,
      0,
      "Hello" },
    { "cut before a word, then good",
      { { STR_INIT(SSE_HEAD ": hi\n\n"), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE } },
      2,
      2,
      0,
      "Hello" },
    { "overloaded inside the stream, then good",
      { { STR_INIT(SSE_HEAD "data: {\"error\":{\"type\":\"overloaded_error\"}}\n\n"), 0, 0,
          LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE } },
      2,
      2,
      0,
      "Hello" },
    { "500 for ever",
      { { STR_INIT(ERROR_HEAD("500 No", "") "oops"), 0, 0, LOOPBACK_CLOSE } },
      1,
      LIMIT_MODEL_TRIES,
      MODEL_FAIL_OVERLOADED,
      "" },
    { "cut after a word: never again",
      { { STR_INIT(SSE_HEAD "data: {\"choices\":[{\"delta\":{\"content\":\"He\"}}]}\n\n"), 0, 0,
          LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_CUT,
      "He" },
    { "reset after a word",
      { { STR_INIT(SSE_HEAD "data: {\"choices\":[{\"delta\":{\"content\":\"He\"}}]}\n\n"), 0, 20000,
          LOOPBACK_RESET } },
      1,
      1,
      MODEL_FAIL_CUT,
      "He" },
    { "400",
      { { STR_INIT(ERROR_HEAD("400 No", "") "{\"error\":{\"message\":\"bad\"}}"), 0, 0,
          LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_BAD_REQUEST,
      "" },
    { "401",
      { { STR_INIT(ERROR_HEAD("401 No", "") "{}"), 0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_AUTH,
      "" },
    { "404 in HTML",
      { { STR_INIT(ERROR_HEAD("404 No", "") "<html>"), 0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_BAD_REQUEST,
      "" },
    { "redirect",
      { { STR_INIT(ERROR_HEAD("301 There", "Location: /x\r\n")), 0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_BAD_REQUEST,
      "" },
    { "too long",
      { { STR_INIT(ERROR_HEAD("400 No", "") "{\"error\":{\"code\":"
                                            "\"context_length_exceeded\"}}"),
          0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_CONTEXT,
      "" },
    { "no credit",
      { { STR_INIT(ERROR_HEAD("429 No", "") "{\"error\":{\"code\":"
                                            "\"insufficient_quota\"}}"),
          0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_RATE_LIMITED,
      "" },
    { "too long to wait for",
      { { STR_INIT(ERROR_HEAD("429 Slow", "Retry-After: 3600\r\n") "{}"), 0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_RATE_LIMITED,
      "" },
    { "malformed",
      { { STR_INIT(SSE_HEAD "data: {oops\n\n"), 0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_MALFORMED,
      "" },
    { "HTML with 200",
      { { STR_INIT("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: "
                   "close\r\n\r\n<html>login</html>"),
          0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_MALFORMED,
      "" },
    { "whole though a stream was asked for",
      { { STR_INIT(
              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
              "{\"choices\":[{\"message\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}"),
          0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      0,
      "Hello" },
    { "nothing said",
      { { STR_INIT(SSE_HEAD "data: {\"choices\":[{\"delta\":{},\"finish_reason\":"
                            "\"stop\"}]}\n\ndata: [DONE]\n\n"),
          0, 0, LOOPBACK_CLOSE } },
      1,
      1,
      MODEL_FAIL_EMPTY,
      "" },
};

static void tries_and_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(Arena) *a = arena_new();
        Loopback server;
        ModelAnswer answer;
        ModelClient *client;
        Err err = { 0 };
        bool ok;

        loopback_start(&server, cases[i].replies, cases[i].n_replies);
        client = client_for(a, server.port);
        ok = model_ask(a, client, STR("hi"), 50, NULL, &answer, &err);
        if (ok != (cases[i].fail == MODEL_FAIL_NONE) || answer.fail.kind != cases[i].fail ||
            server.requests != cases[i].requests || !str_eqz(answer.text, cases[i].text))
            fail_msg("%s: %s, \"%.*s\", %zu requests: %s", cases[i].name,
                     model_fail_name(answer.fail.kind), STR_FMT(answer.text),
                     (size_t)server.requests, err.text);
        assert_int_equal(answer.attempts, cases[i].requests);
        assert_true(ok == (answer.usage.output > 0) || answer.text.n);
        model_client_free(client);
        loopback_stop(&server);
    }
}

static void a_refused_connection_is_tried_and_told(void **state)
{
    AUTO(Arena) *a = arena_new();
    ModelClient *client = client_for(a, loopback_nobody());
    ModelAnswer answer;
    Err err;

    (void)state;
    assert_false(model_ask(a, client, STR("hi"), 50, NULL, &answer, &err));
    assert_int_equal(answer.fail.kind, MODEL_FAIL_NETWORK);
    assert_int_equal(answer.attempts, LIMIT_MODEL_TRIES);
    assert_non_null(strstr(err.text, "model 'm': network"));
    model_client_free(client);
}

static void the_wait_that_a_server_asks_for_is_kept(void **state)
{
    static const LoopbackReply replies[] = {
        { STR_INIT(ERROR_HEAD("429 Slow", "retry-after-ms: 300\r\n") "{}"), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD HELLO), 0, 0, LOOPBACK_CLOSE },
    };
    AUTO(Arena) *a = arena_new();
    Loopback server;
    ModelClient *client;
    ModelAnswer answer;
    Err err;

    (void)state;
    loopback_start(&server, replies, 2);
    client = client_for(a, server.port);
    assert_true(model_ask(a, client, STR("hi"), 50, NULL, &answer, &err));
    assert_true(answer.ms >= 300);
    model_client_free(client);
    loopback_stop(&server);
}

static double fixed_now(void *ctx)
{
    return *(double *)ctx;
}

static void retry_after_in_every_form(void **state)
{
    static const struct {
        Str lines;
        int64_t ms;
    } forms[] = { { STR_INIT("Retry-After: 2\r\n"), 2000 },
                  { STR_INIT("retry-after: 1.5\r\n"), 1500 },
                  { STR_INIT("Retry-After-Ms: 250\r\nRetry-After: 9\r\n"), 250 },
                  { STR_INIT("Retry-After: Sun, 15 Nov 2026 08:00:30 GMT\r\n"), 30000 },
                  { STR_INIT("Retry-After: Sun, 15 Nov 2026 07:00:00 GMT\r\n"), 0 },
                  { STR_INIT("Retry-After: soon\r\n"), -1 },
                  { STR_INIT("Retry-After: -5\r\n"), -1 },
                  { STR_INIT("Retry-After: Sun, 99 Foo 2026 08:00:30 GMT\r\n"), -1 },
                  { STR_INIT(""), -1 } };
    double now = 1794729600; /* 2026-11-15T08:00:00Z */

    (void)state;
    clock_set_wall(fixed_now, &now);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        FetchHead head = { 429, forms[i].lines };

        assert_int_equal(retry_after_ms(&head), forms[i].ms);
    }
    clock_set_wall(NULL, NULL);
}

/* -- cancelling and deadlines -- */

typedef struct Watched {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int terminals, retries;
    ModelFailKind fail;
    ModelClient *cancel_in_retry;
    NetId id;
} Watched;

static void on_event(void *ctx, const ModelEvent *e)
{
    Watched *w = ctx;

    pthread_mutex_lock(&w->lock);
    w->retries += e->kind == MODEL_RETRY;
    w->terminals += model_event_is_last(e);
    if (e->kind == MODEL_ERROR)
        w->fail = e->fail.kind;
    if (e->kind == MODEL_RETRY && w->cancel_in_retry)
        model_cancel(w->cancel_in_retry, w->id);
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static void wait_terminal(Watched *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->terminals)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void watch(Watched *w, ModelClient *client)
{
    ModelMessage hi = { .role = MODEL_USER, .text = STR("hi") };
    ModelRequest request = { .messages = &hi, .n_messages = 1 };
    Err err;

    pthread_mutex_lock(&w->lock); /* the id is there before the first event is looked at */
    assert_true(model_start(client, &request, on_event, w, &w->id, &err));
    pthread_mutex_unlock(&w->lock);
}

#define WATCHED                                                                                    \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER                     \
    }

static void a_call_can_be_cancelled_in_every_state(void **state)
{
    Watched out = WATCHED, waiting = WATCHED, backing_off = WATCHED;
    AUTO(Arena) *a = arena_new();
    Loopback silent, failing;
    ModelClient *client, *other;

    (void)state;
    loopback_start(&silent, &hang, 1);
    loopback_start(&failing, &busy, 1);
    client = client_for(a, silent.port);
    other = client_for(a, failing.port);
    watch(&out, client);
    watch(&waiting, client); /* one at a time: this one waits */
    while (silent.requests == 0)
        usleep(1000);
    model_cancel(client, waiting.id);
    wait_terminal(&waiting);
    assert_int_equal(waiting.fail, MODEL_FAIL_CANCELLED);
    assert_int_equal(out.terminals, 0);
    model_cancel(client, out.id);
    wait_terminal(&out);
    assert_int_equal(out.fail, MODEL_FAIL_CANCELLED);
    backing_off.cancel_in_retry = other;
    watch(&backing_off, other);
    wait_terminal(&backing_off);
    assert_int_equal(backing_off.fail, MODEL_FAIL_CANCELLED);
    assert_int_equal(backing_off.retries, 1);
    model_cancel(other, backing_off.id);
    model_client_free(client);
    model_client_free(other);
    loopback_stop(&silent);
    loopback_stop(&failing);
    assert_int_equal(silent.requests, 1);
    assert_int_equal(out.terminals + waiting.terminals + backing_off.terminals, 3);
}

static void freeing_a_client_ends_its_calls(void **state)
{
    Watched calls[30];
    AUTO(Arena) *a = arena_new();
    Loopback server;
    ModelClient *client;

    (void)state;
    loopback_start(&server, &hang, 1);
    client = client_for(a, server.port);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        calls[i] = (Watched)WATCHED;
        watch(&calls[i], client);
    }
    model_client_free(client);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        assert_int_equal(calls[i].terminals, 1);
        assert_int_equal(calls[i].fail, MODEL_FAIL_CANCELLED);
    }
    loopback_stop(&server);
}

static void a_deadline_covers_waiting_and_tries(void **state)
{
    ModelMessage hi = { .role = MODEL_USER, .text = STR("hi") };
    ModelRequest request = { .messages = &hi, .n_messages = 1, .deadline_ms = 150 };
    Watched first = WATCHED;
    AUTO(Arena) *a = arena_new();
    Loopback server;
    ModelClient *client;
    ModelAnswer answer;
    Err err;

    (void)state;
    loopback_start(&server, &hang, 1);
    client = client_for(a, server.port);
    watch(&first, client); /* has the only place */
    assert_false(model_call(a, client, &request, NULL, &answer, &err));
    assert_int_equal(answer.fail.kind, MODEL_FAIL_TIMEOUT);
    assert_true(answer.ms >= 150 && answer.ms < 1500);
    model_cancel(client, first.id);
    wait_terminal(&first);
    assert_false(model_call(a, client, &request, NULL, &answer, &err));
    assert_int_equal(answer.fail.kind, MODEL_FAIL_TIMEOUT);
    model_client_free(client);
    loopback_stop(&server);
}

/* -- many at once -- */

typedef struct Worker {
    ModelClient *client;
    ModelBudget *budget;
    int ok, refused, failed;
} Worker;

static void *work(void *ctx)
{
    Worker *w = ctx;

    for (int i = 0; i < 25; i++) {
        AUTO(Arena) *a = arena_new();
        ModelAnswer answer;
        Err err;

        if (model_ask(a, w->client, STR("hi"), 50, w->budget, &answer, &err))
            w->ok++;
        else if (err.kind == ERR_REFUSED)
            w->refused++;
        else
            w->failed++;
    }
    return NULL;
}

static void workers_share_places_and_budget(void **state)
{
    static const LoopbackReply slowly = { STR_INIT(SSE_HEAD HELLO), 60, 500, LOOPBACK_CLOSE };
    AUTO(Arena) *a = arena_new();
    AUTO(ModelBudget) *budget = model_budget_new(&(ModelLimits){ .calls = 120 });
    pthread_t threads[8];
    Worker workers[8];
    int ok = 0, refused = 0, failed = 0;
    Loopback server;
    ModelClient *client;
    ModelConfig c;
    ModelSpent spent;
    Err err;

    (void)state;
    loopback_start(&server, &slowly, 1);
    c = config_for(a, server.port);
    c.at_once = 3;
    client = model_client_new(net, &c, &err);
    for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
        workers[i] = (Worker){ .client = client, .budget = budget };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
        pthread_join(threads[i], NULL);
        ok += workers[i].ok;
        refused += workers[i].refused;
        failed += workers[i].failed;
    }
    assert_int_equal(ok, 120);
    assert_int_equal(refused, 80);
    assert_int_equal(failed, 0);
    assert_int_equal(server.requests, 120);
    /* A connection may be counted for a moment after its answer. */
    assert_true(server.most_open <= 3 + 3);
    spent = model_budget_spent(budget);
    assert_int_equal(spent.calls, 120);
    assert_int_equal(spent.input, 1200);
    assert_int_equal(spent.output, 480);
    model_client_free(client);
    loopback_stop(&server);
}

static void budgets_are_never_passed(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(ModelBudget) *tokens = model_budget_new(&(ModelLimits){ .tokens = 100 });
    AUTO(ModelBudget) *money = model_budget_new(&(ModelLimits){ .money = 0.001 });
    AUTO(ModelBudget) *time = model_budget_new(&(ModelLimits){ .ms = 1 });
    Loopback server;
    ModelClient *client, *free_of_charge;
    ModelAnswer answer;
    ModelConfig c;
    Err err;

    (void)state;
    loopback_start(&server, &good, 1);
    c = config_for(a, server.port);
    free_of_charge = model_client_new(net, &c, &err);
    c.price_input = 10;
    c.price_output = 30;
    client = model_client_new(net, &c, &err);
    /* 50 and the prompt fit; 14 were used; 50 fit once more; 28 were used; 80 do not fit. */
    assert_true(model_ask(a, client, STR("hi"), 50, tokens, &answer, &err));
    assert_true(model_ask(a, client, STR("hi"), 50, tokens, &answer, &err));
    assert_false(model_ask(a, client, STR("hi"), 80, tokens, &answer, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(model_budget_spent(tokens).input + model_budget_spent(tokens).output, 28);
    /* 10 in and 4 out cost 0.00022; 30 tokens may cost 0.0009 and the prompt something. */
    assert_true(model_ask(a, client, STR("hi"), 20, money, &answer, &err));
    assert_true(answer.cost > 0.000219 && answer.cost < 0.000221);
    assert_false(model_ask(a, client, STR("hi"), 30, money, &answer, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_false(model_ask(a, free_of_charge, STR("hi"), 30, money, &answer, &err));
    assert_int_equal(err.kind, ERR_INVALID); /* without prices money cannot be counted */
    usleep(3000);
    assert_false(model_ask(a, client, STR("hi"), 10, time, &answer, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(server.requests, 3);
    model_client_free(client);
    model_client_free(free_of_charge);
    loopback_stop(&server);
}

/* -- secrets -- */

static void the_key_is_sent_and_never_shown(void **state)
{
    static const LoopbackReply echo = {
        STR_INIT(
            ERROR_HEAD("401 No", "") "{\"error\":{\"message\":\"bad key " KEY
                                     " in Authorization: Bearer abcdefghijklmnopqrstuvwxyz\"}}"),
        0, 0, LOOPBACK_CLOSE
    };
    AUTO(Arena) *a = arena_new();
    Loopback server;
    ModelClient *client;
    ModelAnswer answer;
    Err err;

    (void)state;
    loopback_start(&server, &echo, 1);
    client = client_for(a, server.port);
    assert_false(model_ask(a, client, STR("hi"), 50, NULL, &answer, &err));
    assert_true(loopback_saw(&server, "Authorization: Bearer " KEY "\r\n"));
    assert_null(strstr(err.text, "0123456789abcdef"));
    assert_null(strstr(err.text, "abcdefghijklmnopqrstuvwxyz"));
    assert_true(str_find(answer.fail.message, STR(KEY)) == answer.fail.message.n);
    model_client_free(client);
    loopback_stop(&server);
}

/* -- what is sent -- */

static const struct {
    ModelDialect dialect;
    const char *has[16];
} bodies[] = {
    { MODEL_OPENAI_CHAT,
      { "POST /v1/chat/completions ", "Authorization: Bearer ", "\"model\": \"m\"",
        "\"stream\": true", "{\"role\": \"system\", \"content\": \"be brief\"}",
        "\"tool_calls\": [{\"id\": \"c1\", \"type\": \"function\", \"function\": {\"name\": "
        "\"read\"",
        "{\"role\": \"tool\", \"content\": \"text of a\", \"tool_call_id\": \"c1\"}",
        "\"parameters\": {\"type\":\"object\"}", "\"max_tokens\": 50", "\"temperature\": 0.5",
        "\"stop\": [\"END\"]", "\"include_usage\": true" } },
    { MODEL_OPENAI_RESPONSES,
      { "POST /v1/responses ", "Authorization: Bearer ",
        "{\"role\": \"system\", \"content\": \"be brief\"}",
        "{\"type\": \"function_call\", \"call_id\": \"c1\", \"name\": \"read\", \"arguments\": ",
        "{\"type\": \"function_call_output\", \"call_id\": \"c1\", \"output\": \"text of a\"}",
        "\"max_output_tokens\": 50", "\"store\": false",
        "\"name\": \"read\", \"description\": " } },
    { MODEL_ANTHROPIC,
      { "POST /v1/messages ", "x-api-key: ", "anthropic-version: 2023-06-01",
        "\"system\": [{\"type\": \"text\", \"text\": \"be brief\"}]",
        "{\"type\": \"tool_use\", \"id\": \"c1\", \"name\": \"read\", \"input\": {\"path\":\"a\"}}",
        "{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"c1\", "
        "\"content\": \"text of a\"}, {\"type\": \"tool_result\", \"tool_use_id\": \"c2\", "
        "\"content\": \"no b\", \"is_error\": true}]}",
        "\"max_tokens\": 50", "\"stop_sequences\": [\"END\"]", "\"input_schema\": {" } },
};

static void every_dialect_is_written_as_its_servers_read_it(void **state)
{
    static const ModelToolCall calls[] = {
        { STR_INIT("c1"), STR_INIT("read"), STR_INIT("{\"path\":\"a\"}") },
        { STR_INIT("c2"), STR_INIT("read"), STR_INIT("{\"path\":\"b\"}") },
    };
    static const ModelMessage messages[] = {
        { .role = MODEL_SYSTEM, .text = STR_INIT("be brief") },
        { .role = MODEL_USER, .text = STR_INIT("what is in a and b?") },
        { .role = MODEL_ASSISTANT, .calls = calls, .n_calls = 2 },
        { .role = MODEL_TOOL, .text = STR_INIT("text of a"), .call_id = STR_INIT("c1") },
        { .role = MODEL_TOOL, .text = STR_INIT("no b"), .call_id = STR_INIT("c2"), .failed = true },
    };
    static const ModelTool tool = { STR_INIT("read"), STR_INIT("reads a file"),
                                    STR_INIT("{\"type\":\"object\"}") };
    static const Str stop = STR_INIT("END");
    static const double temperature = 0.5;
    AUTO(Arena) *a = arena_new();
    Loopback server;

    (void)state;
    loopback_start(&server, &good, 1);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        bool has_stop = bodies[i].dialect != MODEL_OPENAI_RESPONSES;
        ModelRequest request = { .messages = messages,
                                 .n_messages = ARRAY_LEN(messages),
                                 .tools = &tool,
                                 .n_tools = 1,
                                 .max_tokens = 50,
                                 .temperature = &temperature,
                                 .stop = &stop,
                                 .n_stop = 1 };
        ModelConfig c = config_for(a, server.port);
        ModelClient *client;
        ModelAnswer answer;
        Err err;

        c.dialect = bodies[i].dialect;
        client = model_client_new(net, &c, &err);
        if (!has_stop) {
            assert_false(model_call(a, client, &request, NULL, &answer, &err));
            assert_int_equal(err.kind, ERR_INVALID);
            request.n_stop = 0;
        }
        (void)!model_call(a, client, &request, NULL, &answer, &err); /* the answer is not its own */
        for (const char *const *has = bodies[i].has; *has; has++)
            if (!loopback_saw(&server, *has))
                fail_msg("%s: no %s in\n%s", model_dialect_name(c.dialect), *has, server.last);
        model_client_free(client);
    }
    loopback_stop(&server);
}

static void addresses_are_completed(void **state)
{
    static const struct {
        const char *base;
        ModelDialect dialect;
        const char *url;
    } rows[] = {
        { "http://h:1", MODEL_OPENAI_CHAT, "http://h:1/v1/chat/completions" },
        { "http://h:1/", MODEL_OPENAI_CHAT, "http://h:1/v1/chat/completions" },
        { "http://h:1/v1/", MODEL_OPENAI_RESPONSES, "http://h:1/v1/responses" },
        { "http://h/api/paas/v4", MODEL_OPENAI_CHAT, "http://h/api/paas/v4/chat/completions" },
        { "https://h", MODEL_ANTHROPIC, "https://h/v1/messages" },
        { "https://h/v1", MODEL_ANTHROPIC, "https://h/v1/messages" },
        { "https://h/anthropic", MODEL_ANTHROPIC, "https://h/anthropic/v1/messages" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ModelConfig c =
            model_config_plain(str_of(rows[i].base), STR("m"), rows[i].dialect, STR(""));
        Str url;
        Err err;

        assert_true(model_url(a, &c, &url, &err));
        assert_str(url, str_of(rows[i].url));
    }
}

/* -- configuration -- */

static const struct {
    const char *yaml, *key;
    bool ok;
    ErrKind kind;
} settings_rows[] = {
    { "model: {base_url: 'http://127.0.0.1:1/v1', name: m}", NULL, true, 0 },
    { "model: {base_url: 'https://h/v1', name: m, dialect: anthropic, price_input: 0.25}", "k",
      true, 0 },
    { "model: {name: m}", NULL, false, ERR_NOT_FOUND },
    { "model: {base_url: 'https://h/v1'}", NULL, false, ERR_NOT_FOUND },
    { "model: {base_url: 'https://h/v1', name: m, api_key_env: NOT_SET_AT_ALL}", NULL, false,
      ERR_NOT_FOUND },
    { "model: {base_url: 'http://h/v1', name: m}", "k", false, ERR_REFUSED },
    { "model: {base_url: 'http://h/v1', name: m, allow_plain_http: true}", "k", true, 0 },
    { "model: {base_url: 'gopher://h/v1', name: m}", NULL, false, ERR_INVALID },
    { "model: {base_url: 'https://h/v1', name: m, at_once: 0}", NULL, false, ERR_INVALID },
    { "model: {base_url: 'https://h/v1', name: m}", "k\r\nHost: x", false, ERR_INVALID },
};

static void settings_and_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(settings_rows); i++) {
        AUTO(Arena) *a = arena_new();
        ModelConfig c;
        Settings s;
        Err err = { 0 };

        settings_defaults(&s);
        if (!settings_parse(a, str_of(settings_rows[i].yaml), &s, &err))
            fail_msg("%s", err.text);
        if (settings_rows[i].key)
            setenv("TALARIA_MODEL_KEY", settings_rows[i].key, 1);
        if (model_config(a, &s, &c, &err) != settings_rows[i].ok ||
            (!settings_rows[i].ok && err.kind != settings_rows[i].kind))
            fail_msg("%s: %s", settings_rows[i].yaml, err.text);
        unsetenv("TALARIA_MODEL_KEY");
    }
}

/* -- a thousand failures -- */

/* Failures of every kind in turn; afterwards descriptors, threads and memory are as before. */
static void fail_many(int times)
{
    static const LoopbackReply rows[] = {
        { STR_INIT(ERROR_HEAD("400 No", "") "{\"error\":{\"message\":\"bad\"}}"), 0, 0,
          LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD "data: {\"choices\":[{\"delta\":{\"content\":\"He\"}}]}\n\n"), 0, 0,
          LOOPBACK_CLOSE },
        { STR_INIT(SSE_HEAD "data: {oops\n\n"), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(ERROR_HEAD("401 No", "") ""), 0, 0, LOOPBACK_CLOSE },
    };
    AUTO(Arena) *a = arena_new();
    Loopback servers[ARRAY_LEN(rows)];
    ModelClient *clients[ARRAY_LEN(rows) + 1];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        loopback_start(&servers[i], &rows[i], 1);
        clients[i] = client_for(a, servers[i].port);
    }
    clients[ARRAY_LEN(rows)] = client_for(a, loopback_nobody());
    for (int i = 0; i < times; i++) {
        AUTO(Arena) *turn = arena_new();
        ModelAnswer answer;
        Err err;

        assert_false(model_ask(turn, clients[(size_t)i % ARRAY_LEN(clients)], STR("hi"), 50, NULL,
                               &answer, &err));
        assert_true(answer.fail.kind != MODEL_FAIL_NONE);
    }
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        model_client_free(clients[i]);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        loopback_stop(&servers[i]);
}

/* Detached threads of the test's own server may take a moment to be gone. */
static void wait_threads(size_t n)
{
    int64_t until = clock_mono_ms() + 5000;

    while (running_threads() > n && clock_mono_ms() < until)
        usleep(2000);
    assert_int_equal(running_threads(), n);
}

static void a_thousand_failures_leave_nothing(void **state)
{
    size_t fds, threads, memory;

    (void)state;
    fail_many(50);
    wait_threads(running_threads());
    usleep(50000);
    fds = open_descriptors();
    threads = running_threads();
    memory = mallinfo2().uordblks;
    fail_many(1000);
    wait_threads(threads);
    assert_int_equal(open_descriptors(), fds);
    if (mallinfo2().uordblks > memory + KIB(256))
        fail_msg("%zu bytes more than before", mallinfo2().uordblks - memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tries_and_verdicts),
        cmocka_unit_test(a_refused_connection_is_tried_and_told),
        cmocka_unit_test(the_wait_that_a_server_asks_for_is_kept),
        cmocka_unit_test(retry_after_in_every_form),
        cmocka_unit_test(a_call_can_be_cancelled_in_every_state),
        cmocka_unit_test(freeing_a_client_ends_its_calls),
        cmocka_unit_test(a_deadline_covers_waiting_and_tries),
        cmocka_unit_test(workers_share_places_and_budget),
        cmocka_unit_test(budgets_are_never_passed),
        cmocka_unit_test(the_key_is_sent_and_never_shown),
        cmocka_unit_test(every_dialect_is_written_as_its_servers_read_it),
        cmocka_unit_test(addresses_are_completed),
        cmocka_unit_test(settings_and_environment),
        cmocka_unit_test(a_thousand_failures_leave_nothing),
    };

    return cmocka_run_group_tests(tests, net_up, net_down);
}
