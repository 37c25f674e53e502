#include "unit.h"

#include "templates/policy.h"
#include "templates/similar.h"

static TemplateExample good[] = {
    { STR_INIT("execute_code"), STR_INIT("{}"), STR_INIT("ok"), true },
    { STR_INIT("terminal"), STR_INIT("{}"), STR_INIT("ok"), true },
};
static TemplateExample half[] = {
    { STR_INIT("execute_code"), STR_INIT("{}"), STR_INIT("ok"), true },
    { STR_INIT("execute_code"), STR_INIT("{}"), STR_INIT("no"), false },
};

enum { DAY = 24 * 60 * 60 };

static const Template shelf[] = {
    { .name = STR_INIT("worn"),
      .type = TASK_CODE,
      .created_at = 9 * DAY,
      .usage_count = 5,
      .source_session_id = STR_INIT("deploy"),
      .examples = good,
      .n_examples = 2 },
    { .name = STR_INIT("old"),
      .type = TASK_CODE,
      .created_at = 1 * DAY,
      .usage_count = 1,
      .source_session_id = STR_INIT("parser"),
      .examples = good,
      .n_examples = 2 },
    { .name = STR_INIT("new"),
      .type = TASK_CODE,
      .created_at = 5 * DAY,
      .usage_count = 1,
      .source_session_id = STR_INIT("parser"),
      .examples = half,
      .n_examples = 2 },
    { .name = STR_INIT("empty"), .type = TASK_CODE, .created_at = 8 * DAY },
    { .name = STR_INIT("files"),
      .type = TASK_FILE,
      .created_at = 2 * DAY,
      .usage_count = 7,
      .source_session_id = STR_INIT("chinese"),
      .examples = good,
      .n_examples = 1 },
};

static Str request_of(void *ctx, Arena *a, Str session)
{
    static const struct {
        Str session, request;
    } requests[] = {
        { STR_INIT("deploy"), STR_INIT("Deploy the web shop to staging and check its health") },
        { STR_INIT("parser"), STR_INIT("Fix the date parser: leap years are off by one") },
        { STR_INIT("chinese"), STR_INIT("请修复日期解析器的闰年错误") },
    };

    (void)ctx;
    (void)a;
    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        if (str_eq(requests[i].session, session))
            return requests[i].request;
    return STR("");
}

static const struct {
    const char *why, *expect;
    PolicyQuery query;
} cases[] = {
    { "least used, and of two the newest", "new", { .policy = POLICY_LEAST_USED } },
    { "only of the type", "files", { .one_type = true, .type = TASK_FILE } },
    { "one with an example for the tools",
      "old",
      { .tools = STR_INIT("terminal"), .one_type = true, .type = TASK_CODE } },
    { "no tool fits any: the least used one", "empty", { .tools = STR_INIT("none") } },
    { "best: the most similar request",
      "worn",
      { .policy = POLICY_BEST, .task = STR_INIT("deploy the shop to staging") } },
    { "best: among equals the larger share of success",
      "old",
      { .policy = POLICY_BEST, .task = STR_INIT("the date parser is off by one") } },
    { "best: in Chinese too",
      "files",
      { .policy = POLICY_BEST, .task = STR_INIT("日期解析器有个闰年问题") } },
    { "best: nothing similar, then success, then the newer",
      "worn",
      { .policy = POLICY_BEST, .task = STR_INIT("write a poem") } },
};

static void the_policy_chooses(void **state)
{
    AUTO(Arena) *a = arena_new();
    const Template *chosen;
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        PolicyQuery query = cases[i].query;

        query.request_of = request_of;
        assert_true(policy_choose(a, shelf, ARRAY_LEN(shelf), &query, &chosen, &err));
        if (!str_eqz(chosen->name, cases[i].expect))
            fail_msg("%s: got %.*s", cases[i].why, STR_FMT(chosen->name));
    }
}

static void none_is_not_found(void **state)
{
    AUTO(Arena) *a = arena_new();
    PolicyQuery query = { .one_type = true, .type = TASK_RESEARCH };
    const Template *chosen;
    Err err;

    (void)state;
    assert_false(policy_choose(a, shelf, ARRAY_LEN(shelf), &query, &chosen, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.text, "no template of type 'research'");
    assert_false(policy_choose(a, NULL, 0, &query, &chosen, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static const struct {
    const char *a, *b;
    int min, max; /* per cent */
} pairs[] = {
    { "fix the date parser", "Fix the DATE parser!", 100, 100 },
    { "fix the date parser", "write a poem", 0, 0 },
    { "the of and", "the of and", 0, 0 },
    { "", "anything", 0, 0 },
    { "fix the date parser in shop", "fix the price parser in shop", 50, 90 },
    { "修复日期", "修复日期", 100, 100 },
    { "修复日期错误", "修复价格错误", 10, 60 },
};

static void similarity_is_by_words(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        WordBag left = wordbag_of(a, str_of(pairs[i].a)), right = wordbag_of(a, str_of(pairs[i].b));
        int percent = (int)(wordbag_similarity(&left, &right) * 100 + 0.5);

        if (percent < pairs[i].min || percent > pairs[i].max)
            fail_msg("%s / %s: %d %%", pairs[i].a, pairs[i].b, percent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_chooses),
        cmocka_unit_test(none_is_not_found),
        cmocka_unit_test(similarity_is_by_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
