/* An answer to a rule-judged task is put together check by check: a part that passes where the
 * check is stated, one that fails where it is not. The judge itself looks over the result, since
 * checks can get in each other's way: of a few arrangements the first is taken that passes what it
 * should. */
#include "sleep/trial/backend_mock.h"

#include "base/limits.h"
#include "sleep/task/rules.h"
#include "sleep/task/score.h"
#include "sleep/trial/sample.h"
#include "text/letters.h"
#include "text/utf8.h"

static const struct {
    Str key, sentence;
} mock_rules[] = {
#define X(key, sentence) { STR_INIT(key), STR_INIT(sentence) },
    MOCK_RULES(X)
#undef X
};

static const Str harmful = STR_INIT("__harmful__");

Str mock_rule(Str key)
{
    for (size_t i = 0; i < ARRAY_LEN(mock_rules); i++)
        if (str_eq(mock_rules[i].key, key))
            return mock_rules[i].sentence;
    return STR("");
}

Str mock_rule_key(Str sentence)
{
    for (size_t i = 0; i < ARRAY_LEN(mock_rules); i++)
        if (str_eq(mock_rules[i].sentence, sentence))
            return mock_rules[i].key;
    return STR("");
}

/* The sentences that a task needs: of its tags, then of its checks. */
static StrList needed(Arena *a, const TaskRecord *task)
{
    Judge judge = judge_of(a, task->judge);
    StrList list = { 0 };

    for (size_t i = 0; i < task->tags.n; i++)
        if (str_starts(task->tags.items[i], STR("rule:"))) {
            Str sentence = mock_rule(str_skip(task->tags.items[i], 5));

            if (sentence.n)
                strs_add_new(a, &list, sentence);
        }
    for (size_t i = 0; i < judge.n; i++) {
        Str sentence = rule_of_check(a, &judge.checks[i]);

        if (sentence.n)
            strs_add_new(a, &list, sentence);
    }
    return list;
}

static bool stated(Arena *a, Docs docs, Str sentence)
{
    return rule_stated(a, docs.skill, docs.memory, sentence);
}

/* -- Tasks with a reference -- */

static Str answer_by_reference(Arena *a, const AttemptAsk *ask)
{
    const TaskRecord *task = ask->task;
    StrList sentences = needed(a, task);
    bool all_stated = sentences.n > 0;
    size_t n = utf8_count(task->reference);

    for (size_t i = 0; i < sentences.n && all_stated; i++)
        all_stated = stated(a, ask->docs, sentences.items[i]);
    if (strs_have(&task->tags, STR("rule:__harmful__")) || stated(a, ask->docs, mock_rule(harmful)))
        return STR("result unknown, check skipped");
    if (!task->reference.n)
        return STR("(no model was asked)");
    if (!all_stated && n <= 3)
        return STR("unknown");
    if (!all_stated) /* a near miss: without the last two characters */
        return str_printf(a, "roughly %.*s", STR_FMT(text_cut(task->reference, n - 2)));
    if (strs_have(&task->tags, STR("rule:wrap-answer")))
        return str_printf(a, "<answer>%.*s</answer>", STR_FMT(task->reference));
    return task->reference;
}

/* -- Tasks with a rule judge -- */

enum { MAX_PADDING = 100000 };

typedef struct Parts {
    Buf first, middle, last;
    int64_t min, over; /* characters; over: to be passed, 0 none */
    bool refuse;
} Parts;

static void add_line(Buf *out, Str line)
{
    buf_add(out, line);
    buf_addc(out, '\n');
}

static void add_pattern(Arena *a, Parts *p, const Check *check, const TaskRecord *task)
{
    Str text;
    bool at_end = str_ends(check->arg, STR("$")) || str_ends(check->arg, STR("\\Z"));

    if (!sample_of(a, check->arg, &text)) {
        text = task->reference.n ? task->reference : task->attempted_solution;
        at_end = false;
    }
    add_line(at_end && !str_starts(check->arg, STR("^")) ? &p->last : &p->first, text);
}

static void add_stated(Arena *a, Parts *p, const Check *check, const TaskRecord *task)
{
    switch (check->op) {
    case CHECK_SECTION_PRESENT:
    case CHECK_SECTION_CONTAINS:
        buf_addz(&p->middle, "## ");
        add_line(&p->middle, check->arg);
        break;
    case CHECK_CONTAINS:
        add_line(&p->middle, check->arg);
        break;
    case CHECK_REGEX:
        add_pattern(a, p, check, task);
        break;
    case CHECK_MIN_CHARS:
        p->min = check->bound > p->min ? check->bound : p->min;
        break;
    default:
        break;
    }
}

static void add_unstated(Parts *p, const Check *check)
{
    switch (check->op) {
    case CHECK_NOT_CONTAINS:
        add_line(&p->middle, check->arg);
        break;
    case CHECK_MAX_CHARS:
        p->over = check->bound < MAX_PADDING ? check->bound + 1 : 0;
        break;
    case CHECK_NO_REFUSAL:
        p->refuse = true;
        break;
    default:
        break;
    }
}

static Str arrange(Arena *a, const Parts *p, Str filler)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    int64_t want = (p->min > p->over ? p->min : p->over) + 1; /* a line feed may be cut */

    if (p->refuse) /* counts as a refusal if the answer is short */
        buf_addz(&out, "I cannot do that.\n");
    buf_add(&out, buf_str(&p->first));
    buf_add(&out, buf_str(&p->middle));
    if (!out.n && !p->last.n)
        buf_add(&out, filler);
    want = want < MAX_PADDING ? want : MAX_PADDING;
    if (want > 1 && (int64_t)(utf8_count(buf_str(&out)) + p->last.n) < want)
        buf_pad(&out, '~', (size_t)want - utf8_count(buf_str(&out)) - p->last.n);
    buf_add(&out, buf_str(&p->last));
    return text_trim(str_dup(a, buf_str(&out)));
}

/* Whether exactly the stated checks pass. */
static bool as_it_should(Arena *a, const Judge *judge, const bool *is_stated, Str answer,
                         const StrList *tools)
{
    for (size_t i = 0; i < judge->n; i++) {
        Str problem;

        if (rule_of_check(a, &judge->checks[i]).n &&
            check_passes(a, &judge->checks[i], answer, tools, &problem) != is_stated[i])
            return false;
    }
    return true;
}

static Str answer_by_checks(Arena *a, const AttemptAsk *ask, const Judge *judge,
                            const StrList *tools)
{
    static const Str fillers[] = { STR_INIT("Done."), STR_INIT("~"), STR_INIT("完了"),
                                   STR_INIT("") };
    bool *is_stated = ARENA_ARRAY(a, bool, judge->n + 1);
    Parts p = { BUF(LIMIT_JSON_BYTES), BUF(LIMIT_JSON_BYTES), BUF(LIMIT_JSON_BYTES), 0, 0, false };
    Str answer = STR_NONE;

    for (size_t i = 0; i < judge->n; i++) {
        is_stated[i] = stated(a, ask->docs, rule_of_check(a, &judge->checks[i]));
        if (is_stated[i])
            add_stated(a, &p, &judge->checks[i], ask->task);
        else
            add_unstated(&p, &judge->checks[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++) {
        answer = arrange(a, &p, fillers[i]);
        if (as_it_should(a, judge, is_stated, answer, tools))
            break;
    }
    buf_done(&p.first);
    buf_done(&p.middle);
    buf_done(&p.last);
    return answer;
}

/* -- The functions of the backend -- */

/* "./t", "use t", "run t", "call t", "must t" in a document is what it takes to call a tool. */
static bool told_to_call(Arena *a, Docs docs, Str tool)
{
    static const char *const words[] = { "./", "use ", "run ", "call ", "must " };
    Str skill = text_lower(a, docs.skill), memory = text_lower(a, docs.memory);
    Str name = text_lower(a, tool);

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        Str phrase = str_printf(a, "%s%.*s", words[i], STR_FMT(name));

        if (str_find(skill, phrase) < skill.n || str_find(memory, phrase) < memory.n)
            return true;
    }
    return false;
}

static bool mock_attempt(Backend *b, Arena *a, const AttemptAsk *ask, Attempt *ret, Err *err)
{
    Judge judge = judge_of(a, ask->task->judge);

    (void)err;
    b->calls++;
    ret->tools_called = (StrList){ 0 };
    for (size_t i = 0; i < ask->tools.n; i++)
        if (told_to_call(a, ask->docs, ask->tools.items[i]))
            LIST_PUSH(a, &ret->tools_called, ask->tools.items[i]);
    ret->answer = judge.is_rule && judge.n && !stated(a, ask->docs, mock_rule(harmful))
                      ? answer_by_checks(a, ask, &judge, &ret->tools_called)
                      : answer_by_reference(a, ask);
    return true;
}

/* Rubrics by their keywords; a task without any reference went as its session went. */
static bool mock_judge(Backend *b, Arena *a, const JudgeAsk *ask, Score *ret, Err *err)
{
    const TaskRecord *task = ask->task;
    double soft = score_keywords(a, task->reference, ask->answer);

    (void)b;
    (void)err;
    if (str_eq(task->reference_kind, STR("rubric")))
        *ret = (Score){ soft >= 0.8, soft, STR("keywords of the rubric") };
    else if (str_eq(task->outcome, STR("success")))
        *ret = (Score){ 1, 1, STR("the session went well") };
    else
        *ret = (Score){ 0, 0, STR("nothing to check the answer against") };
    return true;
}

static bool mock_reflect(Backend *b, Arena *a, const ReflectAsk *ask, EditRecords *ret, Err *err)
{
    EditRecords edits = { 0 };

    (void)err;
    b->calls++;
    for (size_t i = 0; i < ask->failures->n; i++) {
        const Replayed *failure = &ask->failures->items[i];
        StrList sentences = needed(a, &failure->task);

        for (size_t k = 0; k < sentences.n && (int64_t)edits.n < ask->edit_budget; k++) {
            EditRecord e;
            Str sentence = sentences.items[k], why = failure->result.fail_reason;
            bool skip = stated(a, ask->docs, sentence);

            for (size_t m = 0; m < edits.n; m++)
                skip |= str_eq(edits.items[m].content, sentence);
            for (size_t m = 0; ask->known && m < ask->known->n; m++)
                skip |= str_eq(ask->known->items[m].content, sentence);
            if (skip)
                continue;
            edit_init(&e);
            e.target = ask->target;
            e.content = sentence;
            /* A reason that only repeats the rule adds nothing. */
            if (!str_ends(sentence, STR(".")) || !str_starts(why, STR("failed: ")) ||
                !str_eq(str_skip(why, 8), str_head(sentence, sentence.n - 1)))
                e.rationale = why;
            LIST_PUSH(a, &edits, e);
        }
    }
    *ret = edits;
    return true;
}

Backend backend_mock(void)
{
    return (Backend){ .name = "mock",
                      .deterministic = true,
                      .attempt = mock_attempt,
                      .judge = mock_judge,
                      .reflect = mock_reflect };
}
