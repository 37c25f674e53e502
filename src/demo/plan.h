/* plan.h - the calendar of the demo: which session happens when, where, with which model.
 *
 * Three months that end an hour before now. A thread that recurs is spread evenly over them, with
 * some jitter; times of day are those of its source, in UTC. The plan knows nothing of what is said. */
#ifndef TALARIA_DEMO_PLAN_H
#define TALARIA_DEMO_PLAN_H

#include "demo/words.h"

/* How a session of a recurring task ends. */
typedef enum Outcome {
    OUTCOME_RIGHT,  /* right at once, and the user says so */
    OUTCOME_SILENT, /* right at once, no verdict */
    OUTCOME_FIXED,  /* wrong, corrected, right */
    OUTCOME_WRONG   /* wrong, corrected, still wrong */
} Outcome;

typedef struct Planned {
    Json thread, source, model;
    bool recurring, newest;
    Outcome outcome;
    size_t nth;    /* which telling of its thread */
    uint64_t seed; /* of everything that is said */
    double at;     /* when it would begin, were nothing else in the way */
    unsigned part, parts;
    struct Planned *parent; /* the part before, or NULL */
    /* Set when the session is told. */
    Str id, title, goal;
} Planned;

typedef struct Plan {
    Arena *arena;
    Planned **all; /* by time */
    size_t n, cap;
    double end; /* nothing happens later */
} Plan;

/* Lives in the arena. */
Plan plan_make(Arena *a, const World *w, double now);

#endif
