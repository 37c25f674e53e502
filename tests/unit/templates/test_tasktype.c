#include "unit.h"

#include "templates/tasktype.h"

static const struct {
    const char *why;
    Str tools[5];
    size_t n;
    TaskType expect;
} cases[] = {
    { "no calls at all", { { 0 } }, 0, TASK_MIXED },
    { "one call", { STR_INIT("code_execution") }, 1, TASK_CODE },
    { "two of three is more than 60 %",
      { STR_INIT("execute_code"), STR_INIT("execute_code"), STR_INIT("terminal") },
      3,
      TASK_CODE },
    { "exactly 60 % is not more",
      { STR_INIT("read_file"), STR_INIT("read_file"), STR_INIT("write_file"), STR_INIT("terminal"),
        STR_INIT("web_search") },
      5,
      TASK_MIXED },
    { "unknown tools count in the whole",
      { STR_INIT("read_file"), STR_INIT("read_file"), STR_INIT("todo"), STR_INIT("todo") },
      4,
      TASK_MIXED },
    { "tools of one set add up",
      { STR_INIT("patch"), STR_INIT("search_files"), STR_INIT("Grep"), STR_INIT("apply_patch"),
        STR_INIT("terminal") },
      5,
      TASK_FILE },
    { "only unknown tools", { STR_INIT("todo"), STR_INIT("memory") }, 2, TASK_MIXED },
};

static void type_is_the_dominant_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (tasktype_of(cases[i].tools, cases[i].n) != cases[i].expect)
            fail_msg("%s", cases[i].why);
}

/* The four rows that docs/templates.md promises, and one tool of each other agent. */
static const struct {
    Str tool;
    TaskType expect;
} tools[] = {
    { STR_INIT("execute_code"), TASK_CODE },
    { STR_INIT("code_execution"), TASK_CODE },
    { STR_INIT("read_file"), TASK_FILE },
    { STR_INIT("write_file"), TASK_FILE },
    { STR_INIT("patch"), TASK_FILE },
    { STR_INIT("search_files"), TASK_FILE },
    { STR_INIT("web_search"), TASK_RESEARCH },
    { STR_INIT("web_fetch"), TASK_RESEARCH },
    { STR_INIT("browser_navigate"), TASK_RESEARCH },
    { STR_INIT("terminal"), TASK_TERMINAL },
    { STR_INIT("execute_terminal"), TASK_TERMINAL },
    { STR_INIT("browser_click"), TASK_RESEARCH },
    { STR_INIT("web_extract"), TASK_RESEARCH },
    { STR_INIT("process"), TASK_TERMINAL },
    { STR_INIT("Bash"), TASK_TERMINAL },
    { STR_INIT("Read"), TASK_FILE },
    { STR_INIT("MultiEdit"), TASK_FILE },
    { STR_INIT("NotebookEdit"), TASK_FILE },
    { STR_INIT("WebFetch"), TASK_RESEARCH },
    { STR_INIT("WebSearch"), TASK_RESEARCH },
    { STR_INIT("shell"), TASK_TERMINAL },
    { STR_INIT("local_shell"), TASK_TERMINAL },
    { STR_INIT("exec_command"), TASK_TERMINAL },
    { STR_INIT("apply_patch"), TASK_FILE },
    { STR_INIT("todo"), TASK_MIXED },
    { STR_INIT("Terminal"), TASK_MIXED },
    { STR_INIT(""), TASK_MIXED },
    { STR_INIT("browser"), TASK_MIXED },
};

static void every_agent_has_its_tools_in_a_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (tasktype_of_tool(tools[i].tool) != tools[i].expect)
            fail_msg("%.*s", STR_FMT(tools[i].tool));
}

static void names_read_back(void **state)
{
    TaskType type;

    (void)state;
    for (TaskType t = 0; t < TASK_TYPE_COUNT; t++) {
        assert_true(tasktype_parse(str_of(tasktype_name(t)), &type));
        assert_int_equal(type, t);
    }
    assert_false(tasktype_parse(STR("Code"), &type));
    assert_false(tasktype_parse(STR(""), &type));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_is_the_dominant_set),
        cmocka_unit_test(every_agent_has_its_tools_in_a_set),
        cmocka_unit_test(names_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
