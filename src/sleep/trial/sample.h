/* sample.h - generating a short text that matches a pattern, for the mock backend.
 *
 * Supports literals, classes, escapes, groups, alternatives and quantifiers. The result is checked
 * with the real matcher. Pure. */
#ifndef TALARIA_SLEEP_TRIAL_SAMPLE_H
#define TALARIA_SLEEP_TRIAL_SAMPLE_H

#include "base/arena.h"

/* False if no matching text was found. */
MUST_CHECK bool sample_of(Arena *a, Str pattern, Str *ret);

#endif
