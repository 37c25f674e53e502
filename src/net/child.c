/* Children on the loop. The fork is made by the loop's own thread, because the kernel's "kill it
 * when the parent dies" means the parent *thread*: a child of a worker would die with the worker.
 *
 * Between fork and exec only calls that are safe there are made; everything they need is put
 * together before. A failed exec comes back as its errno through a pipe that a good exec closes.
 * The end of the program is a pidfd that becomes readable; what is left in its pipes is read after
 * that, but not waited for: a grandchild that keeps them open must not keep us. */
#include "net/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "net/loop.h"
#include "net/spawn.h"

enum { IN, OUT, ERR, PIPES };
enum { STAGES = 3, READ_AT_ONCE = 64 * 1024 };

typedef struct Child {
    Children *all;
    NetId id;
    Arena *arena;
    SpawnPlan plan;
    ChildHandlers handlers;
    void *ctx;
    Buf input; /* not yet written */
    bool input_last;
    int fds[PIPES];
    NetWatch *watches[PIPES], *end_watch;
    int pid_fd;
    pid_t pid;
    bool cancelled, timed_out;
    int64_t total_at; /* 0: none */
    int64_t kill_after[STAGES], cancelled_at;
    int stage; /* how many signals were sent */
    NetTimer timer;
    struct Child *next, *prev;
} Child;

struct Children {
    Net *net;
    Child ring;
    _Atomic size_t count;
};

const int64_t child_patience[3] = { 0, 3000, 6000 };

const char *child_end_text(ChildEnd end)
{
    static const char *const texts[] = {
#define X(end, text) [end] = text,
        CHILD_ENDS(X)
#undef X
    };

    return texts[end];
}

/* -- pipes -- */

static void close_pipe(Child *c, int which)
{
    loop_unwatch(c->all->net, c->watches[which]);
    c->watches[which] = NULL;
    if (c->fds[which] >= 0)
        close(c->fds[which]);
    c->fds[which] = -1;
}

/* How much it was; 0: there is nothing now. */
static size_t read_some(Child *c, int which)
{
    char bytes[READ_AT_ONCE] NOT_CLEARED;
    ssize_t n = read(c->fds[which], bytes, sizeof bytes);
    void (*fn)(void *, Str) = which == OUT ? c->handlers.output : c->handlers.errors;

    if (n > 0 && fn)
        fn(c->ctx, (Str){ bytes, (size_t)n });
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_pipe(c, which);
    return n > 0 ? (size_t)n : 0;
}

static void on_output(void *ctx, int fd, uint32_t events)
{
    Child *c = ctx;

    (void)events;
    (void)read_some(c, fd == c->fds[OUT] ? OUT : ERR);
}

static void write_input(Child *c)
{
    while (c->fds[IN] >= 0 && c->input.n) {
        ssize_t n = write(c->fds[IN], c->input.p, c->input.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            close_pipe(c, IN); /* it does not want more; not our failure */
            return;
        }
        memmove(c->input.p, c->input.p + n, c->input.n - (size_t)n);
        c->input.n -= (size_t)n;
    }
    if (c->fds[IN] >= 0 && !c->input.n && c->input_last)
        close_pipe(c, IN);
    if (c->watches[IN])
        loop_watch_for(c->all->net, c->watches[IN], c->input.n ? EPOLLOUT : 0);
}

static void on_input(void *ctx, int fd, uint32_t events)
{
    Child *c = ctx;

    (void)fd;
    if (events & EPOLLERR)
        close_pipe(c, IN); /* nobody reads any more */
    else
        write_input(c);
}

/* -- the end -- */

static void dispose(Child *c)
{
    for (int i = 0; i < PIPES; i++)
        close_pipe(c, i);
    loop_unwatch(c->all->net, c->end_watch);
    if (c->pid_fd >= 0)
        close(c->pid_fd);
    net_timer_stop(c->all->net, &c->timer);
    c->prev->next = c->next;
    c->next->prev = c->prev;
    buf_done(&c->input);
    atomic_fetch_sub(&c->all->count, 1);
    arena_free(c->arena);
}

static void end_child(Child *c, ChildEnd end, int code)
{
    ChildHandlers handlers = c->handlers;
    void *ctx = c->ctx;
    ChildDone done = { .end = end, .code = code };

    dispose(c);
    handlers.done(ctx, &done);
}

/* What is in the pipe now, and no more: one who left the group may go on writing for ever. */
static void read_left(Child *c, int which)
{
    int left = 0;

    if (c->fds[which] < 0 || ioctl(c->fds[which], FIONREAD, &left) != 0)
        return;
    while (left > 0 && c->fds[which] >= 0) {
        size_t n = read_some(c, which);

        if (!n)
            return;
        left -= (int)n;
    }
}

static void on_end(void *ctx, int fd, uint32_t events)
{
    Child *c = ctx;
    siginfo_t info = { 0 };
    int status = 0;
    bool killed;
    ChildEnd end;

    (void)fd;
    (void)events;
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || !info.si_pid)
        return;
    /* Whoever is left of its group goes too, before its end is taken note of: until then the
     * group's number cannot be anyone else's. */
    (void)kill(-c->pid, SIGKILL);
    if (waitpid(c->pid, &status, WNOHANG) != c->pid)
        return;
    for (int i = OUT; i <= ERR; i++)
        read_left(c, i);
    killed = WIFSIGNALED(status);
    end = c->timed_out   ? CHILD_TIMED_OUT
          : c->cancelled ? CHILD_CANCELLED
          : killed       ? CHILD_KILLED
                         : CHILD_EXITED;
    end_child(c, end, killed ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* -- cancelling -- */

static void set_timer(Child *c)
{
    if (c->cancelled && c->stage < STAGES)
        net_timer_set(c->all->net, &c->timer, c->cancelled_at + c->kill_after[c->stage]);
    else if (!c->cancelled && c->total_at)
        net_timer_set(c->all->net, &c->timer, c->total_at);
}

static void send_due_signals(Child *c)
{
    static const int signals[STAGES] = { SIGINT, SIGTERM, SIGKILL };
    int64_t since = clock_mono_ms() - c->cancelled_at;

    while (c->stage < STAGES && c->kill_after[c->stage] <= since)
        (void)kill(-c->pid, signals[c->stage++]);
    set_timer(c);
}

static void cancel(Child *c)
{
    if (c->cancelled)
        return;
    c->cancelled = true;
    c->cancelled_at = clock_mono_ms();
    send_due_signals(c);
}

static void on_timer(void *ctx)
{
    Child *c = ctx;

    if (!c->cancelled) {
        c->timed_out = true;
        cancel(c);
    } else {
        send_due_signals(c);
    }
}

/* -- the beginning -- */

static bool watch_all(Child *c)
{
    Net *net = c->all->net;

    c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    c->end_watch = c->pid_fd < 0 ? NULL : loop_watch(net, c->pid_fd, EPOLLIN, on_end, c);
    c->watches[IN] = loop_watch(net, c->fds[IN], 0, on_input, c);
    c->watches[OUT] = loop_watch(net, c->fds[OUT], EPOLLIN, on_output, c);
    c->watches[ERR] = loop_watch(net, c->fds[ERR], EPOLLIN, on_output, c);
    return c->end_watch && c->watches[IN] && c->watches[OUT] && c->watches[ERR];
}

static void begin(void *ctx)
{
    Child *c = ctx;
    Children *all = c->all;
    int failed;

    c->next = all->ring.next;
    c->prev = &all->ring;
    c->next->prev = c;
    all->ring.next = c;
    if (loop_stopping(all->net)) {
        end_child(c, CHILD_CANCELLED, 0);
        return;
    }
    failed = spawn(&c->plan, &c->pid, c->fds);
    if (failed) {
        end_child(c, CHILD_NOT_STARTED, failed);
    } else if (!watch_all(c)) {
        (void)kill(-c->pid, SIGKILL);
        (void)waitpid(c->pid, NULL, 0);
        end_child(c, CHILD_NOT_STARTED, ENOMEM);
    } else {
        set_timer(c);
        write_input(c);
    }
}

bool child_start(Net *net, const ChildSpec *spec, const ChildHandlers *handlers, void *ctx,
                 NetId *ret_id, Err *err)
{
    Children *all = loop_children(net);
    Arena *a;
    Child *c;

    if (spec->input.n > LIMIT_CHILD_INPUT)
        return err_set(err, ERR_TOO_LARGE, "more than %d bytes for a program to read",
                       LIMIT_CHILD_INPUT);
    if (atomic_fetch_add(&all->count, 1) >= LIMIT_CHILDREN) {
        atomic_fetch_sub(&all->count, 1);
        return err_set(err, ERR_BUSY, "%d programs run already", LIMIT_CHILDREN);
    }
    a = arena_new();
    c = ARENA_NEW(a, Child);
    *c = (Child){ .all = all, .arena = a, .id = loop_id(net), .handlers = *handlers, .ctx = ctx };
    c->fds[IN] = c->fds[OUT] = c->fds[ERR] = c->pid_fd = -1;
    c->plan = spawn_plan(a, spec->argv, spec->env, spec->cwd);
    c->input = BUF(LIMIT_CHILD_INPUT);
    buf_add(&c->input, spec->input);
    c->input_last = !spec->keep_input;
    memcpy(c->kill_after, spec->kill_after ? spec->kill_after : child_patience,
           sizeof c->kill_after);
    c->total_at = spec->total_ms ? clock_mono_ms() + spec->total_ms : 0;
    c->timer = (NetTimer){ .fn = on_timer, .ctx = c };
    *ret_id = c->id;
    net_post(net, begin, c);
    return true;
}

/* -- from other threads -- */

typedef struct Order {
    Children *all;
    NetId id;
    Buf bytes;
    bool write, last;
} Order;

static Child *find(Children *all, NetId id)
{
    for (Child *c = all->ring.next; c != &all->ring; c = c->next)
        if (c->id == id)
            return c;
    return NULL;
}

static void obey(void *ctx)
{
    Order *order = ctx;
    Child *c = find(order->all, order->id);

    if (c && order->write) {
        buf_add(&c->input, buf_str(&order->bytes));
        c->input_last = c->input_last || order->last;
        if (buf_full(&c->input))
            cancel(c);
        else
            write_input(c);
    } else if (c) {
        cancel(c);
    }
    buf_done(&order->bytes);
    mem_free(order);
}

void child_write(Net *net, NetId id, Str bytes, bool last)
{
    Order *order = mem_alloc(sizeof *order);

    *order = (Order){ .all = loop_children(net), .id = id, .write = true, .last = last };
    order->bytes = BUF(SIZE_MAX / 2);
    buf_add(&order->bytes, bytes);
    net_post(net, obey, order);
}

void child_cancel(Net *net, NetId id)
{
    Order *order = mem_alloc(sizeof *order);

    *order = (Order){ .all = loop_children(net), .id = id };
    net_post(net, obey, order);
}

/* -- with the loop -- */

Children *children_new(Net *net)
{
    Children *all = mem_alloc(sizeof *all);

    all->net = net;
    all->ring.next = all->ring.prev = &all->ring;
    return all;
}

/* We are going: no patience any more. Their ends come in through the loop. */
void children_end(Children *all)
{
    for (Child *c = all->ring.next; c != &all->ring; c = c->next) {
        c->cancelled = true;
        c->stage = STAGES;
        (void)kill(-c->pid, SIGKILL);
    }
}

bool children_idle(const Children *all)
{
    return all->ring.next == &all->ring;
}

Children *children_free(Children *all)
{
    return mem_free(all);
}
