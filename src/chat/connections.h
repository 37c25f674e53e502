/* connections.h - how the lines to chat platforms are, as the gateway last wrote it down for others
 * to see.
 *
 * On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_CHAT_CONNECTIONS_H
#define TALARIA_CHAT_CONNECTIONS_H

#include "store/own.h"

/* X(name): columns of platform_state. */
#define CONNECTION_TEXTS(X)                                                                        \
    X(platform)                                                                                    \
    X(link)    /* connecting, connected, reconnecting, refused; empty: not served */               \
    X(account) /* our own name there */                                                            \
    X(error)

#define CONNECTION_TIMES(X)                                                                        \
    X(since_ms)                                                                                    \
    X(heard_ms)                                                                                    \
    X(error_ms)

typedef struct ConnectionStatus {
#define X(name) Str name;
    CONNECTION_TEXTS(X)
#undef X
#define X(name) int64_t name;
    CONNECTION_TIMES(X)
#undef X
    int64_t updated_ms; /* of a process that died: long ago */
} ConnectionStatus;

/* All of them in one transaction; the cursors are left as they are. */
MUST_CHECK bool connections_put(OwnStore *own, const ConnectionStatus *all, size_t n, Err *err);
/* By name. */
MUST_CHECK bool connections_list(OwnStore *own, Arena *a, ConnectionStatus **ret, size_t *ret_n,
                                 Err *err);

/* What a person may have to look at. */
typedef struct ConnectionQueues {
    int64_t outgoing; /* words that wait to be sent */
    int64_t dead;     /* words that were given up */
    int64_t parked;   /* updates that were given up */
} ConnectionQueues;

MUST_CHECK bool connections_queues(OwnStore *own, Str platform, ConnectionQueues *ret, Err *err);

#endif
