#include "net/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static char **copy_list(Arena *a, const char *const *list)
{
    size_t n = count(list);
    char **copy = ARENA_ARRAY(a, char *, n + 1);

    for (size_t i = 0; i < n; i++)
        copy[i] = str_z(a, str_of(list[i]));
    return copy;
}

static char **make_env(Arena *a, const char *const *list)
{
    size_t n = count(list), kept = 0;
    char **env = ARENA_ARRAY(a, char *, n + 1);

    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(list[i]);

        if (strchr(list[i], '='))
            env[kept++] = str_z(a, str_of(list[i]));
        else if (value)
            env[kept++] = (char *)str_printf(a, "%s=%s", list[i], value).p;
    }
    return env;
}

static const char **make_paths(Arena *a, const char *program)
{
    Str rest = str_of(getenv("PATH")), folder;
    const char **paths = ARENA_ARRAY(a, const char *, 1);
    size_t n = 0, cap = 1;

    if (strchr(program, '/')) {
        ARENA_PUSH(a, paths, n, cap, str_z(a, str_of(program)));
    } else {
        while (str_split(&rest, ':', &folder))
            if (folder.n && folder.p[0] == '/') /* never the folder we happen to be in */
                ARENA_PUSH(a, paths, n, cap, str_join_path(a, folder, str_of(program)).p);
    }
    ARENA_PUSH(a, paths, n, cap, NULL);
    return paths;
}

SpawnPlan spawn_plan(Arena *a, const char *const *argv, const char *const *env, const char *cwd)
{
    return (SpawnPlan){ .argv = copy_list(a, argv),
                        .env = make_env(a, env),
                        .paths = make_paths(a, argv[0]),
                        .cwd = cwd ? str_z(a, str_of(cwd)) : NULL };
}

static struct {
    bool known;
    struct rlimit limits[RLIM_NLIMITS];
} kept;

void spawn_keep_limits(void)
{
    for (int i = 0; i < (int)RLIM_NLIMITS; i++)
        if (getrlimit((__rlimit_resource_t)i, &kept.limits[i]) != 0)
            kept.limits[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
    kept.known = true;
}

/* -- in the child, between fork and exec -- */

/* Descriptors 0 to 2 are its pipes, 3 tells us of a failure; nothing else is left open. All pipes
 * were made above 3, so none is overwritten before it is moved. */
static bool take_descriptors(const int theirs[4])
{
    for (int i = 0; i < 4; i++)
        if (dup2(theirs[i], i) < 0)
            return false;
    (void)fcntl(3, F_SETFD, FD_CLOEXEC);
    return syscall(SYS_close_range, 4u, ~0u, 0u) == 0;
}

static void run_program(const SpawnPlan *plan)
{
    int worst = ENOENT;

    for (const char *const *path = plan->paths; *path; path++) {
        execve(*path, plan->argv, plan->env);
        if (errno != ENOENT && errno != ENOTDIR)
            worst = errno;
    }
    errno = worst;
}

static void become(const SpawnPlan *plan, const int theirs[4], pid_t parent)
    __attribute__((noreturn));

static void become(const SpawnPlan *plan, const int theirs[4], pid_t parent)
{
    int failed;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && setpgid(0, 0) == 0 &&
        take_descriptors(theirs) && (!plan->cwd || chdir(plan->cwd) == 0)) {
        struct sigaction plain = { .sa_handler = SIG_DFL };
        sigset_t none;

        for (int s = 1; s < NSIG; s++)
            (void)sigaction(s, &plain, NULL);
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        for (int i = 0; kept.known && i < (int)RLIM_NLIMITS; i++)
            (void)setrlimit((__rlimit_resource_t)i, &kept.limits[i]);
        run_program(plan);
    }
    failed = errno ? errno : ECHILD;
    (void)!write(3, &failed, sizeof failed);
    _exit(127);
}

/* -- in us -- */

enum { STDIN, STDOUT, STDERR, FAILURE, PIPES };

/* A pipe above 3, both ends close-on-exec. */
static bool make_pipe(int ends[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = low[i] > 3 ? low[i] : fcntl(low[i], F_DUPFD_CLOEXEC, 4);
        if (low[i] <= 3)
            close(low[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static bool make_pipes(int ours[PIPES], int theirs[PIPES])
{
    for (int i = 0; i < PIPES; i++)
        ours[i] = theirs[i] = -1;
    for (int i = 0; i < PIPES; i++) {
        int ends[2] = { -1, -1 };
        bool ok = make_pipe(ends);

        ours[i] = ends[i == STDIN ? 1 : 0];
        theirs[i] = ends[i == STDIN ? 0 : 1];
        if (!ok || (i != FAILURE && fcntl(ours[i], F_SETFL, O_NONBLOCK) != 0))
            return false;
    }
    return true;
}

/* Until exec has closed the pipe, or said why it did not come to it. */
static int wait_for_exec(int fd)
{
    int failed = 0;
    ssize_t n;

    do {
        n = read(fd, &failed, sizeof failed);
    } while (n < 0 && errno == EINTR);
    return n == sizeof failed ? failed : 0;
}

int spawn(const SpawnPlan *plan, pid_t *ret_pid, int ret_fds[3])
{
    int ours[PIPES], theirs[PIPES], failed = 0;
    pid_t parent = getpid(), pid = -1;

    if (!make_pipes(ours, theirs) || (pid = fork()) < 0)
        failed = errno;
    if (pid == 0)
        become(plan, theirs, parent);
    close_all(theirs, PIPES);
    if (pid > 0) {
        (void)setpgid(pid,
                      pid); /* whoever of the two comes first: the group is there from now on */
        failed = wait_for_exec(ours[FAILURE]);
        if (failed)
            (void)waitpid(pid, NULL, 0);
    }
    if (failed) {
        close_all(ours, PIPES);
        return failed;
    }
    close(ours[FAILURE]);
    memcpy(ret_fds, ours, 3 * sizeof *ret_fds);
    *ret_pid = pid;
    return 0;
}
