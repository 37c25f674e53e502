/* What people insist on, in words of any kind: whatever is read out of it can be asked, said as a
 * rule and tried on answers; and sessions with such words can be grouped and mined. */
#include "sleep/mining/mine.h"
#include "sleep/task/checks.h"
#include "sleep/task/judge.h"
#include "sleep/task/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_judge(Arena *a, Str json)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(json, &err);

    ASSERT(doc != NULL);
    ASSERT(!judge_review(a, json_root(doc)).errors.n);
}

static void check_wishes(Arena *a, Str text, Str answer)
{
    Demands demands = { 0 };

    demands_of_correction(a, text, &demands);
    check_judge(a, demands_judge(a, demands.items, demands.n));
    for (size_t i = 0; i < demands.n; i++) {
        Judge one = judge_of(a, demands_judge(a, &demands.items[i], 1));

        ASSERT(one.n == 1 && rule_of_check(a, &one.checks[0]).n);
    }
    (void)demands_not_met(a, text, answer);
}

/* Two sessions in which the same was asked, and corrected by the text. */
static Trace *session(Arena *a, const char *id, Str request, Str correction)
{
    Trace *t = ARENA_NEW(a, Trace);
    SessionDigest d;
    Turn turn;

    trace_init(t);
    digest_init(&d);
    d.session_id = str_of(id);
    LIST_PUSH(a, &t->digests, d);
    turn_init(&turn);
    turn.request = request;
    turn.answer = STR("It ran at two.");
    LIST_PUSH(a, &t->turns, turn);
    turn.request = correction;
    LIST_PUSH(a, &t->turns, turn);
    trace_judge(a, t);
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const MineOptions options = { .instances = 4 };
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };
    size_t at = str_find(text, STR("\n---\n"));
    Str correction = str_head(text, at), request = str_skip(text, at + 5);
    const Trace *traces[] = { session(a, "s1", request, correction),
                              session(a, "s2", request, correction) };
    Mined mined;

    check_wishes(a, correction, request);
    mine_tasks(a, traces, 2, &options, &mined);
    for (size_t i = 0; i < mined.tasks.n; i++)
        check_judge(a, mined.tasks.items[i].judge);
    return 0;
}
