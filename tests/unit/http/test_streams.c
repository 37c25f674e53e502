/* Streams before they begin, and the library below them. */
#include "unit.h"

#include <stdatomic.h>

#include "http/exchange.h"
#include "http/sse.h"
#include "http/streams.h"

static atomic_int reads, leaves;

static ssize_t count_read(Stream *s, char *out, size_t max)
{
    (void)s;
    (void)out;
    (void)max;
    reads++;
    return 0;
}

static void count_leave(Stream *s)
{
    (void)s;
    leaves++;
}

static void beat(void *ctx)
{
    (void)ctx;
}

/* A reader joins who publishes before its socket is taken over: it may have too much to read by
 * then. */
static void one_that_has_not_begun_is_nobodys(void **state)
{
    static const StreamKind kind = { count_read, count_leave };
    Stream s = { 0 };
    Streams *all;
    Err err;

    (void)state;
    all = streams_start(beat, NULL, &err);
    assert_non_null(all);
    stream_init(&s, all, &kind);
    stream_wake(&s);
    stream_drop(&s);
    assert_int_equal(streams_count(all), 0);
    streams_stop(all);
    assert_true(s.dropped);
    assert_int_equal(reads + leaves, 0);
}

/* A socket takes a frame in pieces of any size. */
static void a_frame_in_pieces_is_the_same_frame(void **state)
{
    static const char whole[] = "id: r1:120\nevent: chunk\ndata: {\"seq\": 120}\n\n";
    Feed run = { .id = "r1" }, page = { 0 };
    Frame *f = frame_new(FRAME_CHUNK, "chunk", 120, STR("{\"seq\": 120}"));
    char out[128];

    (void)state;
    for (size_t step = 1; step <= sizeof whole; step++) {
        size_t n = 0, part;

        while ((part = sse_copy(&run, f, n, out + n, step)) > 0)
            n += part;
        assert_str(((Str){ out, n }), str_of(whole));
    }
    assert_int_equal(sse_copy(&page, f, 0, out, sizeof out),
                     strlen(whole) - strlen("id: r1:120\n"));
    assert_memory_equal(out, "event: chunk\n", strlen("event: chunk\n"));
    mem_free(f);
}

/* What we use beyond its documentation was looked at in these. */
static void libraries(void **state)
{
    static const struct {
        const char *version;
        bool known;
    } all[] = {
        { "0.9.75", true },  { "0.9.77", true },  { "1.0.0", true },  { "1.0.12", true },
        { "0.9.74", false }, { "0.9.9", false },  { "1.1.0", false }, { "2.0", false },
        { "", false },       { "newest", false },
    };
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (exchange_library_is_known(all[i].version, &err) != all[i].known)
            fail_msg("%s", all[i].version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_has_not_begun_is_nobodys),
        cmocka_unit_test(a_frame_in_pieces_is_the_same_frame),
        cmocka_unit_test(libraries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
