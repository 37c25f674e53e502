/* talaria serve: the page and its API on this machine. */
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/browser.h"
#include "cmd/commands.h"
#include "cmd/serving.h"
#include "cmd/version.h"
#include "http/server.h"
#include "net/call.h"

const Option serving_options[] = {
    { OPT_NUMBER("port", "N", "port to listen on; 0: any free port"), .letter = 'p',
      .fallback = "8717" },
    { OPT_TEXT("bind", "ADDRESS", "address to listen on (default: 127.0.0.1 and ::1)") },
    { OPT_FLAG("insecure-bind",
               "allow --bind to an address that other machines can reach, unencrypted") },
    { OPT_TEXT("allow-host", "A,B",
               "additional host names under which browsers reach this server") },
    { OPT_FLAG("open", "open the page in your browser ($BROWSER, else xdg-open)") },
    { 0 },
};

/* -- systemd -- */

/* One datagram to systemd, if it started us. */
static void notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t n = path ? strlen(path) : 0;
    int fd;

    if (n < 2 || n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@')
        to.sun_path[0] = 0;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    close(fd);
}

/* -- the address of the page -- */

enum { MAX_ADDRESS = 512, ANSWER_MS = 1000 };

static char *note_path(Arena *a, Str data)
{
    return str_z(a, str_join_path(a, data, STR("server-address")));
}

/* A server that was killed has left its note behind. */
static bool answers(Arena *a, Str url)
{
    Err err;
    AUTO(Net) *net = net_new(&err);
    FetchRequest request = { .method = "GET",
                             .url = str_z(a, str_printf(a, "%.*shealthz", STR_FMT(url))),
                             .times = { .connect = ANSWER_MS, .total = ANSWER_MS } };
    CallAnswer answer;

    return net && call_wait(net, a, &request, &answer, &err) && answer.status == 200;
}

Str serving_address(Arena *a, Str data)
{
    char *path = note_path(a, data);
    Str url;
    Err err;

    if (access(path, R_OK) != 0 || !file_read(a, path, MAX_ADDRESS, &url, &err))
        return STR_NONE;
    url = str_trim(url);
    return str_starts(url, STR("http://")) && answers(a, url) ? url : STR_NONE;
}

/* -- running -- */

/* A link that terminals make clickable (OSC 8): its text is the short address, its target has the
 * token. */
static void print_link(Cli *cli, Str url, Str token)
{
    const char *term = getenv("TERM");

    if (term && *term && strcmp(term, "dumb") != 0)
        say(cli, "\033]8;;%.*s#token=%.*s\033\\%.*s\033]8;;\033\\", STR_FMT(url), STR_FMT(token),
            STR_FMT(url));
    else
        say(cli, "%.*s", STR_FMT(url));
}

/* The token is shown only where a person reads it: a log would keep it. */
static void print_address(Cli *cli, const Server *server)
{
    Str url = server_url(server), token = server_token(server);

    if (isatty(STDOUT_FILENO)) {
        say(cli, "Talaria is running at ");
        print_link(cli, url, token);
        say(cli, " (Ctrl-C stops it)\nToken, if the page asks for one:\n  %.*s\n", STR_FMT(token));
    } else {
        say(cli, "%.*s\n", STR_FMT(url));
        log_note("the token to sign in is in '%.*s'", STR_FMT(server_token_file(server)));
    }
    buf_flush(cli->out);
}

/* A page without a browser is still a page: this fails in words only. */
static void open_page(Cli *cli, const Server *server)
{
    Str file = str_join_path(cli->arena, cli->homes.data, STR("open.html"));
    Str address = str_printf(cli->arena, "%.*s#token=%.*s", STR_FMT(server_url(server)),
                             STR_FMT(server_token(server)));
    Err err = { 0 };

    if (!browser_open(cli, address, file, &err))
        log_warning("%s", err.text);
}

static void wait_for_end(int signal_fd, ServingBeside *beside)
{
    struct pollfd fds[] = { { .fd = signal_fd, .events = POLLIN }, { .events = POLLIN } };

    while (!signals_stop_came()) {
        int64_t now = clock_mono_ms(), due = beside ? beside->due_ms : 0;

        fds[1].fd = beside ? beside->fd : -1;
        fds[1].revents = 0;
        (void)poll(fds, ARRAY_LEN(fds), !due ? -1 : due > now ? (int)(due - now) : 0);
        if (fds[1].revents || (due && clock_mono_ms() >= due))
            beside->look(beside->ctx);
    }
}

static void *end_anyway(void *unused)
{
    (void)unused;
    usleep(LIMIT_HTTP_DRAIN_MS * 1000);
    _exit(0);
}

static void finish(Cli *cli, Server *server, ServingBeside *beside)
{
    bool whole = server_drain(server);
    pthread_t watchdog;

    if (beside)
        beside->end(beside->ctx);
    if (!whole) {
        /* What still runs writes whole files or none; it may end here. */
        log_warning("ended with requests unfinished");
        buf_flush(cli->out);
        _exit(0);
    }
    /* A job that is no request, such as an index being made, ends at its next look. One that never
     * looks again must not keep the program: what it writes is a transaction, or a file that is
     * renamed when it is whole. */
    store_end_reads();
    if (pthread_create(&watchdog, NULL, end_anyway, NULL) == 0)
        pthread_detach(watchdog);
    server_free(server);
}

bool serving_run(Cli *cli, const Args *args, ServingBeside *beside, Err *err)
{
    ServerOptions request = { .bind = args_text(args, "bind"),
                              .anywhere = args_flag(args, "insecure-bind"),
                              .hosts = args_z(args, "allow-host"),
                              .version = talaria_version };
    int64_t port = args_number(args, "port");
    const Homes *homes;
    Server *server;
    int signal_fd;
    char *note;
    Err ignored;

    if (port > UINT16_MAX)
        return err_set(err, ERR_USAGE, "--port must be at most %d", UINT16_MAX);
    if (!cli_homes(cli, &homes, err))
        return false;
    request.port = (uint16_t)port;
    request.where = cli->where;
    signal_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (signal_fd < 0)
        return err_errno(err, "cannot listen for signals");
    signals_catch(SIGNALS_STOP, signal_fd);
    server = server_start(&request, homes, &cli->settings, err);
    if (!server)
        return false;
    if (beside)
        beside->begin(beside->ctx);
    print_address(cli, server);
    if (args_flag(args, "open"))
        open_page(cli, server);
    /* For other commands that point to the page. Best effort: it is a convenience. */
    note = note_path(cli->arena, homes->data);
    if (!file_write_atomic(note, server_url(server), &ignored))
        log_debug("%s", ignored.text);
    notify("READY=1");
    wait_for_end(signal_fd, beside);
    notify("STOPPING=1");
    (void)unlink(note);
    finish(cli, server, beside);
    return true;
}

static bool serve(Cli *cli, const Args *args, Err *err)
{
    return serving_run(cli, args, NULL, err);
}

static const Example examples[] = {
    { "talaria serve --open", "start, and open the page in your browser" },
    { "talaria serve --port 9000", "use another port" },
    { "talaria serve --allow-host box.example:443", "run behind a proxy with this name" },
    { 0 },
};

const Command cmd_serve = {
    .name = "serve",
    .summary = "serve the web page and its API on this machine",
    .details =
        "Listens on this machine only. On a terminal it prints a link that signs you in; the page "
        "then keeps a cookie. The token stays the same from start to start, in the file "
        "server-token of the data folder. SIGTERM lets running requests finish.",
    .options = serving_options,
    .examples = examples,
    .run = serve
};
