#include "unit.h"

#include <math.h>

#include "templates/harvest.h"
#include "templates/study.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* Wilson's intervals, worked out apart from this program. */
static const struct {
    uint64_t failed, calls;
    double low, high;
} intervals[] = {
    { 10, 100, 0.0552291370606751, 0.17436566150491345 },
    { 0, 20, 0.0, 0.16112515805281938 },
    { 20, 20, 0.8388748419471806, 1.0 },
    { 1, 1, 0.20654931437723745, 1.0 },
    { 3, 7, 0.15821985525146975, 0.7495416354723428 },
    { 250, 1000, 0.2241530989836914, 0.27776028025908617 },
    { 0, 0, 0, 1 },
};

static void shares_have_wilsons_interval(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(intervals); i++) {
        StudyShare s = study_share(intervals[i].failed, intervals[i].calls);

        if (!near(s.low, intervals[i].low) || !near(s.high, intervals[i].high))
            fail_msg("%llu of %llu: %.6f to %.6f", (unsigned long long)s.failed,
                     (unsigned long long)s.calls, s.low, s.high);
    }
}

/* Session s fails in decile d when (7s + 3d) mod 11 < d / 2: later calls fail more often. */
static void make_sums(StudySums *sums, size_t n, size_t repeat)
{
    for (size_t s = 0; s < n; s++) {
        sums[s] = (StudySums){ 0 };
        for (size_t d = 1; d <= STUDY_DECILES; d++)
            for (size_t r = 0; r < repeat; r++) {
                double x = (double)d, y = (s * 7 + d * 3) % 11 < d / 2;

                sums[s].n += 1;
                sums[s].x += x;
                sums[s].y += y;
                sums[s].xx += x * x;
                sums[s].xy += x * y;
            }
    }
}

/* Slope and clustered error of that data, worked out call by call apart from this program. */
static void the_slope_is_that_of_least_squares(void **state)
{
    StudySums sums[25];
    StudyFit fit;

    (void)state;
    make_sums(sums, 25, 1);
    fit = study_fit(sums, 25);
    assert_true(fit.known && fit.differs);
    assert_true(near(fit.slope, 0.04824242424242424));
    assert_true(near(fit.intercept, -0.0373333333333333));
    assert_true(near(fit.error, 0.007163860147052195));
    fit = study_fit(sums, 20);
    assert_true(near(fit.slope, 0.04666666666666667));
    assert_true(near(fit.error, 0.008387788300979455));
    /* 2.0930 is the 97.5 % point of Student's t with 19 degrees. */
    assert_true(fabs((fit.high - fit.slope) / fit.error - 2.0930) < 0.0005);
}

static void saying_everything_ten_times_makes_nothing_surer(void **state)
{
    StudySums once[20], often[20];
    double ratio;

    (void)state;
    make_sums(once, 20, 1);
    make_sums(often, 20, 10);
    ratio = study_fit(often, 20).error / study_fit(once, 20).error;
    assert_true(ratio > 0.99 && ratio < 1.01);
}

static void one_session_or_one_decile_has_no_slope(void **state)
{
    StudySums same[3] = { { 2, 2, 1, 2, 1 }, { 2, 2, 0, 2, 0 }, { 1, 1, 1, 1, 1 } };

    (void)state;
    assert_false(study_fit(same, 1).known);
    assert_false(study_fit(same, 3).known);
    assert_false(study_fit(NULL, 0).known);
}

/* -- sessions -- */

static Message user(const char *text)
{
    return (Message){ .role = STR("user"), .content = str_of(text) };
}

static Message call(Arena *a, const char *tool, int id)
{
    return (Message){ .role = STR("assistant"),
                      .tool_calls =
                          str_printf(a,
                                     "[{\"id\": \"c%d\", \"type\": \"function\", \"function\": "
                                     "{\"name\": \"%s\", \"arguments\": \"{}\"}}]",
                                     id, tool) };
}

static Message result(Arena *a, int id, const char *text)
{
    return (Message){ .role = STR("tool"),
                      .tool_call_id = str_printf(a, "c%d", id),
                      .content = str_of(text) };
}

/* As the study does it, by way of the text that is kept of a session. */
static void add_session(StudyTally *tally, Arena *a, const Message *messages, size_t n)
{
    StudyFacts facts = study_facts(a, messages, n), kept;

    assert_true(study_facts_parse(study_facts_text(a, &facts), &kept));
    assert_memory_equal(&kept, &facts, sizeof facts);
    study_add(tally, &kept);
}

static void a_session_counts_where_its_calls_stand(void **state)
{
    AUTO(Arena) *a = arena_new();
    StudyTally tally = { .arena = a };
    Study study;
    Message m[10];

    (void)state;
    m[0] = user("go");
    m[1] = call(a, "execute_code", 1);
    m[2] = result(a, 1, "{\"exit_code\": 1}");
    m[3] = call(a, "execute_code", 2);
    m[4] = result(a, 2, "{\"exit_code\": 0}");
    m[5] = call(a, "read_file", 3);
    m[6] = result(a, 3, "text");
    m[7] = call(a, "execute_code", 4); /* its result was lost: it tells the kind, not the outcome */
    m[8] = user("thanks");
    m[9] = user("bye");
    add_session(&tally, a, m, 10);
    add_session(&tally, a, m, 1); /* no calls */
    study_finish(&tally, &study);
    assert_int_equal(study.sessions, 2);
    assert_int_equal(study.lines[STUDY_CODE].sessions, 1);
    assert_int_equal(study.lines[STUDY_CODE].calls, 3);
    assert_int_equal(study.lines[STUDY_CODE].deciles[1].failed, 1);
    assert_int_equal(study.lines[STUDY_CODE].deciles[3].calls, 1);
    assert_int_equal(study.lines[STUDY_CODE].deciles[3].failed, 0);
    assert_int_equal(study.lines[STUDY_REST].sessions, 0);
    assert_false(study.lines[STUDY_CODE].enough);
    assert_string_equal(study_verdict(&study.lines[STUDY_CODE]), "too little to tell");
}

static void the_first_thirty_turns_tell_the_kind(void **state)
{
    enum { TURNS = 50, EACH = 3 };
    AUTO(Arena) *a = arena_new();
    StudyTally tally = { .arena = a };
    Message m[TURNS * EACH];
    Study study;

    (void)state;
    for (int t = 0; t < TURNS; t++) {
        /* 16 turns of files, then code for ever: 16 of the first 30, but 16 of all 50 */
        m[t * EACH] = user("next");
        m[t * EACH + 1] = call(a, t < 16 ? "read_file" : "execute_code", t);
        m[t * EACH + 2] = result(a, t, "ok");
    }
    add_session(&tally, a, m, TURNS * EACH);
    study_finish(&tally, &study);
    assert_int_equal(study.lines[STUDY_FILE].sessions, 1);
    assert_int_equal(study.lines[STUDY_FILE].calls, TURNS);
}

static void half_is_not_more_than_half(void **state)
{
    AUTO(Arena) *a = arena_new();
    StudyTally tally = { .arena = a };
    Message m[5];
    Study study;

    (void)state;
    m[0] = user("go");
    m[1] = call(a, "execute_code", 1);
    m[2] = result(a, 1, "ok");
    m[3] = call(a, "read_file", 2);
    m[4] = result(a, 2, "ok");
    add_session(&tally, a, m, 5);
    study_finish(&tally, &study);
    assert_int_equal(study.lines[STUDY_REST].sessions, 1);
}

static void twenty_sessions_are_enough(void **state)
{
    AUTO(Arena) *a = arena_new();
    StudyTally tally = { .arena = a };
    Study study;

    (void)state;
    for (int s = 0; s < STUDY_MIN_SESSIONS; s++) {
        Message m[6];

        /* the first call fails in three of four sessions, the last one never */
        m[0] = user("go");
        m[1] = call(a, "read_file", 1);
        m[2] = result(a, 1, s % 4 ? "{\"success\": false}" : "ok");
        m[3] = user("more");
        m[4] = call(a, "read_file", 2);
        m[5] = result(a, 2, "ok");
        study_finish(&tally, &study);
        assert_false(study.lines[STUDY_FILE].enough);
        add_session(&tally, a, m, 6);
    }
    study_finish(&tally, &study);
    assert_true(study.lines[STUDY_FILE].enough);
    assert_true(study.lines[STUDY_FILE].fit.slope < 0);
    assert_string_equal(study_verdict(&study.lines[STUDY_FILE]),
                        "fewer calls fail as a session goes on");
}

/* -- what a harvest thinks of a session -- */

static void harvest_takes_sessions_that_ended_well(void **state)
{
    AUTO(Arena) *a = arena_new();
    Message m[9];
    HarvestScore score;

    (void)state;
    m[0] = user("the login doesn't work, fix it"); /* the task, not a complaint */
    for (int i = 0; i < 3; i++) {
        m[1 + 2 * i] = call(a, i ? "execute_code" : "patch", i);
        m[2 + 2 * i] = result(a, i, "{\"success\": true}");
    }
    m[7] = user("perfect");
    score = harvest_score(a, m, 8);
    assert_null(score.reason.p);
    assert_int_equal(score.calls, 3);
    assert_int_equal(score.tools, 2);
    assert_int_equal(score.type, TASK_CODE);
    m[7] = user("still broken");
    assert_str(harvest_score(a, m, 8).reason, STR("its last user message is a complaint"));
    m[6] = result(a, 2, "{\"exit_code\": 2}");
    assert_str(harvest_score(a, m, 7).reason,
               STR("its last tool result shows a failure: its exit code is not 0"));
    assert_str(harvest_score(a, m, 5).reason, STR("fewer than three calls that worked"));
    assert_str(harvest_score(a, m, 1).reason, STR("it has no tool calls"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_have_wilsons_interval),
        cmocka_unit_test(the_slope_is_that_of_least_squares),
        cmocka_unit_test(saying_everything_ten_times_makes_nothing_surer),
        cmocka_unit_test(one_session_or_one_decile_has_no_slope),
        cmocka_unit_test(a_session_counts_where_its_calls_stand),
        cmocka_unit_test(the_first_thirty_turns_tell_the_kind),
        cmocka_unit_test(half_is_not_more_than_half),
        cmocka_unit_test(twenty_sessions_are_enough),
        cmocka_unit_test(harvest_takes_sessions_that_ended_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
