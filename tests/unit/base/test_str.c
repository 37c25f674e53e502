#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"

static const struct {
    const char *text;
    int64_t min, max, value;
    bool ok;
} numbers[] = {
    { "0", 0, 10, 0, true },
    { "10", 0, 10, 10, true },
    { "11", 0, 10, 0, false },
    { "-1", 0, 10, 0, false },
    { "-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN, true },
    { "9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX, true },
    { "9223372036854775808", INT64_MIN, INT64_MAX, 0, false },
    { "99999999999999999999", INT64_MIN, INT64_MAX, 0, false },
    { "", 0, 10, 0, false },
    { "-", INT64_MIN, 10, 0, false },
    { "5 ", 0, 10, 0, false },
    { " 5", 0, 10, 0, false },
    { "0x5", 0, 10, 0, false },
    { "5a", 0, 10, 0, false },
};

static void a_number_is_the_whole_text_and_in_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        int64_t value = 0;
        bool ok = str_to_int(str_of(numbers[i].text), numbers[i].min, numbers[i].max, &value);

        if (ok != numbers[i].ok || value != numbers[i].value)
            fail_msg("'%s'", numbers[i].text);
    }
}

static const struct {
    const char *a, *b;
    size_t distance;
} pairs[] = {
    { "", "", 0 },         { "list", "list", 0 },        { "lst", "list", 1 },
    { "lsit", "list", 1 }, { "sesions", "sessions", 1 }, { "abc", "", 3 },
    { "show", "list", 4 }, { "harvset", "harvest", 1 },
};

static void distance_counts_slips_of_the_finger(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (str_distance(str_of(pairs[i].a), str_of(pairs[i].b)) != pairs[i].distance)
            fail_msg("'%s' to '%s'", pairs[i].a, pairs[i].b);
}

static size_t find_plainly(Str s, Str needle)
{
    for (size_t i = 0; i + needle.n <= s.n && s.n; i++)
        if (memcmp(s.p + i, needle.p, needle.n) == 0)
            return i;
    return s.n;
}

/* Few letters, so that nearly everything is nearly found; every length and every place. */
static void a_text_is_found_where_it_first_stands(void **state)
{
    char text[90] = { 0 }, needle[48];
    uint32_t seed = 7;

    (void)state;
    for (size_t round = 0; round < 20000; round++) {
        size_t n = round % (sizeof text + 1), k = 1 + round / 7 % sizeof needle;
        char *exact = mem_strdup((Str){ text, n }); /* so that a read behind its end is seen */

        for (size_t i = 0; i < n; i++)
            exact[i] = (char)('a' + ((seed = seed * 1664525 + 1013904223) >> 24) % 2);
        for (size_t i = 0; i < k; i++)
            needle[i] = (char)('a' + ((seed = seed * 1664525 + 1013904223) >> 24) % 2);
        if (k <= n && round % 3 == 0)
            memcpy(needle, exact + n - k, k);
        assert_int_equal(str_find((Str){ exact, n }, (Str){ needle, k }),
                         find_plainly((Str){ exact, n }, (Str){ needle, k }));
        mem_free(exact);
    }
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find(STR_NONE, STR("ab")), 0);
}

static void split_gives_every_part_and_then_ends(void **state)
{
    Str rest = STR("a,,b"), part;

    (void)state;
    assert_true(str_split(&rest, ',', &part));
    assert_str(part, STR("a"));
    assert_true(str_split(&rest, ',', &part));
    assert_str(part, STR(""));
    assert_true(str_split(&rest, ',', &part));
    assert_str(part, STR("b"));
    assert_false(str_split(&rest, ',', &part));
}

static void a_buf_takes_no_more_than_its_most_and_remembers(void **state)
{
    AUTO_BUF b = BUF(8);

    (void)state;
    buf_addz(&b, "12345678");
    assert_false(buf_full(&b));
    buf_addz(&b, "9");
    assert_true(buf_full(&b));
    assert_str(buf_str(&b), STR("12345678"));
    buf_clear(&b);
    buf_addf(&b, "%d", 7);
    assert_str(buf_str(&b), STR("7"));
}

static bool collect(void *ctx, const char *p, size_t n)
{
    size_t *total = ctx;

    (void)p;
    *total += n;
    return true;
}

static void a_buf_with_a_sink_passes_everything_on(void **state)
{
    size_t total = 0;
    AUTO_BUF b = { .max = MIB(1), .sink = collect, .sink_ctx = &total };

    (void)state;
    for (int i = 0; i < 100000; i++)
        buf_addz(&b, "twenty bytes of text");
    buf_flush(&b);
    assert_false(buf_full(&b));
    assert_int_equal(total, 2000000);
}

/* -- errors -- */

static volatile char scratch;

static __attribute__((noinline)) void soil_the_stack(void)
{
    volatile char dirt[3 * sizeof(Err)];

    for (size_t i = 0; i < sizeof dirt; i++)
        dirt[i] = 'x';
    scratch = dirt[sizeof dirt / 2];
}

static __attribute__((noinline)) bool fails_without_a_word(Err *err)
{
    __asm__ volatile("" : : "r"(err) : "memory");
    return false;
}

static __attribute__((noinline)) void read_an_error_that_nobody_set(ErrKind *ret_kind,
                                                                    size_t *ret_n)
{
    Err err;

    if (!fails_without_a_word(&err)) {
        *ret_kind = err.kind;
        *ret_n = strnlen(err.text, sizeof err.text);
    }
}

static void an_error_that_nobody_set_has_no_words(void **state)
{
    ErrKind kind = ERR_IO;
    size_t n = 1;

    (void)state;
    soil_the_stack();
    read_an_error_that_nobody_set(&kind, &n);
    assert_int_equal(kind, ERR_INTERNAL);
    assert_int_equal(n, 0);
}

static void an_arena_keeps_what_it_gave_until_reset(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str kept[1000];

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 1000; i++)
            kept[i] = str_printf(a, "%zu:%0*d", i, (int)(i % 300), 0);
        for (size_t i = 0; i < 1000; i++)
            assert_str(kept[i], str_printf(a, "%zu:%0*d", i, (int)(i % 300), 0));
        arena_reset(a);
    }
    assert_int_equal((uintptr_t)arena_alloc(a, 3) % 16, 0);
    assert_int_equal((uintptr_t)arena_alloc(a, 5000000) % 16, 0);
}

static void an_error_says_first_what_was_done_then_why(void **state)
{
    Err err;

    (void)state;
    assert_false(err_set(&err, ERR_NOT_FOUND, "no session '%s'", "x"));
    assert_false(err_wrap(&err, "cannot show '%s'", "x"));
    assert_string_equal(err.text, "cannot show 'x': no session 'x'");
    assert_int_equal(err_exit_code(&err), 3);
    assert_int_equal(err_http_status(&err), 404);
    for (int i = 0; i < 20; i++)
        (void)err_wrap(&err, "%0120d", i);
    assert_true(strlen(err.text) < sizeof err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_the_whole_text_and_in_range),
        cmocka_unit_test(distance_counts_slips_of_the_finger),
        cmocka_unit_test(a_text_is_found_where_it_first_stands),
        cmocka_unit_test(split_gives_every_part_and_then_ends),
        cmocka_unit_test(a_buf_takes_no_more_than_its_most_and_remembers),
        cmocka_unit_test(a_buf_with_a_sink_passes_everything_on),
        cmocka_unit_test(an_error_that_nobody_set_has_no_words),
        cmocka_unit_test(an_arena_keeps_what_it_gave_until_reset),
        cmocka_unit_test(an_error_says_first_what_was_done_then_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
