/* loopback.h - a server inside the test: canned bytes, in pieces, with every way to end badly.
 *
 * Reply i goes to request i, the last one to all that follow. One thread a connection. */
#ifndef TALARIA_TESTS_LOOPBACK_H
#define TALARIA_TESTS_LOOPBACK_H

#include "unit.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum LoopbackEnd {
    LOOPBACK_CLOSE,
    LOOPBACK_RESET, /* RST instead of FIN */
    LOOPBACK_HALF,  /* says it will send no more, goes on listening */
    LOOPBACK_HANG,  /* says nothing more until the client goes */
    LOOPBACK_KEEP   /* waits for the next request on the connection */
} LoopbackEnd;

typedef struct LoopbackReply {
    Str bytes;
    size_t piece; /* bytes a write; 0: all at once */
    int pause_us; /* between two writes */
    LoopbackEnd end;
} LoopbackReply;

enum { LOOPBACK_CONNECTIONS = 4096 };

typedef struct Loopback {
    int fd, stop[2];
    uint16_t port;
    const LoopbackReply *replies;
    size_t n_replies;
    pthread_t thread;
    _Atomic size_t requests, connections, open, most_open;
    pthread_mutex_t lock;
    char last[65536]; /* the last request, under the lock */
} Loopback;

typedef struct LoopbackConnection {
    Loopback *server;
    int fd;
} LoopbackConnection;

/* True: there is something to read; false: the test is over. */
static inline bool loopback_wait(Loopback *s, int fd)
{
    struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = s->stop[0], .events = POLLIN } };

    return poll(p, 2, 20000) > 0 && !p[1].revents;
}

static inline bool loopback_read_request(Loopback *s, int fd)
{
    static const Str mark = STR_INIT("Content-Length: ");
    char text[65536];
    size_t n = 0;

    while (n < sizeof text - 1 && loopback_wait(s, fd)) {
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        Str all, length;
        size_t head;
        int64_t body = 0;

        if (got <= 0)
            return false;
        n += (size_t)got;
        all = (Str){ text, n };
        head = str_find(all, STR("\r\n\r\n"));
        if (head == n)
            continue;
        length = str_skip(all, str_find(all, mark) + mark.n);
        if (length.n)
            (void)!str_to_int(str_head(length, str_find(length, STR("\r"))), 0, 1 << 20, &body);
        if (n < head + 4 + (size_t)body)
            continue;
        text[n] = '\0';
        pthread_mutex_lock(&s->lock);
        memcpy(s->last, text, n + 1);
        pthread_mutex_unlock(&s->lock);
        return true;
    }
    return false;
}

static inline void loopback_send(int fd, const LoopbackReply *r)
{
    size_t piece = r->piece ? r->piece : r->bytes.n;

    for (size_t at = 0; at < r->bytes.n; at += piece) {
        Str part = str_head(str_skip(r->bytes, at), piece);

        if (send(fd, part.p, part.n, MSG_NOSIGNAL) < 0)
            return;
        if (r->pause_us)
            usleep((useconds_t)r->pause_us);
    }
}

static inline void loopback_end(Loopback *s, int fd, LoopbackEnd end)
{
    struct linger none = { .l_onoff = 1 };
    char byte;

    if (end == LOOPBACK_RESET)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    if (end == LOOPBACK_HALF)
        shutdown(fd, SHUT_WR);
    if (end == LOOPBACK_HALF || end == LOOPBACK_HANG)
        while (loopback_wait(s, fd) && read(fd, &byte, 1) > 0)
            ;
}

static inline void *loopback_serve(void *ctx)
{
    LoopbackConnection c = *(LoopbackConnection *)ctx;
    Loopback *s = c.server;
    LoopbackEnd end = LOOPBACK_KEEP;
    int on = 1;

    mem_free(ctx);
    setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (end == LOOPBACK_KEEP && loopback_read_request(s, c.fd)) {
        size_t i = atomic_fetch_add(&s->requests, 1);
        const LoopbackReply *r = &s->replies[i < s->n_replies ? i : s->n_replies - 1];

        loopback_send(c.fd, r);
        end = r->end;
    }
    loopback_end(s, c.fd, end);
    close(c.fd);
    atomic_fetch_sub(&s->open, 1);
    return NULL;
}

static inline void *loopback_accept(void *ctx)
{
    Loopback *s = ctx;

    while (loopback_wait(s, s->fd)) {
        LoopbackConnection *c = mem_alloc(sizeof *c);
        size_t open, max;
        pthread_t thread;

        *c = (LoopbackConnection){ s, accept4(s->fd, NULL, NULL, SOCK_CLOEXEC) };
        atomic_fetch_add(&s->connections, 1);
        open = atomic_fetch_add(&s->open, 1) + 1;
        max = s->most_open;
        while (open > max && !atomic_compare_exchange_weak(&s->most_open, &max, open))
            ;
        if (c->fd < 0 || pthread_create(&thread, NULL, loopback_serve, c) != 0)
            abort();
        pthread_detach(thread);
    }
    return NULL;
}

static inline void loopback_start(Loopback *s, const LoopbackReply *replies, size_t n)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;

    memset(s, 0, sizeof *s);
    s->replies = replies;
    s->n_replies = n;
    pthread_mutex_init(&s->lock, NULL);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s->fd, 1024), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &size), 0);
    s->port = ntohs(at.sin_port);
    assert_int_equal(pipe(s->stop), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, loopback_accept, s), 0);
}

static inline void loopback_stop(Loopback *s)
{
    assert_int_equal(write(s->stop[1], "x", 1), 1);
    pthread_join(s->thread, NULL);
    while (s->open)
        usleep(1000);
    close(s->fd);
    close(s->stop[0]);
    close(s->stop[1]);
    pthread_mutex_destroy(&s->lock);
}

static inline bool loopback_saw(Loopback *s, const char *text)
{
    bool seen;

    pthread_mutex_lock(&s->lock);
    seen = strstr(s->last, text) != NULL;
    pthread_mutex_unlock(&s->lock);
    return seen;
}

/* An address on which nobody listens. */
static inline uint16_t loopback_nobody(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    close(fd);
    return ntohs(at.sin_port);
}

/* -- is anything left behind? -- */

static inline size_t count_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

#define open_descriptors() count_entries("/proc/self/fd")
#define running_threads()  count_entries("/proc/self/task")

#endif
