#include "common.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

void bench_line(const char *name, double figure, const char *unit, double peer, const char *how,
                double ratio, bool pass)
{
    printf("%s\t%.4g\t%s\t", name, figure, unit);
    if (peer > 0)
        printf("%.4g\t%s\t%.3g\t", peer, how, ratio);
    else
        printf("-\t-\t-\t");
    printf("%s\n", pass ? "pass" : "FAIL");
    fflush(stdout);
}

double bench_run_ms(char *const argv[])
{
    int64_t begin = clock_mono_ns();
    int status;
    pid_t child = fork();

    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return (double)(clock_mono_ns() - begin) / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median_ms(char *const argv[], int n)
{
    double runs[101];

    if (n > 101 || bench_run_ms(argv) < 0)
        return -1;
    for (int i = 0; i < n; i++)
        runs[i] = bench_run_ms(argv);
    qsort(runs, (size_t)n, sizeof *runs, ascending);
    return runs[n / 2];
}

const char *bench_binary(void)
{
    const char *binary = getenv("TALARIA_BIN");

    return binary ? binary : "build/talaria";
}

char *bench_python(void)
{
    return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

void bench_folder(char ret[256])
{
    const char *base = getenv("TMPDIR");

    snprintf(ret, 256, "%s/talaria-bench-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(ret)) {
        perror("mkdtemp");
        exit(1);
    }
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void bench_drop_folder(const char *path)
{
    nftw(path, drop, 16, FTW_DEPTH | FTW_PHYS);
}

/* -- a server to be measured -- */

static char token[128];

int bench_listen(int *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) != 0 || listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) != 0)
        return -1;
    *ret_port = ntohs(at.sin_port);
    return fd;
}

/* A server whose model is a socket that takes a question and says nothing. */
static pid_t start_server(const char *home, int model_port, int *ret_port)
{
    int out[2];
    char text[256] = "", url[64], state[300];
    ssize_t n;
    pid_t pid;

    if (pipe(out) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        snprintf(url, sizeof url, "http://127.0.0.1:%d/v1", model_port);
        snprintf(state, sizeof state, "%s/talaria", home);
        setenv("TALARIA_HOME", state, 1);
        setenv("HERMES_HOME", "/nonexistent", 1);
        setenv("XDG_CONFIG_HOME", home, 1);
        setenv("TALARIA_MODEL_BASE_URL", url, 1);
        setenv("TALARIA_MODEL", "m", 1);
        dup2(out[1], STDOUT_FILENO);
        close(STDERR_FILENO);
        execl(bench_binary(), "talaria", "serve", "--port", "0", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    n = read(out[0], text, sizeof text - 1);
    return n > 0 && sscanf(text, "http://127.0.0.1:%d/", ret_port) == 1 ? pid : -1;
}

static bool read_token(const char *home)
{
    AUTO(Arena) *a = arena_new();
    char path[320];
    Str got;
    Err err;

    snprintf(path, sizeof path, "%s/talaria/server-token", home);
    if (!file_read(a, path, sizeof token - 1, &got, &err))
        return false;
    snprintf(token, sizeof token, "%.*s", STR_FMT(str_trim(got)));
    return true;
}

int bench_ask(int port, const char *method, const char *path, const char *body)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    char text[1024];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int n = snprintf(text, sizeof text,
                     "%s %s HTTP/1.0\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
                     "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                     method, path, port, token, strlen(body), body);

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(fd, text, (size_t)n) != n)
        return -1;
    return fd;
}

pid_t bench_serve(const char *home, int model_port, int *ret_port)
{
    pid_t pid = start_server(home, model_port, ret_port);

    return pid > 0 && read_token(home) ? pid : -1;
}

bool bench_find(int fd, const char *mark, char ret[64])
{
    char text[8192];
    size_t n = 0;

    while (n < sizeof text - 1) {
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        char *at;

        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = 0;
        at = strstr(text, mark);
        if (at && strlen(at) > strlen(mark) + 30) {
            size_t len = strcspn(at + strlen(mark), "\"\r\n");

            snprintf(ret, 64, "%.*s", (int)len, at + strlen(mark));
            return true;
        }
    }
    return false;
}

double bench_resident_mb(pid_t pid)
{
    char path[64], line[256];
    double kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtod(line + 6, NULL);
    if (f)
        fclose(f);
    return kb / 1024;
}
