/* sse.h - reading text/event-stream, by the rules of the WHATWG standard.
 *
 * Fed with pieces as they arrive; where they are cut makes no difference. One byte order mark at
 * the start is dropped; CR, LF and CRLF end lines, also mixed; a block without data is no event,
 * but its id is taken; a block that the end of the stream cuts off is no event. Text passes as the
 * bytes that came: whoever reads it as JSON checks its UTF-8. A line over LIMIT_SSE_LINE or an
 * event over LIMIT_SSE_EVENT ends the reading. Not thread-safe. */
#ifndef TALARIA_NET_SSE_H
#define TALARIA_NET_SSE_H

#include "base/str.h"

typedef struct SseEvent {
    Str name; /* "message" where none was given */
    Str data; /* its lines joined by LF; lives until the handler returns */
    Str id;   /* the last one given in the stream */
} SseEvent;

/* False: no more events are wanted. */
typedef bool SseEventFn(void *ctx, const SseEvent *event);

typedef struct SseParser SseParser;

SseParser *sse_parser_new(SseEventFn *fn, void *ctx);
SseParser *sse_parser_free(SseParser *p);
AUTO_FREE(SseParser, sse_parser_free)

/* False: a limit was passed or the handler has had enough; what comes later is ignored. */
MUST_CHECK bool sse_parser_feed(SseParser *p, Str bytes);
bool sse_parser_too_large(const SseParser *p);

/* The milliseconds of the last `retry`; -1 where there was none. */
int64_t sse_parser_retry(const SseParser *p);

#endif
