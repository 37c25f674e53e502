/* sse.h - GET /api/events: what happens, pushed to every open page.
 *
 * An event is made once and shared by all its readers (the only counted references of the program).
 * A reader that does not keep up is dropped when LIMIT_HTTP_BACKLOG bytes wait for it: its browser
 * comes back by itself and asks for the whole state anew, so nothing is replayed and Last-Event-ID
 * is not needed. Without an event a comment every 15 s keeps the line and finds those who left. */
#ifndef TALARIA_HTTP_SSE_H
#define TALARIA_HTTP_SSE_H

#include "http/request.h"

typedef struct Sse Sse;

Sse *sse_new(void);
Sse *sse_free(Sse *sse); /* after the last reader has gone */

/* Makes the request a stream, begun with one event: see stream_begin. */
MUST_CHECK bool sse_join(Sse *sse, Request *rq, const char *event, Str data, Err *err);

/* To every reader; data is one line. Any thread, never waits for a reader. */
void sse_publish(Sse *sse, const char *event, Str data);

/* Whether there is any reader. */
bool sse_is_heard(Sse *sse);

/* Called about once a second. */
void sse_beat(Sse *sse);

/* Ends all streams, and those that come later at once. */
void sse_end(Sse *sse);

#endif
