/* names.h - names of skills as file names, and the order of plugin versions.
 *
 * Names come from transcripts and command lines, so a valid name is exactly one path segment. A
 * staged name must also be valid on every file system; names that a case-insensitive or normalising
 * file system treats as equal are the same name. */
#ifndef TALARIA_SLEEP_TASK_NAMES_H
#define TALARIA_SLEEP_TASK_NAMES_H

#include "base/arena.h"

/* For lookups: the name without surrounding blanks; empty if it has a separator, "..", a leading
 * "~" or a control character. */
Str name_to_look_up(Str name);

/* The same for the name of a new file: none of <>:"|?*, no dot or blank at its end. */
Str name_to_stage(Str name);

/* NFC, case folded: names or paths with the same key are equal on some file system. */
Str name_key(Arena *a, Str name);

/* < 0 if version a is older than b: numbers by value, a pre-release before its release, and text
 * that does not begin with a number before everything. */
int version_cmp(Str a, Str b);

#endif
