/* talaria up: the page and the gateway together.
 *
 * The server runs here, the gateway as a child of this process: a platform's library or protocol
 * that brings the gateway down leaves the page up, and the gateway is started again. The child
 * hears of our end from the kernel, however it comes. Where a gateway is running already, that one
 * is used. */
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/commands.h"
#include "cmd/serving.h"
#include "gateway/gateway.h"
#include "handoff/handoff.h"
#include "handoff/wake.h"

enum { FIRST_WAIT_S = 1, MAX_WAIT_S = 32, STABLE_MS = 60000, END_MS = 10000 };

typedef struct Up {
    char *argv[8]; /* of the gateway */
    pid_t child;   /* 0: none */
    int64_t began; /* monotonic */
    unsigned wait; /* seconds until the next start */
    const Cli *cli;
    ServingBeside beside; /* its fd tells the end of the child; it is due when the next start is */
} Up;

/* In the child. Its output is talk: the data of this command is the address of the page. */
static void become_gateway(Up *up, pid_t parent, const sigset_t *signals)
{
    signals_release();
    sigprocmask(SIG_SETMASK, signals, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        execv("/proc/self/exe", up->argv);
    _exit(127);
}

static void start(void *ctx)
{
    pid_t self = getpid(), child;
    sigset_t all, before;
    Up *up = ctx;

    up->began = clock_mono_ms();
    up->beside.due_ms = 0;
    sigfillset(&all); /* the child must not lose a signal to our handlers */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    child = fork();
    if (child == 0)
        become_gateway(up, self, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (child < 0) {
        log_error("cannot start the gateway: %s", strerror(errno));
        return;
    }
    up->child = child;
    up->beside.fd = (int)syscall(SYS_pidfd_open, child, 0);
    if (up->beside.fd < 0)
        log_warning("the gateway is not restarted if it ends: %s", strerror(errno));
}

/* A database of a newer Talaria does not become older. */
static bool can_open(Str data, Err *err)
{
    AUTO(OwnStore) *j = own_store_open(data, err);

    return j || err->kind != ERR_CONFLICT;
}

/* Whether another try would end the same way. */
static bool is_final(const Up *up, int status)
{
    Err why;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    if (code == err_exit_code(&(Err){ .kind = ERR_CONFLICT }) &&
        gateway_is_running(up->cli->homes.data)) {
        log_note("the page is served; handoffs are carried out by the gateway that runs already");
        return true;
    }
    if (!can_open(up->cli->homes.data, &why)) {
        log_error("the page is served without a gateway: %s", why.text);
        return true;
    }
    if (code != err_exit_code(&(Err){ .kind = ERR_REFUSED }) &&
        code != err_exit_code(&(Err){ .kind = ERR_USAGE }) && code != 0)
        return false;
    log_note("the page is served without a gateway");
    return true;
}

static void on_exit_of_child(Up *up, int status)
{
    up->child = 0;
    close(up->beside.fd);
    up->beside.fd = -1;
    if (is_final(up, status))
        return;
    if (clock_mono_ms() - up->began > STABLE_MS)
        up->wait = FIRST_WAIT_S;
    log_warning("the gateway ended (%s %d); it is started again in %u s",
                WIFSIGNALED(status) ? "signal" : "code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), up->wait);
    up->beside.due_ms = clock_mono_ms() + up->wait * 1000;
    up->wait = up->wait * 2 < MAX_WAIT_S ? up->wait * 2 : MAX_WAIT_S;
}

static void look(void *ctx)
{
    Up *up = ctx;
    int status;

    if (!up->child)
        start(up);
    else if (waitpid(up->child, &status, WNOHANG) == up->child)
        on_exit_of_child(up, status);
}

static void end(void *ctx)
{
    int64_t until = clock_mono_ms() + END_MS;
    Up *up = ctx;

    if (!up->child)
        return;
    kill(up->child, SIGTERM);
    while (waitpid(up->child, NULL, WNOHANG) == 0) {
        if (clock_mono_ms() > until)
            kill(up->child, SIGKILL);
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    up->child = 0;
}

static bool run(Cli *cli, const Args *args, Err *err)
{
    static char name[] = "talaria", home[] = "--home", data[] = "--data", gateway[] = "gateway",
                verb[] = "run";
    Up up = { .argv = { name, gateway, verb }, .wait = FIRST_WAIT_S, .cli = cli };
    size_t n = 3;

    if (!cli_homes(cli, &(const Homes *){ NULL }, err) || !can_open(cli->homes.data, err))
        return false;
    if (cli->where.home) {
        up.argv[n++] = home;
        up.argv[n++] = str_z(cli->arena, str_of(cli->where.home));
    }
    if (cli->where.data) {
        up.argv[n++] = data;
        up.argv[n++] = str_z(cli->arena, str_of(cli->where.data));
    }
    up.beside = (ServingBeside){ start, look, end, &up, -1, 0 };
    return serving_run(cli, args, &up.beside, err);
}

static const Example examples[] = {
    { "talaria up --open", "start, and open the page in your browser" },
    { "talaria up --port 9000", "use another port" },
    { "talaria gateway status", "in another terminal: show the state of the chat platforms" },
    { 0 },
};

const Command cmd_up = {
    .name = "up",
    .summary = "serve the web page and the gateway together",
    .details = "Runs 'talaria serve' and 'talaria gateway run' until stopped. Restarts the gateway "
               "if it crashes; uses a gateway that is already running.",
    .options = serving_options,
    .examples = examples,
    .run = run
};
