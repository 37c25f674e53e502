/* fetch.h - one outgoing HTTP request: streamed, bounded, cancellable.
 *
 * What it never does: follow a redirect, speak anything but http and https, take a proxy from the
 * environment, leave TLS unchecked, log a header or a body, try again. What a header holds is
 * nobody's business but the server's; a request that says it carries a secret is refused over plain
 * http to another machine, unless the caller was told to allow it.
 *
 * Callbacks run on the loop's thread: head once (the final one, not 1xx), body any number of times,
 * done exactly once and last, whatever happens. */
#ifndef TALARIA_NET_FETCH_H
#define TALARIA_NET_FETCH_H

#include "base/str.h"
#include "net/net.h"

/* How a request ended: name, and what to tell people. */
#define FETCH_ENDS(X)                                                                              \
    X(FETCH_OK, "answered")                                                                        \
    X(FETCH_CONNECT, "cannot connect")                                                             \
    X(FETCH_TLS, "the server's certificate or TLS was not accepted")                               \
    X(FETCH_CUT, "the connection broke")                                                           \
    X(FETCH_TIMEOUT_CONNECT, "no connection in time")                                              \
    X(FETCH_TIMEOUT_FIRST, "no first byte in time")                                                \
    X(FETCH_TIMEOUT_IDLE, "nothing came for too long")                                             \
    X(FETCH_TIMEOUT_TOTAL, "not finished in time")                                                 \
    X(FETCH_TOO_LARGE, "the answer is too large")                                                  \
    X(FETCH_STOPPED, "the reader had enough")                                                      \
    X(FETCH_CANCELLED, "cancelled")

typedef enum FetchEnd {
#define X(end, text) end,
    FETCH_ENDS(X)
#undef X
} FetchEnd;

const char *fetch_end_text(FetchEnd end);

typedef struct FetchHead {
    int status;
    Str lines; /* name: value CRLF ... */
} FetchHead;

/* The trimmed value of the first header of that name, whatever its case; p NULL: there is none. */
Str fetch_header(const FetchHead *head, const char *name);

typedef struct FetchDone {
    FetchEnd end;
    int status;         /* 0: no head came */
    const char *detail; /* libcurl's words where it has some, else those of the table */
} FetchDone;

typedef struct FetchHandlers {
    bool (*head)(void *ctx, const FetchHead *head); /* false stops; may be NULL */
    bool (*body)(void *ctx, Str bytes);             /* false stops */
    void (*done)(void *ctx, const FetchDone *done);
} FetchHandlers;

/* Milliseconds; 0 is no limit. */
typedef struct FetchTimes {
    int64_t connect; /* until there is a connection, TLS included */
    int64_t first;   /* until the first byte of the body */
    int64_t idle;    /* from one byte of the body to the next */
    int64_t total;
} FetchTimes;

typedef struct FetchRequest {
    const char *method;         /* "GET", "POST", "PUT", "PATCH", "DELETE" */
    const char *url;            /* http or https, without user and password */
    const char *const *headers; /* "Name: value", ended by NULL; or NULL */
    Str body; /* of a POST, also where it is empty; of others where there is one */
    FetchTimes times;
    size_t max;        /* bytes of the body; 0: whatever the handler takes */
    const char *proxy; /* URL of a proxy, or NULL: none. Never used for this machine itself. */
    bool secret;       /* a header carries a key */
    bool allow_plain;  /* ... which may go over http to another machine */
} FetchRequest;

/* Whether the request may be sent at all: the address, and the rule about secrets. */
MUST_CHECK bool fetch_check(const FetchRequest *request, Err *err);

/* Copies the request and begins. Any thread, also from callbacks. On failure no callback comes. */
MUST_CHECK bool fetch_start(Net *net, const FetchRequest *request, const FetchHandlers *handlers,
                            void *ctx, NetId *ret_id, Err *err);

/* Ends it with FETCH_CANCELLED, soon; nothing where it has ended already. Any thread. */
void fetch_cancel(Net *net, NetId id);

/* What is still to come is not needed: FETCH_STOPPED after so many milliseconds, unless it ends by
 * itself before. Lets a connection be used again that only has to say that it is done. Any
 * thread. */
void fetch_drain(Net *net, NetId id, int64_t ms);

#endif
