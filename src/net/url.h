/* url.h - what has to be known of an address before anything is sent there. */
#ifndef TALARIA_NET_URL_H
#define TALARIA_NET_URL_H

#include "base/arena.h"
#include "base/err.h"

typedef struct Url {
    Str host; /* lower case, without brackets */
    int port;
    Str path;  /* begins with '/' */
    Str query; /* behind '?'; p NULL: there is none */
    bool tls;
    bool loopback; /* this machine: localhost, 127.0.0.0/8, ::1 */
} Url;

/* http and https only, by libcurl's own parser, so that what is checked is what is called.
 * A user, a password or a fragment is refused: an address may be logged, a secret not. */
MUST_CHECK bool url_parse(Arena *a, const char *text, Url *ret, Err *err);

#endif
