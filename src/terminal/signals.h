/* signals.h - what the terminal and the system want of us, as a word that a loop can look at.
 *
 * Whichever thread a signal comes to, its handler leaves a mark and wakes the loop through a descriptor;
 * what has to be done is done by the loop, between two keys. One user at a time. */
#ifndef TALARIA_TERMINAL_SIGNALS_H
#define TALARIA_TERMINAL_SIGNALS_H

#include <stdbool.h>

/* X(name, signal) */
#define TERMINAL_SIGNALS(X)                                                                        \
    X(CAME_INTERRUPT, SIGINT)                                                                      \
    X(CAME_RESIZE, SIGWINCH)                                                                       \
    X(CAME_SUSPEND, SIGTSTP)                                                                       \
    X(CAME_END, SIGTERM)                                                                           \
    X(CAME_HANGUP, SIGHUP)

typedef enum Came {
#define X(name, signal) name,
    TERMINAL_SIGNALS(X)
#undef X
        CAME_COUNT
} Came;

/* wake_fd: an eventfd that does not block. */
void signals_begin(int wake_fd, bool terminal); /* terminal: also those of its size and of Ctrl-Z */
void signals_end(void);
/* Whether it came since the last call. */
bool signals_came(Came which);

#endif
