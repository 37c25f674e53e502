/* assets.h - the page: files that web/build.mjs made, inside the binary.
 *
 * tools/assets.py writes the table at build time, each file as it is and gzipped. They are static
 * and hold no secret, so they are served without a token. */
#ifndef TALARIA_HTTP_ASSETS_H
#define TALARIA_HTTP_ASSETS_H

#include "http/request.h"

typedef struct Asset {
    const char *path; /* "/app.js" */
    const char *type;
    const char *etag; /* quoted; of the gzipped one with "-gz" before the last quote */
    const unsigned char *bytes, *zipped;
    size_t n, n_zipped; /* n_zipped 0: not worth it */
} Asset;

extern const Asset assets[]; /* in byte order of path */
extern const size_t n_assets;

/* The file of this path; for a page of the application its index.html; NULL: neither. */
const Asset *asset_find(Str path);

/* Whether the path is a page: "/", "/sessions", "/sessions/x/y", ... */
bool asset_is_page(Str path);

/* Queues it as the answer with this status, gzipped if the client accepts that. With 200 the answer
 * may become 304. */
void asset_send(Request *rq, const Asset *asset, int status);

#endif
