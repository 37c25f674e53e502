/* connections.h - deadlines of open connections.
 *
 * libmicrohttpd ends a connection that is silent; one that sends a byte a second is never silent.
 * So each connection carries the instant by which its head, its body or its next request must be
 * complete; a thread that sleeps while there are no connections shuts down those that are late. */
#ifndef TALARIA_HTTP_CONNECTIONS_H
#define TALARIA_HTTP_CONNECTIONS_H

#include "base/err.h"

typedef struct Connections Connections;
typedef struct Connection Connection;

MUST_CHECK Connections *connections_start(Err *err);
Connections *connections_stop(Connections *all);

Connection *connection_open(Connections *all, int fd);
void connection_close(Connections *all, Connection *c);

/* Due in so many milliseconds; 0: we owe it an answer, nothing is due. */
void connection_due(Connection *c, int64_t in_ms);

/* left(ctx) is called once when the other side has gone, within a second or so, on the thread of
 * the deadlines: for a request whose connection is suspended, which libmicrohttpd does not look at.
 * NULL: no more; it is not being called when this returns. */
void connection_watch(Connections *all, Connection *c, void (*left)(void *ctx), void *ctx);

#endif
