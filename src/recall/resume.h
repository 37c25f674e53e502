/* resume.h - how a session continues in the program that wrote it.
 *
 * One table: a program and its form of "resume" for each origin. A session of a transcript or of
 * Hermes continues in its agent; everything in Talaria's own database continues in 'talaria chat',
 * whoever wrote it first. */
#ifndef TALARIA_RECALL_RESUME_H
#define TALARIA_RECALL_RESUME_H

#include "base/buf.h"
#include "recall/history.h"

enum { RESUME_WORDS = 6 };

typedef struct Resume {
    Str argv[RESUME_WORDS];
    size_t n;
    Str program; /* that must be installed: the first word but where it only sets the environment */
    Str folder;  /* where it must be started; empty: anywhere */
} Resume;

/* False where no program can: a sub-agent's transcript, or an id that a command line cannot
 * carry. */
bool resume_plan(Arena *a, const HistoryItem *item, Resume *ret);

/* Sessions of the demo are known to no agent: from here on all of them go on in 'talaria --demo
 * chat'. */
void resume_in_demo(void);
/* How a command that we print begins: "talaria", in the demo "talaria --demo". */
const char *resume_program(void);

/* The same as one line for a shell, safely quoted. Empty where there is none. */
Str resume_command(Arena *a, const HistoryItem *item);

#endif
