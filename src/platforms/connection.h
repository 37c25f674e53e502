/* wire.h - what every connection to a platform has: one thread that keeps it, how things stand with it, and how
 * long it waits after trouble.
 *
 * It lies inside the platform's Connection. `lock` guards it, and whatever else of the connection its platform
 * puts under it; who changes something that others wait for broadcasts `changed`. A platform that has refused us
 * stays so: nothing is tried any more. */
#ifndef TALARIA_PLATFORMS_WIRE_H
#define TALARIA_PLATFORMS_WIRE_H

#include <pthread.h>

#include "net/call.h"
#include "platforms/platform.h"

typedef struct Wire {
    const char *platform;
    const PlatformHost *host; /* the connection's own copy */
    pthread_t thread;
    CallStop stop; /* ends the call that the thread waits for */
    int tries;     /* failures in a row; the thread's alone */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool closing;
    LinkState state;
    int64_t since_ms, heard_ms, error_ms; /* wall clock */
    char error[ERR_TEXT_BYTES];
} Wire;

/* -- beginning and end ------------------------------------------------------------------------------------ */

/* The address of the platform's API, without '/' at its end: what is configured, else the public one. */
MUST_CHECK bool wire_base(Arena *a, const char *platform, Str configured, const char *public_one,
                          Str *ret, Err *err);
bool wire_fits_header(Str token); /* nothing but what may stand in a line of a request */

/* Takes config and cursor out of `host`: they are not the connection's to keep. */
void wire_init(Wire *w, const char *platform, PlatformHost *host);
void wire_done(Wire *w); /* of one that was not started, or has ended */
MUST_CHECK bool wire_start(Wire *w, void *(*run)(void *), void *ctx, Err *err);
void wire_end(Wire *w); /* waits until the thread has */

/* -- how things stand: any thread ------------------------------------------------------------------------- */

int64_t wire_wall_ms(void);
void wire_heard(Wire *w);                     /* the platform has answered something */
void wire_trouble(Wire *w, const char *text); /* that changes nothing else */
/* Comes to a state, for a reason or (NULL) without one; a change for a reason is logged, once. */
void wire_come_to(Wire *w, LinkState state, const char *why);
void wire_health(Wire *w, Arena *a, Health *ret);

/* Trouble that was switched on: asked before an outward call, and what becomes of the call by it. */
PlatformFault wire_fault(const Wire *w, const char *call);
MUST_CHECK bool wire_broken(const Wire *w, PlatformFault fault, Sent *ret, Err *err);

/* -- waiting ---------------------------------------------------------------------------------------------- */

bool wire_goes_on(const Wire *w);       /* under the lock */
void wire_wait(Wire *w, int64_t until); /* under the lock: for a change, or that monotonic time */
bool wire_rest(Wire *w, int64_t ms);    /* false: it is being closed, or has no use any more */
MUST_CHECK int64_t
wire_next_wait(Wire *w); /* twice as long after each failure, half of it by chance */

#endif
