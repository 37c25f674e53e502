/* consolidate.h - turning tonight's tasks into better documents, with proof.
 *
 * consolidate() replays the train tasks and has the backend reflect on the failures. From the
 * proposed edits it drops those that earlier nights rejected, adds pending ones of earlier nights,
 * screens them on train and tries them on val through the gate: first for the skill, then, under
 * the new skill, for the memory. It measures each accepted edit (leave one out), counts existing
 * rules as helpful or harmful, and proposes to delete those that have been of no use for long. It
 * never uses test tasks.
 *
 * Deterministic given the backend's answers: a resumed night comes to the same result from the
 * stored answers. Results live in the arena. */
#ifndef TALARIA_SLEEP_LEARNING_CONSOLIDATE_H
#define TALARIA_SLEEP_LEARNING_CONSOLIDATE_H

#include "sleep/task/score.h"
#include "sleep/trial/backend.h"
#include "sleep/trial/gate.h"

typedef struct ConsolidateRules {
    ScoreRule score;
    Objective objective;
    bool gate;          /* false: every edit that applies is kept, untested */
    bool no_regression; /* no val task may become worse */
    double alpha;       /* chance to accept an edit that changes nothing, for the whole night */
    int64_t max_draws;  /* fresh draws per val task and document */
    int64_t edit_budget;
    int64_t rollouts; /* attempts per train task */
    Str preferences;
    bool evolve_skill, evolve_memory;
    int64_t night;
} ConsolidateRules;

ConsolidateRules consolidate_rules(void); /* the defaults */

/* If answers vary: draws per task that only inform a report, and expired rules reviewed per
 * night. */
enum { ROUGH_DRAWS = 3, REVIEWED_BY_DRAWS = 4 };

/* Callbacks for evidence and progress; each may be NULL. */
typedef struct ConsolidateWatch {
    void *ctx;
    void (*replayed)(void *ctx, const char *phase, const ReplayAsk *ask, const ReplayResult *r);
    void (*reflected)(void *ctx, Str target, const EditRecords *edits);
    void (*tried)(void *ctx, const GateTrial *trial, const GateEvidence *evidence);
} ConsolidateWatch;

/* no_edits_reason: X(id, name in JSON, text for people after "No proposal: ") */
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
    Docs docs; /* unchanged unless accepted */
    double baseline, candidate;
    bool has_interval; /* confidence interval of the gain, candidate - baseline */
    double low, high;
    EditRecords edits, rejected, unmatched;
    StrList rejected_why, unmatched_why;
    GateTrials trials;
    GateEvidences evidence; /* one per trial except the final one */
    Attributions attribution;
    StrList notes;
    int64_t replayed;
} Consolidation;

/* known: edits of earlier nights, updated (also if nothing is accepted). budget and watch may be
 * NULL. False if the backend failed or a document cannot be parsed. */
MUST_CHECK bool consolidate(Arena *a, Backend *b, const TaskRecords *tasks, Docs live,
                            const ConsolidateRules *rules, KnownEdits *known, Budget *budget,
                            const ConsolidateWatch *watch, Consolidation *ret, Err *err);

/* -- Routing -- */

/* The tasks of one skill: those in whose sessions this skill alone was used; a task with no or
 * several skills belongs to `managed`. In order of first appearance. */
typedef struct SkillGroup {
    Str skill_name;
    TaskRecords tasks;
} SkillGroup;
typedef LIST_OF(SkillGroup) SkillGroups;
SkillGroups consolidate_route(Arena *a, const TaskRecords *tasks, Str managed);

#endif
