/* types.h - the records that a night hands from step to step, and their JSON.
 *
 * Each record is one table of fields: the struct, the reader and the writer are made of it, so that a
 * key cannot be in one and missing in the other. The JSON form is an object with exactly these keys,
 * in this order; readers pass over keys they do not know, take null for "not given", and refuse a
 * value of another type with the key's name.
 *
 * Records are values; their text and lists live in the arena that was passed in. */
#ifndef TALARIA_SLEEP_TASK_TYPES_H
#define TALARIA_SLEEP_TASK_TYPES_H

#include "base/arena.h"
#include "base/err.h"
#include "text/json.h"

/* -- lists: push with LIST_PUSH, which copies the item ---------------------------------------- */

#define LIST_OF(Type)                                                                              \
    struct {                                                                                       \
        Type *items;                                                                               \
        size_t n, cap;                                                                             \
    }
#define LIST_PUSH(a, list, item) ARENA_PUSH(a, (list)->items, (list)->n, (list)->cap, item)

typedef LIST_OF(Str) StrList;

bool strs_have(const StrList *list, Str s);
/* Appends s unless it is there already. */
void strs_add_new(Arena *a, StrList *list, Str s);

/* -- what a field may be: F(T, kind, name, key, default), R(T, item, name) ----------------------- */

typedef Str FieldOfText;
typedef Str FieldOfJson; /* JSON text of any value */
typedef StrList FieldOfTexts;
typedef int64_t FieldOfInt;
typedef double FieldOfReal;
typedef bool FieldOfBool;

#define REQUIRED ((const char *)NULL) /* as a default: reading fails without the key */

#define SESSION_DIGEST_FIELDS(F, R, T)                                                             \
    F(T, Text, session_id, "session_id", REQUIRED)                                                 \
    F(T, Text, project, "project", REQUIRED)                                                       \
    F(T, Text, git_branch, "git_branch", "")                                                       \
    F(T, Text, started_at, "started_at", "")                                                       \
    F(T, Text, ended_at, "ended_at", "")                                                           \
    F(T, Texts, user_prompts, "user_prompts", "")                                                  \
    F(T, Texts, assistant_finals, "assistant_finals", "")                                          \
    F(T, Texts, tools_used, "tools_used", "")                                                      \
    F(T, Texts, skills_used, "skills_used", "")                                                    \
    F(T, Texts, files_touched, "files_touched", "")                                                \
    F(T, Texts, feedback_signals, "feedback_signals", "")                                          \
    F(T, Int, n_user_turns, "n_user_turns", "0")                                                   \
    F(T, Int, n_assistant_turns, "n_assistant_turns", "0")                                         \
    F(T, Text, raw_path, "raw_path", "")

/* One request of a person and what came of it. */
#define TURN_FIELDS(F, R, T)                                                                       \
    F(T, Text, request, "request", "")                                                             \
    F(T, Text, answer, "answer", "")     /* the last thing that the agent said */                  \
    F(T, Int, remark, "remark", "0")     /* what it says of the answer before: a Remark */         \
    F(T, Bool, corrects, "corrects", "") /* it asks for what that answer did not have */           \
    F(T, Int, calls, "calls", "0")                                                                 \
    F(T, Int, failed, "failed", "0")

/* A session as the night sees it; what lists and task files show of it is the digest. */
#define TRACE_FIELDS(F, R, T)                                                                      \
    R(T, SessionDigest, digests) /* just one */                                                    \
    R(T, Turn, turns)                                                                              \
    F(T, Texts, marks, "marks", "") /* checks so particular that they name the task */             \
    F(T, Bool, tests_failed, "tests_failed", "") /* by their last run, and nothing came after */   \
    F(T, Bool, reverted, "reverted", "")         /* what was done was thrown away at the end */

#define TASK_RECORD_FIELDS(F, R, T)                                                                \
    F(T, Text, id, "id", REQUIRED)                                                                 \
    F(T, Text, project, "project", REQUIRED)                                                       \
    F(T, Text, intent, "intent", REQUIRED)                                                         \
    F(T, Text, context_excerpt, "context_excerpt", "")                                             \
    F(T, Text, framing, "system", "")                                                              \
    F(T, Text, attempted_solution, "attempted_solution", "")                                       \
    F(T, Text, outcome, "outcome", "unknown")                                                      \
    F(T, Text, reference_kind, "reference_kind", "none")                                           \
    F(T, Text, reference, "reference", "")                                                         \
    F(T, Json, judge, "judge", "{}")                                                               \
    F(T, Texts, tags, "tags", "")                                                                  \
    F(T, Texts, source_sessions, "source_sessions", "")                                            \
    F(T, Text, split, "split", "train")                                                            \
    F(T, Text, origin, "origin", "real")                                                           \
    F(T, Text, derived_from, "derived_from", "")                                                   \
    F(T, Text, skill_hint, "skill_hint", "")

#define REPLAY_RESULT_FIELDS(F, R, T)                                                              \
    F(T, Text, id, "id", REQUIRED)                                                                 \
    F(T, Real, hard, "hard", "0")                                                                  \
    F(T, Real, soft, "soft", "0")                                                                  \
    F(T, Text, response, "response", "")                                                           \
    F(T, Text, fail_reason, "fail_reason", "")                                                     \
    F(T, Text, task_type, "task_type", "task")                                                     \
    F(T, Text, judge_rationale, "judge_rationale", "")                                             \
    F(T, Texts, tools_called, "tools_called", "")                                                  \
    F(T, Int, tokens, "tokens", "0")                                                               \
    F(T, Real, latency_ms, "latency_ms", "0")

#define EDIT_RECORD_FIELDS(F, R, T)                                                                \
    F(T, Text, target, "target", "skill")                                                          \
    F(T, Text, op, "op", "add")                                                                    \
    F(T, Text, content, "content", "")                                                             \
    F(T, Text, anchor, "anchor", "")                                                               \
    F(T, Text, rationale, "rationale", "")

#define SKILL_GROUP_REPORT_FIELDS(F, R, T)                                                         \
    F(T, Text, skill_name, "skill_name", "")                                                       \
    F(T, Text, status, "status", "")                                                               \
    F(T, Bool, accepted, "accepted", "")                                                           \
    F(T, Text, gate_action, "gate_action", "")                                                     \
    F(T, Real, baseline_score, "baseline_score", "0")                                              \
    F(T, Real, candidate_score, "candidate_score", "0")                                            \
    F(T, Int, n_tasks, "n_tasks", "0")                                                             \
    F(T, Int, n_applied_edits, "n_applied_edits", "0")                                             \
    F(T, Int, n_rejected_edits, "n_rejected_edits", "0")                                           \
    F(T, Text, reason, "reason", "")

#define TASK_DELTA_FIELDS(F, R, T)                                                                 \
    F(T, Text, task_id, "task_id", "")                                                             \
    F(T, Texts, tags, "tags", "")                                                                  \
    F(T, Real, baseline_score, "baseline_score", "0")                                              \
    F(T, Real, candidate_score, "candidate_score", "0")                                            \
    F(T, Text, status, "status", "unchanged")                                                      \
    F(T, Bool, scores_are_finite, "scores_are_finite", "true")

#define GATE_TRIAL_FIELDS(F, R, T)                                                                 \
    F(T, Text, target, "target", "")                                                               \
    F(T, Real, baseline_score, "baseline_score", "0")                                              \
    F(T, Real, candidate_score, "candidate_score", "0")                                            \
    F(T, Bool, accepted, "accepted", "")                                                           \
    F(T, Bool, blocked_by_regression, "blocked_by_regression", "")                                 \
    R(T, TaskDelta, task_deltas)

#define SLEEP_REPORT_FIELDS(F, R, T)                                                               \
    F(T, Int, night, "night", "0")                                                                 \
    F(T, Text, project, "project", "")                                                             \
    F(T, Text, started_at, "started_at", "")                                                       \
    F(T, Text, ended_at, "ended_at", "")                                                           \
    F(T, Int, n_sessions, "n_sessions", "0")                                                       \
    F(T, Int, n_tasks, "n_tasks", "0")                                                             \
    F(T, Int, n_replayed, "n_replayed", "0")                                                       \
    F(T, Real, baseline_score, "baseline_score", "0")                                              \
    F(T, Real, candidate_score, "candidate_score", "0")                                            \
    F(T, Bool, accepted, "accepted", "")                                                           \
    F(T, Text, gate_action, "gate_action", "")                                                     \
    F(T, Bool, holdout_leaked, "holdout_leaked", "")                                               \
    F(T, Text, no_edits_reason, "no_edits_reason", "")                                             \
    R(T, EditRecord, edits)                                                                        \
    R(T, EditRecord, rejected_edits)                                                               \
    R(T, EditRecord, unmatched_edits)                                                              \
    R(T, SkillGroupReport, skill_groups)                                                           \
    F(T, Int, tokens_used, "tokens_used", "0")                                                     \
    F(T, Texts, notes, "notes", "")                                                                \
    F(T, Bool, gate_no_regression, "gate_no_regression", "true")                                   \
    R(T, GateTrial, gate_trials)

/* What the gate found out in a trial, beside the scores: how sure it is. */
#define GATE_EVIDENCE_FIELDS(F, R, T)                                                              \
    F(T, Text, target, "target", "")                                                               \
    F(T, Text, verdict, "verdict", "")                                                             \
    F(T, Int, draws, "draws", "0")                                                                 \
    F(T, Real, p_value, "p_value", "1")                                                            \
    F(T, Real, error_rate, "error_rate", "0")                                                      \
    F(T, Texts, regressed, "regressed", "")

/* What one accepted edit is worth: the score with all of them, and without this one. */
#define ATTRIBUTION_FIELDS(F, R, T)                                                                \
    F(T, Text, target, "target", "")                                                               \
    F(T, Text, rule_id, "rule_id", "")                                                             \
    F(T, Text, content, "content", "")                                                             \
    F(T, Real, score_with, "score_with", "0")                                                      \
    F(T, Real, score_without, "score_without", "0")                                                \
    F(T, Real, gain, "gain", "0")                                                                  \
    F(T, Real, share, "share", "0")                                                                \
    F(T, Texts, moved_tasks, "moved_tasks", "")

/* An edit of an earlier night that is not to be proposed again: rejected, or waiting for company. */
#define KNOWN_EDIT_FIELDS(F, R, T)                                                                 \
    F(T, Text, target, "target", "skill")                                                          \
    F(T, Text, op, "op", "add")                                                                    \
    F(T, Text, content, "content", "")                                                             \
    F(T, Text, anchor, "anchor", "")                                                               \
    F(T, Text, rationale, "rationale", "")                                                         \
    F(T, Text, status, "status", "rejected")                                                       \
    F(T, Text, reason, "reason", "")                                                               \
    F(T, Int, night, "night", "0")                                                                 \
    F(T, Int, tries, "tries", "0")

#define FIELD_MEMBER(T, kind, name, key, fallback) FieldOf##kind name;
#define LIST_MEMBER(T, Item, name)                 Item##s name;
#define RECORD(Type, FIELDS)                                                                       \
    typedef struct Type {                                                                          \
        FIELDS(FIELD_MEMBER, LIST_MEMBER, Type)                                                    \
    } Type;                                                                                        \
    typedef LIST_OF(Type) Type##s;

/* Type, prefix of its functions, table, what messages call it. Inner records first. */
#define SLEEP_RECORDS(X)                                                                           \
    X(SessionDigest, digest, SESSION_DIGEST_FIELDS, "digest")                                      \
    X(Turn, turn, TURN_FIELDS, "turn")                                                             \
    X(Trace, trace, TRACE_FIELDS, "trace")                                                         \
    X(TaskRecord, task, TASK_RECORD_FIELDS, "task")                                                \
    X(ReplayResult, replay_result, REPLAY_RESULT_FIELDS, "result")                                 \
    X(EditRecord, edit, EDIT_RECORD_FIELDS, "edit")                                                \
    X(SkillGroupReport, skill_group, SKILL_GROUP_REPORT_FIELDS, "skill group")                     \
    X(TaskDelta, task_delta, TASK_DELTA_FIELDS, "task delta")                                      \
    X(GateTrial, gate_trial, GATE_TRIAL_FIELDS, "gate trial")                                      \
    X(GateEvidence, gate_evidence, GATE_EVIDENCE_FIELDS, "gate evidence")                          \
    X(Attribution, attribution, ATTRIBUTION_FIELDS, "attribution")                                 \
    X(KnownEdit, known_edit, KNOWN_EDIT_FIELDS, "known edit")                                      \
    X(SleepReport, sleep_report, SLEEP_REPORT_FIELDS, "report")

/* For each record, with TaskRecord as the example:
 *   typedef struct TaskRecord, and TaskRecords, a list of them
 *   void task_init(TaskRecord *)                          every field its default, required ones empty
 *   bool task_read(Arena *, Json, TaskRecord *ret, Err *)   ERR_INVALID names the key
 *   bool tasks_read(Arena *, Json array, TaskRecords *ret, Err *)
 *   void task_put(JsonWriter *, const TaskRecord *) */
#define X(Type, prefix, FIELDS, title)                                                             \
    RECORD(Type, FIELDS)                                                                           \
    void prefix##_init(Type *r);                                                                   \
    MUST_CHECK bool prefix##_read(Arena *a, Json v, Type *ret, Err *err);                          \
    MUST_CHECK bool prefix##s_read(Arena *a, Json v, Type##s *ret, Err *err);                      \
    void prefix##_put(JsonWriter *w, const Type *r);
SLEEP_RECORDS(X)
#undef X

/* Traces and tasks as index.db keeps them: read much faster than JSON, by this machine alone. What comes back
 * borrows from the bytes; false where they are something else. */
void trace_pack(Buf *out, const Trace *t);
MUST_CHECK bool trace_unpack(Arena *a, Str packed, Trace *ret);
void tasks_pack(Buf *out, const TaskRecords *tasks);
MUST_CHECK bool tasks_unpack(Arena *a, Str packed, TaskRecords *ret);

/* -- the words of a split --------------------------------------------------------------------- */

/* "replay" and "holdout", as older files say, are "train" and "val"; others as they are. */
Str split_normal(Str split);

#endif
