/* signals.h - signals as flags that a loop tests, and a descriptor that wakes it.
 *
 * The handler only marks the signal and writes to the descriptor, whichever thread it interrupts;
 * the program acts where it tests the flags. One user at a time. */
#ifndef TALARIA_BASE_SIGNALS_H
#define TALARIA_BASE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef enum SignalSet {
    SIGNALS_STOP = 1,     /* SIGINT, SIGTERM */
    SIGNALS_HANGUP = 2,   /* SIGHUP */
    SIGNALS_TERMINAL = 4, /* SIGWINCH, SIGTSTP */
    SIGNALS_ONCE = 8      /* the second of each kind has its default effect: Ctrl-C twice kills */
} SignalSet;

/* set: of SignalSet. wake_fd: an eventfd, or -1. */
void signals_catch(unsigned set, int wake_fd);
void signals_release(void);

/* Whether it came since the last call. */
bool signals_came(int number);
/* The same of SIGINT, SIGTERM and SIGHUP together. */
bool signals_stop_came(void);

#endif
