/* answer.h - prompts to models, and the JSON in their replies.
 *
 * Models put prose and code fences around the JSON that they were asked for: the first complete
 * array or object in the text counts. Pure, thread-safe. */
#ifndef TALARIA_SLEEP_TASK_ANSWER_H
#define TALARIA_SLEEP_TASK_ANSWER_H

#include "base/str.h"

/* Begins every prompt that a night sends, so that no night learns from its own questions. */
#define SLEEP_MARK "[talaria sleep]"

/* The text of the first JSON array that is not part of an object; p NULL: there is none. */
Str answer_array(Str text);
/* The text of the first JSON object. */
Str answer_object(Str text);

#endif
