/* mine_model.h - what a model makes of a task that rules could not read. One call a task, however many
 * sessions it came back in. */
#ifndef TALARIA_SLEEP_MINING_MINE_MODEL_H
#define TALARIA_SLEEP_MINING_MINE_MODEL_H

#include "sleep/mining/trace.h"
#include "sleep/trial/backend.h"

/* Gives tasks that have no rule judge a judge or a rubric, where their people were not content at once
 * and the model can tell what they wanted. What it says is checked like any judge; nonsense is left
 * out. Ends when `most` tasks (0: all) have something to be judged by, or with the budget. False only
 * where the model could not be asked, or its answers are still to come. */
MUST_CHECK bool mine_by_model(Arena *a, Backend *b, const Trace *const *traces, size_t n,
                              size_t max, Budget *budget, TaskRecords *tasks, Err *err);

/* How many it would ask about at most. */
size_t mine_model_asks(const Trace *const *traces, size_t n, const TaskRecords *tasks);

#endif
