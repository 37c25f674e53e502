/* links.h - how the lines to chat platforms are, as the gateway last wrote it down for others to see.
 *
 * On a Journal, so one thread; text lives in the arena. */
#ifndef TALARIA_STORE_LINKS_H
#define TALARIA_STORE_LINKS_H

#include "handoff/handoff.h"

/* X(name): columns of platform_state. */
#define LINK_TEXTS(X)                                                                              \
    X(platform)                                                                                    \
    X(link)    /* connecting, connected, reconnecting, refused; empty: not served */               \
    X(account) /* our own name there */                                                            \
    X(error)

#define LINK_TIMES(X)                                                                              \
    X(since_ms)                                                                                    \
    X(heard_ms)                                                                                    \
    X(error_ms)

typedef struct Link {
#define X(name) Str name;
    LINK_TEXTS(X)
#undef X
#define X(name) int64_t name;
    LINK_TIMES(X)
#undef X
    int64_t updated_ms; /* of a process that died: long ago */
} Link;

/* All of them in one transaction; the cursors are left as they are. */
MUST_CHECK bool links_put(Journal *j, const Link *all, size_t n, Err *err);
/* By name. */
MUST_CHECK bool links_list(Journal *j, Arena *a, Link **ret, size_t *ret_n, Err *err);

/* What a person may have to look at. */
typedef struct LinkQueues {
    int64_t outgoing; /* words that wait to be sent */
    int64_t dead;     /* words that were given up */
    int64_t parked;   /* updates that were given up */
} LinkQueues;

MUST_CHECK bool links_queues(Journal *j, Str platform, LinkQueues *ret, Err *err);

#endif
