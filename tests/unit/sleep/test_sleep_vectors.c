/* The recorded behaviour of the records, judges and small functions, vector by vector. A vector
 * that holds a known defect stands in a table with its reason and the right answer. */
#include "sleep_vectors.h"

#include <math.h>

#include "sleep/mining/dream.h"
#include "sleep/mining/filters.h"
#include "sleep/task/answer.h"
#include "sleep/task/score.h"
#include "sleep/task/split.h"
#include "sleep/task/types.h"
#include "sleep/trial/budget.h"

static StrList texts(Arena *a, Json v)
{
    StrList list = { 0 };

    for (size_t i = 0; i < json_count(v); i++)
        LIST_PUSH(a, &list, json_str(json_at(v, i)));
    return list;
}

static void judges(void **state)
{
    EACH_VECTOR("vec_judges")
    {
        StrList tools = texts(a, json_get(v, STR("tools")));
        Str judge =
            str_printf(a, "{\"kind\":\"rule\",\"checks\":[%.*s]}", STR_FMT(json_text(a, v)));
        Judge j = judge_of(a, judge);
        Str response = json_str(json_get(v, STR("response"))), problem;
        bool passes;

        assert_int_equal(j.n, 1);
        passes = check_passes(a, &j.checks[0], response, &tools, &problem);
        if (passes != flag_of(json_get(v, STR("pass"))) ||
            (problem.n > 0) != flag_of(json_get(v, STR("malformed"))))
            fail_msg("%.*s: %d", STR_FMT(judge), passes);
    }
}

static void bounds(void **state)
{
    EACH_VECTOR("vec_char_bound")
    {
        Json want = json_get(v, STR("result"));
        int64_t bound = 0, expect = 0;
        bool ok = check_bound(json_get(v, STR("arg")), &bound);

        assert_int_equal(ok, json_int(want, &expect));
        assert_int_equal(bound, expect);
    }
}

static void reviews(void **state)
{
    EACH_VECTOR("vec_validate")
    {
        JudgeReview r = judge_review(a, json_get(v, STR("judge")));

        if ((double)r.errors.n != number_of(json_get(v, STR("n_errors"))) ||
            (double)r.warnings.n != number_of(json_get(v, STR("n_warnings"))) ||
            r.shape_only != flag_of(json_get(v, STR("shape_only"))))
            fail_msg("%.*s", STR_FMT(json_text(a, v)));
    }
}

static void near(double a, double b)
{
    if (!(fabs(a - b) < 1e-9))
        fail_msg("%.12g, expected %.12g", a, b);
}

static void scoring(void **state)
{
    EACH_VECTOR("vec_scoring")
    {
        Str reference = json_str(json_get(v, STR("reference")));
        Str response = json_str(json_get(v, STR("response")));

        near(score_exact(a, reference, response), number_of(json_get(v, STR("exact"))));
        near(score_keywords(a, reference, response), number_of(json_get(v, STR("soft"))));
    }
}

static void rewards(void **state)
{
    EACH_VECTOR("vec_reward")
    {
        Json w = json_get(v, STR("w"));
        Objective weights = { number_of(json_at(w, 0)), number_of(json_at(w, 1)),
                              number_of(json_at(w, 2)) };

        near(score_reward(weights, number_of(json_get(v, STR("hard"))),
                          number_of(json_get(v, STR("tokens"))),
                          number_of(json_get(v, STR("lat")))),
             number_of(json_get(v, STR("reward"))));
    }
}

static void ids(void **state)
{
    EACH_VECTOR("vec_ids")
    {
        assert_str(id_of_request(a, json_str(json_get(v, STR("project"))),
                                 json_str(json_get(v, STR("intent")))),
                   json_str(json_get(v, STR("id"))));
    }
}

static void splits(void **state)
{
    EACH_VECTOR("vec_splits")
    {
        SplitRule rule = { (int64_t)number_of(json_get(v, STR("seed"))),
                           number_of(json_get(v, STR("val"))),
                           number_of(json_get(v, STR("test"))) };
        Json want = json_get(v, STR("splits")), split;
        TaskRecords tasks = { 0 };
        JsonIter each = json_each(want);
        Str id;

        while (json_next(&each, &id, &split)) {
            TaskRecord t;

            task_init(&t);
            t.id = id;
            t.origin = id.p[0] == 'd' ? STR("dream") : STR("real");
            LIST_PUSH(a, &tasks, t);
        }
        split_assign(a, rule, &tasks);
        for (size_t i = 0; i < tasks.n; i++)
            if (!str_eq(tasks.items[i].split, json_str(json_get(want, tasks.items[i].id))))
                fail_msg("%.*s: %.*s is in %.*s", STR_FMT(json_text(a, v)),
                         STR_FMT(tasks.items[i].id), STR_FMT(tasks.items[i].split));
    }
}

/* Complaints and praise are words of their own; the recorded ones were found anywhere. */
static const struct {
    Str text;
    const char *expect; /* joined by '|' */
    const char *why;
} feedback_defects[] = {
    { STR_INIT("piano, ok"), "", "'no,' inside a word" },
    { STR_INIT("INCORRECT"), "neg:incorrect", "praise inside a complaint" },
    { STR_INIT("undocumented"), "", "'undo' inside a word" },
};

static Str joined(Arena *a, const StrList *list)
{
    AUTO_BUF out = BUF(KIB(64));

    for (size_t i = 0; i < list->n; i++)
        buf_addf(&out, "%s%.*s", i ? "|" : "", STR_FMT(list->items[i]));
    return str_dup(a, buf_str(&out));
}

static Str expected_feedback(Arena *a, Str text, Json v)
{
    StrList recorded = texts(a, v);

    for (size_t i = 0; i < ARRAY_LEN(feedback_defects); i++)
        if (str_eq(feedback_defects[i].text, text))
            return str_of(feedback_defects[i].expect);
    return joined(a, &recorded);
}

static void remarks(void **state)
{
    EACH_VECTOR("vec_text")
    {
        Str text = json_str(json_get(v, STR("text")));
        StrList signals = { 0 };

        if (filter_is_meta(text) != flag_of(json_get(v, STR("meta"))))
            fail_msg("meta: %.*s", STR_FMT(text));
        filter_feedback(a, text, &signals);
        assert_str(joined(a, &signals), expected_feedback(a, text, json_get(v, STR("feedback"))));
    }
}

/* Recorded: from the first bracket to the last one, which two arrays or a bracket in prose
 * break. */
static const struct {
    Str raw, array;
} array_defects[] = {
    { STR_INIT("[1] and [2]"), STR_INIT("[1]") },
    { STR_INIT("{\"a\": [1]} [2]"), STR_INIT("[2]") },
};

static Str expected_json(Arena *a, Str raw, Json v, bool array)
{
    for (size_t i = 0; array && i < ARRAY_LEN(array_defects); i++)
        if (str_eq(array_defects[i].raw, raw))
            return array_defects[i].array;
    return json_type(v) == JSON_NULL ? STR("") : json_text(a, v);
}

static void check_json(Arena *a, Str found, Str expect)
{
    Err err;
    AUTO(JsonDoc) *doc = found.n ? json_parse(found, &err) : NULL;

    assert_str(doc ? json_text(a, json_root(doc)) : STR(""), expect);
}

static void json_in_answers(void **state)
{
    EACH_VECTOR("vec_extract_json")
    {
        Str raw = json_str(json_get(v, STR("raw")));

        check_json(a, answer_array(raw), expected_json(a, raw, json_get(v, STR("array")), true));
        check_json(a, answer_object(raw), expected_json(a, raw, json_get(v, STR("object")), false));
    }
}

static void dreams(void **state)
{
    TaskRecords tasks = { 0 };
    size_t i = 1;
    EACH_VECTOR("vec_dream")
    {
        StrList tags = texts(a, json_get(v, STR("tags")));

        if (!tasks.n) {
            TaskRecord t;

            task_init(&t);
            t.id = STR("t1");
            t.intent = STR("write the summary");
            LIST_PUSH(a, &t.tags, STR("a"));
            LIST_PUSH(a, &tasks, t);
            dream_add(a, 4, &tasks);
            assert_int_equal(tasks.n, 5);
        }
        assert_str(tasks.items[i].id, json_str(json_get(v, STR("id"))));
        assert_str(tasks.items[i].split, json_str(json_get(v, STR("split"))));
        assert_str(tasks.items[i].origin, json_str(json_get(v, STR("origin"))));
        assert_str(tasks.items[i].derived_from, json_str(json_get(v, STR("derived_from"))));
        assert_str(joined(a, &tasks.items[i].tags), joined(a, &tags));
        assert_true(str_find(tasks.items[i].intent, STR("write the summary")) <
                    tasks.items[i].intent.n);
        i++;
    }
}

static TaskRecord old_task(Arena *a, const char *id, const char *intent, const char *split)
{
    TaskRecord t;

    task_init(&t);
    t.id = str_dup(a, str_of(id));
    t.project = STR("/p");
    t.intent = str_of(intent);
    t.split = str_of(split);
    return t;
}

static void recalled(void **state)
{
    EACH_VECTOR("vec_recall")
    {
        TaskRecords archive = { 0 }, tasks = { 0 };
        Json want = json_get(v, STR("ids"));

        LIST_PUSH(a, &tasks, old_task(a, "t1", "write release notes for parser", "train"));
        LIST_PUSH(a, &tasks, old_task(a, "h7", "held", "val"));
        LIST_PUSH(a, &archive, old_task(a, "h1", "notes about gardens", "train"));
        LIST_PUSH(a, &archive, old_task(a, "h2", "bake bread", "train"));
        LIST_PUSH(a, &archive, old_task(a, "h3", "write release notes for parser", "val"));
        LIST_PUSH(a, &archive, old_task(a, "h4", "write release notes for lexer", "train"));
        LIST_PUSH(a, &archive, old_task(a, "h5", "write release notes for parser", "test"));
        LIST_PUSH(a, &archive, old_task(a, "h6", "write notes", "train"));
        LIST_PUSH(a, &archive, old_task(a, "h6", "write notes", "train"));
        LIST_PUSH(a, &archive, old_task(a, "h7", "write release notes for parser", "train"));
        recall_add(a, (int64_t)number_of(json_get(v, STR("k"))), &archive, &tasks);
        assert_int_equal(tasks.n - 2, json_count(want));
        for (size_t i = 0; i < json_count(want); i++)
            assert_str(tasks.items[2 + i].id, json_str(json_at(want, i)));
    }
}

static void recall_stays_in_its_project(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords archive = { 0 }, tasks = { 0 };
    TaskRecord other = old_task(a, "h1", "写发布说明", "train");

    (void)state;
    LIST_PUSH(a, &tasks, old_task(a, "t1", "写发布说明 文档", "train"));
    other.project = STR("/elsewhere");
    LIST_PUSH(a, &archive, other);
    recall_add(a, 5, &archive, &tasks);
    assert_int_equal(tasks.n, 1);
    archive.items[0].project = STR("/p");
    recall_add(a, 5, &archive, &tasks);
    assert_int_equal(tasks.n, 2);
}

static void plans(void **state)
{
    EACH_VECTOR("vec_budget")
    {
        Json tokens = json_get(v, STR("tokens")), plan = json_get(v, STR("plan"));
        BudgetPlan p = budget_plan(json_type(tokens) == JSON_NULL ? 0 : (int64_t)number_of(tokens),
                                   (int64_t)number_of(json_get(v, STR("n_tasks"))));

        assert_int_equal(p.nights, (int64_t)number_of(json_at(plan, 0)));
        assert_int_equal(p.rollouts, (int64_t)number_of(json_at(plan, 1)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges),          cmocka_unit_test(bounds),
        cmocka_unit_test(reviews),         cmocka_unit_test(scoring),
        cmocka_unit_test(rewards),         cmocka_unit_test(ids),
        cmocka_unit_test(splits),          cmocka_unit_test(remarks),
        cmocka_unit_test(json_in_answers), cmocka_unit_test(dreams),
        cmocka_unit_test(recalled),        cmocka_unit_test(recall_stays_in_its_project),
        cmocka_unit_test(plans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
