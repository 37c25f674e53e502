/* guard.h - who may ask: Host, Origin, Sec-Fetch-Site and the token, in that order.
 *
 * A page of another site must not reach a server on this machine, neither by its name (rebinding)
 * nor by the browser's good will (forged requests), and a program without the token learns nothing.
 * One pure function decides, from header values alone; the matrix of tests/http/security.test.mjs
 * goes through its cells. Loopback is no credential: the token is asked for there too.
 *
 *   Host            exactly one of ours, always
 *   Sec-Fetch-Site  absent or same-origin; "none" (typed by the user) on GET and HEAD. A link from
 *                   elsewhere may open the page itself, which holds nothing, and nothing but it
 *   Origin          where there is one, ours. A cookie that comes with anything but GET or HEAD
 * must come with it; on a stream with it or with Sec-Fetch-Site: same-origin token "Authorization:
 * Bearer", else both parts that POST /api/auth gave: the cookie, and in X-Talaria-Page what the
 * page keeps for its own origin
 *
 * Browsers send the cookies of 127.0.0.1 to every port of the machine, so another server may see
 * ours: alone it is worth nothing. What the page keeps in localStorage is bound to scheme, host and
 * port, but scripts can read it: alone it is worth nothing either. Both follow from the token and a
 * salt; a new token or a new salt (logout) ends them.
 *
 * Several servers may share a folder. Whoever asks for a secret looks first whether the files have
 * changed, so that a logout or a new token counts for all of them from their next request on. */
#ifndef TALARIA_HTTP_GUARD_H
#define TALARIA_HTTP_GUARD_H

#include <pthread.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"

/* X(name, status, what is said) */
#define GUARD_VERDICTS(X)                                                                          \
    X(GUARD_OK, 200, "")                                                                           \
    X(GUARD_HOST, 403, "this server does not answer to that Host; --allow-host adds a name")       \
    X(GUARD_SITE, 403, "requests from other sites are refused")                                    \
    X(GUARD_ORIGIN, 403, "the Origin of the request is not this server")                           \
    X(GUARD_TOKEN, 401,                                                                            \
      "a token is needed: it is in the address that 'talaria serve' prints at a terminal, and in " \
      "the file server-token of our home, for 'Authorization: Bearer'")

typedef enum GuardVerdict {
#define X(name, status, text) name,
    GUARD_VERDICTS(X)
#undef X
} GuardVerdict;

int guard_status(GuardVerdict v);
const char *guard_text(GuardVerdict v);

/* 256 bits as 64 hexadecimal digits. */
enum { SECRET_CHARS = 64 };

/* A secret, and its file as it was when it was read. */
typedef struct SecretFile {
    Str path;
    char text[SECRET_CHARS + 1];
    struct stat seen;
    bool settled; /* false: so new that it may change again within one tick of its clock */
} SecretFile;

typedef struct Guard {
    Str *hosts; /* as they must stand in Host */
    size_t n_hosts;
    pthread_mutex_t lock; /* what follows changes at a logout, and with the files */
    SecretFile token, salt;
    char cookie[SECRET_CHARS + 1], page[SECRET_CHARS + 1];
} Guard;

typedef struct GuardAsk {
    bool reads;       /* GET or HEAD */
    bool stream;      /* an answer that continues */
    bool page;        /* the page itself: static, without secrets */
    bool needs_token; /* everything under /api/ */
    Str host, origin, site, mode, authorization, cookie, page_part; /* headers; p NULL: absent */
} GuardAsk;

GuardVerdict guard_check(Guard *g, const GuardAsk *ask);

/* What signs a browser in that has the token: the cookie's value and the page's part, in the arena.
 * False: the token is another one. */
bool guard_parts(Guard *g, Arena *a, Str token, Str *ret_cookie, Str *ret_page);
/* Ends what was given out so far, here and after a restart. */
MUST_CHECK bool guard_revoke(Guard *g, Err *err);

/* The secrets from `folder` (server-token, server-cookie; 0600), made where they are missing. */
MUST_CHECK bool guard_load(Guard *g, Arena *a, Str folder, Err *err);

/* 127.0.0.1, localhost and [::1] with the port, and the further ones of "a,b:8080". */
void guard_hosts(Guard *g, Arena *a, uint16_t port, Str bind, const char *more);

#endif
