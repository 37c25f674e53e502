/* server.h - `talaria serve`: the page, its API and its event stream on one port.
 *
 * libmicrohttpd's epoll threads read requests, check them (guard.h) and answer what is at hand;
 * whatever touches a database or may wait goes to the workers (jobs.h) while the connection is
 * suspended. One table (routes.h) is the router, /openapi.json and the manual. */
#ifndef TALARIA_HTTP_SERVER_H
#define TALARIA_HTTP_SERVER_H

#include "base/err.h"
#include "store/homes.h"
#include "text/settings.h"

typedef struct Server Server;

typedef struct ServerOptions {
    Str bind;          /* an address; p NULL: 127.0.0.1 and, where there is one, [::1] */
    uint16_t port;     /* 0: any that is free */
    bool anywhere;     /* an address that is not loopback is meant */
    const char *hosts; /* further names for Host, "a,b:8080"; or NULL */
    HomesQuery where;  /* looked up again when databases come and go */
    const char *version;
} ServerOptions;

/* Borrows homes and settings. Listens when it returns. A port in use is ERR_CONFLICT. */
MUST_CHECK Server *server_start(const ServerOptions *options, const Homes *homes,
                                const Settings *settings, Err *err);
/* Accepts no more, lets what runs finish (at most LIMIT_HTTP_DRAIN_MS), ends streams. False:
 * something still ran then, and only the end of the process ends it. */
MUST_CHECK bool server_drain(Server *s);
Server *server_free(Server *s); /* after server_drain was true */
AUTO_FREE(Server, server_free)

Str server_url(const Server *s);   /* "http://127.0.0.1:8717/" */
Str server_token(const Server *s); /* goes after "#token=", on a terminal only */
Str server_token_file(const Server *s);

#endif
