/* activity.h - when each session of a home was last active, kept between processes.
 *
 * A large home's keys are kept in index.db with a stamp of its files: as long as these are
 * unchanged nothing is read but the keys. Otherwise the engine adds what came since. A small home
 * has none kept. One thread a handle. */
#ifndef TALARIA_STORE_ACTIVITY_H
#define TALARIA_STORE_ACTIVITY_H

#include "store/engine.h"

typedef struct Activity {
    SessionKey *keys; /* latest first by `active`, then by rowid */
    size_t n;
    bool upper; /* a session may have been active earlier than its key says: look before it is
                 * shown */
} Activity;

/* data: our own folder. Of the query only the source counts. */
MUST_CHECK bool activity_read(const Engine *engine, Conn *conn, const Home *home, Str data,
                              const SessionQuery *query, Arena *a, Activity *ret, Err *err);

/* Sorts keys of which most are in order already. */
void activity_sort(Arena *a, SessionKey *keys, size_t n);

#endif
