#include "unit.h"

#include "text/outcome.h"

static const struct {
    const char *why;
    Str result;
    Outcome expect;
} results[] = {
    /* JSON with a verdict of its own */
    { "success: false", STR_INIT("{\"success\": false}"), OUTCOME_UNSUCCESSFUL },
    { "success: true", STR_INIT("{\"success\": true, \"diff\": \"error\"}"), OUTCOME_OK },
    { "an error in words", STR_INIT("{\"error\": \"no such file\"}"), OUTCOME_ERROR },
    { "an error as an object", STR_INIT("{\"error\": {\"code\": 5}}"), OUTCOME_ERROR },
    { "error: null", STR_INIT("{\"output\": \"x\", \"error\": null}"), OUTCOME_OK },
    { "error: empty text", STR_INIT("{\"error\": \"\"}"), OUTCOME_OK },
    { "error: false", STR_INIT("{\"error\": false}"), OUTCOME_OK },
    { "error: empty list", STR_INIT("{\"error\": []}"), OUTCOME_OK },
    { "error: None, as Python says it", STR_INIT("{\"error\": \"None\"}"), OUTCOME_OK },
    { "exit_code 1", STR_INIT("{\"output\": \"\", \"exit_code\": 1}"), OUTCOME_EXIT_CODE },
    { "exit_code -1", STR_INIT("{\"output\": \"\", \"exit_code\": -1}"), OUTCOME_EXIT_CODE },
    { "exit_code as text", STR_INIT("{\"exit_code\": \"127\"}"), OUTCOME_EXIT_CODE },
    { "returncode 2", STR_INIT("{\"returncode\": 2}"), OUTCOME_EXIT_CODE },
    { "exit_code 0", STR_INIT("{\"output\": \"Error: x\", \"exit_code\": 0}"), OUTCOME_OK },
    { "exit_code null", STR_INIT("{\"output\": \"started\", \"exit_code\": null}"), OUTCOME_OK },
    { "MCP's isError", STR_INIT("{\"content\": [], \"isError\": true}"), OUTCOME_UNSUCCESSFUL },
    { "status: error", STR_INIT("{\"status\": \"error\", \"output\": \"\"}"),
      OUTCOME_UNSUCCESSFUL },
    { "a job that it lists has failed", STR_INIT("{\"jobs\": [{\"status\": \"error\"}]}"),
      OUTCOME_OK },
    /* one level down */
    { "Codex' metadata", STR_INIT("{\"output\": \"x\", \"metadata\": {\"exit_code\": 1}}"),
      OUTCOME_EXIT_CODE },
    { "Codex' metadata of a success",
      STR_INIT("{\"output\": \"0 errors\", \"metadata\": {\"exit_code\": 0}}"), OUTCOME_OK },
    { "JSON in output", STR_INIT("{\"output\": \"{\\\"success\\\": false}\"}"),
      OUTCOME_UNSUCCESSFUL },
    { "JSON in output of a command that ended well",
      STR_INIT("{\"output\": \"{\\\"error\\\": \\\"x\\\"}\", \"exit_code\": 0}"), OUTCOME_OK },
    { "a traceback in output",
      STR_INIT("{\"output\": \"Traceback (most recent call last):\\n  File\\nKeyError: 'x'\"}"),
      OUTCOME_TRACEBACK },
    { "a file that it read is about errors",
      STR_INIT("{\"content\": \"{\\\"error\\\": \\\"x\\\"}\", \"total_lines\": 1}"), OUTCOME_OK },
    { "two levels down is data", STR_INIT("{\"result\": {\"result\": {\"error\": \"x\"}}}"),
      OUTCOME_OK },
    /* plain text */
    { "nothing", STR_INIT(""), OUTCOME_OK },
    { "ok", STR_INIT("ok"), OUTCOME_OK },
    { "0 errors", STR_INIT("compiled: 0 errors, 0 warnings"), OUTCOME_OK },
    { "a log that mentions an error", STR_INIT("10:00 start\n10:01 ERROR: retrying\n10:02 done"),
      OUTCOME_OK },
    { "no error", STR_INIT("No error found"), OUTCOME_OK },
    { "Claude Code's error", STR_INIT("Error: File does not exist."), OUTCOME_ERROR },
    { "Claude Code's tool error",
      STR_INIT("<tool_use_error>String to replace not found in file.</tool_use_error>"),
      OUTCOME_ERROR },
    { "Claude Code's exit code", STR_INIT("Exit code 2\nmake: *** no rule"), OUTCOME_EXIT_CODE },
    { "Claude Code's exit code behind Error:", STR_INIT("Error: Exit code 1\nboom"),
      OUTCOME_EXIT_CODE },
    { "Codex' exit code", STR_INIT("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom"),
      OUTCOME_EXIT_CODE },
    { "Codex' exit code 0",
      STR_INIT("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n"
               "Traceback (most recent call last):\nKeyError: 1"),
      OUTCOME_OK },
    { "Codex' newer form",
      STR_INIT("Chunk ID: a1\nWall time: 0.05 seconds\nProcess exited with code 127\n"
               "Original token count: 5\nOutput:\nsh: x: not found"),
      OUTCOME_EXIT_CODE },
    { "a README that speaks of exit codes", STR_INIT("# Usage\nExit code: 1 means failure"),
      OUTCOME_OK },
    { "a traceback at the end",
      STR_INIT("running\nTraceback (most recent call last):\n  File \"a.py\", line 1\n"
               "requests.exceptions.Timeout: slow\n"),
      OUTCOME_TRACEBACK },
    { "a traceback that the program went on after",
      STR_INIT(
          "Traceback (most recent call last):\n  File\nKeyError: 1\nretrying\nall 12 tests passed"),
      OUTCOME_OK },
    { "the user said no",
      STR_INIT("The user doesn't want to proceed with this tool use. The tool use was rejected"),
      OUTCOME_REFUSED },
    { "permission denied by user", STR_INIT("Permission denied by user"), OUTCOME_REFUSED },
    { "user rejected", STR_INIT("exec command: user rejected it"), OUTCOME_REFUSED },
    { "not allowed", STR_INIT("This command is not allowed in read-only mode"), OUTCOME_REFUSED },
    { "JSON that was cut off is read as text", STR_INIT("{\"output\": \"aaa"), OUTCOME_OK },
};

static void a_result_is_judged_by_its_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        Outcome got = outcome_of_result(results[i].result);

        if (got != results[i].expect)
            fail_msg("%s: got \"%s\"", results[i].why, outcome_text(got));
    }
}

static void a_long_document_is_not_a_refusal(void **state)
{
    AUTO(Arena) *a = arena_new();
    char padding[400];

    (void)state;
    memset(padding, 'x', sizeof padding);
    assert_int_equal(outcome_of_result(str_printf(a, "Parking is not allowed. %.*s",
                                                  (int)sizeof padding, padding)),
                     OUTCOME_OK);
}

static const struct {
    Str message;
    bool complaint;
} messages[] = {
    { STR_INIT("it is still broken"), true },
    { STR_INIT("Doesn't work."), true },
    { STR_INIT("That’s not right, look again"), true },
    { STR_INIT("that's wrong"), true },
    { STR_INIT("No, that is not what I asked for"), true },
    { STR_INIT("same error as before"), true },
    { STR_INIT("Thanks, but it still fails"), true },
    { STR_INIT("不对"), true },
    { STR_INIT("还是不行，再看看"), true },
    { STR_INIT("你改错了"), true },
    { STR_INIT("问题没解决了吧"), true },
    { STR_INIT("not perfect"), true },
    { STR_INIT("perfect, thanks"), false },
    { STR_INIT("It didn't work at first, but now it works great"), false },
    { STR_INIT("没有问题"), false },
    { STR_INIT("刚才不对，现在可以了"), false },
    { STR_INIT("不错"), false },
    { STR_INIT("now add a test for the wrong password"), false },
    { STR_INIT("please handle the error in line 5"), false },
    { STR_INIT("networking now"), false },
    { STR_INIT("here is the log:\n```\nit failed\n```"), false },
    { STR_INIT(""), false },
};

static void a_complaint_is_heard(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(messages); i++)
        if (outcome_is_complaint(messages[i].message) != messages[i].complaint)
            fail_msg("%.*s", STR_FMT(messages[i].message));
}

static const struct {
    Str message;
    Remark remark;
} remarks[] = {
    { STR_INIT("perfect, thanks"), REMARK_PRAISE },
    { STR_INIT("works now, thank you"), REMARK_PRAISE },
    { STR_INIT("nice, ship it"), REMARK_PRAISE },
    { STR_INIT("no worries, it was my config; thanks"), REMARK_PRAISE },
    { STR_INIT("I undid my local patch and it is correct now"), REMARK_PRAISE },
    { STR_INIT("that incorrect total is gone, perfect"), REMARK_PRAISE },
    { STR_INIT("可以了，合并吧"), REMARK_PRAISE },
    { STR_INIT("ありがとう、完璧です"), REMARK_PRAISE },
    { STR_INIT("Отлично, спасибо"), REMARK_PRAISE },
    { STR_INIT("this doesn't work on my machine"), REMARK_BLAME },
    { STR_INIT("the test is still failing"), REMARK_BLAME },
    { STR_INIT("no, I asked for something else: show before/after numbers"), REMARK_BLAME },
    { STR_INIT("you did not follow the convention: no Any"), REMARK_BLAME },
    { STR_INIT("it still fails, thanks"), REMARK_BLAME },
    { STR_INIT("没有修好，必须补测试"), REMARK_BLAME },
    { STR_INIT("まだ動きません"), REMARK_BLAME },
    { STR_INIT("всё ещё не работает"), REMARK_BLAME },
    { STR_INIT("also update the docs while you are there"), REMARK_NONE },
    { STR_INIT("the piano, undocumented, is an incorrect word"), REMARK_NONE },
    { STR_INIT("continue"), REMARK_NONE },
};

static void a_remark_is_told_from_a_request(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(remarks); i++)
        if (outcome_of_remark(remarks[i].message) != remarks[i].remark)
            fail_msg("%.*s", STR_FMT(remarks[i].message));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_judged_by_its_text),
        cmocka_unit_test(a_long_document_is_not_a_refusal),
        cmocka_unit_test(a_complaint_is_heard),
        cmocka_unit_test(a_remark_is_told_from_a_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
