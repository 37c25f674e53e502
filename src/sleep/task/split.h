/* split.h - splitting tasks into train (to learn from), val (to decide by) and test (to measure).
 *
 * By a stable hash of seed and id, so a task is on the same side every night. Dreams are always
 * train tasks; val and test have only real tasks and never overlap. */
#ifndef TALARIA_SLEEP_TASK_SPLIT_H
#define TALARIA_SLEEP_TASK_SPLIT_H

#include "sleep/task/types.h"

typedef struct SplitRule {
    int64_t seed;
    double val, test; /* shares; each within 0..1, together below 1 */
} SplitRule;

#define SPLIT_RULE_DEFAULT ((SplitRule){ 42, 0.34, 0 })

MUST_CHECK bool split_check(SplitRule rule, Err *err);

/* Sets `split` of every task. Of two or more real tasks at least one is val and one is train; none
 * is taken from test for that. */
void split_assign(Arena *a, SplitRule rule, TaskRecords *tasks);

/* The side of a task: train, val or test. A dream is train, whatever its file says; older names are
 * translated. */
Str split_of(const TaskRecord *task);

/* Normalises the splits of tasks from a file. Refuses an unknown split, and an id that is in test
 * and also in train or val. */
MUST_CHECK bool split_settle(TaskRecords *tasks, Err *err);

/* Tonight's tasks by side. Without val tasks the train tasks are val too, and the other way round;
 * `leaked`: this happened, or an id is on both sides. */
typedef struct Sides {
    TaskRecords train, val, test;
    bool leaked;
} Sides;
Sides split_sides(Arena *a, const TaskRecords *tasks);

#endif
