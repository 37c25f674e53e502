/* Questions as text: a judge that is asked from both sides, a miner that asks once a task; and
 * traces that come back out of their packing. */
#include "unit.h"

#include "sleep/mining/mine_model.h"
#include "sleep/trial/asker.h"

typedef struct Script {
    const char *replies[8]; /* the last one over and over; NULL: still to come */
    Str prompts[32];
    size_t n;
} Script;

static bool reply(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                  Err *err)
{
    Script *s = ctx;
    size_t i = 0;

    (void)err;
    assert_true(s->n < ARRAY_LEN(s->prompts));
    while (i < s->n && s->replies[i + 1])
        i++;
    s->prompts[s->n++] = str_dup(a, q->prompt);
    *ret_kept = false;
    b->calls++;
    b->pending += !s->replies[i];
    *ret = s->replies[i] ? str_of(s->replies[i]) : STR_NONE;
    return true;
}

static void a_judge_is_asked_from_both_sides(void **state)
{
    static const struct {
        const char *first, *second;
        double soft, hard;
    } rows[] = {
        { "{\"score\": 1, \"reason\": \"x\"}", "so: {\"score\": 0.7}", 0.85, 1 },
        { "{\"score\": 1}", "{\"score\": 0}", 0.5, 0 },
        { "{\"score\": 7}", "{\"score\": 1}", 1, 1 },
        { "no idea", "{\"score\": 0.4}", 0.4, 0 },
        { "no idea", "none", 0, 0 },
    };
    AUTO(Arena) *a = arena_new();
    TaskRecord task;
    JudgeAsk ask = { .task = &task, .answer = STR("it ran") };

    (void)state;
    task_init(&task);
    task.intent = STR("check the backup");
    task.reference = STR("says when");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Script script = { .replies = { rows[i].first, rows[i].second } };
        Asker asker = { &script, reply };
        Backend b = backend_of_asker("test", STR(""), &asker);
        Score score;
        Err err;

        assert_true(b.judge(&b, a, &ask, &score, &err));
        assert_int_equal(script.n, 2);
        assert_true(str_find(script.prompts[0], STR("# Answer")) >
                    str_find(script.prompts[0], STR("# What is wanted")));
        assert_true(str_find(script.prompts[1], STR("# Answer")) <
                    str_find(script.prompts[1], STR("# What is wanted")));
        assert_float_equal(score.soft, rows[i].soft, 1e-9);
        assert_float_equal(score.hard, rows[i].hard, 1e-9);
    }
}

static void what_is_still_to_come_decides_nothing(void **state)
{
    AUTO(Arena) *a = arena_new();
    Script script = { .replies = { NULL } };
    Asker asker = { &script, reply };
    Backend b = backend_of_asker("test", STR(""), &asker);
    ReplayedList failures = { 0 };
    ReflectAsk ask = { .failures = &failures, .target = STR("skill"), .edit_budget = 4 };
    Replayed one;
    EditRecords edits;
    Err err;

    (void)state;
    task_init(&one.task);
    replay_result_init(&one.result);
    LIST_PUSH(a, &failures, one);
    assert_true(backend_settled(&b, &err));
    assert_false(b.reflect(&b, a, &ask, &edits, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_int_equal(script.n, 1);
}

/* Who reflects sees all of an answer, what was called and in which context; and is not told that a
 * rule that may stay was turned down. */
static void traces_are_shown_whole(void **state)
{
    AUTO(Arena) *a = arena_new();
    Script script = { .replies = { "[]" } };
    Asker asker = { &script, reply };
    Backend b = backend_of_asker("test", STR(""), &asker);
    ReplayedList failures = { 0 };
    KnownEdit rows[2];
    KnownEdits known = { .items = rows, .n = 2, .cap = 2 };
    ReflectAsk ask = {
        .failures = &failures, .target = STR("skill"), .edit_budget = 4, .known = &known
    };
    Replayed one;
    EditRecords edits;
    Err err;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        known_edit_init(&rows[i]);
    rows[0].status = STR("kept");
    rows[0].content = STR("a rule that stays");
    rows[1].status = STR("rejected");
    rows[1].content = STR("a rule that does not");
    task_init(&one.task);
    replay_result_init(&one.result);
    one.task.intent = STR("check the backup");
    one.task.context_excerpt = STR("on the second disk");
    one.result.response = str_printf(a, "begins %04000d ends", 0);
    LIST_PUSH(a, &one.result.tools_called, STR("df"));
    LIST_PUSH(a, &failures, one);
    assert_true(b.reflect(&b, a, &ask, &edits, &err));
    assert_true(str_find(script.prompts[0], one.result.response) < script.prompts[0].n);
    assert_true(str_find(script.prompts[0], STR("on the second disk")) < script.prompts[0].n);
    assert_true(str_find(script.prompts[0], STR("Tools called: df\n")) < script.prompts[0].n);
    assert_true(str_find(script.prompts[0], STR("a rule that does not")) < script.prompts[0].n);
    assert_true(str_find(script.prompts[0], STR("a rule that stays")) == script.prompts[0].n);
}

/* -- the miner -- */

static Trace *corrected(Arena *a, const char *id)
{
    Trace *t = ARENA_NEW(a, Trace);
    SessionDigest d;
    Turn turn;

    trace_init(t);
    digest_init(&d);
    d.session_id = str_of(id);
    LIST_PUSH(a, &t->digests, d);
    turn_init(&turn);
    turn.request = STR("check the backup of the attic");
    LIST_PUSH(a, &t->turns, turn);
    turn.request = STR("no, be nicer");
    turn.corrects = true;
    LIST_PUSH(a, &t->turns, turn);
    return t;
}

static void a_miner_asks_once_a_task_and_checks_what_it_hears(void **state)
{
    AUTO(Arena) *a = arena_new();
    const Trace *traces[] = { corrected(a, "s1"), corrected(a, "s2") };
    Script script = {
        .replies = { "[{\"intent\": \"check a backup\", \"checks\": [{\"op\": \"contains\", "
                     "\"arg\": \"OK\"}, {\"op\": \"regex\", \"arg\": \"(\"}, {\"op\": \"sing\"}], "
                     "\"rubric\": \"\", \"satisfied\": true}]" }
    };
    Asker asker = { &script, reply };
    Backend b = backend_of_asker("test", STR(""), &asker);
    TaskRecords tasks = { 0 };
    TaskRecord task;
    Err err;

    (void)state;
    for (int i = 0; i < 3; i++) {
        task_init(&task);
        task.id = str_printf(a, "task_%d", i);
        task.source_sessions = (StrList){ 0 };
        LIST_PUSH(a, &task.source_sessions, STR("s1"));
        LIST_PUSH(a, &task.source_sessions, STR("s2"));
        LIST_PUSH(a, &tasks, task);
    }
    assert_true(mine_by_model(a, &b, traces, 2, 2, NULL, &tasks, &err));
    assert_int_equal(script.n, 2); /* two tasks are enough; two sessions each are one question */
    assert_str(tasks.items[0].reference_kind, STR("rule"));
    assert_true(str_find(tasks.items[0].judge, STR("contains")) < tasks.items[0].judge.n);
    assert_true(str_find(tasks.items[0].judge, STR("regex")) == tasks.items[0].judge.n);
    assert_str(tasks.items[0].outcome, STR("success"));
    assert_true(strs_have(&tasks.items[0].tags, STR("mined:llm")));
    assert_str(tasks.items[2].reference_kind, STR("none"));
    assert_false(strs_have(&tasks.items[2].tags, STR("mined:llm")));
}

/* -- what is kept -- */

static void a_trace_comes_back_out_of_its_packing(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF packed = BUF(1 << 20);
    const Trace *t = corrected(a, "s1");
    Trace back;

    (void)state;
    trace_pack(&packed, t);
    assert_true(trace_unpack(a, buf_str(&packed), &back));
    assert_int_equal(back.turns.n, 2);
    assert_str(back.digests.items[0].session_id, STR("s1"));
    assert_str(back.turns.items[1].request, STR("no, be nicer"));
    assert_true(back.turns.items[1].corrects);
    for (size_t n = 0; n < packed.n; n++)
        assert_false(trace_unpack(a, str_head(buf_str(&packed), n), &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_judge_is_asked_from_both_sides),
        cmocka_unit_test(what_is_still_to_come_decides_nothing),
        cmocka_unit_test(traces_are_shown_whole),
        cmocka_unit_test(a_miner_asks_once_a_task_and_checks_what_it_hears),
        cmocka_unit_test(a_trace_comes_back_out_of_its_packing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
