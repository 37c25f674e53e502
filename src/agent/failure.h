/* failure.h - what failed, in few words: the command, the line that says why.
 *
 * So that a thousand failed calls become a handful of kinds. Pure; text lives in the arena or is
 * part of what was passed in. */
#ifndef TALARIA_AGENT_FAILURE_H
#define TALARIA_AGENT_FAILURE_H

#include "base/arena.h"

/* Whether the tool runs commands of a shell, whatever its agent calls it. */
bool failure_is_shell(Str tool);

/* "git push" of "cd /tmp && sudo git push -f origin": the program, and its subcommand if it has
 * one. */
Str failure_command(Arena *a, Str command);

/* The line of a tool's result that says what went wrong; empty: none does. */
Str failure_line(Arena *a, Str result);

/* The line without what differs from one time to the next: numbers, quoted names, paths. */
Str failure_kind(Arena *a, Str line);

#endif
