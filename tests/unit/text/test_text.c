#include "unit.h"

#include "base/limits.h"
#include "text/human.h"
#include "text/utf8.h"

static const struct {
    const char *text;
    size_t columns;
    const char *expect;
} fits[] = {
    { "short", 10, "short" },
    { "exactly ten", 11, "exactly ten" },
    { "too long by far", 8, "too lon…" },
    { "中文标题很长", 7, "中文标…" },
    { "中文标题很长", 12, "中文标题很长" },
    { "two\nlines", 20, "two lines" },
    { "esc\033[31m", 20, "esc␛[31m" },
    { "é́x", 2, "é́x" },
    { "", 5, "" },
};

static void a_line_fits_its_columns(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fits); i++)
        assert_str(utf8_fit(a, str_of(fits[i].text), fits[i].columns), str_of(fits[i].expect));
}

static const struct {
    const char *bytes;
    size_t n, valid;
} encodings[] = {
    { "abc", 3, 3 },
    { "\xc3\xa9", 2, 2 },
    { "\xc3", 1, 0 },
    { "\xc0\x80", 2, 0 },
    { "a\xed\xa0\x80", 4, 1 },
    { "\xf0\x9f\x98\x80", 4, 4 },
    { "\xf4\x90\x80\x80", 4, 0 },
    { "\xe2\x82", 2, 0 },
    { "ok\xff", 3, 2 },
};

static void only_real_utf8_is_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++)
        if (utf8_valid_prefix((Str){ encodings[i].bytes, encodings[i].n }) != encodings[i].valid)
            fail_msg("row %zu", i);
}

static void a_cut_never_splits_a_character(void **state)
{
    Str s = STR("aé中😀z");

    (void)state;
    for (size_t n = 0; n <= s.n; n++) {
        Str head = utf8_head(s, n), tail = utf8_tail(s, n);

        assert_true(head.n <= n && tail.n <= n);
        assert_int_equal(utf8_valid_prefix(head), head.n);
        assert_int_equal(utf8_valid_prefix(tail), tail.n);
    }
}

static const struct {
    const char *text;
    double seconds; /* -1: refused */
} times[] = {
    { "0", 0 },
    { "1700000000.5", 1700000000.5 },
    { "2026-11-15T08:00:00Z", 1794729600 },
    { "2026-11-15 08:00Z", 1794729600 },
    { "2026-11-15", 1794700800 },
    { "2026-13-15", -1 },
    { "2026-11-15T25:00", -1 },
    { "tomorrow", -1 },
    { "2026-11-15x", -1 },
    { "", -1 },
};

static void times_are_read_as_people_write_them(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        double seconds = -1;

        if (!human_parse_time(str_of(times[i].text), &seconds))
            seconds = -1;
        if (seconds != times[i].seconds)
            fail_msg("'%s': %f", times[i].text, seconds);
    }
}

static void numbers_are_grouped_and_scaled(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    assert_str(human_count(a, 1234567), STR("1,234,567"));
    assert_str(human_count(a, 999), STR("999"));
    assert_str(human_count(a, -1000), STR("-1,000"));
    assert_str(human_short(a, 950), STR("950"));
    assert_str(human_short(a, 1234567), STR("1.2M"));
    assert_str(human_short(a, 84700), STR("85k"));
    assert_str(human_bytes(a, 5300000), STR("5.3 MB"));
    assert_str(human_cost(a, 1.234), STR("$1.23"));
    assert_str(human_cost(a, 0), STR("-"));
    assert_str(human_ago(a, 1000, 1000 + 3 * 3600), STR("3 h ago"));
    assert_str(human_ago(a, 1000, 1030), STR("just now"));
    assert_str(human_ago(a, 0, 1030), STR("-"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_fits_its_columns),
        cmocka_unit_test(only_real_utf8_is_valid),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(times_are_read_as_people_write_them),
        cmocka_unit_test(numbers_are_grouped_and_scaled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
