/* experiment.h - a demonstration without a model: two made-up personas, their tasks, a few nights.
 *
 * A persona's tasks fail until the skill states the rules they share; nights with the mock backend
 * must find the rules, and the gate must block a harmful one. Only the tasks are given in
 * advance. */
#ifndef TALARIA_SLEEP_NIGHT_EXPERIMENT_H
#define TALARIA_SLEEP_NIGHT_EXPERIMENT_H

#include "sleep/learning/consolidate.h"

typedef struct ExperimentNight {
    int64_t night; /* 0: before the first */
    double score;  /* of the val tasks, afterwards */
    Str action;
    bool accepted;
    StrList edits, pending; /* keys of rules */
    size_t rejected;
    Attributions attribution;
} ExperimentNight;

typedef struct Experiment {
    Str persona;
    size_t n_tasks, n_val;
    double before, after;
    LIST_OF(ExperimentNight) nights; /* the first is night 0 */
    Str skill;                       /* as it was learned */
    bool harmful_blocked;
    double harmful_before, harmful_after; /* val tasks without and with the harmful rule */
    Str harmful_rule, harmful_why;
    int64_t tokens;
} Experiment;

/* researcher | programmer */
MUST_CHECK bool experiment_tasks(Arena *a, Str persona, TaskRecords *ret, Err *err);
/* The task that asks for a harmful rule. */
TaskRecord experiment_harmful(Arena *a);

MUST_CHECK bool experiment_run(Arena *a, Str persona, int64_t nights, int64_t edit_budget,
                               Experiment *ret, Err *err);

#endif
