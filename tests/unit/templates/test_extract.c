#include "unit.h"

#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "store/own.h"
#include "templates/extract.h"
#include "text/tokens.h"
#include "text/utf8.h"

/* -- messages -- */

static Message calls(const char *json)
{
    return (Message){ .role = STR("assistant"), .tool_calls = str_of(json), .active = 1 };
}

static Message result(const char *id, Str content)
{
    return (Message){
        .role = STR("tool"), .tool_call_id = str_of(id), .content = content, .active = 1
    };
}

#define CALL(id, name, arguments)                                                                  \
    "{\"id\": \"" id "\", \"type\": \"function\", \"function\": {\"name\": \"" name                \
    "\", \"arguments\": \"" arguments "\"}}"

static Extract extract(Arena *a, const Message *m, size_t n, bool include_failed)
{
    ExtractOptions options = EXTRACT_DEFAULTS;
    Extract x;

    options.include_failed = include_failed;
    extract_examples(a, m, n, &options, &x);
    return x;
}

static void parallel_calls_get_their_own_results(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = {
        calls("[" CALL("a", "read_file", "{\\\"path\\\": \\\"x\\\"}") ", " CALL("b", "terminal",
                                                                                "{}") "]"),
        result("b", STR("second")),
        result("a", STR("first")),
    };
    Extract x = extract(a, m, ARRAY_LEN(m), false);

    (void)state;
    assert_int_equal(x.n, 2);
    assert_str(x.examples[0].tool, STR("read_file"));
    assert_str(x.examples[0].arguments, STR("{\"path\": \"x\"}"));
    assert_str(x.examples[0].result, STR("first"));
    assert_str(x.examples[1].result, STR("second"));
}

static void failed_calls_are_left_out_unless_asked_for(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = {
        calls("[" CALL("a", "terminal", "{}") ", " CALL("b", "terminal", "{}") "]"),
        result("a", STR("{\"exit_code\": 1}")),
        result("b", STR("{\"exit_code\": 0}")),
    };
    Extract x = extract(a, m, ARRAY_LEN(m), false);

    (void)state;
    assert_int_equal(x.n, 1);
    assert_int_equal(x.failed, 1);
    assert_str(x.examples[0].result, STR("{\"exit_code\": 0}"));
    x = extract(a, m, ARRAY_LEN(m), true);
    assert_int_equal(x.n, 2);
    assert_false(x.examples[0].success);
    assert_true(x.examples[1].success);
}

static void a_call_without_result_is_kept(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = { calls("[" CALL("a", "terminal", "not json") "]") };
    Extract x = extract(a, m, 1, false);

    (void)state;
    assert_int_equal(x.n, 1);
    assert_true(x.examples[0].success);
    assert_str(x.examples[0].result, STR(""));
    assert_str(x.examples[0].arguments, STR("{}"));
}

static void what_cannot_be_read_is_passed_over(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[] = { calls("[{\"id\": \"x\", \"function\": {\"arguments\": \"{}\"}}]"), calls("[{"),
                    calls("[" CALL("a", "todo", "[1]") "]") };
    Extract x = extract(a, m, ARRAY_LEN(m), false);

    (void)state;
    assert_int_equal(x.n, 1);
    assert_str(x.examples[0].tool, STR("todo"));
    x = extract(a, m, 2, false);
    assert_int_equal(x.n, 0);
    assert_int_equal(x.unreadable, 1);
}

static void only_so_many_messages_and_examples(void **state)
{
    AUTO(Arena) *a = arena_new();
    ExtractOptions options = { .max_messages = 3, .max_examples = 10 };
    Message m[5];
    Extract x;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(m); i++)
        m[i] = calls("[" CALL("a", "terminal", "{}") ", " CALL("b", "patch", "{}") "]");
    extract_examples(a, m, ARRAY_LEN(m), &options, &x);
    assert_int_equal(x.n, 6);
    options.max_examples = 4;
    extract_examples(a, m, ARRAY_LEN(m), &options, &x);
    assert_int_equal(x.n, 4);
    assert_int_equal(x.calls, 6);
}

/* -- budgets -- */

static Str repeat(Arena *a, const char *unit, size_t times)
{
    size_t n = strlen(unit);
    char *p = arena_alloc(a, n * times + 1);

    for (size_t i = 0; i < times; i++)
        memcpy(p + i * n, unit, n);
    return (Str){ p, n * times };
}

static void a_long_result_is_cut_in_the_middle_and_says_so(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str text = str_printf(a, "HEAD%.*sTAIL", STR_FMT(repeat(a, "中", 5000)));
    Str clipped = extract_clip(a, text, LIMIT_EXAMPLE_CHARS);
    Str kept_short = extract_clip(a, STR("short"), LIMIT_EXAMPLE_CHARS);
    size_t at = str_find(clipped, STR("\n[… ")), shown;
    int64_t left_out;
    Str number = str_skip(clipped, at + strlen("\n[… "));

    (void)state;
    assert_str(kept_short, STR("short"));
    assert_true(clipped.n <= LIMIT_EXAMPLE_CHARS);
    assert_true(str_starts(clipped, STR("HEAD")));
    assert_true(str_ends(clipped, STR("TAIL")));
    assert_int_equal(utf8_valid_prefix(clipped), clipped.n);
    number.n = str_find(number, STR(" "));
    assert_true(str_to_int(number, 1, 10000, &left_out));
    assert_true(str_find(clipped, STR(" characters left out …]\n")) < clipped.n);
    shown = utf8_count(clipped) - utf8_count(STR("\n[…  characters left out …]\n")) - number.n;
    assert_int_equal(shown + (size_t)left_out, utf8_count(text));
}

static void the_whole_fits_its_budget(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[40];
    ExtractOptions options = { .max_examples = 40 };
    Extract x;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(m); i += 2) {
        char *id = str_z(a, str_printf(a, "c%zu", i));

        m[i] = calls(str_z(a, str_printf(a,
                                         "[{\"id\": \"%s\", \"function\": {\"name\": \"terminal\", "
                                         "\"arguments\": \"{}\"}}]",
                                         id)));
        m[i + 1] = result(id, repeat(a, "line of output\n", 2000));
    }
    extract_examples(a, m, ARRAY_LEN(m), &options, &x);
    assert_true(x.n >= 8);
    assert_true(x.tokens <= LIMIT_TEMPLATE_TOKENS);
}

static void arguments_are_never_cut(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str large = repeat(a, "word ", 10000);
    Message m[] = {
        calls(str_z(
            a, str_printf(a,
                          "[{\"id\": \"a\", \"function\": {\"name\": \"write_file\", "
                          "\"arguments\": {\"content\": \"%.*s\"}}}, " CALL("b", "patch", "{}") "]",
                          STR_FMT(large)))),
        result("a", STR("ok")),
        result("b", STR("ok")),
    };
    Extract x = extract(a, m, ARRAY_LEN(m), false);

    (void)state;
    assert_int_equal(x.n, 1);
    assert_int_equal(x.too_large, 1);
    assert_str(x.examples[0].tool, STR("patch"));
}

static void tokens_are_estimated(void **state)
{
    (void)state;
    assert_int_equal(tokens_estimate(STR("")), 0);
    assert_int_equal(tokens_estimate(STR("a")), 1);
    assert_int_equal(tokens_estimate(STR("abcdefgh")), 2);
    assert_int_equal(tokens_estimate(STR("你好世界")), 4);
    assert_int_equal(tokens_estimate(STR("äöüé")), 2);
}

/* -- secrets -- */

#define SECRET "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"

static void secrets_stay_behind(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str json = extract_redact_arguments(
        a, STR("{\"url\": \"https://x\", \"headers\": {\"Authorization\": \"Bearer abc\"}, "
               "\"cmd\": \"export K=" SECRET "\", \"password\": [\"p1\", {\"x\": \"p2\"}], "
               "\"client_secret\": 1234, \"max_tokens\": 100, \"ratio\": 1.50}"));

    (void)state;
    assert_int_equal(str_find(json, STR("Bearer abc")), json.n);
    assert_int_equal(str_find(json, STR(SECRET)), json.n);
    assert_int_equal(str_find(json, STR("p1")), json.n);
    assert_int_equal(str_find(json, STR("p2")), json.n);
    assert_int_equal(str_find(json, STR("1234")), json.n);
    assert_true(str_find(json, STR("\"url\": \"https://x\"")) < json.n);
    assert_true(str_find(json, STR("\"max_tokens\": 100")) < json.n);
    assert_true(str_find(json, STR("\"ratio\": 1.5")) < json.n);
    assert_str(extract_redact_arguments(a, json), json);
    assert_str(extract_redact_arguments(a, STR("[1]")), STR("{}"));
}

static void a_secret_in_a_result_is_taken_out_before_the_cut(void **state)
{
    AUTO(Arena) *a = arena_new();
    /* The cut would go right through it. */
    Str before = repeat(a, "x\n", LIMIT_EXAMPLE_CHARS / 4 - 20), after = repeat(a, "y\n", 4000);
    Message m[] = { calls("[" CALL("a", "terminal", "{}") "]"),
                    result("a", str_printf(a, "%.*s " SECRET "\n%.*s", STR_FMT(before),
                                           STR_FMT(after))) };
    Extract x = extract(a, m, 2, false);

    (void)state;
    assert_int_equal(x.n, 1);
    assert_int_equal(str_find(x.examples[0].result, STR("sk-abcdef")), x.examples[0].result.n);
}

/* -- from the store -- */

typedef struct ChatAddress {
    Arena *arena;
    Str folder;
    Homes homes;
    Store *store;
    History *history;
} ChatAddress;

static void add_session(OwnStore *own, const char *id, const char *parent, double at)
{
    Session s = { .id = str_of(id),
                  .source = STR("cli"),
                  .parent_session_id = parent ? str_of(parent) : STR_NONE,
                  .started_at = at,
                  .ended_at = at + 50 };
    Err err;

    s.end_reason = parent ? STR_NONE : STR("compression");
    assert_true(own_add_session(own, &s, &err));
}

static void add(OwnStore *own, const char *session, Message m, double at)
{
    Err err;

    m.session_id = str_of(session);
    m.timestamp = at;
    m.active = 1;
    assert_true(own_add_message(own, &m, &err));
}

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);
    char path[] = "/tmp/talaria-test-XXXXXX";
    HomesQuery query;
    OwnStore *own;
    Err err;

    log_set_level(LOG_ERROR);
    p->arena = arena_new();
    p->folder = str_dup(p->arena, str_of(mkdtemp(path)));
    own = own_store_open(p->folder, &err);
    assert_non_null(own);
    assert_true(own_store_begin(own, &err));
    add_session(own, "chain-one", NULL, 100);
    add(own, "chain-one", calls("[" CALL("a", "execute_code", "{}") "]"), 101);
    add(own, "chain-one", result("a", STR("first part")), 102);
    add_session(own, "chain-two", "chain-one", 200);
    add(own, "chain-two", calls("[" CALL("b", "execute_code", "{}") "]"), 201);
    add(own, "chain-two", result("b", STR("second part")), 202);
    add_session(own, "silent-one", NULL, 300);
    add_session(own, "failed-one", NULL, 400);
    add(own, "failed-one", calls("[" CALL("c", "terminal", "{}") "]"), 401);
    add(own, "failed-one", result("c", STR("Error: no")), 402);
    add_session(own, "broken-one", NULL, 500);
    add(own, "broken-one", calls("[{"), 501);
    assert_true(own_store_end(own, true, &err));
    own_store_close(own);
    query = (HomesQuery){ .home = str_z(p->arena, p->folder), .data = str_z(p->arena, p->folder) };
    assert_true(homes_find(p->arena, &query, &p->homes, &err));
    p->store = store_open(&p->homes, &err);
    assert_non_null(p->store);
    p->history = history_open(&(HistoryWhere){ .homes = &p->homes, .store = p->store });
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = { "talaria.db", "talaria.db-wal", "talaria.db-shm",
                                         "index.db",   "index.db-wal",   "index.db-shm" };
    ChatAddress *p = *state;

    history_close(p->history);
    store_free(p->store);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        unlink(str_z(p->arena, str_join_path(p->arena, p->folder, str_of(files[i]))));
    rmdir(str_z(p->arena, p->folder));
    arena_free(p->arena);
    mem_free(p);
    return 0;
}

static void a_template_has_the_calls_of_the_session_it_names(void **state)
{
    ChatAddress *p = *state;
    ExtractOptions options = EXTRACT_DEFAULTS;
    Template t;
    Extract x;
    Err err;

    assert_true(extract_template(p->history, p->arena, STR("chain-two"), &options, &t, &x, &err));
    assert_int_equal(t.n_examples, 1);
    assert_str(t.examples[0].result, STR("second part"));
    assert_str(t.source_session_id, STR("chain-two"));
    assert_str(t.description, STR("1 call: execute_code"));
    assert_int_equal(x.n_sessions, 1);
    assert_true(extract_template(p->history, p->arena, STR("chain-o"), &options, &t, &x, &err));
    assert_str(t.source_session_id, STR("chain-one"));
    assert_str(t.examples[0].result, STR("first part"));
    options.chain = true;
    assert_true(extract_template(p->history, p->arena, STR("chain-two"), &options, &t, &x, &err));
    assert_int_equal(t.n_examples, 2);
    assert_int_equal(t.type, TASK_CODE);
    assert_str(t.examples[0].result, STR("first part"));
    assert_str(t.examples[1].result, STR("second part"));
    assert_str(t.source_session_id, STR("chain-two"));
    assert_str(t.description, STR("2 calls: execute_code; sessions chain-one, chain-two"));
    assert_int_equal(x.n_sessions, 2);
    assert_str(x.sessions[0], STR("chain-one"));
}

static void without_a_usable_call_it_says_why(void **state)
{
    static const struct {
        const char *session, *says;
        ErrKind kind;
    } cases[] = {
        { "silent-one", "it has no tool calls", ERR_INVALID },
        { "failed-one", "--include-failed", ERR_INVALID },
        { "broken-one", "do not parse", ERR_INVALID },
        { "no-such-session", "", ERR_NOT_FOUND },
    };
    ChatAddress *p = *state;
    ExtractOptions options = EXTRACT_DEFAULTS;
    Template t;
    Extract x;
    Err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_false(extract_template(p->history, p->arena, str_of(cases[i].session), &options, &t,
                                      &x, &err));
        if (err.kind != cases[i].kind || !strstr(err.text, cases[i].says))
            fail_msg("%s: got \"%s\"", cases[i].session, err.text);
    }
    options.include_failed = true;
    assert_true(extract_template(p->history, p->arena, STR("failed-one"), &options, &t, &x, &err));
    assert_false(t.examples[0].success);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel_calls_get_their_own_results),
        cmocka_unit_test(failed_calls_are_left_out_unless_asked_for),
        cmocka_unit_test(a_call_without_result_is_kept),
        cmocka_unit_test(what_cannot_be_read_is_passed_over),
        cmocka_unit_test(only_so_many_messages_and_examples),
        cmocka_unit_test(a_long_result_is_cut_in_the_middle_and_says_so),
        cmocka_unit_test(the_whole_fits_its_budget),
        cmocka_unit_test(arguments_are_never_cut),
        cmocka_unit_test(tokens_are_estimated),
        cmocka_unit_test(secrets_stay_behind),
        cmocka_unit_test(a_secret_in_a_result_is_taken_out_before_the_cut),
        cmocka_unit_test_setup_teardown(a_template_has_the_calls_of_the_session_it_names, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_a_usable_call_it_says_why, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
