/* The loop: epoll, a queue of posted work behind an eventfd, and timers (timers.c). */
#include "net/net.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "net/loop.h"
#include "net/timers.h"

typedef struct NetTask {
    void (*fn)(void *ctx);
    void *ctx;
    struct NetTask *next;
} NetTask;

struct NetWatch {
    int fd;
    NetWatchFn *fn; /* NULL: taken off, waits to be freed */
    void *ctx;
    NetWatch *next_dead;
};

struct Net {
    int epoll_fd, wake_fd;
    pthread_t thread;
    pthread_mutex_t lock;
    NetTask *first, *last; /* under the lock */
    bool stop;             /* under the lock */
    bool stopping;         /* the loop's own view of stop */
    _Atomic uint64_t last_id;
    Timers timers;
    NetWatch *dead;
    Fetches *fetches;
    Children *children;
};

enum { EVENTS_AT_ONCE = 64 };

/* -- posted work -- */

static void wake(Net *net)
{
    uint64_t one = 1;

    (void)!write(net->wake_fd, &one, sizeof one);
}

void net_post(Net *net, void (*fn)(void *ctx), void *ctx)
{
    NetTask *task = mem_alloc(sizeof *task);

    *task = (NetTask){ .fn = fn, .ctx = ctx };
    pthread_mutex_lock(&net->lock);
    if (net->last)
        net->last->next = task;
    else
        net->first = task;
    net->last = task;
    pthread_mutex_unlock(&net->lock);
    wake(net);
}

static NetTask *take_tasks(Net *net)
{
    NetTask *tasks;

    pthread_mutex_lock(&net->lock);
    tasks = net->first;
    net->first = net->last = NULL;
    net->stopping = net->stop;
    pthread_mutex_unlock(&net->lock);
    return tasks;
}

static bool run_tasks(Net *net)
{
    NetTask *task = take_tasks(net);
    bool any = task != NULL;

    while (task) {
        NetTask *next = task->next;

        task->fn(task->ctx);
        mem_free(task);
        task = next;
    }
    return any;
}

/* -- timers -- */

void net_timer_set(Net *net, NetTimer *timer, int64_t at_ms)
{
    timers_set(&net->timers, timer, at_ms);
}

void net_timer_stop(Net *net, NetTimer *timer)
{
    timers_stop(&net->timers, timer);
}

/* -- descriptors -- */

NetWatch *loop_watch(Net *net, int fd, uint32_t events, NetWatchFn *fn, void *ctx)
{
    NetWatch *w = mem_alloc(sizeof *w);
    struct epoll_event e = { .events = events, .data.ptr = w };

    *w = (NetWatch){ .fd = fd, .fn = fn, .ctx = ctx };
    if (epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0)
        return w;
    mem_free(w);
    return NULL;
}

void loop_watch_for(Net *net, NetWatch *watch, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = watch };

    (void)epoll_ctl(net->epoll_fd, EPOLL_CTL_MOD, watch->fd, &e);
}

/* Events of this round may still point at it, so it is freed at the round's end. */
void loop_unwatch(Net *net, NetWatch *watch)
{
    if (!watch)
        return;
    (void)epoll_ctl(net->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    watch->fn = NULL;
    watch->next_dead = net->dead;
    net->dead = watch;
}

static void bury(Net *net)
{
    while (net->dead) {
        NetWatch *next = net->dead->next_dead;

        mem_free(net->dead);
        net->dead = next;
    }
}

/* -- the loop -- */

static int wait_ms(const Net *net)
{
    int64_t next = timers_next(&net->timers), left;

    if (next == INT64_MAX)
        return -1;
    left = next - clock_mono_ms();
    return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static void run_events(Net *net)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int n = epoll_wait(net->epoll_fd, events, EVENTS_AT_ONCE, wait_ms(net));
    uint64_t count;

    for (int i = 0; i < n; i++) {
        NetWatch *w = events[i].data.ptr;

        if (!w)
            (void)!read(net->wake_fd, &count, sizeof count);
        else if (w->fn)
            w->fn(w->ctx, w->fd, events[i].events);
    }
    bury(net);
}

static bool finished(Net *net)
{
    return net->stopping && fetches_idle(net->fetches) && children_idle(net->children) &&
           !run_tasks(net);
}

static void *run(void *ctx)
{
    Net *net = ctx;
    bool ended = false;

    while (!finished(net)) {
        run_events(net);
        (void)run_tasks(net);
        timers_run(&net->timers, clock_mono_ms());
        if (net->stopping && !ended) {
            fetches_end(net->fetches);
            children_end(net->children);
            ended = true;
        }
    }
    bury(net);
    return NULL;
}

/* No signal is handled on the loop's thread: those of the program belong to its main thread, and a
 * broken pipe is an error code here. */
static bool start_thread(Net *net, Err *err)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    failed = pthread_create(&net->thread, NULL, run, net);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failed;
    return failed ? err_errno(err, "cannot start a thread") : true;
}

static bool open_loop(Net *net, Err *err)
{
    struct epoll_event e = { .events = EPOLLIN };

    net->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    net->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (net->epoll_fd < 0 || net->wake_fd < 0 ||
        epoll_ctl(net->epoll_fd, EPOLL_CTL_ADD, net->wake_fd, &e) != 0)
        return err_errno(err, "cannot wait for the network");
    return true;
}

static void dispose(Net *net)
{
    net->fetches = fetches_free(net->fetches);
    net->children = children_free(net->children);
    bury(net);
    if (net->epoll_fd >= 0)
        close(net->epoll_fd);
    if (net->wake_fd >= 0)
        close(net->wake_fd);
    pthread_mutex_destroy(&net->lock);
    timers_done(&net->timers);
    mem_free(net);
}

Net *net_new(Err *err)
{
    Net *net = mem_alloc(sizeof *net);

    net->epoll_fd = net->wake_fd = -1;
    pthread_mutex_init(&net->lock, NULL);
    net->fetches = fetches_new(net);
    net->children = children_new(net);
    if (open_loop(net, err) && start_thread(net, err))
        return net;
    dispose(net);
    return NULL;
}

Net *net_free(Net *net)
{
    if (!net)
        return NULL;
    pthread_mutex_lock(&net->lock);
    net->stop = true;
    pthread_mutex_unlock(&net->lock);
    wake(net);
    pthread_join(net->thread, NULL);
    dispose(net);
    return NULL;
}

NetId loop_id(Net *net)
{
    return atomic_fetch_add(&net->last_id, 1) + 1;
}

bool loop_stopping(const Net *net)
{
    return net->stopping;
}

Fetches *loop_fetches(Net *net)
{
    return net->fetches;
}

Children *loop_children(Net *net)
{
    return net->children;
}
