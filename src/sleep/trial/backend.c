/* Replay: the one place where a backend's answer becomes a score. */
#include "sleep/trial/backend.h"

#include <math.h>

#include "sleep/task/document.h"
#include "sleep/task/score.h"
#include "text/utf8.h"

static double unit(double score)
{
    return isfinite(score) ? fmin(1, fmax(0, score)) : 0;
}

static bool score_answer(Backend *b, Arena *a, const ReplayAsk *ask, const Judge *judge,
                         const Attempt *attempt, Score *ret, Err *err)
{
    JudgeAsk question = { ask->task, attempt->answer, ask->sample, ask->fresh, ask->phase };

    if (judge->is_rule) {
        *ret = judge_score(a, judge, attempt->answer, &attempt->tools_called);
        return true;
    }
    if (str_eq(ask->task->reference_kind, STR("exact"))) {
        double hard = score_exact(a, ask->task->reference, attempt->answer);

        *ret =
            (Score){ .hard = hard,
                     .soft = fmax(hard, score_keywords(a, ask->task->reference, attempt->answer)),
                     .why = hard >= 1 ? STR("the reference is in the answer")
                                      : STR("the reference is not in the answer") };
        return true;
    }
    return b->judge(b, a, &question, ret, err);
}

static ReplayResult result_of(const ReplayAsk *ask, const Attempt *attempt, const Score *score)
{
    ReplayResult r;

    replay_result_init(&r);
    r.id = ask->task->id;
    r.hard = unit(score->hard);
    r.soft = unit(score->soft);
    r.response = attempt->answer;
    r.judge_rationale = score->why;
    r.tools_called = attempt->tools_called;
    if (r.hard < 1)
        r.fail_reason = score->why.n ? score->why : STR("below threshold");
    if (ask->task->tags.n)
        r.task_type = ask->task->tags.items[0];
    return r;
}

bool backend_settled(const Backend *b, Err *err)
{
    return !b->pending ||
           err_set(err, ERR_NOT_FOUND, "waiting for %lld answers", (long long)b->pending);
}

int64_t replay_calls(const Backend *b, const TaskRecord *task)
{
    bool by_rules = str_eqz(task->reference_kind, "rule") || str_eqz(task->reference_kind, "exact");

    return by_rules || b->deterministic ? 1 : 3;
}

bool replay_task(Backend *b, Arena *a, const ReplayAsk *ask, Budget *budget, ReplayResult *ret,
                 Err *err)
{
    Judge judge = judge_of(a, ask->task->judge);
    AttemptAsk question = {
        .task = ask->task, .sample = ask->sample, .fresh = ask->fresh, .phase = ask->phase
    };
    Attempt attempt = { 0 };
    Score score;
    int64_t tokens = b->tokens, calls = b->calls;
    double usd = b->usd, waited = b->waited_ms;

    if (budget && budget->stop && atomic_load(budget->stop))
        return err_set(err, ERR_INTERRUPTED, "the night was interrupted; the next run resumes it");
    question.docs = (Docs){ document_bare(a, ask->docs.skill), document_bare(a, ask->docs.memory) };
    question.tools = judge_tools(a, &judge);
    if (!b->attempt(b, a, &question, &attempt, err) ||
        !score_answer(b, a, ask, &judge, &attempt, &score, err))
        return err_wrap(err, "cannot replay task '%.*s'", STR_FMT(ask->task->id));
    budget_spend(budget, b->calls - calls, b->tokens - tokens, b->usd - usd);
    *ret = result_of(ask, &attempt, &score);
    ret->tokens = b->tokens - tokens;
    if (ret->tokens <= 0) /* a backend that does not count: about four characters each */
        ret->tokens = (int64_t)(utf8_count(ask->docs.skill) + utf8_count(ask->docs.memory) +
                                utf8_count(ask->task->intent) + utf8_count(attempt.answer)) /
                      4;
    /* Not by the local clock: a resumed night must come to the same decision. */
    ret->latency_ms = round((b->waited_ms - waited) * 10) / 10;
    return true;
}
