/* prompt.h - the prepared context as the text that a runtime is given. The same words for all. */
#ifndef TALARIA_RUNTIMES_PROMPT_H
#define TALARIA_RUNTIMES_PROMPT_H

#include "runtimes/runtime.h"

/* What stands above the conversation: context and examples. May be empty. */
Str prompt_system(Arena *a, const RuntimeRequest *r);

/* What the user says: what happened elsewhere meanwhile, the files, the words. Small text files are
 * put in, others are named. Reads files, so not on the loop. */
Str prompt_user(Arena *a, const RuntimeRequest *r);

/* prompt_system, for a runtime that takes no list of messages: one that does not go on from a
 * thread of its own is told the turns before this one as well. */
Str prompt_preamble(Arena *a, const RuntimeRequest *r, bool goes_on);

#endif
