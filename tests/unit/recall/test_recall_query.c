/* recall/query: what is typed, and what the index is asked. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "recall/query.h"

static SearchQuery parse(Arena *a, const char *text)
{
    SearchQuery q = { .filter = SEARCH_FILTER_NONE };

    search_query_parse(a, str_of(text), &q);
    return q;
}

static Str shown(Arena *a, const SearchQuery *q)
{
    AUTO_BUF b = BUF(1 << 16);

    for (size_t i = 0; i < q->n; i++)
        buf_addf(&b, "%s%.*s", i ? " " : "", STR_FMT(q->atoms[i].match));
    for (size_t i = 0; i < q->n_without; i++)
        buf_addf(&b, " -%.*s", STR_FMT(q->without[i].match));
    return str_dup(a, buf_str(&b));
}

static void test_what_is_asked(void **state)
{
    static const struct {
        const char *text, *asked;
        bool question;
    } cases[] = {
        { "retry policies", "\"retri\" \"polici\"", false },
        { "the retry", "\"retri\"", false },
        { "the", "\"the\"", false },
        { "\"retry the call\"", "\"retri the call\"", false },
        { "src/main.c", "\"src main c\"", false },
        { "error -test -\"two words\"", "\"error\" -\"test\" -\"two word\"", false },
        { "conf*", "\"conf\"*", false },
        { "configuring*", "(\"configuring\"* OR \"configur\")", false },
        { "what did we decide about the cache?", "\"decid\" \"cach\"", true },
        { "how do retries work", "\"retri\" \"work\"", true },
        { "\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93",
          "\"\xe6\x95\xb0\xe6\x8d\xae \xe6\x8d\xae\xe5\xba\x93\"", false },
        { "\xe6\x95\xb0", "\"\xe6\x95\xb0\"*", false },
        { "retry retry", "\"retri\"", false },
        { "", "", false },
        { "-", "", false },
        { "\"", "", false },
        { "(a OR b) NEAR/2 c^ {x}: \"", "(\"a\" OR \"b\") \"near 2\" \"c\" \"x\"", false },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SearchQuery q = parse(a, cases[i].text);

        assert_str(shown(a, &q), str_of(cases[i].asked));
        assert_int_equal(q.question, cases[i].question);
    }
}

static void test_filters(void **state)
{
    AUTO(Arena) *a = arena_new();
    SearchQuery q = parse(a, "role:user tool:Bash source:codex project:/x/y since:2026-01-01 word");

    (void)state;
    assert_str(shown(a, &q), STR("\"word\""));
    assert_str(q.literal, STR("word"));
    assert_int_equal(q.filter.role, DOC_USER);
    assert_str(q.filter.source, STR("codex"));
    assert_str(q.filter.tool, STR("Bash"));
    assert_str(q.filter.project, STR("/x/y"));
    assert_true(q.filter.since > 1.7e9);
    assert_int_equal(q.note.n, 0);
}

static void test_what_cannot_be_meant_is_text(void **state)
{
    AUTO(Arena) *a = arena_new();
    SearchQuery q = parse(a, "role:nobody \"open");

    (void)state;
    assert_int_equal(q.filter.role, -1);
    assert_str(shown(a, &q), STR("\"role nobodi\" \"open\""));
    assert_true(str_find(q.note, STR("role:nobody")) < q.note.n);
    assert_true(str_find(q.note, STR("closing quote")) < q.note.n);
}

static void test_too_much(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF b = BUF(1 << 20);
    SearchQuery q;

    (void)state;
    for (int i = 0; i < 5000; i++)
        buf_addf(&b, "w%d ", i);
    q = parse(a, b.p);
    assert_int_equal(q.n, LIMIT_SEARCH_TERMS);
    assert_true(q.note.n > 0);
}

static void test_dates(void **state)
{
    AUTO(Arena) *a = arena_new();
    SearchQuery q = parse(a, "what happened on 8 May, 2023?");

    (void)state;
    assert_true(q.from == 1683504000.0 && q.until == 1683590400.0);
    q = parse(a, "what did we do in December 2023?");
    assert_true(q.from == 1701388800.0 && q.until == 1704067200.0);
    q = parse(a, "what happened in May?");
    assert_true(q.until <= 0);
}

static void test_projects(void **state)
{
    (void)state;
    assert_true(search_project_matches(STR("app"), STR("/home/x/app")));
    assert_false(search_project_matches(STR("app"), STR("/home/x/app2")));
    assert_true(search_project_matches(STR("/home/x/"), STR("/home/x/app")));
    assert_false(search_project_matches(STR("/home/x"), STR("/home/xy")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_what_cannot_be_meant_is_text),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_projects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
