/* What people ask for again, and what they insist on. */
#include "unit.h"

#include "sleep/mining/intent.h"
#include "sleep/mining/mine.h"
#include "sleep/task/checks.h"

/* -- the same thing in other words -- */

static void other_words_for_the_same_are_one_task(void **state)
{
#define DEMAND "you did not follow the rule: name the first failing frame"
    static const struct {
        const char *request, *correction;
        size_t group;
    } rows[] = {
        { "add a GET endpoint that returns the monthly totals, see src/app.py", NULL, 0 },
        { "new endpoint for monthly totals in web/cart.tsx", NULL, 0 },
        { "endpoint with the totals, monthly (kernel/sched.c)", NULL, 0 },
        { "look at this log and tell me what broke", DEMAND, 1 },
        { "what does this stack trace mean?", DEMAND, 1 },
        { "写一份本周的项目周报，控制在三百字以内", NULL, 2 },
        { "帮我整理本周的项目周报，三百字以内", NULL, 2 },
        { "explain the retry policy for the demo (17)", NULL, 3 },
        { "rename the feature flags in the worker (9)", NULL, 4 },
    };
    AUTO(Arena) *a = arena_new();
    Intent intents[ARRAY_LEN(rows)];
    Str demands[ARRAY_LEN(rows)];
    size_t got[ARRAY_LEN(rows)], n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        intents[i] = (Intent){ .project = STR("/p"), .request = str_of(rows[i].request) };
        demands[i] = rows[i].correction ? intent_demand(a, str_of(rows[i].correction)) : STR_NONE;
        intents[i].demands = &demands[i];
        intents[i].n_demands = demands[i].n > 0;
    }
    intents_group(a, intents, ARRAY_LEN(rows), got, &n);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (got[i] != rows[i].group)
            fail_msg("'%s' is in group %zu", rows[i].request, got[i]);
    assert_int_equal(n, 5);
}

static void projects_stay_apart(void **state)
{
    AUTO(Arena) *a = arena_new();
    const Intent intents[] = { { .project = STR("/a"), .request = STR("write the weekly report") },
                               { .project = STR("/b"),
                                 .request = STR("write the weekly report") } };
    size_t got[2], n;

    (void)state;
    intents_group(a, intents, 2, got, &n);
    assert_int_equal(n, 2);
}

/* -- what is insisted on -- */

static const struct {
    const char *correction, *op, *arg;
} demands[] = {
    { "no exclamation marks, at most 300 characters, and please less excited", "max_chars", "300" },
    { "too loud. 300 characters at most, not one exclamation mark", "not_contains", "!" },
    { "no, the subject has to stay within 50 characters, imperative, no full stop", "regex",
      "\\A[^\\n]{1,50}(?:\\n|\\Z)" },
    { "no, use ISO dates, and there has to be an \"Upgrade notes\" section", "section_present",
      "Upgrade notes" },
    { "wrong date format again. ISO, and add ## Upgrade notes", "section_present",
      "Upgrade notes" },
    { "dates as YYYY-MM-DD please", "regex", "\\b\\d{4}-\\d{2}-\\d{2}\\b" },
    { "no, use ISO dates and our header: date,payee,amount,currency", "contains",
      "date,payee,amount,currency" },
    { "no prose. one JSON object with a total, my script reads it", "regex",
      "\\A\\s*[\\[{][\\s\\S]*[\\]}]\\s*\\Z" },
    { "no, mm with one decimal please, like everywhere in the paper", "regex", "\\d\\.\\d mm\\b" },
    { "every source with its DOI link please", "regex", "doi\\.org/10\\." },
    { "just start with OK or NOT OK, I read this on the phone", "regex", "\\A(?:OK|NOT OK)\\b" },
    { "as a table please: Mount, Used, Free", "regex",
      "\\|\\s*Mount\\s*\\|\\s*Used\\s*\\|\\s*Free\\s*\\|" },
    { "no, the table with Mount | Used | Free, like last time", "regex",
      "\\|\\s*Mount\\s*\\|\\s*Used\\s*\\|\\s*Free\\s*\\|" },
    { "sort that by severity: Critical, Serious, Minor, as headings", "section_present",
      "Critical" },
    { "不对，要三个小节：本周完成、遇到的问题、下周计划，三百字以内", "section_present",
      "下周计划" },
    { "太长了，控制在三百字以内，分三个小节", "max_chars", "300" },
    { "产品名不要翻译，价格写成 €49.00 这种格式", "regex", "€\\d+\\.\\d{2}" },
    { "that's still far over 150 words. the journal refuses it", "regex",
      "\\A\\s*(?:\\S+\\s+){0,149}\\S*\\s*\\Z" },
};

static void a_demand_becomes_a_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(demands); i++) {
        AUTO(Arena) *a = arena_new();
        Demands got = { 0 };
        bool found = false;

        demands_of_correction(a, str_of(demands[i].correction), &got);
        for (size_t k = 0; k < got.n; k++)
            found = found || (strcmp(got.items[k].op, demands[i].op) == 0 &&
                              str_eqz(got.items[k].arg, demands[i].arg));
        if (!found)
            fail_msg("'%s' should give %s %s; it gives %s", demands[i].correction, demands[i].op,
                     demands[i].arg, str_z(a, demands_judge(a, got.items, got.n)));
    }
}

static void a_check_is_believed_when_answers_bear_it_out(void **state)
{
    AUTO(Arena) *a = arena_new();
    const Str wrong[] = { STR("The backup went fine, as far as I can see."), STR("It ran.") };
    const Str right[] = { STR("OK. Copied."), STR("You are right.\n\nNOT OK: disk full.") };
    const Demand begins = { .op = "regex", .arg = STR("\\A(?:OK|NOT OK)\\b") };
    const Demand is_long = { .op = "max_chars", .arg = STR("5") };
    const Tried answers = { wrong, 2, right, 2 }, only_right = { NULL, 0, right, 2 };

    (void)state;
    assert_true(demand_is_confirmed(a, &begins, &answers));
    assert_false(demand_is_confirmed(a, &is_long, &answers));
    assert_false(demand_is_confirmed(a, &begins, &only_right));
}

/* -- tasks -- */

static Trace *trace_with(Arena *a, const char *id, const char *const *said)
{
    Trace *t = ARENA_NEW(a, Trace);
    SessionDigest d;

    trace_init(t);
    digest_init(&d);
    d.session_id = str_of(id);
    d.project = STR("/srv/attic");
    d.started_at = str_of(id);
    LIST_PUSH(a, &t->digests, d);
    for (; *said; said += 2) {
        Turn turn;

        turn_init(&turn);
        turn.request = str_of(said[0]);
        turn.answer = str_of(said[1]);
        LIST_PUSH(a, &t->turns, turn);
    }
    trace_judge(a, t);
    return t;
}

static void a_corrected_task_has_a_judge(void **state)
{
    AUTO(Arena) *a = arena_new();
    const Trace *traces[] = {
        trace_with(a, "2",
                   (const char *const[]){ "is the nightly backup of attic fine?",
                                          "It seems that it went well.",
                                          "no prose: start with OK or NOT OK", "OK. Copied.",
                                          "perfect, thanks", "Any time.", NULL }),
        trace_with(a, "1",
                   (const char *const[]){ "check the nightly backup on attic please",
                                          "OK. Copied by 03:14.", "great", "Good.", NULL }),
        trace_with(a, "3", (const char *const[]){ "hello", "Hi.", NULL }),
    };
    const MineOptions options = { 0 };
    Mined mined;

    (void)state;
    mine_tasks(a, traces, ARRAY_LEN(traces), &options, &mined);
    assert_int_equal(mined.tasks.n, 1);
    assert_int_equal(mined.checkable, 1);
    assert_int_equal(mined.tasks.items[0].source_sessions.n, 2);
    assert_true(str_eqz(mined.tasks.items[0].reference_kind, "rule"));
    assert_true(str_eqz(mined.tasks.items[0].outcome, "success"));
    /* The first session in time gives the intent; a replay is not told what it is judged by. */
    assert_true(str_eqz(mined.tasks.items[0].intent, "check the nightly backup on attic please"));
    assert_int_equal(mined.tasks.items[0].context_excerpt.n, 0);
}

static void the_last_word_decides(void **state)
{
    static const struct {
        const char *said[9];
        const char *outcome;
    } rows[] = {
        { { "do it", "a", "still broken", "b", "perfect", "c", NULL }, "success" },
        { { "do it", "a", "great, that works", "b", "no, that is wrong", "c", NULL }, "fail" },
        { { "do it", "a", "and the docs", "b", "and a test", "c", NULL }, "mixed" },
        { { "do it", "a", NULL }, "unknown" },
        { { "do it", "a", "まだ動きません", "b", NULL }, "fail" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!str_eqz(trace_outcome(trace_with(a, "1", rows[i].said)), rows[i].outcome))
            fail_msg("row %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_words_for_the_same_are_one_task),
        cmocka_unit_test(projects_stay_apart),
        cmocka_unit_test(a_demand_becomes_a_check),
        cmocka_unit_test(a_check_is_believed_when_answers_bear_it_out),
        cmocka_unit_test(a_corrected_task_has_a_judge),
        cmocka_unit_test(the_last_word_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
