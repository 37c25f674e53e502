/* private_file.h - words for a program that may stand neither on its command line nor in its environment,
 * where every user of the machine can read the one and every child of it inherits the other.
 *
 * A file of mode 0600 with a name that nobody can guess, removed as soon as the program has read it. */
#ifndef TALARIA_RUNTIMES_PRIVATE_FILE_H
#define TALARIA_RUNTIMES_PRIVATE_FILE_H

#include "base/arena.h"
#include "base/err.h"

/* In the user's runtime folder, which is in memory and ends with the login; else in `folder`; else where
 * temporary files go. ret_path lives in the arena. */
MUST_CHECK bool private_file_make(Arena *a, Str folder, Str bytes, char **ret_path, Err *err);
/* NULL and one that is gone already are fine. */
void private_file_remove(char *path);

#endif
