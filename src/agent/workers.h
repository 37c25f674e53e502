/* workers.h - the few threads of the service that may wait: for a file, the database, a tool. */
#ifndef TALARIA_AGENT_WORKERS_H
#define TALARIA_AGENT_WORKERS_H

#include "base/err.h"

typedef struct Workers Workers;

MUST_CHECK Workers *workers_start(Err *err);
/* fn(arg) on one of them, in the order of adding. Any thread, never waits. */
void workers_add(Workers *pool, void (*fn)(void *arg), void *arg);
/* Runs what waits, then ends the threads. */
Workers *workers_stop(Workers *pool);

#endif
