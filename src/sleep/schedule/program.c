/* Input and output are unnamed files instead of pipes: a crontab is small, and a file never
 * blocks. */
#include "sleep/schedule/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"

enum { MAX_MS = 20000 };

static int memory_file(Str bytes)
{
    int fd = memfd_create("talaria", MFD_CLOEXEC);

    while (fd >= 0 && bytes.n) {
        ssize_t put = write(fd, bytes.p, bytes.n);

        if (put <= 0) {
            close(fd);
            return -1;
        }
        bytes = str_skip(bytes, (size_t)put);
    }
    if (fd >= 0)
        (void)lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Waits for the child's end; past its time it is killed, and -1. */
static int wait_for(pid_t pid)
{
    struct timespec nap = { .tv_nsec = 1000 * 1000 };
    int64_t until = clock_mono_ms() + MAX_MS;
    int status = 0;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
        if (clock_mono_ms() > until) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, &status, 0);
            return -1;
        }
        nanosleep(&nap, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool read_back(Arena *a, int fd, const char *program, Str *ret, Err *err)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(err, "cannot read what '%s' says", program);
    return file_read_fd(a, fd, "output", LIMIT_CRONTAB_BYTES, ret, err) ||
           err_wrap(err, "cannot read what '%s' says", program);
}

bool program_run(Arena *a, const char *const *argv, Str input, ProgramResult *ret, Err *err)
{
    int fds[3] = { memory_file(input), memory_file(STR("")), memory_file(STR("")) }, failed = 0;
    ProgramResult r = { .exit_code = 127, .output = STR(""), .errors = STR("") };
    bool ok = fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0;
    posix_spawn_file_actions_t actions;
    bool complete = true;
    pid_t pid;

    if (ok) {
        posix_spawn_file_actions_init(&actions);
        for (int i = 0; i < 3; i++)
            posix_spawn_file_actions_adddup2(&actions, fds[i], i);
        failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (ok && !failed) {
        r.exit_code = wait_for(pid);
        complete = read_back(a, fds[1], argv[0], &r.output, err) &&
                   read_back(a, fds[2], argv[0], &r.errors, err);
    }
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    errno = failed ? failed : errno;
    if (!ok || (failed && failed != ENOENT))
        return err_errno(err, "cannot run '%s'", argv[0]);
    if (complete)
        *ret = r;
    return complete;
}
