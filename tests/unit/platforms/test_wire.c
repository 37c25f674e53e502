/* What every connection has: how its state may change, how long it waits after trouble, and that
 * its end wakes it. */
#include "unit.h"

#include "base/clock.h"
#include "platforms/connection.h"

typedef struct World {
    PlatformHost host;
    ConnectionBase wire;
} World;

static World *world(World *w)
{
    *w = (World){ 0 };
    connection_init(&w->wire, "somewhere", &w->host);
    return w;
}

static Health health(World *w, Arena *a)
{
    Health h;

    connection_health(&w->wire, a, &h);
    return h;
}

static void test_refused_for_ever(void **state)
{
    AUTO(Arena) *a = arena_new();
    World w;
    Health h;

    (void)state;
    h = health(world(&w), a);
    assert_int_equal(h.state, CONNECTION_CONNECTING);
    assert_true(h.since_ms > 0 && !h.heard_ms && !h.error.n);
    connection_set_state(&w.wire, CONNECTION_DOWN, "no road");
    connection_set_state(&w.wire, CONNECTION_UP, NULL);
    h = health(&w, a);
    assert_int_equal(h.state, CONNECTION_UP);
    assert_true(str_eqz(h.error, "no road") && h.error_ms > 0); /* the last one, however long ago */
    connection_set_state(&w.wire, CONNECTION_REFUSED, "go away");
    connection_set_state(&w.wire, CONNECTION_UP, NULL);
    connection_trouble(&w.wire, "and what follows from it");
    h = health(&w, a);
    assert_int_equal(h.state, CONNECTION_REFUSED);
    assert_true(str_eqz(h.error, "go away"));
    assert_false(connection_rest(&w.wire, 60000)); /* at once: there is nothing to wait for */
    connection_done(&w.wire);
}

static void test_waits_grow(void **state)
{
    World w;

    (void)state;
    world(&w);
    for (int i = 0; i < 40; i++) {
        int64_t max = i < 7 ? (int64_t)500 << i : 60000, wait = connection_next_wait(&w.wire);

        assert_in_range(wait, max / 2, max);
    }
    w.wire.tries = 0;
    assert_in_range(connection_next_wait(&w.wire), 250, 500);
    connection_done(&w.wire);
}

static void *rests(void *ctx)
{
    World *w = ctx;

    connection_heard(&w->wire);
    return connection_rest(&w->wire, 600000) ? w : NULL;
}

static void test_end_wakes_it(void **state)
{
    AUTO(Arena) *a = arena_new();
    int64_t began = clock_mono_ms();
    World w;
    Err err;

    (void)state;
    world(&w);
    assert_true(connection_start(&w.wire, rests, &w, &err));
    connection_end(&w.wire);
    assert_true(clock_mono_ms() - began < 10000);
    assert_true(health(&w, a).heard_ms > 0);
    connection_set_state(&w.wire, CONNECTION_DOWN, "who ends it hangs up"); /* is no news */
    assert_false(health(&w, a).error.n);
    connection_done(&w.wire);
}

static void test_addresses_and_tokens(void **state)
{
    static const struct {
        const char *configured, *base; /* NULL: refused */
    } rows[] = { { "", "https://public.example" },
                 { "  http://127.0.0.1:9/x//  ", "http://127.0.0.1:9/x" },
                 { "ftp://there", NULL },
                 { "127.0.0.1", NULL } };
    static const struct {
        const char *token;
        bool fits;
    } tokens[] = { { "xoxb-1", true }, { "two words", false }, { "line\nbreak", false } };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Str base = STR_NONE;
        Err err;
        bool ok = connection_base_url(a, "somewhere", str_of(rows[i].configured),
                                      "https://public.example", &base, &err);

        assert_int_equal(ok, rows[i].base != NULL);
        assert_true(!ok || str_eqz(base, rows[i].base));
        assert_true(ok || str_starts(str_of(err.text), STR("somewhere's api_base")));
    }
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        assert_int_equal(connection_fits_header(str_of(tokens[i].token)), tokens[i].fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused_for_ever),
                                        cmocka_unit_test(test_waits_grow),
                                        cmocka_unit_test(test_end_wakes_it),
                                        cmocka_unit_test(test_addresses_and_tokens) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
