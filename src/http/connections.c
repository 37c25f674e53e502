/* A late connection is shut down, not closed: its descriptor belongs to libmicrohttpd, which sees
 * the end of the stream and cleans up on its own thread.
 *
 * libmicrohttpd misses the end of a stream that arrives together with its last bytes: a read that
 * does not fill its buffer makes it wait for an edge of epoll, and that edge is already gone. A
 * client that leaves in the middle of a body would keep its share of the memory until the deadline.
 * Shutting down the side that the client has ended anyway loses nothing, and is a new edge. */
#include "http/connections.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/cond.h"
#include "base/limits.h"
#include "http/metrics.h"

struct Connection {
    Connection *prev, *next;
    int fd;
    _Atomic int64_t due;     /* monotonic ms; 0: never */
    void (*left)(void *ctx); /* NULL: nobody wants to know; under the lock, as ctx */
    void *ctx;
};

struct Connections {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    Connection *first;
    bool ending;
};

static bool has_left(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLRDHUP };

    return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

static void end_late_ones(Connections *all)
{
    int64_t now = clock_mono_ms();

    for (Connection *c = all->first; c; c = c->next) {
        int64_t due = atomic_load(&c->due);

        if (due && due < now)
            shutdown(c->fd, SHUT_RDWR);
        else if (due && has_left(c->fd))
            shutdown(c->fd, SHUT_RD);
        if (c->left && has_left(c->fd)) {
            c->left(c->ctx);
            c->left = NULL;
        }
    }
}

static void *watch(void *ctx)
{
    Connections *all = ctx;

    pthread_mutex_lock(&all->lock);
    while (!all->ending) {
        if (!all->first) {
            pthread_cond_wait(&all->changed, &all->lock);
            continue;
        }
        (void)cond_wait_until(&all->changed, &all->lock, clock_mono_ms() + 1000);
        end_late_ones(all);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

Connections *connections_start(Err *err)
{
    Connections *all = mem_alloc(sizeof *all);

    pthread_mutex_init(&all->lock, NULL);
    cond_init(&all->changed);
    if (pthread_create(&all->thread, NULL, watch, all) != 0) {
        (void)err_set(err, ERR_INTERNAL, "cannot start a thread");
        return mem_free(all);
    }
    return all;
}

Connections *connections_stop(Connections *all)
{
    if (!all)
        return NULL;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    pthread_cond_signal(&all->changed);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    return mem_free(all);
}

Connection *connection_open(Connections *all, int fd)
{
    Connection *c = mem_alloc(sizeof *c);

    c->fd = fd;
    connection_due(c, LIMIT_HTTP_HEAD_MS);
    pthread_mutex_lock(&all->lock);
    c->next = all->first;
    if (c->next)
        c->next->prev = c;
    else
        pthread_cond_signal(&all->changed);
    all->first = c;
    pthread_mutex_unlock(&all->lock);
    metrics_connection(1);
    return c;
}

void connection_close(Connections *all, Connection *c)
{
    pthread_mutex_lock(&all->lock);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        all->first = c->next;
    pthread_mutex_unlock(&all->lock);
    metrics_connection(-1);
    mem_free(c);
}

void connection_due(Connection *c, int64_t in_ms)
{
    atomic_store(&c->due, in_ms ? clock_mono_ms() + in_ms : 0);
}

void connection_watch(Connections *all, Connection *c, void (*left)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&all->lock);
    c->left = left;
    c->ctx = ctx;
    pthread_mutex_unlock(&all->lock);
}
