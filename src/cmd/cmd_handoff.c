/* talaria handoff PLATFORM: a session moves to a chat platform. What is on its way, and the way
 * back, are in cmd_handoff_status.c. */
#include "cmd/cmd_handoff.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/commands.h"
#include "cmd/serving.h"
#include "handoff/routing.h"
#include "handoff/wait.h"

static const Option session_option[] = {
    { OPT_TEXT("session", "ID", "session to bring back (default: the last one handed over)"),
      .values = "sessions" },
    { 0 },
};

static const Option request_options[] = {
    { OPT_TEXT("session", "ID", "session to hand over (default: the most recent one)"),
      .values = "sessions" },
    { OPT_TEXT("to", "CHAT", "id of the chat (default: the home channel)") },
    { OPT_FLAG("no-turn", "post the summary card only; the agent does not speak first") },
    { OPT_FLAG("wait",
               "queue it even if no gateway is running, and wait up to 15 minutes for one") },
    { OPT_FLAG("detach", "do not wait for completion") },
    { 0 },
};

/* -- which session -- */

bool handoff_find_session(Cli *cli, Str id, bool look, Pick *ret_pick, Picked *ret, Err *err)
{
    *ret_pick =
        (Pick){ .where = { .settings = &cli->settings }, .files = !cli->where.home, .look = look };
    return cli_homes(cli, &ret_pick->where.homes, err) && cli_store(cli, &ret_pick->store, err) &&
           handoff_pick(ret_pick, cli->arena, id, ret, err);
}

Str handoff_conversation(Cli *cli, OwnStore *journal, Str home, Str session_id)
{
    Str next = session_id;
    Err err;

    if (!str_eq(home, cli->homes.data) &&
        !routing_goes_on_in(journal, cli->arena, home, session_id, &next, &err)) {
        log_debug("%s", err.text);
        next = STR("");
    }
    return next;
}

Str handoff_resume_hint(Cli *cli, OwnStore *journal, Str home, Str session_id)
{
    Str ours = handoff_conversation(cli, journal, home, session_id);

    return str_printf(cli->arena, "%s --resume %.*s", ours.n ? "talaria chat" : "hermes",
                      STR_FMT(ours.n ? ours : session_id));
}

/* -- showing -- */

void handoff_show(Cli *cli, const Handoff *h)
{
    JsonWriter w;

    if (!cli->json)
        return;
    w = cli_json_begin(cli);
    handoff_put(&w, h);
    cli_json_end(cli, &w);
}

/* -- waiting -- */

static void note(void *ctx, const char *text)
{
    (void)ctx;
    log_note("%s", text);
}

typedef struct SignalWatch {
    int fd;
    int ended_by; /* a signal; 0: none */
} SignalWatch;

static WaitWord word(void *ctx)
{
    SignalWatch *watch = ctx;
    uint64_t count;

    (void)!read(watch->fd, &count, sizeof count);
    if (signals_came(SIGTERM))
        watch->ended_by = SIGTERM;
    else if (signals_came(SIGHUP))
        watch->ended_by = SIGHUP;
    if (watch->ended_by)
        return WAIT_LEAVE;
    return signals_came(SIGINT) ? WAIT_CANCEL : WAIT_ON;
}

/* Before the request is written: Ctrl-C right after it has to cancel it. */
static bool watch_begin(SignalWatch *watch, Err *err)
{
    watch->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (watch->fd < 0)
        return err_errno(err, "cannot wait");
    signals_catch(SIGNALS_STOP | SIGNALS_HANGUP, watch->fd);
    return true;
}

static void watch_end(SignalWatch *watch)
{
    if (watch->fd < 0)
        return;
    signals_release();
    close(watch->fd);
    watch->fd = -1;
}

static bool wait_for(Cli *cli, OwnStore *journal, SignalWatch *watch, Handoff *h, int64_t claim_ms,
                     Err *err)
{
    HandoffWaiter waiter = { .homes = &cli->homes,
                             .wake_fd = watch->fd,
                             .word = word,
                             .note = note,
                             .ctx = watch,
                             .claim_ms = claim_ms };
    bool ok = handoff_wait(&waiter, journal, cli->arena, h, err);

    watch_end(watch);
    if (watch->ended_by) {
        log_note("%s", err->text);
        (void)raise(watch->ended_by);
    }
    return ok;
}

/* What a person can open there; the key of the session is for programs (--json). */
static void tell_where(Cli *cli, const Handoff *h)
{
    Str page = serving_address(cli->arena, cli->homes.data);

    if (!str_eqz(h->platform, "local"))
        say(cli, "Continue in the %.*s chat\n", STR_FMT(h->platform));
    else if (page.p)
        say(cli, "%.*shandoffs/local/%.*s\n", STR_FMT(page), STR_FMT(h->thread_ref));
    else
        say(cli, "Continue in the local chat on the page: 'talaria up --open'\n");
}

static bool wait_and_tell(Cli *cli, OwnStore *journal, SignalWatch *watch, Handoff *h,
                          int64_t claim_ms, Err *err)
{
    bool done = wait_for(cli, journal, watch, h, claim_ms, err);

    handoff_show(cli, h);
    if (!done)
        return false;
    /* What our gateway answers in a session of Hermes is kept here: Hermes does not see it. */
    if (!str_eq(h->home, cli->homes.data) && h->dest_key.n)
        log_note("done: continued in the %.*s chat; new messages there are kept by Talaria, not by "
                 "Hermes; to bring it back: 'talaria handoff back --session %.*s'",
                 STR_FMT(h->platform), STR_FMT(h->session_id));
    else
        log_note("done: continued in the %.*s chat; to bring it back: 'talaria handoff back "
                 "--session %.*s', then '%.*s'",
                 STR_FMT(h->platform), STR_FMT(h->session_id),
                 STR_FMT(handoff_resume_hint(cli, journal, h->home, h->session_id)));
    if (!cli->json)
        tell_where(cli, h);
    return true;
}

/* -- handoff PLATFORM -- */

/* It may be somewhere else than here: then it continues from there. Whatever can be refused is
 * refused before a conversation is made of another agent's session. */
static bool ask_for(Cli *cli, OwnStore *journal, const Args *args, HandoffAsk *ask,
                    SignalWatch *watch, Handoff *ret, Err *err)
{
    Picked picked;
    Pick pick;

    if (!handoff_find_session(cli, args_text(args, "session"), false, &pick, &picked, err))
        return false;
    ask->request.home = picked.home;
    ask->request.session_id = picked.session.tip.id;
    if (!handoff_may_go(journal, ask, err) || !handoff_pick_begin(&pick, cli->arena, &picked, err))
        return false;
    ask->request.session_id = picked.session.tip.id;
    if ((!ask->detach && !watch_begin(watch, err)) ||
        !handoff_ask(journal, cli->arena, ask, ret, err))
        return false;
    log_note("queued: '%.*s' to %.*s", STR_FMT(picked.session.title),
             STR_FMT(ask->request.platform));
    return true;
}

static bool hand_over(Cli *cli, const Args *args, const char *platform, Err *err)
{
    HandoffAsk ask = { .homes = &cli->homes,
                       .settings = &cli->settings,
                       .request = { .platform = str_of(platform),
                                    .target = args_text(args, "to"),
                                    .no_turn = args_flag(args, "no-turn") },
                       .detach = args_flag(args, "detach"),
                       .queue = args_flag(args, "wait") };
    AUTO(OwnStore) *journal = NULL;
    SignalWatch watch = { .fd = -1 };
    Handoff h;

    if (!cli_homes(cli, &(const Homes *){ NULL }, err))
        return false;
    journal = own_store_open(cli->homes.data, err);
    if (!journal || !ask_for(cli, journal, args, &ask, &watch, &h, err)) {
        watch_end(&watch);
        return false;
    }
    if (!ask.detach)
        return wait_and_tell(cli, journal, &watch, &h, ask.queue ? LIMIT_HANDOFF_MS : 0, err);
    handoff_show(cli, &h);
    if (!cli->json)
        say(cli, "%.*s\n", STR_FMT(h.id));
    return true;
}

/* X(name, title) */
#define PLATFORMS(X)                                                                               \
    X(local, "the local chat (on the page)")                                                       \
    X(telegram, "Telegram")                                                                        \
    X(discord, "Discord")                                                                          \
    X(slack, "Slack")

#define X(name, title)                                                                             \
    static bool to_##name(Cli *cli, const Args *args, Err *err)                                    \
    {                                                                                              \
        return hand_over(cli, args, #name, err);                                                   \
    }
PLATFORMS(X)
#undef X

/* -- the rows -- */

#define X(name, title)                                                                             \
    static const Example examples_##name[] = {                                                     \
        { "talaria handoff " #name, "continue the most recent session in " title },                \
        { "talaria handoff " #name " --session ID", "hand over a certain session" },               \
        { "talaria handoff back", "bring it back" },                                               \
        { 0 },                                                                                     \
    };
PLATFORMS(X)
#undef X

static const Example examples[] = {
    { "talaria handoff local", "continue the most recent session in the local chat" },
    { "talaria handoff status", "show pending and past handoffs" },
    { "talaria handoff back", "bring it back" },
    { 0 },
};

#define REQUEST_DETAILS                                                                            \
    "Waits up to 60 seconds for a gateway to start the handoff and up to 15 "                      \
    "minutes for its completion, and shows progress. Ctrl-C cancels the "                          \
    "handoff unless the session has moved already; a second Ctrl-C stops "                         \
    "waiting. At any time exactly one side owns the session; on failure it "                       \
    "stays here. The platform must be configured for Talaria's gateway or "                        \
    "for a running Hermes gateway. Hermes gets a copy of a Talaria session, "                      \
    "and 'back' brings its messages along. In a Hermes session that Talaria's gateway continues, " \
    "new messages are kept by Talaria."

static const Command children[] = {
#define X(platform, title)                                                                         \
    { .name = #platform,                                                                           \
      .summary = "hand a session over to " title,                                                  \
      .details = REQUEST_DETAILS,                                                                  \
      .options = request_options,                                                                  \
      .examples = examples_##platform,                                                             \
      .acts = true,                                                                                \
      .run = to_##platform },
    PLATFORMS(X)
#undef X
        { .name = "status",
          .summary = "list handoffs, newest first",
          .details = "Shows the step each handoff has reached: claim, prepare, bind, announce, "
                     "done. From 'bind' on, the session belongs to the platform.",
          .examples = examples,
          .run = handoff_status },
    { .name = "cancel",
      .operands = "[ID]",
      .summary = "cancel a pending handoff",
      .details =
          "A handoff that no gateway has started is cancelled at once; otherwise the gateway stops "
          "after its current step. Use 'back' for a session that has moved already.",
      .examples = examples,
      .acts = true,
      .run = handoff_cancel_one },
    { .name = "back",
      .summary = "bring a session back from a chat platform",
      .details = "Messages from the chat become part of the session, and the chat no longer "
                 "continues it. If the agent is still answering there, wait and run it again.",
      .options = session_option,
      .examples = examples,
      .acts = true,
      .run = handoff_back },
    { 0 },
};

const Command cmd_handoff = { .name = "handoff",
                              .summary = "move a session to a chat platform and back",
                              .examples = examples,
                              .children = children };
