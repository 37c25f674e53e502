#include "handoff/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"

struct Wake {
    int socket, watch; /* -1: there is none */
    int64_t echo_ms;   /* after which to look again; 0: nothing is new */
    bool foreign;      /* it is about a database of others */
    char path[sizeof((struct sockaddr_un){ 0 }.sun_path)];
};

/* False where the path is too long for a socket: then inotify has to do. */
static bool address(Str data, struct sockaddr_un *ret)
{
    int n = snprintf(ret->sun_path, sizeof ret->sun_path, "%.*s/gateway.sock", STR_FMT(data));

    ret->sun_family = AF_UNIX;
    return n > 0 && (size_t)n < sizeof ret->sun_path;
}

/* The caller holds the gateway's lock, so a socket that lies there is of one that is gone. */
static int listen_at(Wake *w, Str data)
{
    struct sockaddr_un at = { 0 };
    int fd;

    if (!address(data, &at))
        return -1;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)unlink(at.sun_path);
    /* The socket's own mode is that of its file: there is no moment in which others could write to
     * it. */
    if (fd >= 0)
        (void)fchmod(fd, 0600);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        memcpy(w->path, at.sun_path, sizeof w->path);
    return fd;
}

static int watch_folders(const Homes *homes)
{
    AUTO(Arena) *a = arena_new();
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    uint32_t what = IN_MODIFY | IN_CREATE | IN_MOVED_TO;

    if (fd < 0)
        return -1;
    (void)inotify_add_watch(fd, str_z(a, homes->data), what);
    for (size_t i = 0; i < homes->n; i++)
        (void)inotify_add_watch(fd, str_z(a, homes->all[i].path), what);
    return fd;
}

Wake *wake_open(const Homes *homes, Err *err)
{
    Wake *w = mem_alloc(sizeof *w);

    w->socket = listen_at(w, homes->data);
    w->watch = watch_folders(homes);
    if (w->socket < 0 && w->watch < 0) {
        err_set_errno(err, "neither a socket nor inotify in '%.*s'", STR_FMT(homes->data));
        return wake_close(w);
    }
    return w;
}

Wake *wake_watch(const Homes *homes)
{
    Wake *w = mem_alloc(sizeof *w);

    w->socket = -1;
    w->watch = watch_folders(homes);
    return w;
}

Wake *wake_close(Wake *w)
{
    if (w) {
        if (w->socket >= 0) {
            close(w->socket);
            (void)unlink(w->path);
        }
        if (w->watch >= 0)
            close(w->watch);
        mem_free(w);
    }
    return NULL;
}

/* Whether a database or its log was written. Who only reads a database with a write-ahead log makes
 * that log and an index beside it and takes them away again: that is no news, and our own looking
 * must not wake us. */
static bool is_news(const struct inotify_event *e, Str name)
{
    bool ours = str_starts(name, STR("talaria.db")), database;

    if (!ours && !str_starts(name, STR("state.db")))
        return false;
    database = str_eqz(name, ours ? "talaria.db" : "state.db");
    return database || ((e->mask & IN_MODIFY) && !str_ends(name, STR("-shm")));
}

static bool any_news(Wake *w, const char *bytes, size_t n)
{
    bool any = false;

    for (size_t at = 0; at + sizeof(struct inotify_event) <= n;) {
        struct inotify_event e;

        memcpy(&e, bytes + at, sizeof e);
        if (e.mask & IN_Q_OVERFLOW) {
            any = w->foreign = true; /* some were lost: it may have been anything */
        } else if (e.len && is_news(&e, str_of(bytes + at + sizeof e))) {
            any = true;
            w->foreign |= str_starts(str_of(bytes + at + sizeof e), STR("state.db"));
        }
        at += sizeof e + e.len;
    }
    return any;
}

/* A log is written, and perhaps synced to the disk, before what it says can be read: who looks at
 * once may look too early. So news comes again, a few times, each later than the one before. */
enum { ECHO_FIRST_MS = 5, ECHO_TIMES = 5, ECHO_LAST_MS = 1000 };

static bool drained(Wake *w)
{
    char bytes[KIB(8)];
    bool called = false, news = false;
    ssize_t n;

    while (w->socket >= 0 && recv(w->socket, bytes, sizeof bytes, 0) >= 0)
        called = true;
    while (w->watch >= 0 && (n = read(w->watch, bytes, sizeof bytes)) > 0)
        news |= any_news(w, bytes, (size_t)n);
    if (news)
        w->echo_ms = ECHO_FIRST_MS;
    return called || news;
}

static int64_t until_echo(Wake *w, int64_t ms)
{
    int64_t echo = w->echo_ms;

    w->foreign &= echo != 0;
    if (!echo || echo > ms)
        return ms;
    w->echo_ms = echo * ECHO_TIMES <= ECHO_LAST_MS ? echo * ECHO_TIMES : 0;
    return echo;
}

bool wake_wait(Wake *w, int64_t ms, int also, bool *ret_also, Err *err)
{
    struct pollfd all[] = { { .fd = w->socket, .events = POLLIN },
                            { .fd = w->watch, .events = POLLIN },
                            { .fd = also, .events = POLLIN } };

    int64_t end = clock_mono_ms() + until_echo(w, ms), left;

    *ret_also = false;
    for (;;) {
        int n;

        left = end - clock_mono_ms();
        n = poll(all, ARRAY_LEN(all), left > 0 ? (int)left : 0);
        if (n < 0 && errno != EINTR)
            return err_errno(err, "cannot wait");
        *ret_also = n > 0 && (all[2].revents & POLLIN);
        if (n <= 0 || *ret_also || drained(w))
            return true;
    }
}

bool wake_was_foreign(const Wake *w)
{
    return w->foreign;
}

void wake_call(Str data)
{
    struct sockaddr_un to = { 0 };
    int fd;

    if (!address(data, &to))
        return;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto(fd, "handoff", 7, 0, (struct sockaddr *)&to, sizeof to) < 0)
        log_debug("no gateway to call at '%s': %s", to.sun_path, strerror(errno));
    close(fd);
}

char *gateway_lock_path(Arena *a, Str data)
{
    return str_z(a, str_join_path(a, data, STR("gateway.lock")));
}

bool gateway_is_running(Str data)
{
    AUTO(Arena) *a = arena_new();
    int fd = open(gateway_lock_path(a, data),
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW); /* to ask is not to write */
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    return held;
}
