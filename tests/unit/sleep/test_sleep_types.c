/* The records and their JSON: exact keys, defaults, and refusals that name the key. */
#include "unit.h"

#include "base/limits.h"
#include "sleep/task/types.h"

static const char task_json[] =
    "{\"id\":\"t\",\"project\":\"/p\",\"intent\":\"x\",\"context_excerpt\":\"\",\"system\":\"s\","
    "\"attempted_solution\":\"\",\"outcome\":\"fail\",\"reference_kind\":\"rule\",\"reference\":"
    "\"\",\"judge\":{\"kind\":\"rule\",\"checks\":[]},\"tags\":[\"a\",\"b\"],\"source_sessions\":[]"
    ",\"split\":\"val\",\"origin\":\"real\",\"derived_from\":\"\",\"skill_hint\":\"git\"}";

static Str without_blanks(Arena *a, Str s)
{
    AUTO_BUF out = BUF(MIB(1));

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != ' ' && s.p[i] != '\n')
            buf_addc(&out, s.p[i]);
    return str_dup(a, buf_str(&out));
}

static void tasks_round_trip(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);
    TaskRecord t;
    Err err;
    AUTO(JsonDoc) *doc = json_parse(str_of(task_json), &err);

    (void)state;
    assert_true(task_read(a, json_root(doc), &t, &err));
    assert_str(t.framing, STR("s"));
    assert_int_equal(t.tags.n, 2);
    task_put(&w, &t);
    assert_str(without_blanks(a, buf_str(&out)), str_of(task_json));
}

static const struct {
    const char *json, *error;
} tasks[] = {
    { "{\"id\":\"t\",\"project\":\"\",\"intent\":\"x\",\"new\":{},\"tags\":null}", NULL },
    { "{\"id\":\"t\",\"project\":\"\"}", "task without 'intent'" },
    { "{\"id\":1,\"project\":\"\",\"intent\":\"x\"}", "'id' of a task is a number" },
    { "{\"id\":\"t\",\"project\":\"\",\"intent\":\"x\",\"tags\":[1]}",
      "'tags' of a task is an array" },
    { "[]", "a task is an array, not an object" },
};

static void tasks_are_checked(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        Err err = { 0 };
        AUTO(JsonDoc) *doc = json_parse(str_of(tasks[i].json), &err);
        TaskRecord t = { 0 };
        bool ok = task_read(a, json_root(doc), &t, &err);

        if (ok != !tasks[i].error || (!ok && strcmp(err.text, tasks[i].error)))
            fail_msg("%s: %s", tasks[i].json, err.text);
        if (ok) {
            assert_str(t.outcome, STR("unknown"));
            assert_str(t.judge, STR("{}"));
            assert_str(t.split, STR("train"));
        }
    }
}

/* Records inside of records come back whole. */
static void reports_round_trip(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF once = BUF(MIB(1)), twice = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&once, 2), w2 = JSON_WRITER(&twice, 2);
    SleepReport r, again;
    GateTrial trial;
    TaskDelta delta;
    EditRecord edit;
    Err err;
    AUTO(JsonDoc) *doc = NULL;

    (void)state;
    sleep_report_init(&r);
    gate_trial_init(&trial);
    task_delta_init(&delta);
    edit_init(&edit);
    delta.task_id = STR("t1");
    delta.candidate_score = 0.75;
    LIST_PUSH(a, &trial.task_deltas, delta);
    LIST_PUSH(a, &r.gate_trials, trial);
    edit.content = STR("zwei\nZeilen");
    LIST_PUSH(a, &r.edits, edit);
    LIST_PUSH(a, &r.notes, STR("n"));
    sleep_report_put(&w, &r);
    doc = json_parse(buf_str(&once), &err);
    assert_non_null(doc);
    assert_int_equal(json_count(json_root(doc)), 21);
    assert_true(sleep_report_read(a, json_root(doc), &again, &err));
    sleep_report_put(&w2, &again);
    assert_str(buf_str(&twice), buf_str(&once));
    assert_true(again.gate_no_regression);
    assert_str(split_normal(STR("holdout")), STR("val"));
    assert_str(split_normal(STR("replay")), STR("train"));
}

int main(void)
{
    const struct CMUnitTest tests_[] = {
        cmocka_unit_test(tasks_round_trip),
        cmocka_unit_test(tasks_are_checked),
        cmocka_unit_test(reports_round_trip),
    };

    return cmocka_run_group_tests(tests_, NULL, NULL);
}
