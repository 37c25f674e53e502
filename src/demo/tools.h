/* tools.h - one call of a tool and what comes back, for the demo.
 *
 * Results are made from the project's own files where that is possible (a search finds the lines that
 * are there, a patch shows in the next reading), so that a session reads like work. Whether a call
 * fails is not decided here: the caller throws for every call alike. */
#ifndef TALARIA_DEMO_TOOLS_H
#define TALARIA_DEMO_TOOLS_H

#include "demo/words.h"

typedef struct Move {
    Str tool;
    Str arguments; /* JSON text */
    Str result;
    Str say; /* what the assistant says with the call; often empty */
} Move;

Move step_make(Scene *s, Str step, bool fails);

#endif
