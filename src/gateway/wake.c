#include "gateway/wake.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"

struct Wake {
    int socket, watch; /* -1: there is none */
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

/* Whether an event is about a database, or one of its logs: the folder holds other files too. */
static bool about_database(const char *bytes, size_t n)
{
    for (size_t at = 0; at + sizeof(struct inotify_event) <= n;) {
        struct inotify_event e;

        memcpy(&e, bytes + at, sizeof e);
        if (e.len && (strncmp(bytes + at + sizeof e, "talaria.db", 10) == 0 ||
                      strncmp(bytes + at + sizeof e, "state.db", 8) == 0))
            return true;
        at += sizeof e + e.len;
    }
    return false;
}

static bool drained(const Wake *w)
{
    char bytes[KIB(8)];
    bool called = false;
    ssize_t n;

    while (w->socket >= 0 && recv(w->socket, bytes, sizeof bytes, 0) >= 0)
        called = true;
    while (w->watch >= 0 && (n = read(w->watch, bytes, sizeof bytes)) > 0)
        called |= about_database(bytes, (size_t)n);
    return called;
}

bool wake_wait(Wake *w, int64_t ms, int also, bool *ret_also, Err *err)
{
    struct pollfd all[] = { { .fd = w->socket, .events = POLLIN },
                            { .fd = w->watch, .events = POLLIN },
                            { .fd = also, .events = POLLIN } };

    *ret_also = false;
    for (;;) {
        int n = poll(all, ARRAY_LEN(all), (int)ms);

        if (n < 0 && errno != EINTR)
            return err_errno(err, "cannot wait");
        *ret_also = n > 0 && (all[2].revents & POLLIN);
        if (n <= 0 || *ret_also || drained(w))
            return true;
    }
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
