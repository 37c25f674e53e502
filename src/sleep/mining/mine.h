/* mine.h - finding recurring tasks in sessions.
 *
 * Sessions that ask for the same thing are one task. Its id is that of the first request, so it
 * stays on its side of the split on every night. Tasks are ranked by repetitions and corrections.
 * If the corrections demand something that a program can check, the task gets a rule judge; other
 * demands become its rubric. */
#ifndef TALARIA_SLEEP_MINING_MINE_H
#define TALARIA_SLEEP_MINING_MINE_H

#include "sleep/mining/trace.h"

typedef struct MineOptions {
    size_t max; /* records; 0 = all */
    size_t
        instances; /* wordings of each task: a rule learned from one is tried on another; 0 = 1 */
} MineOptions;

typedef struct Mined {
    TaskRecords tasks; /* most useful first */
    size_t recurring;  /* of them, those seen in two sessions or more */
    size_t checkable;  /* ... with a rule judge */
    size_t left_out;   /* beyond `max` */
} Mined;

/* The result does not depend on the order of the traces. */
void mine_tasks(Arena *a, const Trace *const *traces, size_t n, const MineOptions *options,
                Mined *ret);

#endif
