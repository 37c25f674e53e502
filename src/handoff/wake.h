/* wake.h - how a gateway learns that there is something to do, without asking all the time.
 *
 * A datagram to gateway.sock in our own home, and inotify on the folders of the databases: either
 * is enough, and what both miss is found by the next slow look. */
#ifndef TALARIA_HANDOFF_WAKE_H
#define TALARIA_HANDOFF_WAKE_H

#include "store/homes.h"

typedef struct Wake Wake;

MUST_CHECK Wake *wake_open(const Homes *homes, Err *err);
/* The folders alone, for one who waits beside a gateway; where there is no inotify the time has to
 * do. */
Wake *wake_watch(const Homes *homes);
Wake *wake_close(Wake *w);
AUTO_FREE(Wake, wake_close)

/* Waits for a call, for the time, or for `also` (-1: none; *ret_also: it can be read). */
MUST_CHECK bool wake_wait(Wake *w, int64_t ms, int also, bool *ret_also, Err *err);

/* Whether what ended the last wait was a change of a database of others, or comes again after
 * one. */
bool wake_was_foreign(const Wake *w);

/* Calls the gateway of that home, where one is running. */
void wake_call(Str data);

/* The lock that the gateway of a data folder holds for as long as it runs. */
char *gateway_lock_path(Arena *a, Str data);
bool gateway_is_running(Str data);

#endif
