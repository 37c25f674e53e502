/* steps.h - what is done next in a session of the demo.
 *
 * A step is a word and what it is done to, as threads in data/demo/ write it: "read src/cart/total.ts",
 * "run test", "code rmse", "extra memory". Threads may leave open what it is done to; then it is picked
 * from the thread's scope, or from the project. */
#ifndef TALARIA_DEMO_STEPS_H
#define TALARIA_DEMO_STEPS_H

#include "demo/words.h"

/* A step of the scene's kind of work, complete: "run test", never "run". */
Str step_random(Scene *s);

/* Gives a step that leaves it open ("read", "browse") something to do it to. A change that this
 * session has planned already becomes a look at a file. */
Str step_complete(Scene *s, Str step);

/* True for steps that only look: several of them may stand in one message. */
bool step_only_looks(Str step);

/* The word; *ret_object is the rest. */
Str step_split(Str step, Str *ret_object);

/* An edit, a command, ... by name: the thread's own, else the project's. */
Json step_named(Scene *s, const char *among, Str name);

/* The edit as this session has planned it; NULL where it has not. */
SceneEdit *step_edit(Scene *s, Json change);

#endif
