/* A judge and an answer, both from outside: whatever they are, scores stay within 0..1, nothing
 * hangs, and a judge that its review finds good has no check that cannot be asked. Before the first
 * line that is "---": the judge; behind it: the answer. */
#include "sleep/task/judge.h"
#include "sleep/task/regex.h"
#include "sleep/task/rules.h"
#include "sleep/trial/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_review(Arena *a, Str json, const Judge *judge, Str answer)
{
    Err err;
    AUTO(JsonDoc) *doc = json_parse(json, &err);
    JudgeReview r;
    Str problem;

    if (!doc)
        return;
    r = judge_review(a, json_root(doc));
    for (size_t i = 0; i < judge->n && !r.errors.n; i++) {
        (void)check_passes(a, &judge->checks[i], answer, NULL, &problem);
        ASSERT(!str_starts(problem, STR("invalid regex")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };
    size_t at = str_find(text, STR("\n---\n"));
    Str json = str_head(text, at), answer = str_skip(text, at + 5), sample;
    Judge judge = judge_of(a, json);
    Score s = judge_score(a, &judge, answer, NULL);
    Err err;

    ASSERT(s.hard >= 0 && s.hard <= 1 && s.soft >= 0 && s.soft <= 1 && s.why.n > 0);
    ASSERT(s.hard < 1 || s.soft == 1);
    check_review(a, json, &judge, answer);
    for (size_t i = 0; i < judge.n; i++) {
        (void)rule_of_check(a, &judge.checks[i]);
        if (judge.checks[i].op == CHECK_REGEX && sample_of(a, judge.checks[i].arg, &sample))
            ASSERT(regex_search(judge.checks[i].arg, sample, &err) == REGEX_YES);
    }
    return 0;
}
