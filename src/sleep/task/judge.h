/* judge.h - rule judges: checks on an answer that need no model.
 *
 * A judge is the JSON object {"kind": "rule", "checks": [{"op", "arg"}, ...]} of a task. Every
 * check is one row of CHECK_OPS; an unknown op passes, so that an older program can use a newer
 * task file. Scores are within 0..1: soft is the share of checks that pass, hard is 1 if all pass.
 * Pure, thread-safe; results live in the arena. */
#ifndef TALARIA_SLEEP_TASK_JUDGE_H
#define TALARIA_SLEEP_TASK_JUDGE_H

#include "sleep/task/types.h"

/* op, kind of argument, whether it looks only at the form of an answer */
#define CHECK_OPS(X)                                                                               \
    X(CHECK_SECTION_PRESENT, "section_present", ARG_TEXT, true)                                    \
    X(CHECK_SECTION_CONTAINS, "section_contains", ARG_TEXT, true)                                  \
    X(CHECK_REGEX, "regex", ARG_PATTERN, false)                                                    \
    X(CHECK_MAX_CHARS, "max_chars", ARG_BOUND, true)                                               \
    X(CHECK_MIN_CHARS, "min_chars", ARG_BOUND, true)                                               \
    X(CHECK_CONTAINS, "contains", ARG_TEXT, false)                                                 \
    X(CHECK_NOT_CONTAINS, "not_contains", ARG_TEXT, false)                                         \
    X(CHECK_NO_REFUSAL, "no_refusal", ARG_NONE, false)                                             \
    X(CHECK_TOOL_CALLED, "tool_called", ARG_TEXT, false)

typedef enum CheckOp {
#define X(op, name, arg, shape) op,
    CHECK_OPS(X)
#undef X
        CHECK_OTHER,
    CHECK_OP_COUNT = CHECK_OTHER
} CheckOp;

typedef struct Check {
    CheckOp op;
    Str name; /* of the op, as written */
    Str arg;  /* as text; empty if there is none */
    Str says; /* the check in words, if given */
    int64_t bound;
    bool has_bound;
} Check;

typedef struct Judge {
    bool is_rule;
    Check *checks;
    size_t n;
} Judge;

typedef struct Score {
    double hard, soft;
    Str why; /* "all checks passed", or what failed */
} Score;

/* -- Reading and scoring -- */

/* Reads the judge of a task (JSON text). Any other text gives is_rule false and no checks. */
Judge judge_of(Arena *a, Str json);

/* tools: names of the tools that were called; NULL: none. */
Score judge_score(Arena *a, const Judge *judge, Str answer, const StrList *tools);

/* One check; *ret_problem is set if it cannot be made at all (a pattern that does not compile). */
bool check_passes(Arena *a, const Check *check, Str answer, const StrList *tools, Str *ret_problem);

/* The tools that the judge expects to be called. */
StrList judge_tools(Arena *a, const Judge *judge);

/* -- Checking a judge itself -- */

/* An integer, a number without fraction, or text of a signed integer. */
MUST_CHECK bool check_bound(Json arg, int64_t *ret);

typedef struct JudgeReview {
    StrList errors, warnings; /* ready to be shown */
    bool shape_only;          /* all checks look only at the form of an answer */
} JudgeReview;
JudgeReview judge_review(Arena *a, Json judge);

#endif
