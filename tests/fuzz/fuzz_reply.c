/* What a model may reply, to a judge's question, to a reflection and to a miner; and bytes that
 * claim to be a packed trace: scores stay within 0..1, edits within their budget, judges are ones
 * that can be asked. */
#include "sleep/mining/mine_model.h"
#include "sleep/trial/asker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool reply(void *ctx, Backend *b, Arena *a, const Question *q, Str *ret, bool *ret_kept,
                  Err *err)
{
    (void)b;
    (void)a;
    (void)q;
    (void)err;
    *ret_kept = false;
    *ret = *(const Str *)ctx;
    return true;
}

static void judge(Backend *b, Arena *a, const TaskRecord *task)
{
    JudgeAsk ask = { .task = task, .answer = STR("done") };
    Score score;
    Err err;

    ASSERT(b->judge(b, a, &ask, &score, &err));
    ASSERT(score.soft >= 0 && score.soft <= 1 && (score.hard == 0 || score.hard == 1));
}

static void reflect(Backend *b, Arena *a, const TaskRecord *task)
{
    Replayed failure = { .task = *task };
    ReplayedList failures = { .items = &failure, .n = 1, .cap = 1 };
    ReflectAsk ask = { .failures = &failures, .target = STR("skill"), .edit_budget = 2 };
    EditRecords edits;
    Err err;

    replay_result_init(&failure.result);
    ASSERT(b->reflect(b, a, &ask, &edits, &err));
    ASSERT(edits.n <= 2);
    for (size_t i = 0; i < edits.n; i++)
        ASSERT(str_eqz(edits.items[i].target, "skill"));
}

static void mine(Backend *b, Arena *a, TaskRecord *task)
{
    TaskRecords tasks = { .items = task, .n = 1, .cap = 1 };
    SessionDigest digest;
    Turn turns[2];
    Trace t;
    const Trace *traces[] = { &t };
    Err err;

    trace_init(&t);
    digest_init(&digest);
    digest.session_id = STR("s");
    LIST_PUSH(a, &t.digests, digest);
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        turn_init(&turns[i]);
        turns[i].corrects = i == 1;
        LIST_PUSH(a, &t.turns, turns[i]);
    }
    LIST_PUSH(a, &task->source_sessions, STR("s"));
    ASSERT(mine_by_model(a, b, traces, 1, 0, NULL, &tasks, &err));
    if (str_eqz(task->reference_kind, "rule"))
        ASSERT(judge_of(a, task->judge).n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };
    Asker asker = { &text, reply };
    Backend b = backend_of_asker("fuzz", STR(""), &asker);
    TaskRecord task;
    Trace t;

    task_init(&task);
    judge(&b, a, &task);
    reflect(&b, a, &task);
    mine(&b, a, &task);
    if (trace_unpack(a, text, &t))
        ASSERT(t.turns.n <= size);
    return 0;
}
