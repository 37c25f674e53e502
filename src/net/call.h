/* call.h - one outgoing request whose whole answer is waited for.
 *
 * For threads that have nothing else to do meanwhile; never for the loop's own. */
#ifndef TALARIA_NET_CALL_H
#define TALARIA_NET_CALL_H

#include <pthread.h>

#include "base/arena.h"
#include "net/fetch.h"

typedef struct CallAnswer {
    FetchEnd end;
    int status; /* 0: no head came */
    Str head;   /* as FetchHead.lines */
    Str body;
    const char *detail; /* of an end that is not FETCH_OK */
    bool unsure;        /* it is not known whether the server has done what was asked */
} CallAnswer;

/* False only where the request cannot be sent at all; request->most bounds the body (0:
 * LIMIT_CALL_BODY). */
MUST_CHECK bool call_wait(Net *net, Arena *a, const FetchRequest *request, CallAnswer *ret,
                          Err *err);

/* Ends whatever call is being waited for with it, and every later one at once, with
 * FETCH_CANCELLED; for a thread that waits long. One call at a time; begins as CALL_STOP. */
typedef struct CallStop {
    pthread_mutex_t lock;
    NetId id;
    bool stopped;
} CallStop;

#define CALL_STOP ((CallStop){ .lock = PTHREAD_MUTEX_INITIALIZER })

MUST_CHECK bool call_wait_stop(Net *net, Arena *a, const FetchRequest *request, CallStop *stop,
                               CallAnswer *ret, Err *err);
void call_stop(Net *net, CallStop *stop); /* any thread */

/* The trimmed value of a header of the answer; p NULL: there is none. */
Str call_header(const CallAnswer *answer, const char *name);

#endif
