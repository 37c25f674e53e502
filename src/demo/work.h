/* work.h - a session of the demo while it is being told: messages, calls, and the time they take. */
#ifndef TALARIA_DEMO_WORK_H
#define TALARIA_DEMO_WORK_H

#include "demo/plan.h"
#include "store/session.h"

typedef struct Talk {
    Arena *arena;
    Scene scene;
    Planned *p;
    Dice *luck;
    int64_t clock_ms;
    Message *messages;
    size_t n, cap;
    int64_t calls;
} Talk;

Dice *work_dice(Talk *t);
void work_wait(Talk *t, int64_t least, int64_t most); /* seconds pass */

/* -- messages ------------------------------------------------------------------------------ */

Message *work_add(Talk *t, const char *role, Str content); /* valid until the next one */
void work_user_says(Talk *t, Str text);
void work_answer(Talk *t, Str text);

/* -- calls --------------------------------------------------------------------------------- */

/* Steps as a thread lists them; "more" is as many random ones as the thread's effort asks for,
 * "more 3" is three. */
void work_through(Talk *t, Json steps);
void work_steps(Talk *t, const Str *steps, size_t n);
void work_random(Talk *t, size_t n);

#endif
