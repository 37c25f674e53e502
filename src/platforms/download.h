/* download.h - the bytes of a file from an address that came in an update.
 *
 * Whoever writes an update (a stranger's server behind a link, a forged event) must not choose
 * where we call: the address has to be the platform's own, or of the server that is configured, and
 * so has every one to which it redirects. Nothing is sent anywhere else, the token least of all. */
#ifndef TALARIA_PLATFORMS_DOWNLOAD_H
#define TALARIA_PLATFORMS_DOWNLOAD_H

#include "platforms/platform.h"

typedef struct Download {
    const char *platform; /* in words for people */
    Str url;
    const char *base;   /* address of the API: its host and port may be called too, as they are */
    const char *hosts;  /* "a.com|b.com": these and what lies below them, over https */
    const char *header; /* goes with it; NULL: none */
    size_t limit;
    bool no_pages; /* HTML is a page that asks for a login, not the file */
} Download;

/* ERR_REFUSED, ERR_NOT_FOUND, ERR_TOO_LARGE; ERR_BUSY and ERR_IO may work later. The words name no
 * address but its host. */
MUST_CHECK bool download(Net *net, Arena *a, const Download *d, Fetched *ret, Err *err);

/* Whether an address may be called at all; pure. */
MUST_CHECK bool download_may(Arena *a, const Download *d, const char *url, Err *err);

#endif
