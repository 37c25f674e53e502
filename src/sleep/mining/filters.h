/* filters.h - which lines of a conversation are a person's, and what they say of the result.
 *
 * Pure and thread-safe. */
#ifndef TALARIA_SLEEP_MINING_FILTERS_H
#define TALARIA_SLEEP_MINING_FILTERS_H

#include "sleep/task/types.h"

/* Nothing that somebody asked for: empty, a tag, a slash command, a caveat, pasted text. */
bool filter_is_meta(Str text);

/* Appends "neg:PHRASE" and "pos:PHRASE" for each phrase that stands in the text as words of its own;
 * praise inside a complaint ("not fixed", "incorrect") is none. */
void filter_feedback(Arena *a, Str text, StrList *signals);

#endif
