#include "cmd/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* A browser may stay open for hours: a separate thread waits for it. */
static void *reap(void *ctx)
{
    pid_t child = (pid_t)(intptr_t)ctx;
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return NULL;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        log_warning("the browser could not be opened; open the address above yourself");
    return NULL;
}

/* It prints nothing among our lines, hears no Ctrl-C that is meant for us, and starts with no
 * signal blocked. */
static int start(const char *program, char *file, pid_t *ret)
{
    char *name = (char *)program, *argv[] = { name, file, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int failed;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    failed = posix_spawnp(ret, program, &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static bool start_any(Cli *cli, Str programs, char *file, pid_t *ret)
{
    Str rest = programs, name;

    while (str_split(&rest, ':', &name))
        if (name.n && start(str_z(cli->arena, name), file, ret) == 0)
            return true;
    return false;
}

bool browser_open(Cli *cli, Str address, Str file, Err *err)
{
    const char *chosen = getenv("BROWSER");
    Str programs = chosen && *chosen ? str_of(chosen) : STR("xdg-open");
    char *path = str_z(cli->arena, file);
    pthread_t thread;
    pid_t child;
    Str page = str_printf(cli->arena,
                          "<!doctype html><meta charset=utf-8><title>Talaria</title>"
                          "<meta http-equiv=refresh content=\"0; url=%.*s\">\n",
                          STR_FMT(address));

    if (!file_write_atomic(path, page, err))
        return false;
    if (!start_any(cli, programs, path, &child))
        return err_set(err, ERR_NOT_FOUND,
                       "no browser found ('%.*s' cannot be started); install xdg-utils or set "
                       "BROWSER, or open the address above yourself",
                       STR_FMT(programs));
    if (pthread_create(&thread, NULL, reap, (void *)(intptr_t)child) == 0)
        pthread_detach(thread);
    return true;
}
