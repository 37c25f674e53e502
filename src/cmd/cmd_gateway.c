/* talaria gateway: the process that serves chat platforms and carries handoffs out. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/cmd_gateway.h"
#include "cmd/commands.h"
#include "gateway/gateway.h"

static void ready(void *ctx, Str platforms)
{
    Cli *cli = ctx;

    say(cli, "serving %.*s\n", STR_FMT(platforms));
    buf_flush(cli->out);
}

/* Something that never ends, such as a read on a disk that does not answer, must not keep the program: what was under way
 * is gone on with by the next one, as after a death. */
static void *end_anyway(void *ctx)
{
    struct pollfd stop = { .fd = (int)(intptr_t)ctx, .events = POLLIN };

    while (poll(&stop, 1, -1) < 0 && errno == EINTR)
        ;
    usleep(LIMIT_GATEWAY_END_MS * 1000);
    log_warning("ended with work unfinished; the next gateway resumes it");
    _exit(0);
}

static bool run(Cli *cli, const Args *args, Err *err)
{
    GatewayOptions options = { .settings = &cli->settings, .ready = ready, .ctx = cli };
    pthread_t watchdog;
    bool ok;

    (void)args;
    if (!cli_homes(cli, &options.homes, err))
        return false;
    options.stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (options.stop_fd < 0)
        return err_errno(err, "cannot listen for signals");
    signals_catch(SIGNALS_STOP, options.stop_fd);
    if (pthread_create(&watchdog, NULL, end_anyway, (void *)(intptr_t)options.stop_fd) == 0)
        pthread_detach(watchdog);
    ok = gateway_run(&options, err);
    close(options.stop_fd);
    return ok;
}

const Example gateway_examples[] = {
    { "talaria gateway run", "serve until stopped" },
    { "talaria gateway status", "show connections, queued messages and the last error" },
    { "talaria gateway sethome telegram 123456", "send handed-over sessions to this chat" },
    { "talaria gateway pair approve ABCD-EFGH", "give access to the person with this code" },
    { 0 },
};

static const Option sethome_options[] = {
    { OPT_TEXT("owner", "ID", "user id of the owner; in a group, the session belongs to them") },
    { 0 },
};

static const Command children[] = {
    { .name = "run",
      .summary = "serve the chat platforms and process handoffs until stopped",
      .details = "Serves the local chat, which needs no account, and every platform that has a "
                 "token ('talaria setup' stores one, or set TALARIA_TELEGRAM_TOKEN and so on). "
                 "Tokens in Hermes' configuration count too, unless Hermes' own gateway is "
                 "running. Handoffs to these platforms start as soon as 'talaria handoff' or "
                 "Hermes requests them. Only one gateway can run per data folder.",
      .examples = gateway_examples,
      .run = run },
    { .name = "status",
      .summary = "show connections, queued messages and the last error",
      .examples = gateway_examples,
      .run = gateway_status },
    { .name = "sethome",
      .operands = "PLATFORM CHAT",
      .summary = "set the default chat for handoffs and notices (same as /sethome there)",
      .details = "Checks with the platform that the chat exists and that Talaria may write to it.",
      .options = sethome_options,
      .examples = gateway_examples,
      .min = 2,
      .max = 2,
      .acts = true,
      .run = gateway_sethome },
    { .name = "pair",
      .summary = "approve people who asked for access",
      .examples = gateway_examples,
      .children = gateway_pair },
    { 0 },
};

const Command cmd_gateway = { .name = "gateway",
                              .summary = "connect chat platforms and process handoffs",
                              .examples = gateway_examples,
                              .children = children };
