/* split.h - which tasks teach, which decide, which only measure.
 *
 * By a stable hash of seed and id: the same task is on the same side every night. Dream tasks only
 * ever teach; val and test hold real tasks and never overlap. */
#ifndef TALARIA_SLEEP_TASK_SPLIT_H
#define TALARIA_SLEEP_TASK_SPLIT_H

#include "sleep/task/types.h"

typedef struct SplitRule {
    int64_t seed;
    double val, test; /* shares; each within 0..1, together below 1 */
} SplitRule;

#define SPLIT_RULE_DEFAULT ((SplitRule){ 42, 0.34, 0 })

MUST_CHECK bool split_check(SplitRule rule, Err *err);

/* Sets `split` of every task. With two real tasks or more there is one to decide and one to learn
 * from; test is never borrowed from. */
void split_assign(Arena *a, SplitRule rule, TaskRecords *tasks);

/* The side of a task: train, val or test. A dream only teaches, whatever its file says, and older names are
 * taken for what they mean. */
Str split_of(const TaskRecord *task);

/* Tasks that come with their splits, from a file: each gets the name of its side. Refused: an unknown split,
 * and an id that measures (test) and also teaches or decides. */
MUST_CHECK bool split_settle(TaskRecords *tasks, Err *err);

/* Of tonight's tasks: what teaches and what decides. Without val the train tasks decide too, and the
 * other way round; `leaked` says that this happened, or that an id is on both sides. */
typedef struct Sides {
    TaskRecords train, val, test;
    bool leaked;
} Sides;
Sides split_sides(Arena *a, const TaskRecords *tasks);

#endif
