/* answer.h - JSON out of what a model says around it.
 *
 * Models put prose, fences and second thoughts around what they were asked for: the first complete
 * array or object in the text is what counts. Pure, thread-safe. */
#ifndef TALARIA_SLEEP_TASK_ANSWER_H
#define TALARIA_SLEEP_TASK_ANSWER_H

#include "base/str.h"

/* The text of the first JSON array that is not part of an object; p NULL: there is none. */
Str answer_array(Str text);
/* The text of the first JSON object. */
Str answer_object(Str text);

#endif
