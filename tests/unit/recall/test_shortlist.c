/* recall/skills: front matter in all its forms, and which skills fit a request. */
#include "unit.h"

#include "../../bench/shortlist_skills.h"
#include "recall/skills_words.h"

static void test_front_matter(void **state)
{
    static const struct {
        const char *text, *name, *description, *tags, *platforms;
        bool warns;
    } cases[] = {
        { "---\nname: a\ndescription: d\n---\n# H\nbody", "a", "d", "", "", false },
        { "---\r\nname: a\r\ndescription: d\r\n---\r\nbody", "a", "d", "", "", false },
        { "---\nname: a\ndescription: d\nmetadata:\n  hermes:\n    tags: [x, y]\n---\n", "a", "d",
          "x y", "", false },
        { "---\nname: a\ndescription: d\ntags: x, y\nplatforms: [linux, macos]\n---\n", "a", "d",
          "x y", "linux macos", false },
        { "---\nname: a\ndescription: >\n  d\n  e\n---\n", "a", "d e", "", "", false },
        { "---\nname: a\ndescription: use it: when: needed\n---\n", "a", "use it: when: needed", "",
          "", true },
        { "---\nname: [\n---\n", "[", "", "", "", true },
        { "---\n- a\n- b\n---\n", "folder", "", "", "", true },
        { "no front matter", "folder", "", "", "", true },
        { "---\nname: a", "folder", "", "", "", true },
        { "---\na: &x [*x]\nname: n\ndescription: d\n---\n", "n", "d", "", "", true },
        { "", "folder", "", "", "", true },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(Arena) *a = arena_new();
        Skill s;

        skill_parse(a, STR("folder"), str_of(cases[i].text), &s);
        assert_str(s.name, str_of(cases[i].name));
        assert_str(s.description, str_of(cases[i].description));
        assert_str(s.tags, str_of(cases[i].tags));
        assert_str(s.platforms, str_of(cases[i].platforms));
        assert_int_equal(s.warning.n > 0, cases[i].warns);
    }
}

static void test_words(void **state)
{
    AUTO(Arena) *a = arena_new();
    Words w = words_of(a, STR("Please help me fix the tests, and the testing!"), 16);

    (void)state;
    assert_int_equal(w.n, 2);
    assert_str(w.all[1], STR("test"));
    assert_int_equal(words_of(a, STR("部署服务"), 16).n, 3);
    assert_int_equal(words_of(a, STR("can you please do it?"), 16).n, 0);
    assert_int_equal(words_in(a, &w, STR("a test of FIXES"), NULL), 2);
    assert_false(words_enough(1, 2));
    assert_true(words_enough(2, 4));
    assert_false(words_enough(2, 9));
}

static Skills *with(Skill *all, size_t n)
{
    SkillPlaces nowhere = { .only = STR("/nonexistent") };
    Err err;
    Skills *s = skills_open(&nowhere, &err);

    assert_non_null(s);
    assert_true(skills_put(s, all, n, &err));
    return s;
}

static Shortlist ask(Skills *s, Arena *a, const char *text)
{
    ShortlistQuery query = { .text = str_of(text) };
    Shortlist found;
    Err err;

    assert_true(skills_shortlist(s, a, &query, &found, &err));
    return found;
}

static void test_what_is_left_out(void **state)
{
    Skill all[] = {
        { .name = STR("deploy-mac"), .description = STR("deploy pods"), .platforms = STR("macos") },
        { .name = STR("deploy-off"), .description = STR("deploy pods"), .disabled = true },
        { .name = STR("deploy-any"), .description = STR("deploy pods") },
        { .name = STR("deploy-here"),
          .description = STR("deploy pods"),
          .platforms = STR("linux") },
        { .name = STR("other"),
          .body = STR("a long text about nothing that says pods once, and goes "
                      "on and on about the weather in november") },
    };
    AUTO(Arena) *a = arena_new();
    AUTO(Skills) *s = with(all, ARRAY_LEN(all));
    Shortlist found = ask(s, a, "deploy the pods");

    (void)state;
    assert_int_equal(found.n, 2);
    assert_int_equal(found.omitted.platform, 1);
    assert_int_equal(found.omitted.disabled, 1);
    assert_int_equal(found.omitted.score, 1);
    assert_int_equal(ask(s, a, "please").n, 0);
    assert_int_equal(ask(s, a, "zebra").n, 0);
}

static void test_name_use_and_doubt(void **state)
{
    Skill all[] = {
        { .name = STR("pdf-forms"), .description = STR("fill in documents") },
        { .name = STR("csv-a"), .description = STR("tables of numbers"), .experimental = true },
        { .name = STR("csv-b"), .description = STR("tables of numbers") },
        { .name = STR("csv-c"), .description = STR("tables of numbers"), .successes = 15 },
        { .name = STR("csv-d"), .description = STR("tables of numbers"), .failures = 1 },
    };
    AUTO(Arena) *a = arena_new();
    AUTO(Skills) *s = with(all, ARRAY_LEN(all));
    Shortlist found = ask(s, a, "tables of numbers; use PDF forms for it");

    (void)state;
    assert_str(found.picks[0].name, STR("pdf-forms"));
    assert_str(found.picks[0].reasons[0], STR("named in the request"));
    assert_int_equal(found.picks[0].confidence, SKILL_HIGH);
    found = ask(s, a, "tables of numbers");
    assert_str(found.picks[0].name, STR("csv-c"));
    assert_str(found.picks[1].name, STR("csv-b"));
    assert_true(found.picks[0].score > found.picks[1].score);
}

static void test_never_more_than_eight(void **state)
{
    AUTO(Arena) *a = arena_new();
    Skill all[30];
    AUTO(Skills) *s = NULL;
    Shortlist found;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i] = (Skill){ .name = str_printf(a, "s%zu", i), .description = STR("deploy pods") };
    s = with(all, ARRAY_LEN(all));
    found = ask(s, a, "deploy pods");
    assert_int_equal(found.n, SHORTLIST_MOST);
    assert_int_equal(found.omitted.score, 22);
}

/* The body is what people's own words are found in. */
static void test_ahead_of_name_and_description(void **state)
{
    Hits ours, plain;
    Err err;

    (void)state;
    assert_true(ask_made_up(false, &ours, &err) && ask_made_up(true, &plain, &err));
    assert_int_equal(ours.asked, MADE_SKILLS * REQUESTS);
    assert_true(ours.at_8 * 100 >= plain.at_8 * 100 + 15 * ours.asked);
    assert_true(ours.at_8 * 100 >= 75 * ours.asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_front_matter),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_what_is_left_out),
        cmocka_unit_test(test_name_use_and_doubt),
        cmocka_unit_test(test_never_more_than_eight),
        cmocka_unit_test(test_ahead_of_name_and_description),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
