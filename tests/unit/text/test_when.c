/* Times as people type them, by a fixed clock and in time zones with and without summer time. */
#include "unit.h"

#include <stdlib.h>
#include <time.h>

#include "text/human.h"
#include "text/when.h"

/* Tuesday, 17 November 2026, 14:30 UTC. */
static const double NOW = 1794925800;

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static const struct {
    const char *text, *from, *until;
} forms[] = {
    { "today", "2026-11-17 00:00", "2026-11-18 00:00" },
    { "Yesterday", "2026-11-16 00:00", "2026-11-17 00:00" },
    { "this week", "2026-11-16 00:00", "2026-11-23 00:00" },
    { "last week", "2026-11-09 00:00", "2026-11-16 00:00" },
    { " last  week ", "2026-11-09 00:00", "2026-11-16 00:00" },
    { "this month", "2026-11-01 00:00", "2026-12-01 00:00" },
    { "last month", "2026-10-01 00:00", "2026-11-01 00:00" },
    { "last year", "2025-01-01 00:00", "2026-01-01 00:00" },
    { "monday", "2026-11-16 00:00", "2026-11-17 00:00" },
    { "tue", "2026-11-17 00:00", "2026-11-18 00:00" },
    { "last tuesday", "2026-11-10 00:00", "2026-11-11 00:00" },
    { "wednesday", "2026-11-11 00:00", "2026-11-12 00:00" },
    { "october", "2026-10-01 00:00", "2026-11-01 00:00" },
    { "dec", "2025-12-01 00:00", "2026-01-01 00:00" },
    { "7d", "2026-11-10 14:30", "2026-11-17 14:30" },
    { "24h", "2026-11-16 14:30", "2026-11-17 14:30" },
    { "90min", "2026-11-17 13:00", "2026-11-17 14:30" },
    { "2w", "2026-11-03 14:30", "2026-11-17 14:30" },
    { "3mo", "2026-08-17 14:30", "2026-11-17 14:30" },
    { "1y", "2025-11-17 14:30", "2026-11-17 14:30" },
    { "2 weeks ago", "2026-11-03 14:30", "2026-11-17 14:30" },
    { "last 7 days", "2026-11-10 14:30", "2026-11-17 14:30" },
    { "3 days", "2026-11-14 14:30", "2026-11-17 14:30" },
    { "2026-11-15", "2026-11-15 00:00", "2026-11-16 00:00" },
    { "2026-11-15T08:00:00Z", "2026-11-15 08:00", "2026-11-15 08:00" },
    { "2026-02", "2026-02-01 00:00", "2026-03-01 00:00" },
    { "1794925800", "2026-11-17 14:30", "2026-11-17 14:30" },
};

static void every_form_means_a_range(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    set_zone("UTC");
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        When when;

        if (!when_parse(str_of(forms[i].text), NOW, &when))
            fail_msg("'%s' is not understood", forms[i].text);
        assert_str(human_time(a, when.from), str_of(forms[i].from));
        assert_str(human_time(a, when.until), str_of(forms[i].until));
    }
}

static void anything_else_is_refused(void **state)
{
    static const char *const texts[] = { "",        "soon",       "-3d",      "0d",
                                         "7",       "7x",         "d",        "last",
                                         "ago",     "last 7",     "7 7 days", "99999999999d",
                                         "2026-13", "2026-11-32", "tomorrow", "last last week" };
    When when = { 1, 2 };

    (void)state;
    set_zone("UTC");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (when_parse(str_of(texts[i]), NOW, &when) && strcmp(texts[i], "7") != 0)
            fail_msg("'%s' was understood", texts[i]);
    assert_true(when.until >= when.from);
}

static void days_are_those_of_the_time_zone(void **state)
{
    AUTO(Arena) *a = arena_new();
    When when;

    (void)state;
    set_zone("Europe/Berlin");
    /* 26 October 2026, the day after the clocks went back: yesterday has 25 hours. */
    assert_true(when_parse(STR("yesterday"), 1793012400, &when));
    assert_true(when.until - when.from == 25 * 3600);
    set_zone("America/Los_Angeles");
    assert_true(when_parse(STR("today"), NOW, &when));
    assert_str(human_iso(a, when.from), STR("2026-11-17T08:00:00Z"));
    set_zone("UTC");
}

static void a_month_less_ends_with_the_month(void **state)
{
    AUTO(Arena) *a = arena_new();
    double march;
    When when;

    (void)state;
    set_zone("UTC");
    assert_true(human_parse_time(STR("2026-03-31 10:00"), &march));
    assert_true(when_parse(STR("1mo"), march, &when));
    assert_str(human_time(a, when.from), STR("2026-02-28 10:00"));
}

static const struct {
    const char *text, *place;
} sentences[] = {
    { "what did we fix last week?", "last week" },
    { "Last Monday: which tests failed", "Last Monday" },
    { "what happened in the last 3 days, and why", "last 3 days" },
    { "sessions of 2 weeks ago", "2 weeks ago" },
    { "what did I do yesterday", "yesterday" },
    { "the last word of this chapter", NULL },
    { "may I march on", NULL },
    { "7d of 12 mon", NULL },
    { "", NULL },
};

static void a_sentence_may_name_a_time(void **state)
{
    (void)state;
    set_zone("UTC");
    for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
        Str place = STR_NONE;
        When when;
        bool found = when_find(str_of(sentences[i].text), NOW, &when, &place);

        if (found != (sentences[i].place != NULL))
            fail_msg("'%s'", sentences[i].text);
        if (found)
            assert_str(place, str_of(sentences[i].place));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_means_a_range),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(days_are_those_of_the_time_zone),
        cmocka_unit_test(a_month_less_ends_with_the_month),
        cmocka_unit_test(a_sentence_may_name_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
