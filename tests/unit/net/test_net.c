/* Requests against a server of our own: every way to end, each with its own word, and nothing
 * left. */
#include "loopback.h"
#include "waiting.h"

#include "base/buf.h"
#include "base/clock.h"
#include "net/fetch.h"
#include "net/url.h"

/* What one request came to; filled on the loop's thread. */
typedef struct Seen {
    Waiting waiting;
    int heads, dones;
    int status;
    FetchEnd end;
    Buf body;
    char type[64], detail[256];
    size_t enough; /* stops after so many bytes */
} Seen;

static bool on_head(void *ctx, const FetchHead *head)
{
    Seen *seen = ctx;

    telling_begin(&seen->waiting);
    seen->heads++;
    snprintf(seen->type, sizeof seen->type, "%.*s", STR_FMT(fetch_header(head, "content-TYPE")));
    telling_end(&seen->waiting);
    return true;
}

static bool on_body(void *ctx, Str bytes)
{
    Seen *seen = ctx;
    bool more;

    telling_begin(&seen->waiting);
    buf_add(&seen->body, bytes);
    more = !seen->enough || seen->body.n < seen->enough;
    telling_end(&seen->waiting);
    return more;
}

static void on_done(void *ctx, const FetchDone *done)
{
    Seen *seen = ctx;

    telling_begin(&seen->waiting);
    seen->dones++;
    seen->status = done->status;
    seen->end = done->end;
    snprintf(seen->detail, sizeof seen->detail, "%s", done->detail);
    seen->waiting.over = true;
    telling_end(&seen->waiting);
}

static const FetchHandlers handlers = { on_head, on_body, on_done };

static void seen_init(Seen *seen)
{
    memset(seen, 0, sizeof *seen);
    waiting_init(&seen->waiting);
    seen->body = BUF(1 << 20);
}

static void seen_done(Seen *seen)
{
    buf_done(&seen->body);
    waiting_done(&seen->waiting);
}

static const char *url_of(Arena *a, uint16_t port)
{
    return str_printf(a, "http://127.0.0.1:%u/x", port).p;
}

#define HTTP_OK "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

static const struct {
    const char *name;
    LoopbackReply reply;
    FetchTimes times;
    size_t max, enough;
    FetchEnd end;
    int status;
    const char *body;
} cases[] = {
    { "length",
      { STR_INIT(HTTP_OK "Content-Length: 5\r\n\r\nhello"), 0, 0, LOOPBACK_KEEP },
      .end = FETCH_OK,
      .status = 200,
      .body = "hello" },
    { "byte by byte",
      { STR_INIT(HTTP_OK "Content-Length: 5\r\n\r\nhello"), 1, 0, LOOPBACK_KEEP },
      .end = FETCH_OK,
      .status = 200,
      .body = "hello" },
    { "chunks",
      { STR_INIT(HTTP_OK "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), 3,
        0, LOOPBACK_KEEP },
      .end = FETCH_OK,
      .status = 200,
      .body = "hello" },
    { "until the end",
      { STR_INIT(HTTP_OK "\r\nhello"), 0, 0, LOOPBACK_CLOSE },
      .end = FETCH_OK,
      .status = 200,
      .body = "hello" },
    { "half closed",
      { STR_INIT(HTTP_OK "\r\nhello"), 0, 0, LOOPBACK_HALF },
      .end = FETCH_OK,
      .status = 200,
      .body = "hello" },
    { "after a 100",
      { STR_INIT("HTTP/1.1 100 Continue\r\n\r\n" HTTP_OK "Content-Length: 2\r\n\r\nhi"), 0, 0,
        LOOPBACK_KEEP },
      .end = FETCH_OK,
      .status = 200,
      .body = "hi" },
    { "an error is an answer",
      { STR_INIT("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"), 0, 0, LOOPBACK_KEEP },
      .end = FETCH_OK,
      .status = 500,
      .body = "no" },
    { "redirects are not followed",
      { STR_INIT(
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
        0, 0, LOOPBACK_KEEP },
      .end = FETCH_OK,
      .status = 302,
      .body = "" },
    { "cut short",
      { STR_INIT(HTTP_OK "Content-Length: 50\r\n\r\nhello"), 0, 0, LOOPBACK_CLOSE },
      .end = FETCH_CUT,
      .status = 200,
      .body = "hello" },
    { "reset",
      { STR_INIT(HTTP_OK "Content-Length: 50\r\n\r\n"), 0, 20000, LOOPBACK_RESET },
      .end = FETCH_CUT,
      .status = 200,
      .body = "" },
    { "nothing at all", { STR_INIT(""), 0, 0, LOOPBACK_CLOSE }, .end = FETCH_CUT, .body = "" },
    { "not HTTP",
      { STR_INIT("220 smtp ready\r\n"), 0, 0, LOOPBACK_CLOSE },
      .end = FETCH_CUT,
      .body = "" },
    { "no first byte",
      { STR_INIT(HTTP_OK "Content-Length: 5\r\n\r\n"), 0, 0, LOOPBACK_HANG },
      .times = { .first = 60 },
      .end = FETCH_TIMEOUT_FIRST,
      .status = 200,
      .body = "" },
    { "silence",
      { STR_INIT(HTTP_OK "Content-Length: 50\r\n\r\nhello"), 0, 0, LOOPBACK_HANG },
      .times = { .first = 5000, .idle = 60 },
      .end = FETCH_TIMEOUT_IDLE,
      .status = 200,
      .body = "hello" },
    { "a slow drip is no silence, but has an end",
      { STR_INIT(HTTP_OK
                 "Content-Length: 4000\r\n\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        1, 5000, LOOPBACK_HANG },
      .times = { .idle = 2000, .total = 250 },
      .end = FETCH_TIMEOUT_TOTAL,
      .body = NULL },
    { "too large",
      { STR_INIT(HTTP_OK "Content-Length: 5\r\n\r\nhello"), 0, 0, LOOPBACK_KEEP },
      .max = 4,
      .end = FETCH_TOO_LARGE,
      .status = 200,
      .body = "" },
    { "enough",
      { STR_INIT(HTTP_OK "Content-Length: 50\r\n\r\nhello"), 0, 0, LOOPBACK_HANG },
      .enough = 3,
      .end = FETCH_STOPPED,
      .status = 200,
      .body = "hello" },
};

static void every_end_has_its_word(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Loopback server;
        Seen seen;
        NetId id;
        Err err;

        loopback_start(&server, &cases[i].reply, 1);
        seen_init(&seen);
        seen.enough = cases[i].enough;
        assert_true(fetch_start(net,
                                &(FetchRequest){ .method = "POST",
                                                 .url = url_of(a, server.port),
                                                 .body = STR("question"),
                                                 .times = cases[i].times,
                                                 .max = cases[i].max },
                                &handlers, &seen, &id, &err));
        wait_over(&seen.waiting);
        if (seen.end != cases[i].end || (cases[i].status && seen.status != cases[i].status) ||
            (cases[i].body && !str_eqz(buf_str(&seen.body), cases[i].body)))
            fail_msg("%s: %s (%s), status %d, \"%.*s\"", cases[i].name, fetch_end_text(seen.end),
                     seen.detail, seen.status, STR_FMT(buf_str(&seen.body)));
        assert_true(seen.heads <= 1);
        assert_true(loopback_saw(&server, "\r\n\r\nquestion") || !cases[i].status);
        seen_done(&seen);
        loopback_stop(&server);
    }
}

static void a_refused_connection_says_so(void **state)
{
    AUTO(Arena) *a = arena_new();
    Seen seen;
    NetId id;
    Err err;

    (void)state;
    seen_init(&seen);
    assert_true(fetch_start(net,
                            &(FetchRequest){ .method = "GET", .url = url_of(a, loopback_nobody()) },
                            &handlers, &seen, &id, &err));
    wait_over(&seen.waiting);
    assert_int_equal(seen.end, FETCH_CONNECT);
    assert_int_equal(seen.status, 0);
    seen_done(&seen);
}

static void cancelling_ends_it_once(void **state)
{
    static const LoopbackReply hang = { STR_INIT(HTTP_OK "Content-Length: 50\r\n\r\nhello"), 0, 0,
                                        LOOPBACK_HANG };
    AUTO(Arena) *a = arena_new();
    Loopback server;
    Seen seen;
    NetId id;
    Err err;

    (void)state;
    loopback_start(&server, &hang, 1);
    seen_init(&seen);
    assert_true(fetch_start(net, &(FetchRequest){ .method = "GET", .url = url_of(a, server.port) },
                            &handlers, &seen, &id, &err));
    wait_bytes(&seen.waiting, &seen.body, 5);
    fetch_cancel(net, id);
    fetch_cancel(net, id);
    wait_over(&seen.waiting);
    assert_int_equal(seen.end, FETCH_CANCELLED);
    fetch_cancel(net, id); /* long gone */
    fetch_cancel(net, 12345678);
    loopback_stop(&server); /* waits until the connection is gone: it was really closed */
    assert_int_equal(seen.dones, 1);
    seen_done(&seen);
}

static void the_end_of_the_loop_ends_requests(void **state)
{
    static const LoopbackReply hang = { STR_INIT(HTTP_OK "\r\n"), 0, 0, LOOPBACK_HANG };
    AUTO(Arena) *a = arena_new();
    Loopback server;
    Seen seen[20];
    Net *own;
    NetId id;
    Err err;

    (void)state;
    loopback_start(&server, &hang, 1);
    own = net_new(&err);
    assert_non_null(own);
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        seen_init(&seen[i]);
        assert_true(fetch_start(own,
                                &(FetchRequest){ .method = "GET", .url = url_of(a, server.port) },
                                &handlers, &seen[i], &id, &err));
    }
    net_free(own);
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        assert_int_equal(seen[i].dones, 1);
        assert_int_equal(seen[i].end, FETCH_CANCELLED);
        seen_done(&seen[i]);
    }
    loopback_stop(&server);
}

static void connections_are_used_again(void **state)
{
    static const LoopbackReply ok = { STR_INIT(HTTP_OK "Content-Length: 2\r\n\r\nhi"), 0, 0,
                                      LOOPBACK_KEEP };
    AUTO(Arena) *a = arena_new();
    Loopback server;

    (void)state;
    loopback_start(&server, &ok, 1);
    for (int i = 0; i < 10; i++) {
        Seen seen;
        NetId id;
        Err err;

        seen_init(&seen);
        assert_true(fetch_start(net,
                                &(FetchRequest){ .method = "GET", .url = url_of(a, server.port) },
                                &handlers, &seen, &id, &err));
        wait_over(&seen.waiting);
        assert_int_equal(seen.end, FETCH_OK);
        seen_done(&seen);
    }
    assert_int_equal(server.requests, 10);
    assert_int_equal(server.connections, 1);
    loopback_stop(&server);
}

/* A kept connection that ends without an answer: the server may have done what was asked, so it is
 * not asked again behind the caller's back. */
static void nothing_is_sent_twice(void **state)
{
    static const LoopbackReply replies[] = {
        { STR_INIT(HTTP_OK "Content-Length: 2\r\n\r\nhi"), 0, 0, LOOPBACK_KEEP },
        { STR_INIT(""), 0, 0, LOOPBACK_CLOSE },
        { STR_INIT(HTTP_OK "Content-Length: 5\r\n\r\ntwice"), 0, 0, LOOPBACK_KEEP },
    };
    static const char *const methods[] = { "POST", "POST", "PATCH" };
    static const FetchEnd ends[] = { FETCH_OK, FETCH_CUT };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t second = 1; second < ARRAY_LEN(methods); second++) {
        Loopback server;

        loopback_start(&server, replies, ARRAY_LEN(replies));
        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
            FetchRequest request = { .method = methods[i ? second : 0],
                                     .url = url_of(a, server.port),
                                     .body = STR("do it") };
            Seen seen;
            NetId id;
            Err err;

            seen_init(&seen);
            assert_true(fetch_start(net, &request, &handlers, &seen, &id, &err));
            wait_over(&seen.waiting);
            assert_int_equal(seen.end, ends[i]);
            seen_done(&seen);
        }
        assert_int_equal(server.requests, 2);
        loopback_stop(&server);
    }
}

static void proxies_of_the_environment_are_not_used(void **state)
{
    static const LoopbackReply ok = { STR_INIT(HTTP_OK "Content-Length: 2\r\n\r\nhi"), 0, 0,
                                      LOOPBACK_KEEP };
    AUTO(Arena) *a = arena_new();
    Loopback server;
    Seen seen;
    NetId id;
    Err err;

    (void)state;
    loopback_start(&server, &ok, 1);
    setenv("http_proxy", url_of(a, loopback_nobody()), 1);
    setenv("ALL_PROXY", url_of(a, loopback_nobody()), 1);
    seen_init(&seen);
    assert_true(fetch_start(net, &(FetchRequest){ .method = "GET", .url = url_of(a, server.port) },
                            &handlers, &seen, &id, &err));
    wait_over(&seen.waiting);
    assert_int_equal(seen.end, FETCH_OK);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    seen_done(&seen);
    loopback_stop(&server);
}

static const struct {
    const char *url;
    bool secret, allow;
    bool ok;
    ErrKind kind;
} addresses[] = {
    { "https://api.example.com/v1", true, false, true, 0 },
    { "http://127.0.0.1:1/v1", true, false, true, 0 },
    { "http://127.9.9.9:1/v1", true, false, true, 0 },
    { "http://LocalHost:1/v1", true, false, true, 0 },
    { "http://[::1]:1/v1", true, false, true, 0 },
    { "http://192.168.1.5/v1", false, false, true, 0 },
    { "http://192.168.1.5/v1", true, true, true, 0 },
    { "http://192.168.1.5/v1", true, false, false, ERR_REFUSED },
    { "http://127.0.0.1.example.com/v1", true, false, false, ERR_REFUSED },
    { "http://localhost.example.com/", true, false, false, ERR_REFUSED },
    { "http://127.0.0.1@example.com/v1", true, false, false, ERR_REFUSED },
    { "http://user:pass@127.0.0.1/v1", false, false, false, ERR_REFUSED },
    { "ftp://example.com/", false, false, false, ERR_INVALID },
    { "file:///etc/passwd", false, false, false, ERR_INVALID },
    { "example.com/v1", false, false, false, ERR_INVALID },
    { "http://a b/", false, false, false, ERR_INVALID },
    { "", false, false, false, ERR_INVALID },
};

static void a_secret_goes_over_tls_or_stays_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        FetchRequest r = { .url = addresses[i].url,
                           .secret = addresses[i].secret,
                           .allow_plain = addresses[i].allow };
        Err err = { 0 };

        if (fetch_check(&r, &err) != addresses[i].ok)
            fail_msg("'%s': %s", addresses[i].url, err.text);
        if (!addresses[i].ok && err.kind != addresses[i].kind)
            fail_msg("'%s': %s: %s", addresses[i].url, err_name(&err), err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_end_has_its_word),
        cmocka_unit_test(a_refused_connection_says_so),
        cmocka_unit_test(cancelling_ends_it_once),
        cmocka_unit_test(the_end_of_the_loop_ends_requests),
        cmocka_unit_test(connections_are_used_again),
        cmocka_unit_test(nothing_is_sent_twice),
        cmocka_unit_test(proxies_of_the_environment_are_not_used),
        cmocka_unit_test(a_secret_goes_over_tls_or_stays_here),
    };

    return cmocka_run_group_tests(tests, net_up, net_down);
}
