/* regex.h - patterns as Python's `re` means them, safe with patterns of strangers.
 *
 * A pattern is read as Python reads it and said again to PCRE2: what the two spell differently is
 * translated (\Z, \v, {,n}, \uXXXX, classes with '[' inside), what only PCRE2 knows is refused as
 * Python would refuse it, and the little that PCRE2 cannot say is refused too (named characters, flags
 * for a part of the pattern that change what a letter is). Matching has limits on steps, depth and
 * memory: a pattern that runs away ends as "too costly", never as a hang. Thread-safe. */
#ifndef TALARIA_SLEEP_TASK_REGEX_H
#define TALARIA_SLEEP_TASK_REGEX_H

#include "base/arena.h"
#include "base/err.h"

typedef enum RegexAnswer { REGEX_NO, REGEX_YES, REGEX_MALFORMED, REGEX_COSTLY } RegexAnswer;

/* Whether the pattern is found anywhere. Malformed or costly: err says why. */
RegexAnswer regex_search(Str pattern, Str text, Err *err);

/* Whether it compiles. */
MUST_CHECK bool regex_check(Str pattern, Err *err);

/* s as a pattern that finds s itself. */
Str regex_quote(Arena *a, Str s);

/* The pattern as PCRE2 spells it, and its flags; for tests. */
MUST_CHECK bool regex_translate(Arena *a, Str pattern, Str *ret, uint32_t *ret_options, Err *err);

#endif
