/* How a socket is taken over: a suspended connection of libmicrohttpd is not in its epoll set, and
 * returns there only when its handler answers MHD_YES. Before that the socket gets a second
 * descriptor, ours, and the first one is replaced by an unconnected socket. The handler then
 * answers MHD_NO, and libmicrohttpd closes that one.
 *
 * Edge-triggered: a socket enters our epoll set once and is never modified. Every event (writable
 * again, closed by the client, something to read) puts its stream into one list; only the thread
 * that works through this list writes to sockets and closes them. */
#include "http/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "http/metrics.h"

enum {
    PIECE = 16 * 1024,  /* read at once */
    PIECES_A_VISIT = 8, /* then others have their turn */
    VISITS_A_ROUND = 1024,
    EVENTS_A_ROUND = 256,
    BEAT_MS = 1000,
    CHUNK_ROOM = 8, /* for "4000\r\n" before and "\r\n" behind */
};

struct Streams {
    int epoll_fd, wake_fd;
    int stand_in; /* what a descriptor that we have taken over refers to from then on */
    pthread_t thread;
    bool started;
    void (*beat)(void *ctx);
    void *ctx;
    pthread_mutex_t lock; /* all below */
    Stream *first, *first_ready, *last_ready;
    size_t n;
    bool ending;
};

/* -- the list of those to be looked at -- */

/* Under the lock. */
static void list(Stream *s)
{
    Streams *all = s->all;
    uint64_t one = 1;

    if (s->ready || !s->begun)
        return;
    s->ready = true;
    s->next_ready = NULL;
    s->prev_ready = all->last_ready;
    if (all->last_ready) {
        all->last_ready->next_ready = s;
    } else {
        all->first_ready = s;
        (void)!write(all->wake_fd, &one, sizeof one);
    }
    all->last_ready = s;
}

/* Under the lock. */
static void unlist(Stream *s)
{
    Streams *all = s->all;

    if (!s->ready)
        return;
    s->ready = false;
    if (s->next_ready)
        s->next_ready->prev_ready = s->prev_ready;
    else
        all->last_ready = s->prev_ready;
    if (s->prev_ready)
        s->prev_ready->next_ready = s->next_ready;
    else
        all->first_ready = s->next_ready;
}

void stream_wake(Stream *s)
{
    pthread_mutex_lock(&s->all->lock);
    list(s);
    pthread_mutex_unlock(&s->all->lock);
}

void stream_drop(Stream *s)
{
    pthread_mutex_lock(&s->all->lock);
    s->dropped = true;
    list(s);
    pthread_mutex_unlock(&s->all->lock);
    metrics_stream_dropped();
}

/* -- writing -- */

/* Keeps what the socket does not take. False: the client has left. */
static bool send_some(Stream *s, const char *bytes, size_t n)
{
    ssize_t sent = send(s->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    if (sent < 0)
        sent = 0;
    if ((size_t)sent < n) {
        s->rest_n = (uint32_t)(n - (size_t)sent);
        s->rest_at = 0;
        s->rest = mem_alloc(s->rest_n);
        memcpy(s->rest, bytes + sent, s->rest_n);
    }
    return true;
}

static bool send_rest(Stream *s)
{
    ssize_t sent;

    if (!s->rest)
        return true;
    sent = send(s->fd, s->rest + s->rest_at, s->rest_n - s->rest_at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    s->rest_at += (uint32_t)sent;
    if (s->rest_at == s->rest_n)
        s->rest = mem_free(s->rest);
    return true;
}

/* One piece as a chunk; the end as the chunk that says so. 0: nothing now. */
static size_t next_piece(Stream *s, char room[PIECE + 2 * CHUNK_ROOM], const char **ret)
{
    ssize_t n = s->kind->read(s, room + CHUNK_ROOM, PIECE);
    char head[CHUNK_ROOM + 1];
    size_t head_n;

    if (n == 0)
        return 0;
    if (n < 0) {
        s->ended = true;
        *ret = "0\r\n\r\n";
        return s->chunked ? 5 : 0;
    }
    *ret = room + CHUNK_ROOM;
    if (!s->chunked)
        return (size_t)n;
    head_n = (size_t)snprintf(head, sizeof head, "%zx\r\n", (size_t)n);
    memcpy(room + CHUNK_ROOM - head_n, head, head_n);
    memcpy(room + CHUNK_ROOM + n, "\r\n", 2);
    *ret = room + CHUNK_ROOM - head_n;
    return head_n + (size_t)n + 2;
}

/* False: the stream is over. A client that has closed its side gets what there is, and no more. */
static bool visit(Stream *s)
{
    char room[PIECE + 2 * CHUNK_ROOM] NOT_CLEARED;
    const char *piece;

    if (!send_rest(s))
        return false;
    for (int i = 0; i < PIECES_A_VISIT; i++) {
        size_t n;

        if (s->rest)
            return true; /* the socket says when it takes more */
        n = s->ended ? 0 : next_piece(s, room, &piece);
        if (n == 0)
            return !s->ended && !s->silent;
        if (!send_some(s, piece, n))
            return false;
    }
    stream_wake(s);
    return true;
}

/* Reads what the client has sent meanwhile: closing with unread input would reset the connection
 * and lose what we have sent. Closing alone would not remove the descriptor from the epoll set
 * while a forked child still has it. */
static void hang_up(Stream *s)
{
    char scrap[1024];

    (void)epoll_ctl(s->all->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
    (void)shutdown(s->fd, SHUT_WR);
    for (int i = 0; i < 64 && recv(s->fd, scrap, sizeof scrap, MSG_DONTWAIT) > 0; i++)
        ;
    close(s->fd);
}

static void leave_list(Streams *all, Stream *s)
{
    pthread_mutex_lock(&all->lock);
    unlist(s);
    if (s->next)
        s->next->prev = s->prev;
    if (s->prev)
        s->prev->next = s->next;
    else
        all->first = s->next;
    all->n--;
    pthread_mutex_unlock(&all->lock);
}

static void end(Stream *s)
{
    hang_up(s);
    mem_free(s->rest);
    s->kind->leave(s);
    leave_list(s->all, s);
    mem_free(s);
    metrics_stream(-1);
}

/* -- the thread -- */

static Stream *next_ready(Streams *all, bool *ret_dropped)
{
    Stream *s;

    pthread_mutex_lock(&all->lock);
    s = all->first_ready;
    if (s) {
        unlist(s);
        *ret_dropped = s->dropped;
    }
    pthread_mutex_unlock(&all->lock);
    return s;
}

static void visit_all(Streams *all)
{
    bool dropped;
    Stream *s;

    for (int i = 0; i < VISITS_A_ROUND && (s = next_ready(all, &dropped)); i++)
        if (dropped || s->gone || !visit(s))
            end(s);
}

static void take_events(Streams *all, int timeout)
{
    struct epoll_event events[EVENTS_A_ROUND];
    int n = epoll_wait(all->epoll_fd, events, EVENTS_A_ROUND, timeout);
    uint64_t count;

    for (int i = 0; i < n; i++) {
        Stream *s = events[i].data.ptr;

        if (!s) {
            (void)!read(all->wake_fd, &count, sizeof count);
            continue;
        }
        s->gone = s->gone || events[i].events & (EPOLLERR | EPOLLHUP);
        s->silent = s->silent || events[i].events & EPOLLRDHUP;
        stream_wake(s);
    }
}

/* Listed streams need no wait; without any stream there is no beat to wait for. */
static bool next_timeout(Streams *all, int64_t beaten, int *ret_timeout)
{
    int64_t left = beaten + BEAT_MS - clock_mono_ms();
    bool on;

    pthread_mutex_lock(&all->lock);
    on = !all->ending;
    *ret_timeout = all->first_ready ? 0 : !all->n ? -1 : left < 0 ? 0 : (int)left;
    pthread_mutex_unlock(&all->lock);
    return on;
}

static void *serve(void *ctx)
{
    Streams *all = ctx;
    int64_t beaten = 0;
    int timeout;

    while (next_timeout(all, beaten, &timeout)) {
        take_events(all, timeout);
        visit_all(all);
        if (timeout < 0) {
            beaten = clock_mono_ms(); /* there was no stream */
        } else if (clock_mono_ms() - beaten >= BEAT_MS) {
            beaten = clock_mono_ms();
            all->beat(all->ctx);
        }
    }
    while (all->first)
        end(all->first);
    return NULL;
}

/* -- the beginning of a stream -- */

static enum MHD_Result put_header(void *ctx, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    buf_addf(ctx, "%s: %s\r\n", name, value);
    return MHD_YES;
}

static void put_head(Buf *out, struct MHD_Response *head, bool chunked)
{
    static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t now = (time_t)clock_wall();
    struct tm tm;

    gmtime_r(&now, &tm);
    buf_addf(out, "HTTP/1.1 200 OK\r\nDate: %s, %02d %s %d %02d:%02d:%02d GMT\r\n",
             days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour,
             tm.tm_min, tm.tm_sec);
    buf_addz(out, "Connection: close\r\n");
    if (chunked)
        buf_addz(out, "Transfer-Encoding: chunked\r\n");
    (void)MHD_get_response_headers(head, put_header, out);
    buf_addz(out, "\r\n");
}

/* The socket under a descriptor of ours; libmicrohttpd's refers to something else from now on. */
static int take_socket(Streams *all, const Request *rq)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int ours = info ? fcntl(info->connect_fd, F_DUPFD_CLOEXEC, 0) : -1;
    int on = 1, off = 0, max = LIMIT_HTTP_BACKLOG;

    if (ours < 0)
        return -1;
    if (dup3(all->stand_in, info->connect_fd, O_CLOEXEC) < 0) {
        close(ours);
        return -1;
    }
    (void)setsockopt(ours, IPPROTO_TCP, TCP_CORK, &off, sizeof off);
    (void)setsockopt(ours, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* The kernel would buffer megabytes for a client that does not read. */
    (void)setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &max, sizeof max);
    return ours;
}

static bool enter(Streams *all, Stream *s)
{
    bool room;

    pthread_mutex_lock(&all->lock);
    room = all->n < LIMIT_HTTP_STREAMS && !all->ending;
    if (room) {
        s->next = all->first;
        if (s->next)
            s->next->prev = s;
        all->first = s;
        all->n++;
    }
    pthread_mutex_unlock(&all->lock);
    return room;
}

void stream_init(Stream *s, Streams *all, const StreamKind *kind)
{
    s->all = all;
    s->kind = kind;
}

bool stream_begin(Stream *s, Request *rq, struct MHD_Response *head, Err *err)
{
    AUTO_BUF text = BUF(KIB(16));
    Streams *all = s->all;
    struct epoll_event e = { .events = EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = s };
    bool added;

    if (!enter(all, s))
        return err_set(err, ERR_BUSY, "too many event streams are open");
    s->fd = take_socket(all, rq);
    if (s->fd < 0) {
        leave_list(all, s);
        return err_set(err, ERR_BUSY, "too many descriptors are open");
    }
    put_head(&text, head, rq->chunks);
    s->chunked = rq->chunks;
    s->rest_n = (uint32_t)text.n;
    s->rest = mem_alloc(text.n);
    memcpy(s->rest, text.p, text.n);
    rq->reply.taken = true;
    metrics_count_reply(200);
    metrics_stream(1);
    added = epoll_ctl(all->epoll_fd, EPOLL_CTL_ADD, s->fd, &e) == 0;
    /* From here on it is the thread's, which looks at it first of all: it may have been dropped
     * already. */
    pthread_mutex_lock(&all->lock);
    s->begun = true;
    s->dropped = s->dropped || !added;
    list(s);
    pthread_mutex_unlock(&all->lock);
    return true;
}

/* -- all of them -- */

static bool open_all(Streams *all, Err *err)
{
    struct epoll_event e = { .events = EPOLLIN };

    all->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    all->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    all->stand_in = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (all->epoll_fd < 0 || all->wake_fd < 0 || all->stand_in < 0 ||
        epoll_ctl(all->epoll_fd, EPOLL_CTL_ADD, all->wake_fd, &e) != 0)
        return err_errno(err, "cannot wait for sockets");
    all->started = pthread_create(&all->thread, NULL, serve, all) == 0;
    return all->started || err_set(err, ERR_INTERNAL, "cannot start a thread");
}

Streams *streams_start(void (*beat)(void *ctx), void *ctx, Err *err)
{
    Streams *all = mem_alloc(sizeof *all);

    all->beat = beat;
    all->ctx = ctx;
    pthread_mutex_init(&all->lock, NULL);
    return open_all(all, err) ? all : streams_stop(all);
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

Streams *streams_stop(Streams *all)
{
    uint64_t one = 1;

    if (!all)
        return NULL;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_mutex_unlock(&all->lock);
    if (all->started) {
        (void)!write(all->wake_fd, &one, sizeof one);
        pthread_join(all->thread, NULL);
    }
    close_fd(all->epoll_fd);
    close_fd(all->wake_fd);
    close_fd(all->stand_in);
    pthread_mutex_destroy(&all->lock);
    return mem_free(all);
}

size_t streams_count(Streams *all)
{
    size_t n;

    pthread_mutex_lock(&all->lock);
    n = all->n;
    pthread_mutex_unlock(&all->lock);
    return n;
}
