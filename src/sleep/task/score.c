/* Costs are weighed against what one answer may take at most: 2000 tokens and 15 seconds are worth
 * nothing, none at all is worth everything. */
#include "sleep/task/score.h"

#include <math.h>
#include <stdlib.h>

#include "text/letters.h"
#include "text/utf8.h"

enum { FULL_TOKENS = 2000, FULL_MS = 15000, KEYWORD_CHARS = 3 };

static const char *const metrics[] = {
    [METRIC_HARD] = "hard", [METRIC_SOFT] = "soft", [METRIC_MIXED] = "mixed"
};

bool score_metric_parse(Str name, Metric *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
        if (str_eqz(name, metrics[i])) {
            *ret = (Metric)i;
            return true;
        }
    return false;
}

const char *score_metric_name(Metric metric)
{
    return metrics[metric];
}

double score_of(ScoreRule rule, double hard, double soft)
{
    double w = fmin(1, fmax(0, rule.weight));

    if (rule.metric == METRIC_MIXED)
        return (1 - w) * hard + w * soft;
    return rule.metric == METRIC_HARD ? hard : soft;
}

double score_exact(Arena *a, Str reference, Str answer)
{
    Str want = text_words(a, reference), have = text_words(a, answer);

    return want.n && str_find(have, want) < have.n;
}

double score_keywords(Arena *a, Str reference, Str answer)
{
    Str rest = text_words(a, reference), have = text_words(a, answer), word;
    StrList seen = { 0 };
    size_t found = 0;

    while (str_split(&rest, ' ', &word)) {
        if (utf8_count(word) < KEYWORD_CHARS || strs_have(&seen, word))
            continue;
        LIST_PUSH(a, &seen, word);
        found += str_find(have, word) < have.n;
    }
    return seen.n ? (double)found / (double)seen.n : 0;
}

double score_reward(Objective w, double accuracy, double tokens, double latency_ms)
{
    double all = w.accuracy + w.tokens + w.latency;

    if (all <= 0)
        return accuracy;
    return (w.accuracy * accuracy + w.tokens * fmax(0, 1 - tokens / FULL_TOKENS) +
            w.latency * fmax(0, 1 - latency_ms / FULL_MS)) /
           all;
}

bool objective_parse(Arena *a, Str text, Objective *ret)
{
    enum { MOST = 1000000 };
    Objective o = { 0 };
    double *parts[] = { &o.accuracy, &o.tokens, &o.latency };
    const char *at = str_z(a, text);

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        char *end;

        *parts[i] = strtod(at, &end);
        if (end == at || !(*parts[i] >= 0 && *parts[i] <= MOST) || *end != (i < 2 ? ',' : '\0'))
            return false;
        at = end + 1;
    }
    if (o.accuracy + o.tokens + o.latency <= 0)
        return false;
    *ret = o;
    return true;
}
