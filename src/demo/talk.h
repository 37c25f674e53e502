/* talk.h - one session of the demo, told from beginning to end. */
#ifndef TALARIA_DEMO_TALK_H
#define TALARIA_DEMO_TALK_H

#include "demo/plan.h"
#include "store/session.h"

typedef struct Told {
    Session session;
    Message *messages;
    size_t n;
} Told;

/* Tells p, not before `earliest`; sets p->id, title and goal. Every tool call throws `luck` once, with
 * the same odds whatever the tool, the session or the place in it: the demo must not prove anything
 * about how sessions fail. What is returned lives in the arena, p's texts in the plan's. */
Told talk_tell(Arena *a, const World *w, const Plan *plan, Planned *p, double earliest, Dice *luck);

#endif
