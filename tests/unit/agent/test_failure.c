/* agent/failure, agent/statement: what failed and what was said about it, in few words. */
#include "unit.h"

#include "agent/answer.h"
#include "agent/failure.h"
#include "agent/statement.h"

static void test_command(void **state)
{
    static const char *const cases[][2] = {
        { "git push -f origin main", "git push" },
        { "cd /srv/app && cargo test gate", "cargo test" },
        { "bash\n-lc\nnpm run build:prod", "npm run build:prod" },
        { "FOO=1 sudo -E /usr/bin/systemctl restart nginx", "systemctl restart" },
        { "timeout 30 python3 -m pytest -q", "python3 -m pytest" },
        { "./script/test --fast | tail", "test" },
        { "ls -la /tmp", "ls" },
        { "cd /tmp", "cd" },
        { "", "" },
        { "'", "" },
        { ";;;&&||", "" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(failure_command(a, str_of(cases[i][0])), str_of(cases[i][1]));
    assert_true(failure_is_shell(STR("Bash")) && failure_is_shell(STR("exec_command")));
    assert_false(failure_is_shell(STR("read_file")));
}

static void test_line(void **state)
{
    static const char *const cases[][2] = {
        { "Exit code 1\ncompiling\nerror: no such file\nerror: 2 failed", "error: no such file" },
        { "{\"output\":\"ok\\nnope\",\"error\":\"HTTP 403\",\"exit_code\":1}", "HTTP 403" },
        { "{\"output\":\"one\\nfatal: not a repo\\ntwo\"}", "fatal: not a repo" },
        { "Traceback (most recent call last):\n  File \"x\"\nKeyError: 'a'", "KeyError: 'a'" },
        { "first\nlast", "last" },
        { "  \n ", "" },
        { "{broken", "{broken" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(failure_line(a, str_of(cases[i][0])), str_of(cases[i][1]));
    assert_str(failure_kind(a, STR("Cannot open '/a/b' after 12 ms")),
               failure_kind(a, STR("cannot open \"/c\" after 7 ms")));
    assert_str(failure_kind(a, STR("it's 5")), STR("it's #"));
}

static void test_statements(void **state)
{
    static const struct {
        const char *text;
        Statement what;
        bool by_user, states;
    } cases[] = {
        { "Fixed: the gate opens.", STATEMENT_FIXED, false, true },
        { "That is not fixed yet.", STATEMENT_FIXED, false, false },
        { "Is it fixed?", STATEMENT_FIXED, false, false },
        { "A prefixed name.", STATEMENT_FIXED, false, false },
        { "We decided on files.", STATEMENT_DECIDED, false, true },
        { "Use tabs instead of blanks.", STATEMENT_DECIDED, true, true },
        { "The error is 28 mm instead of 5.", STATEMENT_DECIDED, false, false },
        { "", STATEMENT_FIXED, false, false },
    };
    AUTO(Arena) *a = arena_new();
    Str rest = STR("# Title\n- one. Two! v1.2 three?\n\n"), s;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(sentence_states(a, str_of(cases[i].text), cases[i].what, cases[i].by_user),
                         cases[i].states);
    while (sentence_next(&rest, &s))
        n++;
    assert_int_equal(n, 4);
}

static void test_repeats(void **state)
{
    (void)state;
    assert_true(answer_is_repeat(STR("The suite is green: 26 tests passed."),
                                 STR("the suite is green: 22 tests passed")));
    assert_false(answer_is_repeat(STR("The suite is green."), STR("The disk is full.")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_repeats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
