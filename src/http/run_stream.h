/* run_stream.h - a run as an answer that goes on: the frames of its log, or another dialect's view of them.
 *
 * A stream is a place in the log (agent/runlog.h) and little more; nothing is copied for it. One that goes
 * away does not touch the run, unless chat.cancel_on_disconnect says so; one of another dialect, and one who waits for
 * the end, ends it: such a client has no other way to stop what it pays for. */
#ifndef TALARIA_HTTP_RUN_STREAM_H
#define TALARIA_HTTP_RUN_STREAM_H

#include "agent/runlog.h"
#include "http/request.h"

/* Another dialect: what a frame is there, appended to out; a frame may be nothing. */
typedef void FrameView(void *ctx, const Frame *f, Buf *out);

/* Queues the answer; takes the reference of live over. view NULL: the frames as they are. ctx is freed with
 * mem_free at the end. On an epoll thread. ERR_BUSY where too many streams are open. */
MUST_CHECK bool run_stream_send(Request *rq, LiveRun *live, int64_t after, FrameView *view,
                                void *ctx, Err *err);

/* Suspends the request until the run is over; then its handler runs once more, with rq->again. True: it is
 * over already. Takes the reference of live over; the frames are read through rq->wait. */
bool run_wait(Request *rq, LiveRun *live);

#endif
