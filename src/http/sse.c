/* One lock for all readers: an event is a pointer in each reader's ring, so publishing to thousands
 * takes well under a millisecond, and the system calls happen on the streams' own thread.
 *
 * A reader with nothing to read falls asleep under the lock, and is woken by whoever gives it something, under the
 * same lock: it cannot miss the call. */
#include "http/sse.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/limits.h"
#include "http/reply.h"
#include "http/state.h"

enum { MIN_RING = 8, MAX_RING = 1024, HEARTBEATS = 15 }; /* a reader's every so many seconds */

typedef struct SseEvent {
    atomic_int holders;
    size_t n;
    char bytes[];
} SseEvent;

typedef struct Reader {
    Stream stream;
    struct Reader *prev, *next;
    Sse *sse;
    SseEvent **ring;
    size_t cap, first, count;
    size_t offset;  /* what of the first event is already sent */
    size_t waiting; /* bytes */
    size_t nth;     /* to join */
    bool asleep, ended;
} Reader;

struct Sse {
    pthread_mutex_t lock;
    Reader *readers;
    bool ended;
    size_t joined, beats;
};

/* -- events -------------------------------------------------------------------------------------- */

static SseEvent *event_new(Str text)
{
    SseEvent *e = mem_alloc(sizeof *e + text.n);

    atomic_init(&e->holders, 1);
    e->n = text.n;
    memcpy(e->bytes, text.p, text.n);
    return e;
}

static void event_drop(SseEvent *e)
{
    if (atomic_fetch_sub(&e->holders, 1) == 1)
        mem_free(e);
}

static SseEvent *event_of(const char *name, Str data)
{
    AUTO_BUF text = BUF(LIMIT_HTTP_BACKLOG);

    buf_addf(&text, "event: %s\ndata: ", name);
    buf_add(&text, data);
    buf_addz(&text, "\n\n");
    return buf_full(&text) ? NULL : event_new(buf_str(&text));
}

/* -- readers; all under the lock --------------------------------------------------------------- */

static void wake(Reader *r)
{
    if (r->asleep) {
        r->asleep = false;
        stream_wake(&r->stream);
    }
}

static void grow(Reader *r)
{
    size_t cap = r->cap ? r->cap * 2 : MIN_RING;
    SseEvent **ring = mem_alloc(cap * sizeof(SseEvent *));

    for (size_t i = 0; i < r->count; i++)
        ring[i] = r->ring[(r->first + i) % r->cap];
    mem_free(r->ring);
    r->ring = ring;
    r->cap = cap;
    r->first = 0;
}

static void give(Reader *r, SseEvent *e)
{
    if (r->ended)
        return;
    if (r->count == MAX_RING || r->waiting + e->n > LIMIT_HTTP_BACKLOG) {
        r->ended = true;
        stream_drop(&r->stream);
        return;
    }
    if (r->count == r->cap)
        grow(r);
    atomic_fetch_add(&e->holders, 1);
    r->ring[(r->first + r->count++) % r->cap] = e;
    r->waiting += e->n;
    wake(r);
}

/* Up to `most` bytes of what waits. */
static size_t take(Reader *r, char *out, size_t max)
{
    size_t n = 0;

    while (r->count && n < max) {
        SseEvent *e = r->ring[r->first];
        size_t part = e->n - r->offset < max - n ? e->n - r->offset : max - n;

        memcpy(out + n, e->bytes + r->offset, part);
        n += part;
        r->offset += part;
        r->waiting -= part;
        if (r->offset == e->n) {
            r->offset = 0;
            r->first = (r->first + 1) % r->cap;
            r->count--;
            event_drop(e);
        }
    }
    return n;
}

static ssize_t read_some(Stream *stream, char *out, size_t max)
{
    Reader *r = (Reader *)stream;
    ssize_t n;

    pthread_mutex_lock(&r->sse->lock);
    n = (ssize_t)take(r, out, max);
    if (n == 0 && (r->ended || r->sse->ended))
        n = -1;
    r->asleep = n == 0;
    pthread_mutex_unlock(&r->sse->lock);
    return n;
}

static void leave(Stream *stream)
{
    Reader *r = (Reader *)stream;
    Sse *sse = r->sse;

    pthread_mutex_lock(&sse->lock);
    if (r->next)
        r->next->prev = r->prev;
    if (r->prev)
        r->prev->next = r->next;
    else
        sse->readers = r->next;
    while (r->count) {
        event_drop(r->ring[r->first]);
        r->first = (r->first + 1) % r->cap;
        r->count--;
    }
    pthread_mutex_unlock(&sse->lock);
    r->ring = mem_free(r->ring);
}

/* -- the stream ----------------------------------------------------------------------------------- */

Sse *sse_new(void)
{
    Sse *sse = mem_alloc(sizeof *sse);

    pthread_mutex_init(&sse->lock, NULL);
    return sse;
}

Sse *sse_free(Sse *sse)
{
    if (sse) {
        ASSERT(!sse->readers);
        pthread_mutex_destroy(&sse->lock);
        mem_free(sse);
    }
    return NULL;
}

static void enter(Sse *sse, Reader *r, SseEvent *first)
{
    pthread_mutex_lock(&sse->lock);
    r->sse = sse;
    r->nth = sse->joined++;
    r->next = sse->readers;
    if (r->next)
        r->next->prev = r;
    sse->readers = r;
    give(r, first);
    pthread_mutex_unlock(&sse->lock);
}

bool sse_join(Sse *sse, Request *rq, const char *event, Str data, Err *err)
{
    static const StreamKind kind = { read_some, leave };
    struct MHD_Response *head = MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    SseEvent *first = event_of(event, data);
    Reader *r = mem_alloc(sizeof *r);
    bool ok;

    ASSERT(head && first);
    reply_headers(head, "text/event-stream", NULL, false);
    stream_init(&r->stream, rq->server->streams, &kind);
    enter(sse, r, first);
    event_drop(first);
    ok = stream_begin(&r->stream, rq, head, err);
    MHD_destroy_response(head);
    if (!ok) {
        leave(&r->stream);
        mem_free(r);
    }
    return ok;
}

static void give_all(Sse *sse, SseEvent *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&sse->lock);
    for (Reader *r = sse->readers; r; r = r->next)
        give(r, e);
    pthread_mutex_unlock(&sse->lock);
    event_drop(e);
}

void sse_publish(Sse *sse, const char *event, Str data)
{
    give_all(sse, event_of(event, data));
}

bool sse_is_heard(Sse *sse)
{
    bool heard;

    pthread_mutex_lock(&sse->lock);
    heard = sse->readers != NULL;
    pthread_mutex_unlock(&sse->lock);
    return heard;
}

/* Each has its second: all at once would hold up whoever has something to say. */
void sse_beat(Sse *sse)
{
    SseEvent *e = event_new(STR(":\n\n"));

    pthread_mutex_lock(&sse->lock);
    sse->beats++;
    for (Reader *r = sse->readers; r; r = r->next)
        if ((r->nth + sse->beats) % HEARTBEATS == 0)
            give(r, e);
    pthread_mutex_unlock(&sse->lock);
    event_drop(e);
}

void sse_end(Sse *sse)
{
    pthread_mutex_lock(&sse->lock);
    sse->ended = true;
    for (Reader *r = sse->readers; r; r = r->next)
        wake(r);
    pthread_mutex_unlock(&sse->lock);
}
