/* net/fetch.h follows no redirect; here it is done by hand, since each hop has to be judged by the
 * same rule as the first. What is judged was read by the parser of the library that calls it. */
#include "platforms/download.h"

#include "base/limits.h"
#include "net/call.h"
#include "net/url.h"
#include "text/human.h"

enum { MAX_HOPS = 3, CONNECT_MS = 10000, IDLE_MS = 10000, MAX_PATIENCE_S = 24 * 3600 };

/* -- where -- */

static bool is_below(Str host, Str domain)
{
    return str_eq(host, domain) || (host.n > domain.n + 1 && str_ends(host, domain) &&
                                    host.p[host.n - domain.n - 1] == '.');
}

static bool is_theirs(const Url *url, const char *hosts)
{
    Str rest = str_of(hosts), domain;

    while (url->tls && url->port == 443 && str_split(&rest, '|', &domain))
        if (domain.n && is_below(url->host, domain))
            return true;
    return false;
}

static bool is_configured(Arena *a, const Url *url, const char *base)
{
    Err ignored;
    Url api;

    return url_parse(a, base, &api, &ignored) && str_eq(url->host, api.host) &&
           url->port == api.port && url->tls == api.tls;
}

bool download_may(Arena *a, const Download *d, const char *url, Err *err)
{
    Err ignored;
    Url parts;

    if (!url_parse(a, url, &parts, &ignored))
        return err_set(err, ERR_REFUSED, "its address does not belong to %s", d->platform);
    return is_theirs(&parts, d->hosts) || is_configured(a, &parts, d->base) ||
           err_set(err, ERR_REFUSED, "it is stored at '%.*s', not at %s",
                   STR_FMT(str_head(parts.host, 100)), d->platform);
}

/* -- what came -- */

static bool no_answer(Arena *a, const Download *d, const CallAnswer *answer, Err *err)
{
    if (answer->end == FETCH_TOO_LARGE)
        return err_set(err, ERR_TOO_LARGE, "larger than %.*s",
                       STR_FMT(human_bytes(a, (int64_t)d->limit)));
    return err_set(err, ERR_IO, "download from %s failed: %s", d->platform,
                   fetch_end_text(answer->end));
}

static bool be_patient(const Download *d, const CallAnswer *answer, Fetched *ret, Err *err)
{
    int64_t seconds;

    if (!str_to_int(call_header(answer, "Retry-After"), 1, MAX_PATIENCE_S, &seconds))
        seconds = 1;
    ret->wait_ms = seconds * 1000;
    return err_set(err, ERR_BUSY, "%s rate limit: wait %lld s", d->platform, (long long)seconds);
}

static bool judge(const Download *d, const CallAnswer *answer, Fetched *ret, Err *err)
{
    int status = answer->status;

    if (status == 429)
        return be_patient(d, answer, ret, err);
    if (status >= 500)
        return err_set(err, ERR_IO, "%s cannot provide it now (status %d)", d->platform, status);
    if (status == 404 || status == 410)
        return err_set(err, ERR_NOT_FOUND, "%s no longer has it", d->platform);
    if (status != 200)
        return err_set(err, ERR_REFUSED, "%s refuses the download (status %d)", d->platform,
                       status);
    if (d->no_pages && str_starts(call_header(answer, "Content-Type"), STR("text/html")))
        return err_set(err, ERR_REFUSED,
                       "%s returned a web page instead; allow the app to read files", d->platform);
    ret->bytes = answer->body;
    return true;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* -- all of it -- */

bool download(Net *net, Arena *a, const Download *d, Fetched *ret, Err *err)
{
    const char *const headers[] = { d->header, NULL };
    FetchRequest request = { .method = "GET",
                             .url = str_z(a, d->url),
                             .headers = headers,
                             .times = { .connect = CONNECT_MS,
                                        .first = LIMIT_PLATFORM_CALL_MS,
                                        .idle = IDLE_MS,
                                        .total = LIMIT_PLATFORM_CALL_MS },
                             .max = d->limit,
                             .secret = true };

    *ret = (Fetched){ 0 };
    for (int hop = 0; hop < MAX_HOPS; hop++) {
        CallAnswer answer;

        if (!download_may(a, d, request.url, err) || !call_wait(net, a, &request, &answer, err))
            return false;
        if (answer.end != FETCH_OK)
            return no_answer(a, d, &answer, err);
        if (!is_redirect(answer.status))
            return judge(d, &answer, ret, err);
        request.url = str_z(a, call_header(&answer, "Location"));
    }
    return err_set(err, ERR_REFUSED, "%s redirects too often", d->platform);
}
