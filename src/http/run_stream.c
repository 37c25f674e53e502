/* A reader with nothing to read falls asleep under the run's lock and is woken under the same lock: it cannot
 * miss the call (as in sse.c). */
#include "http/run_stream.h"

#include "base/limits.h"
#include "base/log.h"
#include "http/reply.h"
#include "http/state.h"

typedef struct RunStream {
    Stream stream;
    RunSub sub;
    bool begun;
    Service *cancels; /* whose turn ends with the stream; NULL: it goes on */
    FrameView *view;
    void *view_ctx;
    Buf part; /* of a view: what is not sent yet */
    size_t sent;
} RunStream;

/* Under the run's lock. */
static void wake_up(void *ctx)
{
    RunStream *s = ctx;

    if (s->sub.dropped)
        stream_drop(&s->stream);
    else
        stream_wake(&s->stream);
}

/* -- reading ---------------------------------------------------------------------------------------- */

static ssize_t read_frames(Stream *stream, char *out, size_t max)
{
    static const Str first = STR_INIT("retry: 2000\n");
    RunStream *s = (RunStream *)stream;

    if (!s->begun && max >= first.n) {
        memcpy(out, first.p, first.n);
        s->begun = true;
        return (ssize_t)first.n;
    }
    return sub_read(&s->sub, out, max);
}

static ssize_t read_view(Stream *stream, char *out, size_t max)
{
    RunStream *s = (RunStream *)stream;
    size_t n;

    while (s->sent == s->part.n) {
        bool over;
        const Frame *f = sub_next(&s->sub, &over);

        if (!f)
            return over ? -1 : 0;
        buf_clear(&s->part);
        s->sent = 0;
        s->view(s->view_ctx, f, &s->part);
    }
    n = s->part.n - s->sent < max ? s->part.n - s->sent : max;
    memcpy(out, s->part.p + s->sent, n);
    s->sent += n;
    return (ssize_t)n;
}

/* Who began the turn has gone away; not so one who was sent away for not reading. */
static void cancel_if_left(RunStream *s)
{
    Err err;

    if (s->cancels && !s->sub.dropped && live_has_more(s->sub.run, INT64_MAX) &&
        !service_cancel(s->cancels, str_of(live_id(s->sub.run)), &err))
        log_warning("a turn was not cancelled: %s", err.text);
}

static void leave(Stream *stream)
{
    RunStream *s = (RunStream *)stream;

    cancel_if_left(s);
    sub_leave(&s->sub);
    buf_done(&s->part);
    s->view_ctx = mem_free(s->view_ctx);
}

/* -- sending ---------------------------------------------------------------------------------------- */

static void put_headers(struct MHD_Response *r, const char *run_id)
{
    reply_headers(r, "text/event-stream; charset=utf-8", NULL, false);
    (void)MHD_del_response_header(r, "Cache-Control", "no-store");
    ASSERT(MHD_add_response_header(r, "Cache-Control", "no-cache") == MHD_YES);
    ASSERT(MHD_add_response_header(r, "X-Accel-Buffering", "no") == MHD_YES);
    ASSERT(MHD_add_response_header(r, "X-Run-Id", run_id) == MHD_YES);
}

bool run_stream_send(Request *rq, LiveRun *live, int64_t after, FrameView *view, void *ctx,
                     Err *err)
{
    static const StreamKind frames = { read_frames, leave }, views = { read_view, leave };
    struct MHD_Response *head = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    RunStream *s = mem_alloc(sizeof *s);
    bool ok;

    ASSERT(head);
    put_headers(head, live_id(live));
    stream_init(&s->stream, rq->server->streams, view ? &views : &frames);
    s->view = view;
    s->view_ctx = ctx;
    s->part = BUF(LIMIT_OUTPUT_BYTES);
    if (rq->method == HTTP_POST &&
        (view || setting_bool(rq->server->settings, SETTING_CHAT_CANCEL)))
        s->cancels = server_service(rq->server, err);
    s->sub.wake = wake_up;
    s->sub.ctx = s;
    sub_join(&s->sub, live, after);
    ok = stream_begin(&s->stream, rq, head, err);
    MHD_destroy_response(head);
    if (!ok) {
        leave(&s->stream);
        mem_free(s);
    }
    return ok;
}

/* -- waiting ---------------------------------------------------------------------------------------- */

static void suspend(void *ctx)
{
    Request *rq = ctx;

    rq->phase = PHASE_WORK;
    MHD_suspend_connection(rq->connection);
}

static void resume(void *ctx)
{
    server_resume(ctx);
}

static void cancel(void *ctx)
{
    Request *rq = ctx;
    Service *s = atomic_load(&rq->server->service);
    Err err;

    if (s && !service_cancel(s, str_of(live_id(rq->wait->run)), &err))
        log_warning("a turn was not cancelled: %s", err.text);
}

bool run_wait(Request *rq, LiveRun *live)
{
    RunSub *s = ARENA_NEW(rq->arena, RunSub);

    *s = (RunSub){ .sleep = suspend, .wake = resume, .ctx = rq, .only_end = true };
    rq->wait = s;
    sub_join(s, live, 0);
    connection_watch(rq->server->connections, request_connection(rq), cancel, rq);
    rq->waits = true;
    if (!sub_wait(s))
        return false; /* from here on the request may be another thread's */
    rq->waits = false;
    return true;
}
