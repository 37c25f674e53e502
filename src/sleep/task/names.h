/* names.h - names of skills as parts of paths, and the order of plugin versions.
 *
 * A name comes from a transcript or a command line, so it is one segment of a path or nothing. What is
 * staged must besides be a file name on every system, and two names that only a case-blind or a
 * normalising file system takes for one are the same name. */
#ifndef TALARIA_SLEEP_TASK_NAMES_H
#define TALARIA_SLEEP_TASK_NAMES_H

#include "base/arena.h"

/* The name without blanks around it, or an empty Str: no separator, no "..", no "~" in front, no
 * control character. For looking a skill up. */
Str name_to_look_up(Str name);

/* The same for a name that becomes a file's: none of <>:"|?*, no dot or blank at its end. */
Str name_to_stage(Str name);

/* NFC, case folded: two names or paths with one key are one on some file system. */
Str name_key(Arena *a, Str name);

/* Below 0 where version a is older than b: numbers by value, a pre-release below its release, and
 * what does not begin with a number below everything. */
int version_cmp(Str a, Str b);

#endif
