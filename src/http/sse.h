/* sse.h - GET /api/events: what happens, pushed to every open page.
 *
 * An event is made once and shared by all its readers (the only counted references of the program).
 * A reader that does not keep up is dropped when LIMIT_HTTP_BACKLOG bytes wait for it: its browser
 * comes back by itself and asks for the whole state anew, so nothing is replayed and Last-Event-ID
 * is not needed. Without an event a comment every 15 s keeps the line and finds those who left. */
#ifndef TALARIA_HTTP_SSE_H
#define TALARIA_HTTP_SSE_H

#include "base/err.h"

struct MHD_Connection;
struct MHD_Response;
typedef struct Sse Sse;

Sse *sse_new(void);
Sse *sse_free(Sse *sse); /* after the last reader has gone */

/* A response that goes on until the reader leaves, begun with one event. NULL where
 * LIMIT_HTTP_STREAMS are open already. */
struct MHD_Response *sse_join(Sse *sse, struct MHD_Connection *connection, const char *event,
                              Str data);

/* To every reader; data is one line. Any thread, never waits for a reader. */
void sse_publish(Sse *sse, const char *event, Str data);

/* Called about once a second. */
void sse_beat(Sse *sse);

/* Ends all streams, and those that come later at once. */
void sse_end(Sse *sse);

#endif
