#include "net/ndjson.h"

#include "base/limits.h"

Ndjson ndjson_of(size_t max, void (*fn)(void *ctx, Str line, bool cut), void *ctx)
{
    ASSERT(max > 0 && max <= LIMIT_NDJSON_LINE);
    return (Ndjson){ .line = BUF(max), .fn = fn, .ctx = ctx };
}

static void give(Ndjson *n, bool cut)
{
    Str line = buf_str(&n->line);

    if (!cut && line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (str_trim(line).n)
        n->fn(n->ctx, line, cut);
    buf_clear(&n->line);
}

/* As much of the line as may be kept; past that it is given as it is. */
static void gather(Ndjson *n, Str part)
{
    size_t room = n->line.max - n->line.n;

    if (n->skipping)
        return;
    buf_add(&n->line, str_head(part, room));
    if (part.n > room) {
        give(n, true);
        n->skipping = true;
    }
}

void ndjson_feed(Ndjson *n, Str bytes)
{
    while (bytes.n) {
        const char *lf = memchr(bytes.p, '\n', bytes.n);
        size_t end = lf ? (size_t)(lf - bytes.p) : bytes.n;

        gather(n, str_head(bytes, end));
        if (!lf)
            return;
        if (!n->skipping)
            give(n, false);
        n->skipping = false;
        bytes = str_skip(bytes, end + 1);
    }
}

void ndjson_finish(Ndjson *n)
{
    if (!n->skipping)
        give(n, false);
    n->skipping = false;
    buf_done(&n->line);
}
