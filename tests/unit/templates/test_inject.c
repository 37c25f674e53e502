#include "unit.h"

#include "base/limits.h"
#include "templates/inject.h"

static TemplateExample examples[] = {
    { STR_INIT("execute_code"), STR_INIT("{\"code\": \"1+1\"}"), STR_INIT("2"), true },
    { STR_INIT("read_file"), STR_INIT("{}"), STR_INIT(""), false },
};

static const Template sample = {
    .name = STR_INIT("demo"), .type = TASK_CODE, .examples = examples, .n_examples = 2
};

/* The answer on one line; the input as it was where nothing changes. */
static Str inject(Arena *a, const Template *t, const char *input, const InjectOptions *options)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(str_of(input), &err);
    AUTO_BUF out = BUF(KIB(256));
    JsonWriter w = JSON_WRITER(&out, 0);

    assert_non_null(doc);
    assert_true(inject_check(json_root(doc), &err));
    if (!inject_changes(inject_effect(json_root(doc), t, options)))
        return str_of(input);
    inject_write(&w, json_root(doc), t, options);
    return str_dup(a, buf_str(&out));
}

#define INTRO_GOOD                                                                                 \
    "Session template: demo (code)\\nExamples of successful tool calls from previous sessions:"
#define INTRO                                                                                      \
    "Session template: demo (code)\\nExamples of tool calls from previous sessions, successful "   \
    "ones and ones marked as failed:"
#define FAILED "[this call failed]\\n"
#define OPENAI_CALL(i, name, arguments)                                                            \
    "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"template_" i         \
    "\", \"type\": \"function\", \"function\": {\"name\": \"" name                                 \
    "\", \"arguments\": \"" arguments "\"}}]}"
#define OPENAI_RESULT(i, text)                                                                     \
    "{\"role\": \"tool\", \"tool_call_id\": \"template_" i "\", \"content\": \"" text "\"}"
#define OPENAI_DEMO                                                                                \
    "{\"role\": \"system\", \"content\": \"" INTRO                                                 \
    "\"}, " OPENAI_CALL("0", "execute_code", "{\\\"code\\\": \\\"1+1\\\"}") ", " OPENAI_RESULT(    \
        "0", "2") ", " OPENAI_CALL("1", "read_file", "{}") ", " OPENAI_RESULT("1", FAILED)
#define ANTHROPIC_DEMO                                                                             \
    "{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"" INTRO "\"}]}, "         \
    "{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"template_0\", "    \
    "\"name\": \"execute_code\", \"input\": {\"code\": \"1+1\"}}]}, "                              \
    "{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": "             \
    "\"template_0\", \"content\": \"2\"}]}, "                                                      \
    "{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"template_1\", "    \
    "\"name\": \"read_file\", \"input\": {}}]}, "                                                  \
    "{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": "             \
    "\"template_1\", \"content\": \"\", \"is_error\": true}"

#define SYSTEM "{\"role\": \"system\", \"content\": \"be brief\"}"
#define USER   "{\"role\": \"user\", \"content\": \"hi\"}"

static const struct {
    const char *why, *input, *expect;
    InjectOptions options;
} cases[] = {
    { "an empty conversation", "[]", "[" OPENAI_DEMO "]", { 0 } },
    { "after the leading system messages, before the rest",
      "[" SYSTEM ", " SYSTEM ", " USER ", " SYSTEM "]",
      "[" SYSTEM ", " SYSTEM ", " OPENAI_DEMO ", " USER ", " SYSTEM "]",
      { 0 } },
    { "the others' messages keep what they have",
      "[{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"x\": 1.5}], \"name\": "
      "\"é\"}]",
      "[" OPENAI_DEMO ", {\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"x\": "
      "1.5}], \"name\": \"é\"}]",
      { 0 } },
    { "examples of tools that the session has not are left out, and ids go on from 0",
      "[" USER "]",
      "[{\"role\": \"system\", \"content\": \"" INTRO
      "\"}, " OPENAI_CALL("0", "read_file", "{}") ", " OPENAI_RESULT("0", FAILED) ", " USER "]",
      { .tools = STR_INIT("terminal, read_file") } },
    { "only calls that worked are announced as successful",
      "[" USER "]",
      "[{\"role\": \"system\", \"content\": \"" INTRO_GOOD
      "\"}, " OPENAI_CALL("0", "execute_code",
                          "{\\\"code\\\": \\\"1+1\\\"}") ", " OPENAI_RESULT("0", "2") ", " USER "]",
      { .tools = STR_INIT("execute_code") } },
    { "no tool in common: as it was",
      "[" USER "]",
      "[" USER "]",
      { .tools = STR_INIT("terminal") } },
    { "twice is once", "[" OPENAI_DEMO "," USER "]", "[" OPENAI_DEMO "," USER "]", { 0 } },
    { "a call id alone tells that one is there",
      "[" OPENAI_RESULT("17", "x") "]",
      "[" OPENAI_RESULT("17", "x") "]",
      { 0 } },
    { "so does the first line of a system message",
      "[{\"role\": \"system\", \"content\": \"Session template: other (file)\\nmore\"}]",
      "[{\"role\": \"system\", \"content\": \"Session template: other (file)\\nmore\"}]",
      { 0 } },
    { "a user who quotes that line carries nothing",
      "[{\"role\": \"user\", \"content\": \"Session template: demo (code)\"}]",
      "[" OPENAI_DEMO ", {\"role\": \"user\", \"content\": \"Session template: demo (code)\"}]",
      { 0 } },
    { "the one that is there gives way",
      "[" SYSTEM
      ", {\"role\": \"system\", \"content\": \"Session template: old (file)\\nx\"}, " OPENAI_CALL(
          "0", "patch", "{}") ", " OPENAI_RESULT("0", "old") ", " USER "]",
      "[" SYSTEM ", " OPENAI_DEMO ", " USER "]",
      { .replace = true } },
    { "nothing there to replace: it is put in",
      "[" USER "]",
      "[" OPENAI_DEMO ", " USER "]",
      { .replace = true } },
    { "Anthropic: the user's words share the last message",
      "[" USER ", {\"role\": \"assistant\", \"content\": \"hello\"}]",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"hi\"}]}, {\"role\": \"assistant\", "
      "\"content\": \"hello\"}]",
      { .format = INJECT_ANTHROPIC } },
    { "Anthropic: blocks stay as they are",
      "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"a\"}, {\"type\": "
      "\"image\"}]}]",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"a\"}, {\"type\": \"image\"}]}]",
      { .format = INJECT_ANTHROPIC } },
    { "Anthropic: an assistant's message follows by itself",
      "[{\"role\": \"assistant\", \"content\": \"hello\"}]",
      "[" ANTHROPIC_DEMO "]}, {\"role\": \"assistant\", \"content\": \"hello\"}]",
      { .format = INJECT_ANTHROPIC } },
    { "Anthropic: twice is once",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"hi\"}]}]",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"hi\"}]}]",
      { .format = INJECT_ANTHROPIC } },
    { "Anthropic: replacing by itself changes nothing",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"hi\"}]}]",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"hi\"}]}]",
      { .format = INJECT_ANTHROPIC, .replace = true } },
    { "from one shape to the other the user's words remain",
      "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"hi\"}]}]",
      "[" OPENAI_DEMO
      ", {\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"hi\"}]}]",
      { .replace = true } },
};

static void the_template_stands_where_it_belongs(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Str got = inject(a, &sample, cases[i].input, &cases[i].options);

        if (!str_eqz(got, cases[i].expect))
            fail_msg("%s:\ngot      %.*s\nexpected %s", cases[i].why, STR_FMT(got),
                     cases[i].expect);
    }
}

static void a_template_without_examples_changes_nothing(void **state)
{
    AUTO(Arena) *a = arena_new();
    Template empty = { .name = STR("empty"), .type = TASK_MIXED };
    InjectOptions options = { 0 };

    (void)state;
    assert_str(inject(a, &empty, "[" USER "]", &options), STR("[" USER "]"));
}

static const struct {
    const char *input, *says;
} refused[] = {
    { "{}", "must be an array, not an object" },
    { "\"hi\"", "must be an array, not a string" },
    { "[" USER ", 5]", "messages[1] must be an object, not a number" },
    { "[{\"content\": \"hi\"}]", "messages[0].role must be a string, not nothing" },
    { "[{\"role\": null}]", "messages[0].role must be a string, not null" },
};

static void other_input_is_refused_and_told_where(void **state)
{
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO(JsonDoc) *doc = json_parse(str_of(refused[i].input), &err);

        assert_non_null(doc);
        assert_false(inject_check(json_root(doc), &err));
        assert_int_equal(err.kind, ERR_INVALID);
        if (!strstr(err.text, refused[i].says))
            fail_msg("%s: got \"%s\"", refused[i].input, err.text);
    }
}

static const struct {
    const char *input, *task;
} tasks[] = {
    { "[]", "" },
    { "[" SYSTEM ", " USER "]", "hi" },
    { "[" USER ", {\"role\": \"assistant\", \"content\": \"x\"}, {\"role\": \"user\", \"content\": "
      "\"fix it\"}]",
      "fix it" },
    { "[" ANTHROPIC_DEMO ", {\"type\": \"text\", \"text\": \"deploy\"}]}]", "deploy" },
};

static void the_task_is_what_the_user_said_last(void **state)
{
    AUTO(Arena) *a = arena_new();
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        AUTO(JsonDoc) *doc = json_parse(str_of(tasks[i].input), &err);

        assert_non_null(doc);
        assert_str(inject_task(a, json_root(doc)), str_of(tasks[i].task));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_template_stands_where_it_belongs),
        cmocka_unit_test(a_template_without_examples_changes_nothing),
        cmocka_unit_test(other_input_is_refused_and_told_where),
        cmocka_unit_test(the_task_is_what_the_user_said_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
