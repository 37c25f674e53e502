/* streams.h - responses that stay open: event streams, thousands of them, most of them silent.
 *
 * Once a request is admitted, its stream takes the socket over from libmicrohttpd, which would keep
 * a pool of 16 KiB for the connection and need two calls (resume, suspend) for every event. Here a
 * silent stream costs its own struct and a descriptor, and one thread writes all of them.
 *
 * A Stream is the first member of its reader's struct, which is freed with mem_free at the end. */
#ifndef TALARIA_HTTP_STREAMS_H
#define TALARIA_HTTP_STREAMS_H

#include <sys/types.h>

#include "http/request.h"

typedef struct Streams Streams;
typedef struct Stream Stream;

typedef struct StreamKind {
    /* Up to max bytes; 0: none now, and stream_wake will be called; -1: the end. On the streams'
     * thread. */
    ssize_t (*read)(Stream *s, char *out, size_t max);
    /* Gives back all that it holds but itself. When it returns, nobody calls stream_wake or
     * stream_drop. */
    void (*leave)(Stream *s);
} StreamKind;

struct Stream {
    const StreamKind *kind;
    Streams *all;
    Stream *prev, *next;             /* of all, under the lock */
    Stream *prev_ready, *next_ready; /* of those to be looked at, under the lock */
    bool begun, ready, dropped;      /* under the lock */
    bool gone, chunked, ended;       /* the thread's own, as all below */
    bool silent; /* the client has closed its side, and has most probably left */
    int fd;
    uint32_t rest_n, rest_at; /* what the socket would not take yet */
    char *rest;
};

/* beat(ctx) is called about once a second while there are streams. */
MUST_CHECK Streams *streams_start(void (*beat)(void *ctx), void *ctx, Err *err);
/* Ends the streams that are still open. After the daemons. */
Streams *streams_stop(Streams *all);
size_t streams_count(Streams *all);

/* From here on stream_wake and stream_drop may be called; until it has begun they are only
 * remembered. */
void stream_init(Stream *s, Streams *all, const StreamKind *kind);
/* Takes the connection of rq over and begins with the headers of `head`. After stream_init; on the
 * connection's epoll thread, in a round of the handler that follows a suspension. On failure s is
 * still the caller's. */
MUST_CHECK bool stream_begin(Stream *s, Request *rq, struct MHD_Response *head, Err *err);

/* There is something to read, or the end. Any thread, never waits. */
void stream_wake(Stream *s);
/* It does not keep up: closed at once. Any thread. */
void stream_drop(Stream *s);

#endif
