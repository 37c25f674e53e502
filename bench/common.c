#include "common.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

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
