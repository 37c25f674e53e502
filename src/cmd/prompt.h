/* prompt.h - questions to a person at a terminal; what is asked goes to standard error. */
#ifndef TALARIA_CMD_PROMPT_H
#define TALARIA_CMD_PROMPT_H

#include "base/arena.h"
#include "base/err.h"

bool prompt_possible(void); /* somebody is there to answer */

/* One line without its end; empty: Enter alone. ERR_INTERRUPTED: Ctrl-C, Ctrl-D or the end of the
 * input. */
MUST_CHECK bool prompt_line(Arena *a, const char *question, Str *ret, Err *err);
/* The same, not shown while it is typed. */
MUST_CHECK bool prompt_secret(Arena *a, const char *question, Str *ret, Err *err);

/* A secret by prompt_secret, or from standard input where that is no terminal. */
MUST_CHECK bool prompt_or_read_secret(Arena *a, const char *question, Str *ret, Err *err);

#endif
