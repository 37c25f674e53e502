/* mine_model.h - asking a model how to judge tasks for which no rule was found. One call per task,
 * however many sessions it has. */
#ifndef TALARIA_SLEEP_MINING_MINE_MODEL_H
#define TALARIA_SLEEP_MINING_MINE_MODEL_H

#include "sleep/mining/trace.h"
#include "sleep/trial/backend.h"

/* Gives tasks without a rule judge a judge or a rubric, if they were corrected and the model can
 * tell what was wanted. Its reply is checked like any judge; invalid checks are dropped. Stops when
 * `max` tasks (0: all) can be judged, or when the budget is spent. False only if the model could
 * not be asked or its answers are still pending. */
MUST_CHECK bool mine_by_model(Arena *a, Backend *b, const Trace *const *traces, size_t n,
                              size_t max, Budget *budget, TaskRecords *tasks, Err *err);

/* How many tasks it would ask about at most. */
size_t mine_model_asks(const Trace *const *traces, size_t n, const TaskRecords *tasks);

#endif
