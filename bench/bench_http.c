/* The server's promises: cached /achievements at 20,000 requests a second on one core, 16 MB at rest.
 *
 * The server runs on core 0 and a client of 32 kept connections on core 1, both on 127.0.0.1; the
 * client asks as a browser does (gzip) and checks each head. Counted is the CPU time of the server,
 * the kernel's share of it included, so that a busy machine does not change the figure. FastAPI's is
 * recorded (anchors/performance.md): it was had with a body of a few bytes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "common.h"

enum { CLIENTS = 32, SECONDS = 3, LEAST_RPS = 20000, MOST_BYTES = 16 << 20, RECORDED_RPS = 14500 };

static char head[1024];
static size_t head_n;

static void pin(int core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

/* -- the server --------------------------------------------------------------------------------- */

static pid_t start_server(const char *home, int *ret_port)
{
    char line[256] = "";
    int out[2];
    pid_t child;

    if (pipe(out) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever becomes of us, it does not stay */
        pin(0);
        setenv("TALARIA_HOME", home, 1);
        setenv("HOME", home, 1);
        dup2(out[1], STDOUT_FILENO);
        execl(bench_binary(), bench_binary(), "serve", "--quiet", "--port", "0", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    if (read(out[0], line, sizeof line - 1) <= 0 ||
        sscanf(line, "http://127.0.0.1:%d/", ret_port) != 1)
        *ret_port = 0;
    close(out[0]);
    return child;
}

static bool make_head(const char *home, int port)
{
    char path[512], token[80] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/server-token", home);
    f = fopen(path, "re");
    if (!f || !fgets(token, sizeof token, f)) {
        if (f)
            fclose(f);
        return false;
    }
    fclose(f);
    token[strcspn(token, "\n")] = 0;
    head_n = (size_t)snprintf(head, sizeof head,
                              "GET /api/plugins/hermes-achievements/achievements HTTP/1.1\r\n"
                              "Host: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                              "Accept-Encoding: gzip\r\n\r\n",
                              port, token);
    return true;
}

static double resident_of(pid_t pid)
{
    char path[64], line[128];
    double kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %lf", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}

/* User and system, in seconds. */
static double cpu_of(pid_t pid)
{
    char path[64], line[1024] = "";
    unsigned long user = 0, kernel = 0;
    const char *rest;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (f) {
        rest = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                            &kernel) != 2)
            user = kernel = 0;
        fclose(f);
    }
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

/* -- the client --------------------------------------------------------------------------------- */

typedef struct Client {
    int fd;
    char got[4096]; /* the head of the answer */
    size_t got_n;
    long body; /* bytes still to come; -1: the head is not complete */
} Client;

static bool connect_to(Client *c, int port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int on = 1;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0)
        return false;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    return true;
}

static bool ask(Client *c)
{
    c->got_n = 0;
    c->body = -1;
    return send(c->fd, head, head_n, MSG_NOSIGNAL) == (ssize_t)head_n;
}

/* Reads the head into got; sets body when it is complete. False: not an answer of 200. */
static bool read_head(Client *c, const char *p, size_t n)
{
    size_t room = sizeof c->got - 1 - c->got_n, before = c->got_n, take = n < room ? n : room;
    const char *end, *length;
    long body = 0;

    memcpy(c->got + c->got_n, p, take);
    c->got_n += take;
    c->got[c->got_n] = 0;
    end = strstr(c->got, "\r\n\r\n");
    if (!end)
        return c->got_n < sizeof c->got - 1;
    length = strcasestr(c->got, "content-length: ");
    if (strncmp(c->got, "HTTP/1.1 200", 12) != 0 || !length ||
        sscanf(length + 16, "%ld", &body) != 1)
        return false;
    c->body = body - (long)(n - ((size_t)(end - c->got) + 4 - before));
    return true;
}

/* -1: broken; else how many answers were completed. */
static int serve_client(Client *c)
{
    static char chunk[1 << 16];
    ssize_t n = recv(c->fd, chunk, sizeof chunk, 0);

    if (n <= 0)
        return n < 0 && errno == EAGAIN ? 0 : -1;
    if (c->body >= 0)
        c->body -= n;
    else if (!read_head(c, chunk, (size_t)n))
        return -1;
    if (c->body != 0)
        return 0;
    return ask(c) ? 1 : -1;
}

/* Answers had in that time, or -1. */
static long run_clients(int port, double seconds)
{
    static Client clients[CLIENTS];
    struct pollfd polls[CLIENTS];
    int64_t until = clock_mono_ns() + (int64_t)(seconds * 1e9);
    long done = 0;

    for (int i = 0; i < CLIENTS; i++) {
        if (!connect_to(&clients[i], port) || !ask(&clients[i]))
            return -1;
        polls[i] = (struct pollfd){ .fd = clients[i].fd, .events = POLLIN };
    }
    while (clock_mono_ns() < until) {
        if (poll(polls, CLIENTS, 1000) <= 0)
            return -1;
        for (int i = 0; i < CLIENTS; i++) {
            int n = polls[i].revents ? serve_client(&clients[i]) : 0;

            if (n < 0)
                return -1;
            done += n;
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        close(clients[i].fd);
    return done;
}

static void fill(const char *home)
{
    char set[300];
    char *const demo[] = { "env",        set, (char *)(uintptr_t)bench_binary(), "demo", "--now",
                           "2026-11-15", NULL };

    snprintf(set, sizeof set, "TALARIA_HOME=%s", home);
    (void)bench_run_ms(demo);
}

int main(void)
{
    char home[256];
    double idle, rps = -1;
    int port = 0, status;
    pid_t server;

    bench_folder(home);
    fill(home);
    server = start_server(home, &port);
    usleep(300000);
    idle = resident_of(server);
    pin(1);
    if (port && make_head(home, port) && run_clients(port, 0.5) > 0) {
        double before = cpu_of(server);
        long done = run_clients(port, SECONDS);

        rps = (double)done / (cpu_of(server) - before);
    }
    bench_line("http-achievements", rps, "requests/s", RECORDED_RPS, "recorded", rps / RECORDED_RPS,
               rps >= LEAST_RPS);
    bench_line("http-idle", idle / (1 << 20), "MB", 0, "-", 0, idle > 0 && idle <= MOST_BYTES);
    kill(server, SIGTERM);
    waitpid(server, &status, 0);
    bench_drop_folder(home);
    return rps >= LEAST_RPS && idle > 0 && idle <= MOST_BYTES ? 0 : 1;
}
