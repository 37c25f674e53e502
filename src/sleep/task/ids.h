/* ids.h - names that follow from content: the same task has the same id on every night. */
#ifndef TALARIA_SLEEP_TASK_IDS_H
#define TALARIA_SLEEP_TASK_IDS_H

#include "base/arena.h"

/* "task_" and twelve digits of the hash of project and first request, uncut. */
Str id_of_request(Arena *a, Str project, Str request);
/* "llm_" and twelve digits, for a task that a model made out of a session. */
Str id_of_intent(Arena *a, Str project, Str intent);
/* "r" and eight digits, for a learned rule: by its squeezed text. */
Str id_of_rule(Arena *a, Str rule);

#endif
