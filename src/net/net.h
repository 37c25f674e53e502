/* net.h - the one thread that owns all outgoing work.
 *
 * Requests (fetch.h), child processes (child.h) and the calls of models stand on one epoll loop in
 * one thread: what belongs to them is touched there and nowhere else, so there is nothing to lock.
 * Other threads hand work in with net_post and get their answers through callbacks, which run on
 * the loop's thread and must not wait for anything. Things in flight are named by numbers, never by
 * pointers: to cancel what has just ended is harmless. */
#ifndef TALARIA_NET_NET_H
#define TALARIA_NET_NET_H

#include "base/err.h"

typedef struct Net Net;
typedef uint64_t NetId; /* 0 is none */

/* Starts the thread. */
MUST_CHECK Net *net_new(Err *err);

/* Ends every request and kills every child (each still gets its last callback), then the thread.
 * Not from a callback. */
Net *net_free(Net *net);
AUTO_FREE(Net, net_free)

/* fn(ctx) on the loop's thread, soon, in the order of posting. Any thread. Posting to a loop that
 * is about to end still runs. */
void net_post(Net *net, void (*fn)(void *ctx), void *ctx);

/* -- timers: on the loop's thread only -- */

/* Lies in the object that it belongs to, which must stop it before it goes away. */
typedef struct NetTimer {
    int64_t at; /* clock_mono_ms() */
    void (*fn)(void *ctx);
    void *ctx;
    int64_t filed; /* the loop's own, as the next two (timers.c) */
    size_t place;
    bool due;
    bool armed;
} NetTimer;

/* Calls timer->fn(timer->ctx) once, at the time or a little later; setting it again moves it. */
void net_timer_set(Net *net, NetTimer *timer, int64_t at_ms);
void net_timer_stop(Net *net, NetTimer *timer);

#endif
