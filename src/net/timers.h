/* timers.h - the timers of the loop, for the files of this room; on the loop's thread only.
 *
 * A Timers holds pointers alone: a timer lies in the object that it belongs to. */
#ifndef TALARIA_NET_TIMERS_H
#define TALARIA_NET_TIMERS_H

#include "net/net.h"

typedef struct Timers {
    NetTimer **heap; /* the earliest first */
    NetTimer **due;  /* of the round that is going on; NULL: it was stopped or moved meanwhile */
    size_t n, n_due, cap;
    int64_t now; /* of that round */
} Timers;

void timers_done(Timers *t);
void timers_set(Timers *t, NetTimer *timer, int64_t at_ms);
void timers_stop(Timers *t, NetTimer *timer);

/* When there is something to do, at the earliest; INT64_MAX: never. */
int64_t timers_next(const Timers *t);

/* Calls those that are due. One that is set by such a call waits for the next round, also where it
 * is due already: descriptors have their turn in between. */
void timers_run(Timers *t, int64_t now_ms);

#endif
