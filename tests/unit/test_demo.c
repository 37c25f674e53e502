#include "unit.h"

#include "demo/demo.h"

static const struct {
    const char *text, *digest;
} digests[] = {
    { "", "cbf29ce484222325" },
    { "a", "af63dc4c8601ec8c" },
    { "foobar", "85944171f73967e8" },
};

static void digest_is_fnv1a(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(digests); i++)
        assert_str(demo_digest(a, str_of(digests[i].text)), str_of(digests[i].digest));
}

/* -- texts with holes ------------------------------------------------------------------------ */

/* A scene of a task of the demo itself, on 2026-03-02. */
static Scene scene(Arena *a, const World *w)
{
    return scene_of(a, w, world_find(w->tasks, "id", STR("tide-figures")), 1772409600, 7);
}

static Str fill(Scene *s, const char *json)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(str_of(json), &err);

    assert_non_null(doc);
    return words_fill(s, json_root(doc));
}

static const struct {
    const char *why, *text, *expect;
} holes[] = {
    { "nothing to fill", "\"plain { } text\"", "plain { } text" },
    { "lines are joined", "[\"a\", \"\", \"b\"]", "a\n\nb" },
    { "the day of the session", "\"«date» «long» «year»\"", "2026-03-02 2 March 2026 2026" },
    { "days around it", "\"«day-2» «day+30»\"", "2026-02-28 2026-04-01" },
    { "months before it, over the year's end", "\"«mon-1» «mon-3»\"", "2026-02 2025-12" },
    { "a range of one", "\"«7-7» «4.90-4.90»\"", "7 4.90" },
    { "what is named is remembered", "\"«n=5-5», «n»\"", "5, 5" },
    { "where we are", "\"«project» «cwd»\"", "tidepaper /home/you/tidepaper" },
    { "what nobody knows stays visible", "\"«nobody»\"", "«nobody»" },
    { "a hole that is not closed", "\"a «b\"", "a «b" },
};

static void holes_are_filled(void **state)
{
    AUTO(Arena) *a = arena_new();
    Err err;
    AUTO(World) *w = world_open(&err);

    (void)state;
    assert_non_null(w);
    for (size_t i = 0; i < ARRAY_LEN(holes); i++) {
        Scene s = scene(a, w);
        Str got = fill(&s, holes[i].text);

        if (!str_eqz(got, holes[i].expect))
            fail_msg("%s: \"%.*s\"", holes[i].why, STR_FMT(got));
    }
}

static void a_name_of_a_file_follows_its_word(void **state)
{
    AUTO(Arena) *a = arena_new();
    Err err;
    AUTO(World) *w = world_open(&err);
    Scene s;

    (void)state;
    assert_non_null(w);
    s = scene(a, w);
    scene_set(&s, "station", STR("Gull Rock"));
    assert_str(fill(&s, "\"«slug»\""), STR("gull-rock"));
}

static void words_stay_within_a_call(void **state)
{
    AUTO(Arena) *a = arena_new();
    Err err;
    AUTO(World) *w = world_open(&err);
    Str first;
    Scene s;

    (void)state;
    assert_non_null(w);
    s = scene(a, w);
    scene_move_begin(&s);
    first = fill(&s, "\"«thing»\"");
    for (int i = 0; i < 20; i++)
        assert_str(fill(&s, "\"«thing»\""), first);
    scene_move_end(&s);
    for (int i = 0; i < 100; i++)
        if (!str_eq(fill(&s, "\"«thing»\""), first))
            return;
    fail_msg("a word of a call outlived it");
}

/* -- the whole story ------------------------------------------------------------------------- */

typedef struct Heard {
    Arena *arena;
    uint64_t mark; /* of everything that was said */
    size_t sessions;
    double last_start, latest;
} Heard;

static void mark(Heard *h, Str s)
{
    for (size_t i = 0; i < s.n; i++)
        h->mark = (h->mark ^ (unsigned char)s.p[i]) * 0x100000001B3u;
}

static bool hear(void *ctx, const Told *told, Err *err)
{
    Heard *h = ctx;

    (void)err;
    mark(h, told->session.id);
    mark(h, told->session.title);
    for (size_t i = 0; i < told->n; i++) {
        mark(h, told->messages[i].content);
        mark(h, told->messages[i].tool_calls);
        assert_str(told->messages[i].session_id, told->session.id);
        if (told->messages[i].timestamp > h->latest)
            h->latest = told->messages[i].timestamp;
    }
    assert_true(told->session.started_at >= h->last_start);
    h->last_start = told->session.started_at;
    h->sessions++;
    return true;
}

static void the_story_is_the_same_each_time(void **state)
{
    Heard a = { 0 }, b = { 0 }, later = { 0 };
    Err err;

    (void)state;
    assert_true(demo_tell(1772000000.9, hear, &a, &err));
    assert_true(demo_tell(1772000000.9, hear, &b, &err));
    assert_true(demo_tell(1782000000, hear, &later, &err));
    assert_int_equal(a.mark, b.mark);
    assert_int_equal(a.sessions, later.sessions);
    assert_true(a.mark != later.mark);
    assert_true(a.latest == 1772000000 - 3600);
    assert_true(later.latest == 1782000000 - 3600);
}

static bool refuse(void *ctx, const Told *told, Err *err)
{
    (void)told;
    return ++*(int *)ctx < 3 || err_set(err, ERR_NO_SPACE, "full");
}

static void the_story_ends_where_it_is_refused(void **state)
{
    int told = 0;
    Err err;

    (void)state;
    assert_false(demo_tell(1772000000, refuse, &told, &err));
    assert_int_equal(told, 3);
    assert_string_equal(err.text, "full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_is_fnv1a),
        cmocka_unit_test(holes_are_filled),
        cmocka_unit_test(a_name_of_a_file_follows_its_word),
        cmocka_unit_test(words_stay_within_a_call),
        cmocka_unit_test(the_story_is_the_same_each_time),
        cmocka_unit_test(the_story_ends_where_it_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
