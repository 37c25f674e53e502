/* ndjson.h - lines out of a stream of bytes, as programs write JSON, one value a line.
 *
 * Fed with pieces; where they are cut makes no difference. LF ends a line, a CR before it is
 * dropped, blank lines are skipped. A line over the limit is given once, cut at the limit and
 * marked, and the rest of it is passed over: one monstrous line costs itself and not the stream. */
#ifndef TALARIA_NET_NDJSON_H
#define TALARIA_NET_NDJSON_H

#include "base/buf.h"

typedef struct Ndjson {
    Buf line;
    bool skipping; /* the rest of a line that was too long */
    void (*fn)(void *ctx, Str line, bool cut);
    void *ctx;
} Ndjson;

/* most: bytes of a line, at most LIMIT_NDJSON_LINE. */
Ndjson ndjson_of(size_t max, void (*fn)(void *ctx, Str line, bool cut), void *ctx);
void ndjson_feed(Ndjson *n, Str bytes);
void ndjson_finish(Ndjson *n); /* the last line, where nothing ended it; releases */

#endif
