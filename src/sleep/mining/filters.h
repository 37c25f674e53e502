/* filters.h - which messages a person wrote, and what they say about the result.
 *
 * All functions are pure and thread-safe. */
#ifndef TALARIA_SLEEP_MINING_FILTERS_H
#define TALARIA_SLEEP_MINING_FILTERS_H

#include "sleep/task/types.h"

/* Not a request: empty text, a tag, a slash command, a caveat, pasted text. */
bool filter_is_meta(Str text);

/* Whether a program wrote the prompts of a session: one that drives an agent, a memory agent, or
 * sleep itself. Catches what the transcript's structure (entrypoint, side chains) does not show. */
bool filter_is_harness(const SessionDigest *digest);

/* Appends "neg:PHRASE" and "pos:PHRASE" for each phrase in the text, as whole words; praise inside
 * a complaint ("not fixed", "incorrect") does not count. */
void filter_feedback(Arena *a, Str text, StrList *signals);

#endif
