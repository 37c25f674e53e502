/* The counts of single texts and small sessions, against those that Hermes' own plugin gave. */
#include "unit.h"

#include "achievements/calls.h"
#include "achievements/metrics.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/pyjson.h"

static PyValue fixture(Arena *a, const char *name)
{
    const char *folder = getenv("TALARIA_FIXTURES");
    Str path = str_printf(a, "%s/achievements/%s", folder ? folder : "tests/fixtures", name), text;
    PyValue v;
    Err err;

    if (!file_read(a, path.p, MIB(16), &text, &err))
        fail_msg("%s", err.text);
    assert_true(pyjson_read(a, text, &v));
    return v;
}

static Str text_of(const PyValue *v)
{
    return v->type == PY_STR ? v->text : STR_NONE;
}

static int64_t number_of(const PyValue *v)
{
    int64_t n = 0;

    if (!v || v->type == PY_FALSE)
        return 0;
    if (v->type == PY_TRUE)
        return 1;
    assert_true(str_to_int(v->text, 0, INT64_MAX, &n));
    return n;
}

static void expect_metrics(const SessionMetrics *m, const PyValue *expect, Str what)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        int64_t wanted = number_of(pyjson_get(expect, str_of(metric_name(i))));

        if (m->value[i] != wanted)
            fail_msg("%.*s: %s is %lld, expected %lld", STR_FMT(what), metric_name(i),
                     (long long)m->value[i], (long long)wanted);
    }
}

static void names_are_those_of_the_data(void **state)
{
    AUTO(Arena) *a = arena_new();
    PyValue doc = fixture(a, "data/metrics.json");
    const PyValue *metrics = pyjson_get(&doc, STR("metrics"));

    (void)state;
    assert_int_equal(metrics->n, METRIC_COUNT);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        if (!pyjson_get(metrics, str_of(metric_name(i))))
            fail_msg("%s is not in the data", metric_name(i));
}

static void single_texts(void **state)
{
    AUTO(Arena) *a = arena_new();
    PyValue doc = fixture(a, "golden/pattern_cases.json");
    const PyValue *cases = pyjson_get(&doc, STR("cases"));
    AUTO(Scanner) *s = NULL;
    Err err;

    (void)state;
    s = scanner_new(&err);
    assert_non_null(s);
    assert_int_equal(cases->n, 2992);
    for (size_t i = 0; i < cases->n; i++) {
        const PyValue *pair = cases->items[i].items;
        SessionMetrics m = { 0 };

        scanner_begin(s);
        scanner_row(s, &(ScanRow){ .role = STR("user"), .content = pair[0].text });
        scanner_end(s, a, &m);
        assert_int_equal(m.value[METRIC_MESSAGE_COUNT], 1);
        m.value[METRIC_MESSAGE_COUNT] = 0;
        expect_metrics(&m, &pair[1], pair[0].text);
    }
}

/* All texts at once, long enough to be searched in parts: counts do not depend on the cuts. Flags
 * and files do not add up, errors are counted by row, so only those that are hits are compared. */
static void many_rows_add_up(void **state)
{
    AUTO(Arena) *a = arena_new();
    PyValue doc = fixture(a, "golden/pattern_cases.json");
    const PyValue *cases = pyjson_get(&doc, STR("cases"));
    static const Metric hits[] = { METRIC_ERROR_COUNT,   METRIC_TRACEBACK_EVENTS,
                                   METRIC_CONFIG_EVENTS, METRIC_MODEL_EVENTS,
                                   METRIC_SKILL_EVENTS,  METRIC_DOCKER_CONFLICT_EVENTS };
    int64_t sums[ARRAY_LEN(hits)] = { 0 };
    SessionMetrics m = { 0 };
    AUTO(Scanner) *s = NULL;
    Err err;

    (void)state;
    s = scanner_new(&err);
    assert_non_null(s);
    scanner_begin(s);
    for (size_t round = 0; round < 5; round++)
        for (size_t i = 0; i < cases->n; i++) {
            const PyValue *pair = cases->items[i].items;

            scanner_row(s, &(ScanRow){ .role = STR("user"), .content = pair[0].text });
            for (size_t k = 0; k < ARRAY_LEN(hits); k++)
                sums[k] += number_of(pyjson_get(&pair[1], str_of(metric_name(hits[k]))));
        }
    scanner_end(s, a, &m);
    for (size_t k = 0; k < ARRAY_LEN(hits); k++)
        if (m.value[hits[k]] != sums[k])
            fail_msg("%s is %lld, expected %lld", metric_name(hits[k]), (long long)m.value[hits[k]],
                     (long long)sums[k]);
}

static void small_sessions(void **state)
{
    AUTO(Arena) *a = arena_new();
    PyValue doc = fixture(a, "golden/session_cases.json");
    const PyValue *cases = pyjson_get(&doc, STR("cases"));
    AUTO(Scanner) *s = NULL;
    Err err;

    (void)state;
    s = scanner_new(&err);
    assert_non_null(s);
    assert_int_equal(cases->n, 81);
    for (size_t i = 0; i < cases->n; i++) {
        const PyValue *rows = pyjson_get(&cases->items[i], STR("rows"));
        const PyValue *expect = pyjson_get(&cases->items[i], STR("json"));
        const PyValue *tools = pyjson_get(expect, STR("tool_names"));
        SessionMetrics m = { 0 };

        scanner_begin(s);
        for (size_t k = 0; k < rows->n; k++) {
            const PyValue *cells = rows->items[k].items;

            scanner_row(s, &(ScanRow){ .role = text_of(&cells[0]),
                                       .content = text_of(&cells[1]),
                                       .tool_calls = text_of(&cells[2]),
                                       .tool_name = text_of(&cells[3]) });
        }
        scanner_end(s, a, &m);
        expect_metrics(&m, expect, str_printf(a, "session %zu", i));
        assert_int_equal(m.n_tool_names, tools->n);
        for (size_t k = 0; k < tools->n; k++)
            assert_str(m.tool_names[k], tools->items[k].text);
    }
}

/* -- what no file of cases can hold -- */

static int64_t one(Scanner *s, Arena *a, ScanRow row, Metric metric)
{
    SessionMetrics m = { 0 };

    scanner_begin(s);
    scanner_row(s, &row);
    scanner_end(s, a, &m);
    return m.value[metric];
}

static void odd_cells(void **state)
{
    static const struct {
        Str content, tool_calls;
        bool blob;
        Metric metric;
        int64_t expect;
    } cells[] = {
        /* b'a\nerror': the n stands before the e */
        { STR_INIT("a\nerror"), { 0 }, true, METRIC_ERROR_COUNT, 0 },
        { STR_INIT("a error"), { 0 }, true, METRIC_ERROR_COUNT, 1 },
        { STR_INIT("\xff./x.py"), { 0 }, true, METRIC_FILES_TOUCHED_COUNT, 1 },
        { STR_INIT("error \xff \xc3"), { 0 }, false, METRIC_ERROR_COUNT, 1 },
        { STR_INIT("\xffok\xc3 ok"), { 0 }, false, METRIC_TEST_EVENTS, 2 },
        { STR_INIT("./\xe4\xb8\xad.py ./\xe4\xb8.py ./a\xff.py"),
          { 0 },
          false,
          METRIC_FILES_TOUCHED_COUNT,
          1 },
        { STR_INIT("git\xc2\xa0\xe3\x80\x80push"), { 0 }, false, METRIC_GIT_EVENTS, 1 },
        { STR_INIT("s\xe2\x84\xaaill Sk\xc4\xb1ll \xc4\xb0skill"),
          { 0 },
          false,
          METRIC_SKILL_EVENTS,
          2 },
        { STR_INIT("./a.c\xc5\xbfs ./b.css M\xc4\xb0\xc5\xbf\xc5\xbf\xc4\xb1ng env"),
          { 0 },
          false,
          METRIC_FILES_TOUCHED_COUNT,
          1 },
        { STR_INIT("./a.c\xc5\xbfs ./b.css M\xc4\xb0\xc5\xbf\xc5\xbf\xc4\xb1ng env"),
          { 0 },
          false,
          METRIC_ENV_VAR_ERROR_EVENTS,
          1 },
        { { 0 }, STR_INIT("5"), false, METRIC_TOOL_CALL_COUNT, 0 },
        { { 0 }, STR_INIT("[{\"function\": \"terminal\"}]"), false, METRIC_TOOL_CALL_COUNT, 0 },
        { { 0 },
          STR_INIT("[{\"function\": {\"name\": 7}}, {\"name\": \"x\"}]"),
          false,
          METRIC_TOOL_CALL_COUNT,
          1 },
        { { 0 }, STR_INIT("[{\"name\": \"a\xff\"}]"), false, METRIC_TOOL_CALL_COUNT, 1 },
        { { 0 },
          STR_INIT("[{\"a\": \"./x.py\", \"a\": 1}]"),
          false,
          METRIC_FILES_TOUCHED_COUNT,
          0 },
        { { 0 },
          STR_INIT("[{\"a\": \".\\/x.py \\u007e/y.py\"}]"),
          false,
          METRIC_FILES_TOUCHED_COUNT,
          2 },
    };
    AUTO(Arena) *a = arena_new();
    AUTO(Scanner) *s = NULL;
    Err err;

    (void)state;
    s = scanner_new(&err);
    assert_non_null(s);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        ScanRow row = { .role = STR("user"),
                        .content = cells[i].content,
                        .tool_calls = cells[i].tool_calls,
                        .content_is_blob = cells[i].blob };
        int64_t n = one(s, a, row, cells[i].metric);

        if (n != cells[i].expect)
            fail_msg("cell %zu: %s is %lld, expected %lld", i, metric_name(cells[i].metric),
                     (long long)n, (long long)cells[i].expect);
    }
}

/* Time grows with the length of a text, not with its square, whatever it repeats. */
static void no_text_is_slow(void **state)
{
    static const char *const parts[] = { "missing ",  "docker name ", "npm ",         "3000 ",
                                         "./",        "../a.",        "a-config.",    "git ",
                                         "conflict ", "~a",           "skill\xc4\xb0" };
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(MIB(4));
    AUTO(Scanner) *s = NULL;
    Err err;

    (void)state;
    s = scanner_new(&err);
    assert_non_null(s);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        buf_clear(&text);
        while (text.n < MIB(2))
            buf_addz(&text, parts[i]);
        assert_int_equal(one(s, a, (ScanRow){ .role = STR("user"), .content = buf_str(&text) },
                             METRIC_MESSAGE_COUNT),
                         1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_data),
        cmocka_unit_test(single_texts),
        cmocka_unit_test(many_rows_add_up),
        cmocka_unit_test(small_sessions),
        cmocka_unit_test(odd_cells),
        cmocka_unit_test(no_text_is_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
