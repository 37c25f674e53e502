/* dream.h - more to learn from than one night has: the task in other words, and tasks of other nights.
 *
 * What is dreamt only ever teaches. What is recalled comes from the same project, once each, and never
 * from a val or test task. */
#ifndef TALARIA_SLEEP_MINING_DREAM_H
#define TALARIA_SLEEP_MINING_DREAM_H

#include "sleep/task/types.h"

/* Appends `factor` variants "<id>_dream<k>" of each real train task to the tasks themselves. */
void dream_add(Arena *a, int64_t factor, TaskRecords *tasks);

/* Appends up to k tasks of the archive, as "recall:<id>", most like tonight's train tasks first. */
void recall_add(Arena *a, int64_t k, const TaskRecords *archive, TaskRecords *tasks);

#endif
