/* score.h - scores of answers, all within 0..1.
 *
 * All functions are pure and thread-safe. */
#ifndef TALARIA_SLEEP_TASK_SCORE_H
#define TALARIA_SLEEP_TASK_SCORE_H

#include "sleep/task/judge.h"

/* The score that the gate compares: hard, soft, or (1 - weight) * hard + weight * soft. */
typedef enum Metric { METRIC_HARD, METRIC_SOFT, METRIC_MIXED } Metric;

typedef struct ScoreRule {
    Metric metric;
    double weight; /* of soft in METRIC_MIXED; kept within 0..1 */
} ScoreRule;

#define SCORE_RULE_DEFAULT ((ScoreRule){ METRIC_MIXED, 0.5 })

MUST_CHECK bool score_metric_parse(Str name, Metric *ret); /* hard | soft | mixed */
const char *score_metric_name(Metric metric);
double score_of(ScoreRule rule, double hard, double soft);

/* 1 if the answer contains the reference, both as words in lower case. */
double score_exact(Arena *a, Str reference, Str answer);
/* Share of the reference's distinct words longer than two characters that occur in the answer. */
double score_keywords(Arena *a, Str reference, Str answer);

/* The weights of accuracy, tokens and latency in a night's objective. */
typedef struct Objective {
    double accuracy, tokens, latency;
} Objective;
#define OBJECTIVE_DEFAULT ((Objective){ 1, 0, 0 })
/* "1,0.2,0": three weights, none negative, not all zero. */
MUST_CHECK bool objective_parse(Arena *a, Str text, Objective *ret);
double score_reward(Objective weights, double accuracy, double tokens, double latency_ms);

#endif
