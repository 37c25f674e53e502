/* connection.h - what every connection to a platform has: one thread that keeps it, how things
 * stand with it, and how long it waits after trouble.
 *
 * It lies inside the platform's Connection. `lock` guards it, and whatever else of the connection
 * its platform puts under it; who changes something that others wait for broadcasts `changed`. A
 * platform that has refused us stays so: nothing is tried any more. */
#ifndef TALARIA_PLATFORMS_CONNECTION_H
#define TALARIA_PLATFORMS_CONNECTION_H

#include <pthread.h>

#include "net/call.h"
#include "platforms/platform.h"

typedef struct ConnectionBase {
    const char *platform;
    const PlatformHost *host; /* the connection's own copy */
    pthread_t thread;
    CallStop stop; /* ends the call that the thread waits for */
    int tries;     /* failures in a row; the thread's alone */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool closing;
    ConnectionState state;
    int64_t since_ms, heard_ms, error_ms; /* wall clock */
    char error[ERR_TEXT_BYTES];
} ConnectionBase;

/* -- beginning and end -- */

/* The address of the platform's API, without '/' at its end: what is configured, else the public
 * one. */
MUST_CHECK bool connection_base_url(Arena *a, const char *platform, Str configured,
                                    const char *public_one, Str *ret, Err *err);
bool connection_fits_header(Str token); /* nothing but what may stand in a line of a request */

/* Takes config and cursor out of `host`: they are not the connection's to keep. */
void connection_init(ConnectionBase *w, const char *platform, PlatformHost *host);
void connection_done(ConnectionBase *w); /* of one that was not started, or has ended */
MUST_CHECK bool connection_start(ConnectionBase *w, void *(*run)(void *), void *ctx, Err *err);
void connection_end(ConnectionBase *w); /* waits until the thread has */

/* -- how things stand: any thread -- */

void connection_heard(ConnectionBase *w); /* the platform has answered something */
void connection_trouble(ConnectionBase *w, const char *text); /* that changes nothing else */
/* Comes to a state, for a reason or (NULL) without one; a change for a reason is logged, once. */
void connection_set_state(ConnectionBase *w, ConnectionState state, const char *why);
void connection_health(ConnectionBase *w, Arena *a, Health *ret);

/* Trouble that was switched on: asked before an outward call, and what becomes of the call by
 * it. */
PlatformFault connection_fault(const ConnectionBase *w, const char *call);
MUST_CHECK bool connection_broken(const ConnectionBase *w, PlatformFault fault, Sent *ret,
                                  Err *err);

/* -- waiting -- */

bool connection_goes_on(const ConnectionBase *w); /* under the lock */
void connection_wait(ConnectionBase *w,
                     int64_t until); /* under the lock: for a change, or that monotonic time */
bool connection_rest(ConnectionBase *w,
                     int64_t ms); /* false: it is being closed, or has no use any more */
MUST_CHECK int64_t connection_next_wait(
    ConnectionBase *w); /* twice as long after each failure, half of it by chance */

#endif
