/* Nights of the backend without a model: recorded ones, and what they must not do. */
#include "sleep_vectors.h"

#include <math.h>

#include "sleep/learning/consolidate.h"
#include "sleep/learning/known.h"
#include "sleep/night/experiment.h"
#include "sleep/task/document.h"
#include "sleep/task/rules.h"
#include "sleep/task/split.h"
#include "sleep/trial/backend_mock.h"

static void close_to(double a, double b)
{
    if (fabs(a - b) > 1e-6)
        fail_msg("%.9g, expected %.9g", a, b);
}

static TaskRecords tasks_of(Arena *a, Str persona)
{
    TaskRecords tasks = { 0 }, all;
    Err err;

    if (!str_starts(persona, STR("harmful"))) {
        assert_true(experiment_tasks(a, persona, &tasks, &err));
    } else {
        assert_true(experiment_tasks(a, STR("researcher"), &all, &err));
        LIST_PUSH(a, &tasks, experiment_harmful(a));
        for (size_t i = 0; i < 3; i++)
            LIST_PUSH(a, &tasks, all.items[i]);
    }
    split_assign(a, SPLIT_RULE_DEFAULT, &tasks);
    return tasks;
}

static void check_edits(Arena *a, const EditRecords *edits, Json want)
{
    assert_int_equal(edits->n, json_count(want));
    for (size_t i = 0; i < edits->n; i++)
        assert_str(str_printf(a, "$RULE(%.*s)", STR_FMT(mock_rule_key(edits->items[i].content))),
                   json_str(json_at(want, i)));
}

static void check_night(Arena *a, const Consolidation *c, Json want)
{
    Json trials = json_get(want, STR("trials"));

    assert_str(c->action, json_str(json_get(want, STR("action"))));
    assert_int_equal(c->accepted, flag_of(json_get(want, STR("accepted"))));
    close_to(c->baseline, number_of(json_get(want, STR("base"))));
    close_to(c->candidate, number_of(json_get(want, STR("cand"))));
    check_edits(a, &c->edits, json_get(want, STR("applied")));
    check_edits(a, &c->rejected, json_get(want, STR("rejected")));
    if (json_type(trials) == JSON_NONE)
        return;
    assert_int_equal(c->trials.n, json_count(trials));
    for (size_t i = 0; i < c->trials.n; i++)
        assert_str(c->trials.items[i].target, json_str(json_at(trials, i)));
}

/* Recorded: two rules that only help together are never found one at a time. */
static bool is_the_joint_defect(Json v)
{
    double budget = 0;

    return json_double(json_get(v, STR("edit_budget")), &budget) && budget == 1 &&
           str_eq(json_str(json_get(v, STR("persona"))), STR("researcher"));
}

static void recorded_nights(void **state)
{
    EACH_VECTOR("vec_mock_consolidate")
    {
        Json nights = json_get(v, STR("nights")), budget = json_get(v, STR("edit_budget"));
        TaskRecords tasks = tasks_of(a, json_str(json_get(v, STR("persona"))));
        Docs docs = { .skill = STR("# Skill\n") };
        ConsolidateRules rules = consolidate_rules();
        KnownEdits known = { 0 };
        Backend b = backend_mock();
        Consolidation c = { 0 };
        Err err;

        for (size_t i = 0; i < tasks.n; i++)
            assert_str(tasks.items[i].split,
                       json_str(json_get(json_get(v, STR("splits")), tasks.items[i].id)));
        if (json_type(budget) != JSON_NONE)
            rules.edit_budget = (int64_t)number_of(budget);
        for (size_t i = 0; i < json_count(nights); i++) {
            rules.night = (int64_t)i + 1;
            assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, &err));
            docs = c.docs;
            if (!is_the_joint_defect(v))
                check_night(a, &c, json_at(nights, i));
        }
        if (is_the_joint_defect(v))
            close_to(c.candidate, 1);
    }
}

static void recorded_steps(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = vectors_open(a, "vec_gate");
    Json rows = json_get(json_root(doc), STR("select"));

    (void)state;
    for (size_t i = 0; i < json_count(rows); i++) {
        Json v = json_at(rows, i);
        ScoreRule rule = { .weight = number_of(json_get(v, STR("w"))) };

        assert_true(score_metric_parse(json_str(json_get(v, STR("metric"))), &rule.metric));
        close_to(score_of(rule, number_of(json_get(v, STR("hard"))),
                          number_of(json_get(v, STR("soft")))),
                 number_of(json_get(v, STR("score"))));
    }
    rows = json_get(json_root(doc), STR("decide"));
    for (size_t i = 0; i < json_count(rows); i++) {
        Json v = json_at(rows, i);
        GateStep s =
            gate_step(number_of(json_get(v, STR("cand"))), number_of(json_get(v, STR("current"))),
                      number_of(json_get(v, STR("best"))), 3, 7);

        assert_str(str_of(s.action), json_str(json_get(v, STR("action"))));
        close_to(s.current, number_of(json_get(v, STR("current_after"))));
        close_to(s.best, number_of(json_get(v, STR("best_after"))));
        close_to((double)s.best_step, number_of(json_get(v, STR("best_step"))));
    }
}

/* -- the experiment -- */

static void experiment_learns(void **state)
{
    static const struct {
        Str persona;
        double before;
        const char *vector;
    } cases[] = { { STR_INIT("researcher"), 0.3333, "experiment_researcher" },
                  { STR_INIT("programmer"), 0.3194, "experiment_programmer" } };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int64_t budget = 1; budget <= 4; budget++) {
            AUTO(JsonDoc) *doc = vectors_open(a, cases[i].vector);
            Experiment x;
            Err err;

            assert_true(experiment_run(a, cases[i].persona, 3, budget, &x, &err));
            assert_true(fabs(x.before - cases[i].before) < 5e-5);
            close_to(x.after, 1);
            assert_true(x.harmful_blocked);
            assert_true(x.harmful_after < x.harmful_before);
            if (budget == 4)
                assert_int_equal(x.nights.n, json_count(json_get(json_root(doc), STR("trace"))));
        }
}

/* -- mined tasks -- */

static TaskRecord mined(Arena *a, const char *id, const char *checks, const char *split)
{
    TaskRecord t;

    task_init(&t);
    t.id = str_of(id);
    t.project = STR("/p");
    t.intent = STR("do it as always");
    t.reference_kind = STR("rule");
    t.judge = str_printf(a, "{\"kind\":\"rule\",\"checks\":[%s]}", checks);
    t.split = str_of(split);
    return t;
}

static const char *const checks[] = {
    "{\"op\":\"contains\",\"arg\":\"Signed-off-by\"}",
    "{\"op\":\"contains\",\"arg\":\"done\"}",
    "{\"op\":\"not_contains\",\"arg\":\"as an AI\"}",
    "{\"op\":\"section_present\",\"arg\":\"Summary\"}",
    "{\"op\":\"section_contains\",\"arg\":\"摘要\"}",
    "{\"op\":\"regex\",\"arg\":\"^(feat|fix)(\\\\([a-z]+\\\\))?: .{3,}\"}",
    "{\"op\":\"regex\",\"arg\":\"\\\\b\\\\d{4}-\\\\d{2}-\\\\d{2}\\\\b\"}",
    "{\"op\":\"regex\",\"arg\":\"[A-Z]{2,}-\\\\d+$\"}",
    "{\"op\":\"max_chars\",\"arg\":80}",
    "{\"op\":\"min_chars\",\"arg\":\"120\"}",
    "{\"op\":\"no_refusal\"}",
    "{\"op\":\"tool_called\",\"arg\":\"run_tests\"}",
};

static double hard_score(Arena *a, Backend *b, const TaskRecord *task, Str skill)
{
    ReplayAsk ask = { .task = task, .docs = { .skill = skill } };
    ReplayResult r;
    Err err;

    assert_true(replay_task(b, a, &ask, NULL, &r, &err));
    return r.hard;
}

/* Passes exactly when the rule is there: one check at a time, and any two together. */
static void mock_does_what_the_rules_say(void **state)
{
    AUTO(Arena) *a = arena_new();
    Backend b = backend_mock();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        for (size_t k = i; k < ARRAY_LEN(checks); k++) {
            Str both = i == k ? str_of(checks[i]) : str_printf(a, "%s,%s", checks[i], checks[k]);
            TaskRecord t = mined(a, "t", both.p, "val");
            Judge j = judge_of(a, t.judge);
            Str first = rule_of_check(a, &j.checks[0]);
            Str second = rule_of_check(a, &j.checks[j.n - 1]);
            bool conflict = i != k && strstr(checks[i], "max_chars") && strstr(checks[k], "min");

            if (hard_score(a, &b, &t, STR("# S\n")) != 0)
                fail_msg("%s passes without its rule", both.p);
            if (i != k && hard_score(a, &b, &t, first) != 0)
                fail_msg("%s passes with half of its rules", both.p);
            if (!conflict &&
                hard_score(a, &b, &t,
                           str_printf(a, "- %.*s\n- %.*s\n", STR_FMT(first), STR_FMT(second))) != 1)
                fail_msg("%s fails with its rules", both.p);
        }
}

static void mined_tasks_are_learned(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = { 0 };
    ConsolidateRules rules = consolidate_rules();
    KnownEdits known = { 0 };
    Backend b = backend_mock();
    Docs docs = { .skill = STR("user text\n") };
    Consolidation c;
    Document d;
    Err err;

    (void)state;
    LIST_PUSH(a, &tasks, mined(a, "t1", checks[0], "train"));
    LIST_PUSH(a, &tasks, mined(a, "t2", checks[3], "train"));
    LIST_PUSH(a, &tasks, mined(a, "v1", checks[0], "val"));
    LIST_PUSH(a, &tasks, mined(a, "v2", checks[3], "val"));
    LIST_PUSH(a, &tasks.items[0].source_sessions, STR("sess-1"));
    assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, &err));
    assert_true(c.accepted);
    assert_int_equal(c.edits.n, 2);
    assert_int_equal(c.no_edits, NO_EDITS_NONE);
    assert_int_equal(c.attribution.n, 2);
    close_to(c.attribution.items[0].share, 0.5);
    close_to(c.attribution.items[0].gain, 0.5);
    assert_int_equal(c.attribution.items[0].moved_tasks.n, 1);
    assert_str(c.attribution.items[0].moved_tasks.items[0], STR("v1"));
    assert_false(c.has_interval); /* of two tasks nobody can say */
    assert_true(str_starts(c.docs.skill, STR("user text\n")));
    assert_str(c.docs.memory, STR(""));
    assert_true(document_parse(a, c.docs.skill, &d, &err));
    assert_int_equal(document_rule(&d, 0)->note.sessions.n, 1);
    assert_int_equal(document_rule(&d, 0)->note.night, 1);
    docs = c.docs;
    rules.night = 2;
    assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, &err));
    assert_false(c.accepted);
    assert_int_equal(c.no_edits, NO_EDITS_NO_FAILURES);
    assert_str(c.docs.skill, docs.skill);
}

/* A rule of no more use goes when its nights are over; one that helps stays and is counted. */
static void old_rules_are_tidied(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = { 0 };
    ConsolidateRules rules = consolidate_rules();
    KnownEdits known = { 0 };
    Backend b = backend_mock();
    EditRecord two[2];
    EditRecords edits = { .items = two, .n = 2, .cap = 2 };
    RuleNote note = { .night = 1, .until = 31, .helpful = 1 };
    EditsApplied done;
    Consolidation c;
    Document d;
    Err err;

    (void)state;
    edit_init(&two[0]);
    edit_init(&two[1]);
    two[0].content = STR("A rule that nobody needs.");
    two[1].content = STR("Always mention \"Signed-off-by\" in the answer.");
    assert_true(edits_apply(a, STR("mine\n"), &edits, &note, &done, &err));
    LIST_PUSH(a, &tasks, mined(a, "t1", checks[0], "train"));
    LIST_PUSH(a, &tasks, mined(a, "v1", checks[0], "val"));
    rules.night = 20;
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = done.text }, &rules, &known, NULL, NULL,
                            &c, &err));
    assert_false(c.accepted);
    rules.night = 40;
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = done.text }, &rules, &known, NULL, NULL,
                            &c, &err));
    assert_true(c.accepted);
    assert_true(document_parse(a, c.docs.skill, &d, &err));
    assert_int_equal(document_rules(&d), 1);
    assert_int_equal(document_rule(&d, 0)->note.helpful, 2);
    assert_int_equal(document_rule(&d, 0)->note.until, 70);
}

static void count_reviews(void *ctx, const char *phase, const ReplayAsk *ask, const ReplayResult *r)
{
    (void)ask;
    (void)r;
    *(int *)ctx += strcmp(phase, "review") == 0;
}

/* The same where chance plays: a rule is looked at when its nights are over, and what was found out
 * is not paid for again on the next night. */
static void old_rules_are_tidied_where_answers_vary(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = { 0 };
    ConsolidateRules rules = consolidate_rules();
    KnownEdits known = { 0 };
    Backend b = backend_mock();
    EditRecord two[2];
    EditRecords edits = { .items = two, .n = 2, .cap = 2 };
    RuleNote note = { .night = 1, .until = 31, .helpful = 1 };
    int reviews = 0;
    ConsolidateWatch watch = { .ctx = &reviews, .replayed = count_reviews };
    EditsApplied done;
    Consolidation c;
    Document d;
    Err err;

    (void)state;
    b.deterministic = false;
    edit_init(&two[0]);
    edit_init(&two[1]);
    two[0].content = STR("Always mention \"Signed-off-by\" in the answer.");
    two[1].content = STR("A rule that nobody needs.");
    LIST_PUSH(a, &tasks, mined(a, "t1", checks[0], "train"));
    for (size_t i = 0; i < 4; i++)
        LIST_PUSH(a, &tasks, mined(a, str_printf(a, "v%zu", i).p, checks[0], "val"));
    assert_true(edits_apply(a, STR("mine\n"), &edits, &note, &done, &err));
    rules.night = 20;
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = done.text }, &rules, &known, NULL,
                            &watch, &c, &err));
    assert_int_equal(reviews, 0);
    rules.night = 40;
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = done.text }, &rules, &known, NULL,
                            &watch, &c, &err));
    assert_true(reviews > 0 && c.accepted);
    assert_str(c.action, STR("accept"));
    assert_true(document_parse(a, c.docs.skill, &d, &err));
    assert_int_equal(document_rules(&d), 1);
    assert_int_equal(document_rule(&d, 0)->note.helpful, 2);
    assert_int_equal(document_rule(&d, 0)->note.until, 70);

    /* The user did not adopt it, and there is nothing left to tidy: the one that helps is known
     * to. */
    edits.n = 1;
    reviews = 0;
    rules.night = 41;
    assert_true(edits_apply(a, STR("mine\n"), &edits, &note, &done, &err));
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = done.text }, &rules, &known, NULL,
                            &watch, &c, &err));
    assert_int_equal(reviews, 0);
    assert_str(c.docs.skill, done.text);
}

/* -- refusals and reasons -- */

static Str fixed_rule;
static int reflected;

static bool fixed_reflect(Backend *b, Arena *a, const ReflectAsk *ask, EditRecords *ret, Err *err)
{
    EditRecord e;

    (void)b;
    (void)err;
    reflected++;
    *ret = (EditRecords){ 0 };
    edit_init(&e);
    e.target = ask->target;
    e.content = fixed_rule;
    LIST_PUSH(a, ret, e);
    return true;
}

static void rejected_edits_stay_rejected(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = { 0 };
    ConsolidateRules rules = consolidate_rules();
    KnownEdits known = { 0 };
    Backend b = backend_mock();
    Docs docs = { .skill = STR("Always mention \"Signed-off-by\" in the answer.\n") };
    Consolidation c;
    Err err;

    (void)state;
    b.reflect = fixed_reflect;
    fixed_rule = mock_rule(STR("__harmful__"));
    rules.evolve_memory = false;
    LIST_PUSH(a, &tasks, mined(a, "t1", checks[3], "train"));
    LIST_PUSH(a, &tasks, mined(a, "v1", checks[0], "val"));
    assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, &err));
    assert_false(c.accepted);
    assert_int_equal(c.no_edits, NO_EDITS_ALL_REJECTED);
    assert_int_equal(known.n, 1);
    assert_str(known.items[0].status, STR("rejected"));
    assert_true(known.items[0].reason.n > 0);
    assert_str(c.docs.skill, docs.skill);
    assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, &err));
    assert_int_equal(c.trials.n, 1); /* only the final line */
    assert_int_equal(c.no_edits, NO_EDITS_NOTHING_PROPOSED);
    fixed_rule = STR("<!-- hidden -->");
    assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, NULL, NULL, &c, &err));
    assert_int_equal(c.no_edits, NO_EDITS_NOTHING_APPLIED);
    assert_int_equal(c.unmatched.n, 1);
}

static void budget_ends_a_night(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = tasks_of(a, STR("researcher")), none = { 0 };
    ConsolidateRules rules = consolidate_rules();
    KnownEdits known = { 0 };
    Backend b = backend_mock();
    Docs docs = { .skill = STR("x\n") };
    Budget budget = { .max_calls = 1, .calls = 1 };
    Consolidation c;
    Err err;

    (void)state;
    assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, &budget, NULL, &c, &err));
    assert_false(c.accepted);
    assert_int_equal(c.no_edits, NO_EDITS_BUDGET);
    assert_int_equal(c.replayed, 0);
    assert_true(consolidate(a, &b, &none, docs, &rules, &known, NULL, NULL, &c, &err));
    assert_int_equal(c.no_edits, NO_EDITS_NO_TASKS);
}

/* Wherever the money runs out, a night ends with old bytes or with proven ones. */
static void any_budget_ends_well(void **state)
{
    AUTO(Arena) *a = arena_new();
    size_t accepted = 0, ended = 0;

    (void)state;
    for (int64_t calls = 1; calls < 80; calls++) {
        TaskRecords tasks;
        ConsolidateRules rules = consolidate_rules();
        KnownEdits known = { 0 };
        Backend b = backend_mock();
        Docs docs = { .skill = STR("x\n") };
        Budget budget = { .max_calls = calls };
        Consolidation c;
        Err err;

        arena_reset(a);
        tasks = tasks_of(a, STR("researcher"));
        assert_true(consolidate(a, &b, &tasks, docs, &rules, &known, &budget, NULL, &c, &err));
        assert_true(b.calls <= calls + 1);
        accepted += c.accepted;
        ended += c.no_edits == NO_EDITS_BUDGET;
        if (c.accepted)
            close_to(c.candidate, 1);
        else
            assert_str(c.docs.skill, docs.skill);
        assert_true(c.accepted || c.no_edits == NO_EDITS_BUDGET);
    }
    assert_true(accepted > 20 && ended > 10);
}

/* What takes how long is nothing that our own clock may decide, and a judge's calls are counted
 * before. */
static void costs_are_no_accident(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecord task = mined(a, "t", checks[0], "val");
    ReplayAsk ask = { .task = &task, .docs = { .skill = STR("x\n"), .memory = STR("") } };
    Backend b = backend_mock();
    Budget budget = { .max_calls = 10, .calls = 8 };
    ReplayResult r;
    Err err;

    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_true(replay_task(&b, a, &ask, NULL, &r, &err));
        assert_true(r.latency_ms == 0);
    }
    assert_int_equal(replay_calls(&b, &task), 1);
    task.reference_kind = STR("rubric");
    b.deterministic = false;
    assert_null(budget_spent(&budget, 2));
    assert_string_equal(budget_spent(&budget, replay_calls(&b, &task)), "calls");
}

/* What only the teaching tasks can prove is not accepted. */
static void leaked_tasks_prove_nothing(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = { 0 };
    ConsolidateRules rules = consolidate_rules();
    KnownEdits known = { 0 };
    Backend b = backend_mock();
    Consolidation c;
    Err err;

    (void)state;
    LIST_PUSH(a, &tasks, mined(a, "t1", checks[0], "train"));
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = STR("x\n") }, &rules, &known, NULL,
                            NULL, &c, &err));
    assert_false(c.accepted);
    assert_str(c.action, STR("reject_unverified"));
    assert_str(c.docs.skill, STR("x\n"));
    rules.gate = false;
    assert_true(consolidate(a, &b, &tasks, (Docs){ .skill = STR("x\n") }, &rules, &known, NULL,
                            NULL, &c, &err));
    assert_str(c.action, STR("greedy_applied"));
}

static void tasks_go_to_their_skill(void **state)
{
    AUTO(Arena) *a = arena_new();
    TaskRecords tasks = { 0 };
    SkillGroups groups;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        LIST_PUSH(a, &tasks, mined(a, i == 4 ? "1" : str_printf(a, "%zu", i).p, "", "train"));
    tasks.items[1].skill_hint = STR("git");
    tasks.items[2].skill_hint = STR("git");
    tasks.items[4].skill_hint = STR("other"); /* the same task, used with two skills */
    groups = consolidate_route(a, &tasks, STR("managed"));
    assert_int_equal(groups.n, 2);
    assert_str(groups.items[0].skill_name, STR("managed"));
    assert_int_equal(groups.items[0].tasks.n, 4);
    assert_str(groups.items[1].skill_name, STR("git"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_nights),
        cmocka_unit_test(recorded_steps),
        cmocka_unit_test(experiment_learns),
        cmocka_unit_test(mock_does_what_the_rules_say),
        cmocka_unit_test(mined_tasks_are_learned),
        cmocka_unit_test(old_rules_are_tidied),
        cmocka_unit_test(old_rules_are_tidied_where_answers_vary),
        cmocka_unit_test(costs_are_no_accident),
        cmocka_unit_test(rejected_edits_stay_rejected),
        cmocka_unit_test(budget_ends_a_night),
        cmocka_unit_test(any_budget_ends_well),
        cmocka_unit_test(leaked_tasks_prove_nothing),
        cmocka_unit_test(tasks_go_to_their_skill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
