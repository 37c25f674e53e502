/* mine.h - tasks that come back, out of sessions.
 *
 * Sessions that ask for the same thing are one task: its id is that of the first request, so it keeps
 * its side of the split on every night. How often it came back, and how often it had to be corrected,
 * ranks it. Where people insisted on something that a program can check, the task has a rule judge;
 * where they insisted on something else, that is its rubric. */
#ifndef TALARIA_SLEEP_MINING_MINE_H
#define TALARIA_SLEEP_MINING_MINE_H

#include "sleep/mining/trace.h"

typedef struct MineOptions {
    size_t max; /* records; 0 = all */
    size_t
        instances; /* of each task, said in other words: what is learned from one is tried on another;
                         0 and 1: each task once */
} MineOptions;

typedef struct Mined {
    TaskRecords tasks; /* the most worthwhile first */
    size_t recurring;  /* of them, those seen in two sessions or more */
    size_t checkable;  /* ... with a rule judge */
    size_t left_out;   /* beyond `most` */
} Mined;

/* traces in any order; the result does not depend on it. */
void mine_tasks(Arena *a, const Trace *const *traces, size_t n, const MineOptions *options,
                Mined *ret);

#endif
