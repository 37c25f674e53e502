/* program.h - crontab and systemctl, run to their end.
 *
 * Found in $PATH, started without a shell, given its input at once, ended after some seconds at the
 * latest. */
#ifndef TALARIA_SLEEP_SCHEDULE_PROGRAM_H
#define TALARIA_SLEEP_SCHEDULE_PROGRAM_H

#include "base/arena.h"
#include "base/err.h"

typedef struct ProgramResult {
    int exit_code; /* 127: there is no such program; -1: killed, or too slow */
    Str output;    /* of standard output, at most LIMIT_CRONTAB_BYTES */
    Str errors;    /* of standard error, its beginning */
} ProgramResult;

/* Fails only where no child could be made. */
MUST_CHECK bool program_run(Arena *a, const char *const *argv, Str input, ProgramResult *ret,
                            Err *err);

#endif
