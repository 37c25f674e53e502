/* The life of the server and of each request.
 *
 * A request passes through its phases on the epoll thread of its connection, except PHASE_WORK, in
 * which the connection is suspended and the request belongs to a worker or to a list of those that
 * wait. Whoever finishes it sets PHASE_DONE and resumes the connection; nobody else touches it
 * then. */
#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/api.h"
#include "http/exchange.h"
#include "http/state.h"
#include "net/spawn.h"

enum { EPOLL_THREADS = 2, SILENT_SECONDS = 60, BACKLOG = 1024, FILES_ROOM = 4096 };

/* -- sockets -- */

typedef union Address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} Address;

static bool address_of(Str text, uint16_t port, Address *ret, socklen_t *ret_n)
{
    char z[64];

    if (text.n >= sizeof z)
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = 0;
    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET, z, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons(port);
        *ret_n = sizeof ret->v4;
        return true;
    }
    ret->v6.sin6_family = AF_INET6;
    ret->v6.sin6_port = htons(port);
    *ret_n = sizeof ret->v6;
    return inet_pton(AF_INET6, z, &ret->v6.sin6_addr) == 1;
}

static bool is_loopback(const Address *a)
{
    if (a->any.sa_family == AF_INET)
        return (ntohl(a->v4.sin_addr.s_addr) >> 24) == 127;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static int fail_socket(int fd, int reason)
{
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

/* The listening socket, or -1 and errno. */
static int listen_at(const Address *a, socklen_t n, uint16_t *ret_port)
{
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    Address bound = { 0 };
    socklen_t size = sizeof bound;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(fd, &a->any, n) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, &bound.any, &size) != 0)
        return fail_socket(fd, errno);
    *ret_port = ntohs(a->any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
    return fd;
}

static bool open_socket(Server *s, Str text, uint16_t port, Err *err)
{
    socklen_t n = 0;
    Address a;
    int fd;

    if (!address_of(text, port, &a, &n))
        return err_set(err, ERR_USAGE, "'%.*s' is not an IP address", STR_FMT(text));
    if (!is_loopback(&a) && !s->options.anywhere)
        return err_set(err, ERR_REFUSED,
                       "'%.*s' can be reached from other machines without encryption; use "
                       "--insecure-bind to allow it",
                       STR_FMT(text));
    fd = listen_at(&a, n, &s->port);
    if (fd < 0 && errno == EADDRINUSE)
        return err_set(err, ERR_CONFLICT, "port %u is in use; --port chooses another", port);
    if (fd < 0)
        return err_errno(err, "cannot listen at '%.*s' port %u", STR_FMT(text), port);
    s->sockets[s->n_daemons++] = fd;
    return true;
}

/* Without an address: 127.0.0.1, and [::1] with the same port where the machine has it, since
 * "localhost" may mean either. */
static bool open_sockets(Server *s, Err *err)
{
    bool given = s->options.bind.p != NULL;
    Str first = given ? s->options.bind : STR("127.0.0.1");
    uint16_t port;
    Err why;

    if (!open_socket(s, first, s->options.port, err))
        return false;
    port = s->port;
    if (!given && !open_socket(s, STR("::1"), port, &why) && why.kind == ERR_CONFLICT &&
        s->options.port) {
        *err = why;
        return false;
    }
    s->port = port;
    return true;
}

/* -- daemons -- */

static struct MHD_Daemon *start_daemon(Server *s, int socket, unsigned threads)
{
    struct MHD_OptionItem options[] = {
        { MHD_OPTION_LISTEN_SOCKET, socket, NULL },
        { MHD_OPTION_CONNECTION_LIMIT, LIMIT_HTTP_CONNECTIONS, NULL },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, LIMIT_HTTP_HEAD, NULL },
        { MHD_OPTION_CONNECTION_MEMORY_INCREMENT, 1024, NULL },
        { MHD_OPTION_CONNECTION_TIMEOUT, SILENT_SECONDS, NULL },
        /* Not strict: what it would refuse for that (a space in the target, no Host) framing.c
         * refuses, with one head of the answer where libmicrohttpd 0.9.75 sends two. */
        { MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL },
        { MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)exchange_uri, s },
        { MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)exchange_unescape, NULL },
        { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)exchange_completed, s },
        { MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)exchange_connection, s },
        { threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, NULL },
        { MHD_OPTION_END, 0, NULL },
    };

    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
                            exchange_request, s, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static bool start_daemons(Server *s, Err *err)
{
    for (size_t i = 0; i < s->n_daemons; i++) {
        s->daemons[i] = start_daemon(s, s->sockets[i], i == 0 ? EPOLL_THREADS : 1);
        if (!s->daemons[i])
            return err_set(err, ERR_INTERNAL, "cannot start the server");
    }
    return true;
}

/* Connections are many and small: as many descriptors as we may have, and memory that threads
 * share, since every arena of malloc's keeps pages of its own. */
static void make_room(void)
{
    struct rlimit files;
    int high;

    spawn_keep_limits();
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    /* The kernel's table of them grows by doubling, and every growth holds up a program with
     * threads for some 10 ms: so it has its size before there are threads, and streams. */
    high = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FILES_ROOM - 1);
    if (high >= 0)
        close(high);
    mallopt(M_ARENA_MAX, 2);
}

static void beat(void *ctx)
{
    Server *s = ctx;

    sse_beat(s->sse);
    if (atomic_load(&s->service))
        runlog_beat(service_log(atomic_load(&s->service)));
}

/* The address to open: where we listen, or this machine where that is everywhere. */
static Str url_of(const Server *s)
{
    Str at = s->options.bind;

    if (!at.p || str_eqz(at, "0.0.0.0") || str_eqz(at, "::"))
        at = STR("127.0.0.1");
    return str_find(at, STR(":")) < at.n
               ? str_printf(s->arena, "http://[%.*s]:%u/", STR_FMT(at), s->port)
               : str_printf(s->arena, "http://%.*s:%u/", STR_FMT(at), s->port);
}

/* Nothing is written where nobody talks: only where there is a database, runs may have been left in
 * it. */
static void open_service(Server *s)
{
    Str path = str_join_path(s->arena, s->homes->data, STR("talaria.db"));
    Err err;

    if (access(str_z(s->arena, path), F_OK) == 0 && !server_service(s, &err))
        log_warning("there is no chat: %s", err.text);
}

static bool start(Server *s, Err *err)
{
    if (!exchange_library_is_known(MHD_get_version(), err) ||
        !guard_load(&s->guard, s->arena, s->homes->data, err) || !open_sockets(s, err))
        return false;
    guard_hosts(&s->guard, s->arena, s->port, s->options.bind, s->options.hosts);
    s->url = url_of(s);
    s->sse = sse_new();
    s->watch = watch_start(s->sse, s->homes->data, err);
    if (!s->watch)
        return false;
    s->coordinator =
        coordinator_open(&s->options.where, s->settings, &(CoordinatorOptions){ .all = true }, err);
    s->plugin = s->coordinator ? coordinator_open(&s->options.where, s->settings,
                                                  &(CoordinatorOptions){ 0 }, err)
                               : NULL;
    if (!s->plugin)
        return false;
    coordinator_listen(s->coordinator, api_scan_event, s);
    open_service(s);
    s->jobs = jobs_start(&s->options.where, err);
    s->connections = s->jobs ? connections_start(err) : NULL;
    s->streams = s->connections ? streams_start(beat, s, err) : NULL;
    if (!s->streams || !start_daemons(s, err))
        return false;
    api_index_refresh(s);
    return true;
}

Service *server_service(Server *s, Err *err)
{
    Service *service;

    pthread_mutex_lock(&s->service_lock);
    service = atomic_load(&s->service);
    if (!service) {
        service =
            service_open(&(ServiceOptions){ .homes = s->homes, .settings = s->settings }, err);
        atomic_store(&s->service, service);
    }
    pthread_mutex_unlock(&s->service_lock);
    return service;
}

Server *server_start(const ServerOptions *options, const Homes *homes, const Settings *settings,
                     Err *err)
{
    Server *s = mem_alloc(sizeof *s);

    make_room();
    s->arena = arena_new();
    s->options = *options;
    s->homes = homes;
    s->settings = settings;
    s->started_at = clock_wall();
    pthread_mutex_init(&s->service_lock, NULL);
    pthread_mutex_init(&s->badges.lock, NULL);
    pthread_mutex_init(&s->index.lock, NULL);
    pthread_mutex_init(&s->night.lock, NULL);
    return start(s, err) ? s : server_free(s);
}

/* -- the end -- */

static bool is_busy(Server *s)
{
    return atomic_load(&s->active) > 0 || streams_count(s->streams) > 0 || api_night_runs(s);
}

bool server_drain(Server *s)
{
    int64_t until = clock_mono_ms() + LIMIT_HTTP_DRAIN_MS;

    atomic_store(&s->draining, true);
    atomic_store(&s->ending, true);
    for (size_t i = 0; i < s->n_daemons; i++)
        (void)MHD_quiesce_daemon(s->daemons[i]);
    sse_end(s->sse);
    if (atomic_load(&s->service))
        runlog_quiet(service_log(atomic_load(&s->service)));
    while (is_busy(s) && clock_mono_ms() < until)
        usleep(5000);
    return !is_busy(s);
}

Server *server_free(Server *s)
{
    if (!s)
        return NULL;
    atomic_store(&s->ending, true);
    s->jobs = jobs_stop(s->jobs);
    for (size_t i = 0; i < s->n_daemons; i++) {
        /* A quiet daemon leaves its socket to us; others would close it themselves. */
        if (s->daemons[i] && !atomic_load(&s->draining))
            (void)MHD_quiesce_daemon(s->daemons[i]);
        if (s->daemons[i])
            MHD_stop_daemon(s->daemons[i]);
        close(s->sockets[i]);
    }
    s->streams = streams_stop(s->streams);
    atomic_store(&s->service, service_close(atomic_load(&s->service)));
    s->coordinator = coordinator_free(s->coordinator);
    s->plugin = coordinator_free(s->plugin);
    s->connections = connections_stop(s->connections);
    s->watch = watch_stop(s->watch);
    s->sse = sse_free(s->sse);
    api_forget_badges(&s->badges);
    pthread_mutex_destroy(&s->guard.lock);
    pthread_mutex_destroy(&s->service_lock);
    pthread_mutex_destroy(&s->badges.lock);
    pthread_mutex_destroy(&s->index.lock);
    pthread_mutex_destroy(&s->night.lock);
    arena_free(s->arena);
    return mem_free(s);
}

Str server_url(const Server *s)
{
    return s->url;
}

Str server_token(const Server *s)
{
    return (Str){ s->guard.token.text, SECRET_CHARS };
}

Str server_token_file(const Server *s)
{
    return s->guard.token.path;
}
