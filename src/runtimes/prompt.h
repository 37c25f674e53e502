/* prompt.h - the prepared context as the text that a runtime is given. The same words for all. */
#ifndef TALARIA_RUNTIMES_PROMPT_H
#define TALARIA_RUNTIMES_PROMPT_H

#include "runtimes/runtime.h"

/* What stands above the conversation: context and examples. May be empty. */
Str prompt_system(Arena *a, const RuntimeRequest *r);

/* What the user says: what happened elsewhere meanwhile, the files, the words. Small text files are put
 * in, others are named. Reads files, so not on the loop. */
Str prompt_user(Arena *a, const RuntimeRequest *r);

/* Turns before this one as one text, for a runtime that takes no list of messages; empty for none. */
Str prompt_history(Arena *a, const RuntimeRequest *r);

#endif
