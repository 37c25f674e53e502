/* consolidate.h - from tonight's tasks to documents that are proven better, or left as they are.
 *
 * Train tasks are replayed and their failures reflected on; the edits that come of it are bounded,
 * cleared of what earlier nights rejected, joined by what waits from earlier nights, screened on train
 * and then tried on val through the gate: first for the skill, then, under the new skill, for the
 * memory. Accepted edits are measured one by one (leave one out); rules that are there already are
 * counted as helpful or harmful, and those that nobody has needed for long are put up for deletion.
 * Test tasks are never looked at here.
 *
 * Deterministic given the backend's answers: a night that was killed gives the same result when it
 * runs again over the stored answers. Everything returned lives in the arena. */
#ifndef TALARIA_SLEEP_LEARNING_CONSOLIDATE_H
#define TALARIA_SLEEP_LEARNING_CONSOLIDATE_H

#include "sleep/task/score.h"
#include "sleep/trial/backend.h"
#include "sleep/trial/gate.h"

typedef struct ConsolidateRules {
    ScoreRule score;
    Objective objective;
    bool gate;          /* false: every edit that applies is kept, unproven */
    bool no_regression; /* no val task may become worse */
    double alpha;       /* chance to accept an edit that changes nothing, for the whole night */
    int64_t max_draws;  /* fresh draws a val task and document */
    int64_t edit_budget;
    int64_t rollouts; /* attempts a train task */
    Str preferences;
    bool evolve_skill, evolve_memory;
    int64_t night;
} ConsolidateRules;

ConsolidateRules consolidate_rules(void); /* the defaults */

/* Where answers vary: draws of a task that only report, not decide; and how many rules whose nights are over
 * are looked at in one night. */
enum { ROUGH_DRAWS = 3, REVIEWED_BY_DRAWS = 4 };

/* Told of what happens, for evidence and progress; each may be NULL. */
typedef struct ConsolidateWatch {
    void *ctx;
    void (*replayed)(void *ctx, const char *phase, const ReplayAsk *ask, const ReplayResult *r);
    void (*reflected)(void *ctx, Str target, const EditRecords *edits);
    void (*tried)(void *ctx, const GateTrial *trial, const GateEvidence *evidence);
} ConsolidateWatch;

/* no_edits_reason: X(id, name in JSON, what people read after "No proposal: ") */
#define NO_EDITS(X)                                                                                \
    X(NO_EDITS_NONE, "", "")                                                                       \
    X(NO_EDITS_NO_TASKS, "no_tasks", "no task to learn from")                                      \
    X(NO_EDITS_NO_FAILURES, "no_failures", "every task already passes")                            \
    X(NO_EDITS_NOTHING_PROPOSED, "nothing_proposed", "no rule was found")                          \
    X(NO_EDITS_NOTHING_APPLIED, "nothing_applied", "no rule could be applied")                     \
    X(NO_EDITS_ALL_REJECTED, "all_rejected", "no rule improved the validation score")              \
    X(NO_EDITS_UNDERPOWERED, "underpowered", "too few tasks to tell an improvement from chance")   \
    X(NO_EDITS_BUDGET, "budget", "the budget ran out")

typedef enum NoEdits {
#define X(reason, name, text) reason,
    NO_EDITS(X)
#undef X
} NoEdits;
const char *no_edits_name(NoEdits reason);

typedef struct Consolidation {
    bool accepted, leaked;
    Str action; /* accept_new_best | reject | reject_unverified | greedy_applied | greedy_noop */
    NoEdits no_edits;
    Docs docs; /* the live ones, byte for byte, unless accepted */
    double baseline, candidate;
    bool has_interval; /* of the gain over tasks like these, candidate - baseline */
    double low, high;
    EditRecords edits, rejected, unmatched;
    StrList rejected_why, unmatched_why;
    GateTrials trials;
    GateEvidences evidence; /* one a trial but the final one */
    Attributions attribution;
    StrList notes;
    int64_t replayed;
} Consolidation;

/* known: what earlier nights know, brought up to date (also when nothing is accepted). budget and
 * watch may be NULL. False when the backend failed or a document cannot be parsed. */
MUST_CHECK bool consolidate(Arena *a, Backend *b, const TaskRecords *tasks, Docs live,
                            const ConsolidateRules *rules, KnownEdits *known, Budget *budget,
                            const ConsolidateWatch *watch, Consolidation *ret, Err *err);

/* -- routing ------------------------------------------------------------------------------------ */

/* Tasks that belong to one skill: by the one skill that was used in all their sessions; a task with
 * none, or with several, belongs to `managed`. In the order in which they are first seen. */
typedef struct SkillGroup {
    Str skill_name;
    TaskRecords tasks;
} SkillGroup;
typedef LIST_OF(SkillGroup) SkillGroups;
SkillGroups consolidate_route(Arena *a, const TaskRecords *tasks, Str managed);

#endif
