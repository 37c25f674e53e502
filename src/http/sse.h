/* sse.h - server-sent events: their wire format, GET /api/events, and runs as event streams.
 *
 * Every event stream is a subscriber of a feed (agent/feed.h): the frames of a run, or the events
 * that all open pages get. Frames are shared by their readers and turned into bytes while they are
 * copied to a socket. A page that falls behind by LIMIT_HTTP_BACKLOG bytes is dropped: its browser
 * reconnects by itself and asks for the whole state, so nothing is replayed and Last-Event-ID is
 * not needed.
 *
 * A client that disconnects does not touch its run, unless chat.cancel_on_disconnect says so. A
 * client of OpenAI's dialect cancels it: it has no other way to stop what it pays for. */
#ifndef TALARIA_HTTP_SSE_H
#define TALARIA_HTTP_SSE_H

#include "agent/runlog.h"
#include "http/request.h"

/* -- the frame -- */

/* A FrameCopy: "id: RUN:SEQ\nevent: NAME\ndata: DATA\n\n"; without the first line in a feed without
 * id. */
size_t sse_copy(const Feed *feed, const Frame *f, size_t offset, char *out, size_t max);
/* The same without id and around JSON that is written to a Buf; event NULL: no such line either. */
void sse_begin(Buf *out, const char *event);
void sse_finish(Buf *out);

/* -- events for all pages -- */

typedef struct Sse Sse;

Sse *sse_new(void);
Sse *sse_free(Sse *sse); /* after the last reader has gone */

/* Makes the request a stream, begun with one event: see stream_begin. */
MUST_CHECK bool sse_join(Sse *sse, Request *rq, const char *event, Str data, Err *err);
/* To every reader; event is static text, data one line. Any thread, never waits for a reader. */
void sse_publish(Sse *sse, const char *event, Str data);
bool sse_has_readers(Sse *sse);
void sse_beat(Sse *sse); /* called about once a second */
/* Ends all streams, and those that join later at once. */
void sse_end(Sse *sse);

/* -- runs -- */

/* Another dialect: appends its events for a frame, which may be none. */
typedef void FrameView(void *ctx, const Frame *f, Buf *out);

/* Sends the frames after seq `after`; takes the reference of live over. view NULL: the frames as
 * they are. ctx is freed with mem_free at the end. On an epoll thread. ERR_BUSY: too many streams
 * are open. */
MUST_CHECK bool sse_send_run(Request *rq, LiveRun *live, int64_t after, FrameView *view, void *ctx,
                             Err *err);

#endif
