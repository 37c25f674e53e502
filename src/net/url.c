#include "net/url.h"

#include <arpa/inet.h>

#include "net/curl.h"

static Str part(Arena *a, CURLU *u, CURLUPart which)
{
    char *text = NULL;
    Str copy = STR_NONE;

    if (curl()->url_get(u, which, &text, 0) == CURLUE_OK)
        copy = str_dup(a, str_of(text));
    curl()->free(text);
    return copy;
}

static Str host_of(Arena *a, CURLU *u)
{
    Str host = part(a, u, CURLUPART_HOST);
    char *lower;

    if (host.n > 1 && host.p[0] == '[')
        host = (Str){ host.p + 1, host.n - 2 };
    lower = str_z(a, host);
    for (size_t i = 0; i < host.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] - 'A' + 'a');
    return (Str){ lower, host.n };
}

static bool is_loopback(Str host)
{
    struct in_addr four;
    struct in6_addr six;

    if (str_eqz(host, "localhost") || str_ends(host, STR(".localhost")))
        return true;
    if (inet_pton(AF_INET, host.p, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, host.p, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int port_of(Arena *a, CURLU *u, bool tls)
{
    int64_t port;

    return str_to_int(part(a, u, CURLUPART_PORT), 1, 65535, &port) ? (int)port : tls ? 443 : 80;
}

static bool take_parts(Arena *a, CURLU *u, const char *text, Url *ret, Err *err)
{
    Str scheme;

    if (curl()->url_set(u, CURLUPART_URL, text, 0) != CURLUE_OK)
        return err_set(err, ERR_INVALID,
                       "not an address that can be called: http:// or https://, "
                       "host and path were expected");
    scheme = part(a, u, CURLUPART_SCHEME);
    if (!str_eqz(scheme, "http") && !str_eqz(scheme, "https"))
        return err_set(err, ERR_INVALID, "'%.*s' addresses are not called, only http and https",
                       STR_FMT(scheme));
    if (part(a, u, CURLUPART_USER).p || part(a, u, CURLUPART_PASSWORD).p)
        return err_set(err, ERR_REFUSED, "an address must not hold a user or a password");
    if (part(a, u, CURLUPART_FRAGMENT).p)
        return err_set(err, ERR_INVALID, "an address to call has no '#'");
    *ret = (Url){ .host = host_of(a, u),
                  .path = part(a, u, CURLUPART_PATH),
                  .query = part(a, u, CURLUPART_QUERY),
                  .tls = str_eqz(scheme, "https") };
    ret->port = port_of(a, u, ret->tls);
    ret->loopback = is_loopback(ret->host);
    return true;
}

bool url_parse(Arena *a, const char *text, Url *ret, Err *err)
{
    CURLU *u;
    bool ok;

    if (!curl_load(err))
        return false;
    u = curl()->url();
    ok = u ? take_parts(a, u, text, ret, err) : err_set(err, ERR_INTERNAL, "out of memory");
    curl()->url_cleanup(u);
    return ok;
}
