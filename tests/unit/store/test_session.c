#include "unit.h"

#include "store/session.h"

static Message says(const char *role, const char *content)
{
    return (Message){ .role = str_of(role), .content = str_of(content), .active = 1 };
}

static Message calls(const char *json)
{
    return (Message){ .role = STR("assistant"), .tool_calls = str_of(json), .active = 1 };
}

static Message result(const char *id, const char *tool, const char *content)
{
    return (Message){ .role = STR("tool"),
                      .tool_call_id = str_of(id),
                      .tool_name = str_of(tool),
                      .content = str_of(content),
                      .active = 1 };
}

#define CALL(id, name)                                                                             \
    "{\"id\": \"" id "\", \"type\": \"function\", \"function\": {\"name\": \"" name                \
    "\", \"arguments\": \"{}\"}}"

static void parallel_calls_get_their_own_results(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = { says("user", "go"),
                    calls("[" CALL("a", "terminal") ", " CALL("b", "read_file") ", " CALL("c",
                                                                                          "x") "]"),
                    result("c", "x", "third"),
                    result("a", "terminal", "first"),
                    says("user", "and"),
                    result("b", "read_file", "second") };
    Exchange *all;
    size_t n;

    (void)state;
    exchanges_pair(a, m, ARRAY_LEN(m), &all, &n);
    assert_int_equal(n, 3);
    assert_str(all[0].content, STR("first"));
    assert_str(all[1].content, STR("second"));
    assert_str(all[2].content, STR("third"));
    assert_int_equal(all[0].turn, 1);
    assert_int_equal(all[1].result, 5);
}

static void without_an_id_the_order_decides(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = { calls("[" CALL("a", "terminal") ", " CALL("b", "terminal") "]"),
                    result("", "", "first"), result("", "", "second"), result("", "", "nobody's") };
    Exchange *all;
    size_t n;

    (void)state;
    exchanges_pair(a, m, ARRAY_LEN(m), &all, &n);
    assert_str(all[0].content, STR("first"));
    assert_str(all[1].content, STR("second"));
}

static void an_id_that_nobody_called_answers_nothing(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = { calls("[" CALL("a", "terminal") "]"), result("zzz", "terminal", "lost") };
    Exchange *all;
    size_t n;

    (void)state;
    exchanges_pair(a, m, ARRAY_LEN(m), &all, &n);
    assert_int_equal(n, 1);
    assert_false(all[0].has_result);
}

static void an_id_used_again_pairs_each_time(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = { calls("[" CALL("a", "t") "]"), result("a", "t", "one"),
                    calls("[" CALL("a", "t") "]"), result("a", "t", "two") };
    Exchange *all;
    size_t n;

    (void)state;
    exchanges_pair(a, m, ARRAY_LEN(m), &all, &n);
    assert_str(all[0].content, STR("one"));
    assert_str(all[1].content, STR("two"));
}

static const struct {
    const char *why, *json, *name, *arguments;
    size_t n;
    bool ok;
} cells[] = {
    { "the OpenAI shape",
      "[{\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"x\\\": 1}\"}}]", "t",
      "{\"x\": 1}", 1, true },
    { "arguments that are an object", "[{\"function\":{\"name\":\"t\",\"arguments\":{\"x\":1}}}]",
      "t", "{\"x\": 1}", 1, true },
    { "arguments that are no object", "[{\"function\":{\"name\":\"t\",\"arguments\":\"[1]\"}}]",
      "t", "{}", 1, true },
    { "arguments that do not parse", "[{\"function\":{\"name\":\"t\",\"arguments\":\"{x\"}}]", "t",
      "{}", 1, true },
    { "a name beside the function", "[{\"name\":\"t\",\"arguments\":\"{}\"}]", "t", "{}", 1, true },
    { "no name", "[{\"function\":{\"arguments\":\"{}\"}}]", NULL, NULL, 0, true },
    { "not an array", "{\"name\":\"t\"}", NULL, NULL, 0, false },
    { "not JSON", "[{", NULL, NULL, 0, false },
    { "nothing", "", NULL, NULL, 0, true },
    { "odd elements", "[1, null, \"x\", [], {\"function\": 5}]", NULL, NULL, 0, true },
};

static void cells_of_any_shape_are_read_or_passed_over(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        ToolCall *all;
        size_t n;
        bool ok = toolcalls_read(a, str_of(cells[i].json), &all, &n);

        if (ok != cells[i].ok || n != cells[i].n)
            fail_msg("%s", cells[i].why);
        if (n && (!str_eqz(all[0].name, cells[i].name) ||
                  !str_eqz(all[0].arguments, cells[i].arguments)))
            fail_msg("%s: %.*s", cells[i].why, STR_FMT(all[0].arguments));
    }
}

static void structured_content_becomes_its_text(void **state)
{
    AUTO(Arena) *a = arena_new();
    const char parts[] =
        "\0json:[{\"type\":\"text\",\"text\":\"look\"},{\"type\":\"image_url\"},\"x\"]";

    (void)state;
    assert_str(message_text(a, (Str){ parts, sizeof parts - 1 }), STR("look\n[image_url]\nx"));
    assert_str(message_text(a, STR("plain")), STR("plain"));
    assert_str(message_text(a, STR("\0json:{broken")), STR("\0json:{broken"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel_calls_get_their_own_results),
        cmocka_unit_test(without_an_id_the_order_decides),
        cmocka_unit_test(an_id_that_nobody_called_answers_nothing),
        cmocka_unit_test(an_id_used_again_pairs_each_time),
        cmocka_unit_test(cells_of_any_shape_are_read_or_passed_over),
        cmocka_unit_test(structured_content_becomes_its_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
