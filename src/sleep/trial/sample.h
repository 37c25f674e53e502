/* sample.h - a short text that a pattern matches, for the backend that answers without a model.
 *
 * Knows literals, classes, escapes, groups, alternatives and quantifiers; what it makes is always
 * tried with the real matcher before it is used. Pure. */
#ifndef TALARIA_SLEEP_TRIAL_SAMPLE_H
#define TALARIA_SLEEP_TRIAL_SAMPLE_H

#include "base/arena.h"

/* False where no matching text was found. */
MUST_CHECK bool sample_of(Arena *a, Str pattern, Str *ret);

#endif
