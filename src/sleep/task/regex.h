/* regex.h - regular expressions with the syntax of Python's `re`, safe for untrusted patterns.
 *
 * A pattern is translated to PCRE2: constructs that the two spell differently are rewritten (\Z,
 * \v,
 * {,n}, \uXXXX, classes with '[' inside), and those that only one of them has are refused (of
 * Python's: named characters, and inline flags for part of a pattern that change what a letter is).
 * Limits on steps, depth and memory end a runaway pattern as "too costly". Thread-safe. */
#ifndef TALARIA_SLEEP_TASK_REGEX_H
#define TALARIA_SLEEP_TASK_REGEX_H

#include "base/arena.h"
#include "base/err.h"

typedef enum RegexAnswer { REGEX_NO, REGEX_YES, REGEX_MALFORMED, REGEX_COSTLY } RegexAnswer;

/* Searches text for the pattern. Malformed or costly: err says why. */
RegexAnswer regex_search(Str pattern, Str text, Err *err);

/* Whether it compiles. */
MUST_CHECK bool regex_check(Str pattern, Err *err);

/* s as a pattern that matches s literally. */
Str regex_quote(Arena *a, Str s);

/* The pattern in PCRE2's syntax, and its flags; for tests. */
MUST_CHECK bool regex_translate(Arena *a, Str pattern, Str *ret, uint32_t *ret_options, Err *err);

#endif
