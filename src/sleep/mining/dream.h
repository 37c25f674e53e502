/* dream.h - additional train tasks: variants of tonight's tasks, and tasks of earlier nights.
 *
 * Variants ("dreams") are always train tasks. Recalled tasks come from the same project, once each,
 * and never from a val or test task. */
#ifndef TALARIA_SLEEP_MINING_DREAM_H
#define TALARIA_SLEEP_MINING_DREAM_H

#include "sleep/task/types.h"

/* Appends `factor` variants "<id>_dream<k>" of each real train task to the tasks themselves. */
void dream_add(Arena *a, int64_t factor, TaskRecords *tasks);

/* Appends up to k tasks of the archive, as "recall:<id>", most like tonight's train tasks first. */
void recall_add(Arena *a, int64_t k, const TaskRecords *archive, TaskRecords *tasks);

#endif
