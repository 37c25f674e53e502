/* talaria gateway: the process that serves chat platforms and carries handoffs out. */
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "gateway/gateway.h"

static void ready(void *ctx)
{
    Cli *cli = ctx;

    say(cli, "serving local\n");
    buf_flush(cli->out);
}

static bool run(Cli *cli, const Args *args, Err *err)
{
    GatewayOptions options = { .ready = ready, .ctx = cli };
    sigset_t ends;
    bool ok;

    (void)args;
    if (!cli_homes(cli, &options.homes, err))
        return false;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    options.stop_fd = signalfd(-1, &ends, SFD_CLOEXEC);
    if (options.stop_fd < 0)
        return err_errno(err, "cannot listen for signals");
    ok = gateway_run(&options, err);
    close(options.stop_fd);
    return ok;
}

static const Example examples[] = {
    { "talaria gateway run", "serves until it is told to end" },
    { "talaria gateway run & talaria handoff local", "hands the newest session to the local chat" },
    { "TALARIA_LOCAL_FAULTS=send=2 talaria gateway run", "on a bad day: two messages get lost" },
    { 0 },
};

static const Command children[] = {
    { .name = "run",
      .summary = "serve the chat platforms and carry handoffs out, until SIGTERM",
      .details =
          "Serves local, the chat that lies in our own database and needs no account. Requests "
          "are taken up as soon as they are written, by 'talaria handoff' or by a Hermes, for the "
          "platforms that are served here and no others. One process for a data folder.",
      .examples = examples,
      .run = run },
    { 0 },
};

const Command cmd_gateway = { .name = "gateway",
                              .summary = "serve chat platforms and carry handoffs out",
                              .examples = examples,
                              .children = children };
