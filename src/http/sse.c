/* Publishing puts one frame into a feed and marks its readers, so it takes well under a millisecond
 * for thousands of them; the system calls happen on the thread of the streams. */
#include "http/sse.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/reply.h"
#include "http/state.h"

enum { MAX_EVENTS = 1024 };

/* -- the frame -- */

static Str digits_of(int64_t n, char room[20])
{
    size_t at = 20;

    do
        room[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return (Str){ room + at, 20 - at };
}

size_t sse_copy(const Feed *feed, const Frame *f, size_t offset, char *out, size_t max)
{
    static const Str heartbeat = STR_INIT(": hb\n\n");
    char seq[20];
    Str parts[10];
    size_t n_parts = 0, n = 0;

    if (!f) {
        parts[n_parts++] = heartbeat;
    } else {
        if (feed->id) {
            parts[n_parts++] = STR("id: ");
            parts[n_parts++] = str_of(feed->id);
            parts[n_parts++] = STR(":");
            parts[n_parts++] = digits_of(f->seq, seq);
            parts[n_parts++] = STR("\n");
        }
        parts[n_parts++] = STR("event: ");
        parts[n_parts++] = str_of(f->name);
        parts[n_parts++] = STR("\ndata: ");
        parts[n_parts++] = frame_data(f);
        parts[n_parts++] = STR("\n\n");
    }
    for (size_t i = 0; i < n_parts && n < max; i++) {
        Str rest = str_skip(parts[i], offset);

        offset -= parts[i].n - rest.n;
        rest = str_head(rest, max - n);
        memcpy(out + n, rest.p, rest.n);
        n += rest.n;
    }
    return n;
}

void sse_begin(Buf *out, const char *event)
{
    if (event)
        buf_addf(out, "event: %s\n", event);
    buf_addz(out, "data: ");
}

void sse_finish(Buf *out)
{
    buf_addz(out, "\n\n");
}

/* -- streams -- */

typedef struct SseStream {
    Stream stream;
    Subscriber sub;
    Service *cancels; /* whose turn is cancelled when the client disconnects; or NULL */
    FrameView *view;
    void *view_ctx;
    Buf part; /* bytes to send before the next frame */
    size_t sent;
} SseStream;

/* Under the feed's lock. */
static void wake_stream(void *ctx)
{
    SseStream *s = ctx;

    if (s->sub.dropped)
        stream_drop(&s->stream);
    else
        stream_wake(&s->stream);
}

static ssize_t read_stream(Stream *stream, char *out, size_t max)
{
    SseStream *s = (SseStream *)stream;
    Str rest;

    while (s->view && s->sent == s->part.n) {
        bool over;
        const Frame *f = sub_next(&s->sub, &over);

        if (!f)
            return over ? -1 : 0;
        buf_clear(&s->part);
        s->sent = 0;
        s->view(s->view_ctx, f, &s->part);
    }
    if (s->sent == s->part.n)
        return sub_read(&s->sub, sse_copy, out, max);
    rest = str_head(str_skip(buf_str(&s->part), s->sent), max);
    memcpy(out, rest.p, rest.n);
    s->sent += rest.n;
    if (s->sent == s->part.n && !s->view) { /* a silent stream keeps no memory for it */
        buf_done(&s->part);
        s->sent = 0;
    }
    return (ssize_t)rest.n;
}

static void leave_stream(Stream *stream)
{
    SseStream *s = (SseStream *)stream;
    Err err;

    /* The client has left; one that was dropped for not reading has not. */
    if (s->cancels && !s->sub.dropped && live_has_more(s->sub.run, INT64_MAX) &&
        !service_cancel(s->cancels, str_of(live_id(s->sub.run)), &err))
        log_warning("cannot cancel a turn: %s", err.text);
    if (s->sub.run)
        sub_leave(&s->sub);
    else
        feed_leave(&s->sub);
    buf_done(&s->part);
    s->view_ctx = mem_free(s->view_ctx);
}

static SseStream *stream_new(Request *rq, Str first)
{
    static const StreamKind kind = { read_stream, leave_stream };
    SseStream *s = mem_alloc(sizeof *s);

    stream_init(&s->stream, rq->server->streams, &kind);
    s->sub = (Subscriber){ .wake = wake_stream, .ctx = s };
    s->part = BUF(LIMIT_OUTPUT_BYTES);
    buf_add(&s->part, first);
    return s;
}

/* After the subscriber has joined. */
static bool begin_stream(SseStream *s, Request *rq, struct MHD_Response *head, Err *err)
{
    bool ok = stream_begin(&s->stream, rq, head, err);

    MHD_destroy_response(head);
    if (!ok) {
        leave_stream(&s->stream);
        mem_free(s);
    }
    return ok;
}

static struct MHD_Response *stream_head(const char *type)
{
    struct MHD_Response *head = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);

    ASSERT(head);
    reply_headers(head, type, NULL, false);
    return head;
}

/* -- events for all pages -- */

struct Sse {
    Feed feed;
};

Sse *sse_new(void)
{
    Sse *sse = mem_alloc(sizeof *sse);

    feed_init(&sse->feed, NULL);
    sse->feed.max_frames = MAX_EVENTS;
    sse->feed.max_bytes = LIMIT_HTTP_BACKLOG;
    return sse;
}

Sse *sse_free(Sse *sse)
{
    if (sse)
        feed_done(&sse->feed);
    return mem_free(sse);
}

bool sse_join(Sse *sse, Request *rq, const char *event, Str data, Err *err)
{
    AUTO_BUF first = BUF(LIMIT_HTTP_BACKLOG);
    SseStream *s;

    sse_begin(&first, event);
    buf_add(&first, data);
    sse_finish(&first);
    s = stream_new(rq, buf_str(&first));
    feed_join(&sse->feed, &s->sub, SIZE_MAX);
    return begin_stream(s, rq, stream_head("text/event-stream"), err);
}

void sse_publish(Sse *sse, const char *event, Str data)
{
    Feed *feed = &sse->feed;
    Frame *f;

    if (data.n > LIMIT_HTTP_BACKLOG)
        return;
    f = frame_new(0, event, 0, data);
    pthread_mutex_lock(&feed->lock);
    feed_add(feed, f);
    feed->shown = feed->evicted + feed->n;
    feed_wake(feed);
    pthread_mutex_unlock(&feed->lock);
}

bool sse_has_readers(Sse *sse)
{
    bool any;

    pthread_mutex_lock(&sse->feed.lock);
    any = sse->feed.subs != NULL;
    pthread_mutex_unlock(&sse->feed.lock);
    return any;
}

void sse_beat(Sse *sse)
{
    feed_beat(&sse->feed, clock_mono_ms());
}

void sse_end(Sse *sse)
{
    feed_close(&sse->feed);
}

/* -- runs -- */

bool sse_send_run(Request *rq, LiveRun *live, int64_t after, FrameView *view, void *ctx, Err *err)
{
    struct MHD_Response *head = stream_head("text/event-stream; charset=utf-8");
    SseStream *s = stream_new(rq, view ? STR("") : STR("retry: 2000\n"));

    (void)MHD_del_response_header(head, "Cache-Control", "no-store");
    ASSERT(MHD_add_response_header(head, "Cache-Control", "no-cache") == MHD_YES);
    ASSERT(MHD_add_response_header(head, "X-Accel-Buffering", "no") == MHD_YES);
    ASSERT(MHD_add_response_header(head, "X-Run-Id", live_id(live)) == MHD_YES);
    s->view = view;
    s->view_ctx = ctx;
    if (rq->method == HTTP_POST &&
        (view || setting_bool(rq->server->settings, SETTING_CHAT_CANCEL)))
        s->cancels = server_service(rq->server, err);
    sub_join(&s->sub, live, after);
    return begin_stream(s, rq, head, err);
}
