#include "http/assets.h"

#include "http/reply.h"

/* The application routes by itself below these; anything else that is no file is not found. */
static const char *const pages[] = { "/achievements", "/sessions", "/templates", "/sleep",
                                     "/handoffs",     "/chat",     "/settings",  "/status" };

static const Asset *file_of(Str path)
{
    for (size_t i = 0; i < n_assets; i++)
        if (str_eqz(path, assets[i].path))
            return &assets[i];
    return NULL;
}

bool asset_is_page(Str path)
{
    if (str_eqz(path, "/") || str_eqz(path, "/index.html"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        Str page = str_of(pages[i]);

        if (str_starts(path, page) && (path.n == page.n || path.p[page.n] == '/'))
            return true;
    }
    return false;
}

const Asset *asset_find(Str path)
{
    return asset_is_page(path) ? file_of(STR("/index.html")) : file_of(path);
}

void asset_send(Request *rq, const Asset *asset, int status)
{
    bool zip = asset->n_zipped && reply_takes_gzip(rq);
    const unsigned char *bytes = zip ? asset->zipped : asset->bytes;
    Str tag = str_of(asset->etag);
    Str etag = zip ? str_printf(rq->arena, "%.*s-gz\"", (int)tag.n - 1, tag.p) : tag;
    bool same = status == 200 && reply_not_modified(rq, etag.p);
    size_t n = same ? 0 : zip ? asset->n_zipped : asset->n;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);

    ASSERT(r);
    reply_headers(r, asset->type, etag.p, zip);
    reply_queue(rq, same ? 304 : status, r);
    MHD_destroy_response(r);
}
