/* Codes: for strangers who ask to be let in, and for terminals that take a session; and how the
 * lines are. */
#include "handoff_world.h"

#include "chat/connections.h"
#include "chat/people.h"
#include "handoff/take_codes.h"

static Str ask(World *w, const char *user)
{
    Str code = STR("?");

    OK(person_ask(w->journal, w->arena, STR("telegram"), str_of(user), STR("Ada"), &code, &err));
    return code;
}

static bool allowed(World *w, const char *platform, const char *user)
{
    bool is = false;

    OK(person_is_allowed(w->journal, str_of(platform), str_of(user), &is, &err));
    return is;
}

static void let_in_by_code(void **unused)
{
    World w;
    Person p, *all;
    size_t n;
    Str code;

    (void)unused;
    world_open(&w);
    code = ask(&w, "7");
    assert_int_equal(code.n, CODE_CHARS);
    assert_int_equal(ask(&w, "7").n, 0); /* one answer an hour */
    assert_false(allowed(&w, "telegram", "7"));
    FAILS(person_approve(w.journal, w.arena, STR("22222222"), &p, &err), ERR_NOT_FOUND);
    FAILS(person_approve(w.journal, w.arena, STR(""), &p, &err), ERR_NOT_FOUND);
    /* As people type it. */
    code = str_printf(w.arena, "%.4s-%.4s", code.p, code.p + 4);
    OK(person_approve(w.journal, w.arena, code, &p, &err));
    assert_str(p.user_id, STR("7"));
    assert_str(p.name, STR("Ada"));
    assert_true(p.allowed);
    assert_true(allowed(&w, "telegram", "7"));
    assert_false(allowed(&w, "slack", "7")); /* somebody else */
    FAILS(person_approve(w.journal, w.arena, code, &p, &err), ERR_NOT_FOUND);
    assert_int_equal(ask(&w, "7").n, 0); /* who is in stays in */
    assert_true(allowed(&w, "telegram", "7"));
    OK(people_list(w.journal, w.arena, &all, &n, &err));
    assert_int_equal(n, 1);
    world_close(&w);
}

static void codes_end(void **unused)
{
    World w;
    Person p;
    Str code, again;

    (void)unused;
    world_open(&w);
    code = ask(&w, "7");
    w.now += 3601;
    FAILS(person_approve(w.journal, w.arena, code, &p, &err), ERR_NOT_FOUND);
    again = ask(&w, "7");
    assert_int_equal(again.n, CODE_CHARS);
    assert_false(str_eq(code, again));
    world_close(&w);
}

static void not_too_many(void **unused)
{
    World w;

    (void)unused;
    world_open(&w);
    for (int i = 0; i < PEOPLE_ASKING; i++)
        assert_int_equal(ask(&w, str_printf(w.arena, "u%d", i).p).n, CODE_CHARS);
    assert_int_equal(ask(&w, "late").n, 0);
    w.now += 3601;
    assert_int_equal(ask(&w, "late").n, CODE_CHARS);
    world_close(&w);
}

static void taken_once(void **unused)
{
    World w;
    Str first, code, home, session;

    (void)unused;
    world_open(&w);
    OK(take_code_make(w.journal, w.arena, w.hermes, STR("s1"), &first, &err));
    OK(take_code_make(w.journal, w.arena, w.hermes, STR("s1"), &code, &err));
    FAILS(take_code_use(w.journal, w.arena, first, &home, &session, &err), ERR_NOT_FOUND);
    assert_str(world_ask(&w, w.data, "SELECT count(*) FROM take_code"), STR("1"));
    assert_str(world_ask(&w, w.data,
                         str_printf(w.arena, "SELECT 1 FROM take_code WHERE sha256 LIKE '%%%.*s%%'",
                                    STR_FMT(code))
                             .p),
               STR("-")); /* the code itself is nowhere */
    OK(take_code_use(w.journal, w.arena, str_printf(w.arena, " %.4s %.4s ", code.p, code.p + 4),
                     &home, &session, &err));
    assert_str(home, w.hermes);
    assert_str(session, STR("s1"));
    FAILS(take_code_use(w.journal, w.arena, code, &home, &session, &err), ERR_NOT_FOUND);
    OK(take_code_make(w.journal, w.arena, w.data, STR("s2"), &code, &err));
    w.now += 601;
    FAILS(take_code_use(w.journal, w.arena, code, &home, &session, &err), ERR_NOT_FOUND);
    FAILS(take_code_use(w.journal, w.arena, STR("nonsense"), &home, &session, &err), ERR_NOT_FOUND);
    world_close(&w);
}

static void tidied(void **unused)
{
    static const struct {
        const char *typed, *code;
    } cases[] = {
        { "abcd-efgh", "ABCDEFGH" },   { "ABCDEFGH", "ABCDEFGH" },
        { " abcd efgh ", "ABCDEFGH" }, { "abcdefg", "" },
        { "abcdefghj", "" },           { "abcdefg0", "" },
        { "abcd\nefgh", "" },          { "", "" },
    };
    AUTO(Arena) *a = arena_new();

    (void)unused;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(code_tidy(a, str_of(cases[i].typed)), str_of(cases[i].code));
}

static void lines(void **unused)
{
    ConnectionStatus up = { .platform = STR("telegram"),
                            .link = STR("connected"),
                            .account = STR("ourbot") };
    ConnectionStatus *all;
    World w;
    size_t n;

    (void)unused;
    world_open(&w);
    world_sql(&w, w.data, "INSERT INTO platform_state(platform, cursor) VALUES('telegram', '42')");
    OK(connections_list(w.journal, w.arena, &all, &n, &err));
    assert_int_equal(n, 0); /* read once, but not served now */
    OK(connections_put(w.journal, &up, 1, &err));
    up.link = STR("reconnecting");
    up.error = STR("no route");
    up.error_ms = 5;
    OK(connections_put(w.journal, &up, 1, &err));
    OK(connections_list(w.journal, w.arena, &all, &n, &err));
    assert_int_equal(n, 1);
    assert_str(all[0].link, STR("reconnecting"));
    assert_str(all[0].error, STR("no route"));
    assert_int_equal(all[0].error_ms, 5);
    assert_int_equal(all[0].updated_ms, (int64_t)(w.now * 1000));
    assert_str(world_ask(&w, w.data, "SELECT cursor FROM platform_state"), STR("42"));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(let_in_by_code), cmocka_unit_test(codes_end),
        cmocka_unit_test(not_too_many),   cmocka_unit_test(taken_once),
        cmocka_unit_test(tidied),         cmocka_unit_test(lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
