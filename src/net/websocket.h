/* websocket.h - a WebSocket as a client: whole messages of text, in both directions.
 *
 * One connection is one object with its own thread, on which its callbacks run: text for every
 * message, closed exactly once and last, also where there never was a connection. Pings are
 * answered, and a silent other end is asked for a sign of life, so that a connection that died
 * without a word is noticed.
 *
 * As with fetch.h, redirects are not followed, proxies not taken from the environment, certificates
 * checked, and nothing goes to another machine in plain text unless the caller was told to allow
 * it: addresses hold tickets, messages hold tokens. */
#ifndef TALARIA_NET_WEBSOCKET_H
#define TALARIA_NET_WEBSOCKET_H

#include "base/err.h"

typedef struct WebSocket WebSocket;

/* How it can end without a word of the other end; the rest are numbers of RFC 6455. */
enum {
    WS_NORMAL = 1000,
    WS_GOING_AWAY = 1001,
    WS_NOT_TEXT = 1003,
    WS_BROKE = 1006,
    WS_BAD_TEXT = 1007,
    WS_TOO_LARGE = 1009
};

typedef struct WsHandlers {
    /* Valid UTF-8, at most LIMIT_CALL_BODY; borrowed. */
    void (*text)(void *ctx, Str message);
    /* What the other end said, or we; WS_BROKE and why where nobody said anything. */
    void (*closed)(void *ctx, int code, Str why);
} WsHandlers;

typedef struct WsOptions {
    bool allow_plain; /* ws:// to another machine */
    int connect_s;    /* seconds for each step until it is open; 0: LIMIT_WS_CONNECT_S */
    int silent_s;     /* 0: LIMIT_WS_SILENT_S; twice as long and it counts as broken */
} WsOptions;

/* Begins to connect to a ws:// or wss:// address and returns at once. On failure no callback
 * comes. */
MUST_CHECK WebSocket *ws_open(const char *url, const WsOptions *options, const WsHandlers *handlers,
                              void *ctx, Err *err);

/* Queues a copy; also before the connection stands. ERR_IO: it is closed; ERR_BUSY: more than
 * LIMIT_CALL_BODY waits. Any thread, also callbacks. */
MUST_CHECK bool ws_send(WebSocket *ws, Str text, Err *err);

/* Says good-bye behind what is queued, or gives up where it is not open yet; closed() comes soon.
 * Any thread, also callbacks. */
void ws_close(WebSocket *ws, int code);

/* Ends it at once where it has not ended, and waits for closed(). Not from a callback. */
WebSocket *ws_free(WebSocket *ws);
AUTO_FREE(WebSocket, ws_free)

#endif
