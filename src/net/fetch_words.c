/* What of a request needs no connection: its words, its headers, whether it may be sent. */
#include "net/fetch.h"

#include "net/url.h"

const char *fetch_end_text(FetchEnd end)
{
    static const char *const texts[] = {
#define X(end, text) [end] = text,
        FETCH_ENDS(X)
#undef X
    };

    return texts[end];
}

Str fetch_header(const FetchHead *head, const char *name)
{
    Str rest = head->lines, line;

    while (str_split(&rest, '\n', &line)) {
        size_t colon = str_find(line, STR(":"));

        if (colon < line.n && str_eq_nocase(str_head(line, colon), str_of(name)))
            return str_trim(str_skip(line, colon + 1));
    }
    return STR_NONE;
}

bool fetch_check(const FetchRequest *request, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Url url;

    if (!url_parse(a, request->url, &url, err))
        return false;
    if (request->secret && !url.tls && !url.loopback && !request->allow_plain)
        return err_set(err, ERR_REFUSED,
                       "a key would go to '%.*s' over plain http, for everyone on the way to read",
                       STR_FMT(url.host));
    return true;
}
