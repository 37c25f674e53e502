/* Reading event streams: the rules of the standard one by one, and the same events however the
 * bytes are cut. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "net/sse.h"

static bool write_event(void *ctx, const SseEvent *e)
{
    buf_addf(ctx, "[%.*s|%.*s|%.*s]", STR_FMT(e->name), STR_FMT(e->id), STR_FMT(e->data));
    return true;
}

static void parse(Buf *out, Str text, size_t piece)
{
    AUTO(SseParser) *p = sse_parser_new(write_event, out);

    for (size_t at = 0; at < text.n; at += piece)
        assert_true(sse_parser_feed(p, str_head(str_skip(text, at), piece)));
}

static const struct {
    const char *name;
    Str text, events;
} cases[] = {
    { "one line", STR_INIT("data: a\n\n"), STR_INIT("[message||a]") },
    { "name and id", STR_INIT("event: x\nid: 7\ndata: a\n\ndata: b\n\n"),
      STR_INIT("[x|7|a][message|7|b]") },
    { "lines are joined", STR_INIT("data: a\ndata\ndata: b\n\n"), STR_INIT("[message||a\n\nb]") },
    { "one blank is taken", STR_INIT("data:  a\ndata:b\n\n"), STR_INIT("[message|| a\nb]") },
    { "mixed ends of lines", STR_INIT("data: a\r\ndata: b\rdata: c\n\r\n"),
      STR_INIT("[message||a\nb\nc]") },
    { "bare CR twice", STR_INIT("data: a\r\rdata: b\r\r"), STR_INIT("[message||a][message||b]") },
    { "CR LF twice", STR_INIT("data: a\r\n\r\ndata: b\r\n\r\n"),
      STR_INIT("[message||a][message||b]") },
    { "byte order mark",
      STR_INIT("\xEF\xBB\xBF"
               "data: a\n\n"),
      STR_INIT("[message||a]") },
    { "only the first mark",
      STR_INIT("\n\xEF\xBB\xBF"
               "data: a\n\n"),
      STR_INIT("") },
    { "comment", STR_INIT(": keep-alive\n\n:\ndata: a\n: x\n\n"), STR_INIT("[message||a]") },
    { "unknown field", STR_INIT("nothing\nfoo: bar\ndata: a\n\n"), STR_INIT("[message||a]") },
    { "no data, no event", STR_INIT("event: x\n\ndata: a\n\n"), STR_INIT("[message||a]") },
    { "id without data is taken", STR_INIT("id: 3\n\ndata: a\n\n"), STR_INIT("[message|3|a]") },
    { "empty id resets", STR_INIT("id: 3\ndata: a\n\nid\ndata: b\n\n"),
      STR_INIT("[message|3|a][message||b]") },
    { "id with NUL is ignored", STR_INIT("id: 3\nid: a\0b\ndata: a\n\n"),
      STR_INIT("[message|3|a]") },
    { "unfinished block", STR_INIT("data: a\n\ndata: b\n"), STR_INIT("[message||a]") },
    { "empty data", STR_INIT("data\n\ndata:\ndata:\n\n"), STR_INIT("[message||][message||\n]") },
    { "colons in data", STR_INIT("data: {\"a\":1}\n\n"), STR_INIT("[message||{\"a\":1}]") },
};

static void the_rules_of_the_standard(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t piece = 1; piece <= cases[i].text.n; piece++) {
            AUTO_BUF out = BUF(4096);

            parse(&out, cases[i].text, piece);
            if (!str_eq(buf_str(&out), cases[i].events))
                fail_msg("%s, pieces of %zu: %s", cases[i].name, piece, out.p ? out.p : "");
        }
    }
}

static void retry_is_digits_only(void **state)
{
    AUTO_BUF out = BUF(64);
    AUTO(SseParser) *p = sse_parser_new(write_event, &out);

    (void)state;
    assert_int_equal(sse_parser_retry(p), -1);
    assert_true(sse_parser_feed(p, STR("retry: 12x\nretry: -3\nretry: +3\n")));
    assert_int_equal(sse_parser_retry(p), -1);
    assert_true(sse_parser_feed(p, STR("retry: 2000\n")));
    assert_int_equal(sse_parser_retry(p), 2000);
}

static bool feed_many(SseParser *p, Str part, size_t times)
{
    bool ok = true;

    for (size_t i = 0; i < times && ok; i++)
        ok = sse_parser_feed(p, part);
    return ok;
}

static void lines_and_events_have_a_most(void **state)
{
    AUTO_BUF out = BUF(MIB(8));
    AUTO(Arena) *a = arena_new();
    char *kib = arena_alloc(a, 1024);
    Str part = { kib, 1024 };
    AUTO(SseParser) *line = sse_parser_new(write_event, &out);
    AUTO(SseParser) *event = sse_parser_new(write_event, &out);

    (void)state;
    memset(kib, 'x', 1024);
    assert_true(feed_many(line, part, LIMIT_SSE_LINE / 1024));
    assert_false(feed_many(line, part, 1));
    assert_true(sse_parser_too_large(line));
    assert_false(sse_parser_feed(line, STR("\n\ndata: a\n\n"))); /* it stays so */
    memcpy(kib, "data: ", 6);
    kib[1023] = '\n';
    assert_false(feed_many(event, part, LIMIT_SSE_EVENT / 1024 * 2));
    assert_true(sse_parser_too_large(event));
    assert_int_equal(out.n, 0);
}

static bool stop_at_second(void *ctx, const SseEvent *e)
{
    (void)e;
    return ++*(int *)ctx < 2;
}

static void a_reader_may_have_enough(void **state)
{
    int seen = 0;
    AUTO(SseParser) *p = sse_parser_new(stop_at_second, &seen);

    (void)state;
    assert_false(sse_parser_feed(p, STR("data: a\n\ndata: b\n\ndata: c\n\n")));
    assert_false(sse_parser_too_large(p));
    assert_int_equal(seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_of_the_standard),
        cmocka_unit_test(retry_is_digits_only),
        cmocka_unit_test(lines_and_events_have_a_most),
        cmocka_unit_test(a_reader_may_have_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
