/* One lock for all readers: an event is a pointer in each reader's ring, so publishing to thousands
 * takes well under a millisecond, and the system calls happen on libmicrohttpd's own threads.
 *
 * A reader with nothing to read is suspended by its own callback, under the lock, and resumed by
 * whoever gives it something, under the same lock: it cannot miss the call. */
#include "http/sse.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "http/metrics.h"

enum { LEAST_RING = 8, MOST_RING = 1024, HEARTBEAT_MS = 15000, BLOCK = 1024 };

typedef struct Event {
    atomic_int holders;
    size_t n;
    char bytes[];
} Event;

typedef struct Reader {
    struct Reader *prev, *next;
    Sse *sse;
    struct MHD_Connection *connection;
    Event **ring;
    size_t cap, first, count;
    size_t offset;  /* what of the first event is already sent */
    size_t waiting; /* bytes */
    bool suspended, ended;
} Reader;

struct Sse {
    pthread_mutex_t lock;
    Reader *readers;
    size_t n;
    bool ended;
    int64_t last_beat;
};

/* -- events -------------------------------------------------------------------------------------- */

static Event *event_new(Str text)
{
    Event *e = mem_alloc(sizeof *e + text.n);

    atomic_init(&e->holders, 1);
    e->n = text.n;
    memcpy(e->bytes, text.p, text.n);
    return e;
}

static void event_drop(Event *e)
{
    if (atomic_fetch_sub(&e->holders, 1) == 1)
        mem_free(e);
}

static Event *event_of(const char *name, Str data)
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
    if (r->suspended) {
        r->suspended = false;
        MHD_resume_connection(r->connection);
    }
}

/* The socket is shut down as well: a reader whose window is full would not be asked again. */
static void drop(Reader *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    r->ended = true;
    if (info)
        shutdown(info->connect_fd, SHUT_RDWR);
    metrics_stream_dropped();
    wake(r);
}

static void grow(Reader *r)
{
    size_t cap = r->cap ? r->cap * 2 : LEAST_RING;
    Event **ring = mem_alloc(cap * sizeof(Event *));

    for (size_t i = 0; i < r->count; i++)
        ring[i] = r->ring[(r->first + i) % r->cap];
    mem_free(r->ring);
    r->ring = ring;
    r->cap = cap;
    r->first = 0;
}

static void give(Reader *r, Event *e)
{
    if (r->ended)
        return;
    if (r->count == MOST_RING || r->waiting + e->n > LIMIT_HTTP_BACKLOG) {
        drop(r);
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
static size_t take(Reader *r, char *out, size_t most)
{
    size_t n = 0;

    while (r->count && n < most) {
        Event *e = r->ring[r->first];
        size_t part = e->n - r->offset < most - n ? e->n - r->offset : most - n;

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

static ssize_t read_some(void *ctx, uint64_t at, char *out, size_t most)
{
    Reader *r = ctx;
    ssize_t n;

    (void)at;
    pthread_mutex_lock(&r->sse->lock);
    n = (ssize_t)take(r, out, most);
    if (n == 0 && (r->ended || r->sse->ended)) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (n == 0) {
        r->suspended = true;
        MHD_suspend_connection(r->connection);
    }
    pthread_mutex_unlock(&r->sse->lock);
    return n;
}

static void leave(void *ctx)
{
    Reader *r = ctx;
    Sse *sse = r->sse;

    pthread_mutex_lock(&sse->lock);
    if (r->next)
        r->next->prev = r->prev;
    if (r->prev)
        r->prev->next = r->next;
    else
        sse->readers = r->next;
    sse->n--;
    while (r->count) {
        event_drop(r->ring[r->first]);
        r->first = (r->first + 1) % r->cap;
        r->count--;
    }
    pthread_mutex_unlock(&sse->lock);
    metrics_stream(-1);
    mem_free(r->ring);
    mem_free(r);
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

static bool enter(Sse *sse, Reader *r, Event *first)
{
    bool room;

    pthread_mutex_lock(&sse->lock);
    room = sse->n < LIMIT_HTTP_STREAMS && !sse->ended;
    if (room) {
        r->next = sse->readers;
        if (r->next)
            r->next->prev = r;
        sse->readers = r;
        sse->n++;
        give(r, first);
    }
    pthread_mutex_unlock(&sse->lock);
    return room;
}

struct MHD_Response *sse_join(Sse *sse, struct MHD_Connection *connection, const char *event,
                              Str data)
{
    Event *first = event_of(event, data);
    struct MHD_Response *response = NULL;
    Reader *r = mem_alloc(sizeof *r);

    r->sse = sse;
    r->connection = connection;
    if (first && enter(sse, r, first)) {
        metrics_stream(1);
        response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_some, r, leave);
        ASSERT(response);
    } else {
        mem_free(r);
    }
    if (first)
        event_drop(first);
    return response;
}

static void give_all(Sse *sse, Event *e)
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

void sse_beat(Sse *sse)
{
    int64_t now = clock_mono_ms();

    if (now - sse->last_beat < HEARTBEAT_MS)
        return;
    sse->last_beat = now;
    give_all(sse, event_new(STR(":\n\n")));
}

void sse_end(Sse *sse)
{
    pthread_mutex_lock(&sse->lock);
    sse->ended = true;
    for (Reader *r = sse->readers; r; r = r->next)
        wake(r);
    pthread_mutex_unlock(&sse->lock);
}
