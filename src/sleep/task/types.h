/* types.h - the records that a night hands from step to step, and their JSON.
 *
 * Each record is a table (see text/record.h): TaskRecord, for example, has task_init, task_read,
 * tasks_read and task_put, and TaskRecords is a list of them. index.db keeps traces and tasks
 * packed.
 *
 * Records are values; their text and lists live in the arena that was passed in. */
#ifndef TALARIA_SLEEP_TASK_TYPES_H
#define TALARIA_SLEEP_TASK_TYPES_H

#include "text/record.h"

#define SESSION_DIGEST_FIELDS(F, R, T)                                                             \
    F(T, Str, session_id, .required = true)                                                        \
    F(T, Str, project, .required = true)                                                           \
    F(T, Str, git_branch)                                                                          \
    F(T, Str, started_at)                                                                          \
    F(T, Str, ended_at)                                                                            \
    F(T, StrList, user_prompts)                                                                    \
    F(T, StrList, assistant_finals)                                                                \
    F(T, StrList, tools_used)                                                                      \
    F(T, StrList, skills_used)                                                                     \
    F(T, StrList, files_touched)                                                                   \
    F(T, StrList, feedback_signals)                                                                \
    F(T, int64_t, n_user_turns)                                                                    \
    F(T, int64_t, n_assistant_turns)                                                               \
    F(T, Str, raw_path)

/* One request of a person and what came of it. */
#define TURN_FIELDS(F, R, T)                                                                       \
    F(T, Str, request)                                                                             \
    F(T, Str, answer)     /* the last thing that the agent said */                                 \
    F(T, int64_t, remark) /* what it says of the answer before: a Remark */                        \
    F(T, bool, corrects)  /* it asks for what that answer did not have */                          \
    F(T, int64_t, calls)                                                                           \
    F(T, int64_t, failed)

/* A session as the night sees it; what lists and task files show of it is the digest. */
#define TRACE_FIELDS(F, R, T)                                                                      \
    R(T, SessionDigest, digests, digest) /* just one */                                            \
    R(T, Turn, turns, turn)                                                                        \
    F(T, StrList, marks)     /* checks so particular that they name the task */                    \
    F(T, bool, tests_failed) /* by their last run, and nothing came after */                       \
    F(T, bool, reverted)     /* what was done was thrown away at the end */

#define TASK_RECORD_FIELDS(F, R, T)                                                                \
    F(T, Str, id, .required = true)                                                                \
    F(T, Str, project, .required = true)                                                           \
    F(T, Str, intent, .required = true)                                                            \
    F(T, Str, context_excerpt)                                                                     \
    F(T, Str, framing, .key = "system")                                                            \
    F(T, Str, attempted_solution)                                                                  \
    F(T, Str, outcome, .fallback = "unknown")                                                      \
    F(T, Str, reference_kind, .fallback = "none")                                                  \
    F(T, Str, reference)                                                                           \
    F(T, Str, judge, .fallback = "{}", .is_json = true)                                            \
    F(T, StrList, tags)                                                                            \
    F(T, StrList, source_sessions)                                                                 \
    F(T, Str, split, .fallback = "train")                                                          \
    F(T, Str, origin, .fallback = "real")                                                          \
    F(T, Str, derived_from)                                                                        \
    F(T, Str, skill_hint)

#define REPLAY_RESULT_FIELDS(F, R, T)                                                              \
    F(T, Str, id, .required = true)                                                                \
    F(T, double, hard)                                                                             \
    F(T, double, soft)                                                                             \
    F(T, Str, response)                                                                            \
    F(T, Str, fail_reason)                                                                         \
    F(T, Str, task_type, .fallback = "task")                                                       \
    F(T, Str, judge_rationale)                                                                     \
    F(T, StrList, tools_called)                                                                    \
    F(T, int64_t, tokens)                                                                          \
    F(T, double, latency_ms)

#define EDIT_RECORD_FIELDS(F, R, T)                                                                \
    F(T, Str, target, .fallback = "skill")                                                         \
    F(T, Str, op, .fallback = "add")                                                               \
    F(T, Str, content)                                                                             \
    F(T, Str, anchor)                                                                              \
    F(T, Str, rationale)

#define SKILL_GROUP_REPORT_FIELDS(F, R, T)                                                         \
    F(T, Str, skill_name)                                                                          \
    F(T, Str, status)                                                                              \
    F(T, bool, accepted)                                                                           \
    F(T, Str, gate_action)                                                                         \
    F(T, double, baseline_score)                                                                   \
    F(T, double, candidate_score)                                                                  \
    F(T, int64_t, n_tasks)                                                                         \
    F(T, int64_t, n_applied_edits)                                                                 \
    F(T, int64_t, n_rejected_edits)                                                                \
    F(T, Str, reason)

#define TASK_DELTA_FIELDS(F, R, T)                                                                 \
    F(T, Str, task_id)                                                                             \
    F(T, StrList, tags)                                                                            \
    F(T, double, baseline_score)                                                                   \
    F(T, double, candidate_score)                                                                  \
    F(T, Str, status, .fallback = "unchanged")                                                     \
    F(T, bool, scores_are_finite, .fallback = "true")

#define GATE_TRIAL_FIELDS(F, R, T)                                                                 \
    F(T, Str, target)                                                                              \
    F(T, double, baseline_score)                                                                   \
    F(T, double, candidate_score)                                                                  \
    F(T, bool, accepted)                                                                           \
    F(T, bool, blocked_by_regression)                                                              \
    R(T, TaskDelta, task_deltas, task_delta)

#define SLEEP_REPORT_FIELDS(F, R, T)                                                               \
    F(T, int64_t, night)                                                                           \
    F(T, Str, project)                                                                             \
    F(T, Str, started_at)                                                                          \
    F(T, Str, ended_at)                                                                            \
    F(T, int64_t, n_sessions)                                                                      \
    F(T, int64_t, n_tasks)                                                                         \
    F(T, int64_t, n_replayed)                                                                      \
    F(T, double, baseline_score)                                                                   \
    F(T, double, candidate_score)                                                                  \
    F(T, bool, accepted)                                                                           \
    F(T, Str, gate_action)                                                                         \
    F(T, bool, holdout_leaked)                                                                     \
    F(T, Str, no_edits_reason)                                                                     \
    R(T, EditRecord, edits, edit)                                                                  \
    R(T, EditRecord, rejected_edits, edit)                                                         \
    R(T, EditRecord, unmatched_edits, edit)                                                        \
    R(T, SkillGroupReport, skill_groups, skill_group)                                              \
    F(T, int64_t, tokens_used)                                                                     \
    F(T, StrList, notes)                                                                           \
    F(T, bool, gate_no_regression, .fallback = "true")                                             \
    R(T, GateTrial, gate_trials, gate_trial)

/* What the gate found out in a trial, beside the scores: how sure it is. */
#define GATE_EVIDENCE_FIELDS(F, R, T)                                                              \
    F(T, Str, target)                                                                              \
    F(T, Str, verdict)                                                                             \
    F(T, int64_t, draws)                                                                           \
    F(T, double, p_value, .fallback = "1")                                                         \
    F(T, double, error_rate)                                                                       \
    F(T, StrList, regressed)

/* What one accepted edit is worth: the score with all of them, and without this one. */
#define ATTRIBUTION_FIELDS(F, R, T)                                                                \
    F(T, Str, target)                                                                              \
    F(T, Str, rule_id)                                                                             \
    F(T, Str, content)                                                                             \
    F(T, double, score_with)                                                                       \
    F(T, double, score_without)                                                                    \
    F(T, double, gain)                                                                             \
    F(T, double, share)                                                                            \
    F(T, StrList, moved_tasks)

/* An edit of an earlier night that is not to be proposed again: rejected, or waiting for
 * company. */
#define KNOWN_EDIT_FIELDS(F, R, T)                                                                 \
    F(T, Str, target, .fallback = "skill")                                                         \
    F(T, Str, op, .fallback = "add")                                                               \
    F(T, Str, content)                                                                             \
    F(T, Str, anchor)                                                                              \
    F(T, Str, rationale)                                                                           \
    F(T, Str, status, .fallback = "rejected")                                                      \
    F(T, Str, reason)                                                                              \
    F(T, int64_t, night)                                                                           \
    F(T, int64_t, tries)

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

#define X(Type, prefix, FIELDS, title)                                                             \
    RECORD_STRUCT(Type, FIELDS)                                                                    \
    RECORD_FUNCTIONS(Type, prefix)
SLEEP_RECORDS(X)
#undef X

/* "train" for "replay" and "val" for "holdout", the names in older files; others unchanged. */
Str split_normal(Str split);

/* -- Ids, made from content: the same task has the same id on every night -- */

/* "task_" and twelve digits of the hash of project and first request, uncut. */
Str id_of_request(Arena *a, Str project, Str request);
/* "llm_" and twelve digits, for a task that a model made from a session. */
Str id_of_intent(Arena *a, Str project, Str intent);
/* "r" and eight digits, for a learned rule: by its squeezed text. */
Str id_of_rule(Arena *a, Str rule);

#endif
