/* talaria gateway: the process that serves chat platforms and carries handoffs out. */
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/cmd_gateway.h"
#include "cmd/commands.h"
#include "gateway/gateway.h"

static void ready(void *ctx, Str platforms)
{
    Cli *cli = ctx;

    say(cli, "serving %.*s\n", STR_FMT(platforms));
    buf_flush(cli->out);
}

static bool run(Cli *cli, const Args *args, Err *err)
{
    GatewayOptions options = { .settings = &cli->settings, .ready = ready, .ctx = cli };
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

const Example gateway_examples[] = {
    { "talaria gateway run", "serves until it is told to end" },
    { "talaria gateway status", "how the lines are, what waits, the last trouble" },
    { "talaria gateway sethome telegram 123456", "sessions that are handed over arrive there" },
    { "talaria gateway pair approve ABCD-EFGH", "lets a stranger in who was given that code" },
    { "TALARIA_LOCAL_FAULTS=send=2 talaria gateway run",
      "on a bad day: two messages fail at first" },
    { 0 },
};

static const Option sethome_options[] = {
    { .kind = OPTION_TEXT,
      .name = "owner",
      .metavar = "ID",
      .help = "whose chat it is, by the platform's number: in a group the session is theirs" },
    { 0 },
};

static const Command children[] = {
    { .name = "run",
      .summary = "serve the chat platforms and carry handoffs out, until SIGTERM",
      .details =
          "Serves local, the chat that lies in our own database and needs no account, and every "
          "platform that has a token: TALARIA_TELEGRAM_TOKEN in the environment, or a file of mode "
          "0600 that platforms.telegram.token_file names (likewise discord, slack). What a Hermes "
          "is configured with counts too, unless its own gateway is running. Requests are taken "
          "up as soon as they are written, by 'talaria handoff' or by a Hermes, for the platforms "
          "that are served here and no others. One process for a data folder.",
      .examples = gateway_examples,
      .run = run },
    { .name = "status",
      .summary = "how the lines to the platforms are, what waits, the last trouble",
      .examples = gateway_examples,
      .run = gateway_status },
    { .name = "sethome",
      .operands = "PLATFORM CHAT",
      .summary = "which chat gets what nobody asked for; the same as /sethome there",
      .details = "Asks the platform what chat that is and whether we may write in it.",
      .options = sethome_options,
      .examples = gateway_examples,
      .least = 2,
      .most = 2,
      .run = gateway_sethome },
    { .name = "pair",
      .summary = "strangers who ask to be let in",
      .examples = gateway_examples,
      .children = gateway_pair },
    { 0 },
};

const Command cmd_gateway = { .name = "gateway",
                              .summary = "serve chat platforms and carry handoffs out",
                              .examples = gateway_examples,
                              .children = children };
