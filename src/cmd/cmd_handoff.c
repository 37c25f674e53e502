/* talaria handoff: a session moves to a chat platform, and back. */
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "gateway/gateway.h"
#include "gateway/wake.h"
#include "store/conversations.h"
#include "store/handoff.h"
#include "store/routing.h"
#include "text/human.h"

enum {
    CLAIM_MS = 60000,     /* in which somebody has to take it */
    DISPATCH_MS = 900000, /* in which it has to be done then */
    HEARTBEAT_MS = 30000,
    LOOK_MS = 50,
    MOST_SHOWN = 50,
};

static const Option session_option[] = {
    { .kind = OPTION_TEXT,
      .name = "session",
      .metavar = "ID",
      .help = "which session; the newest where none is named" },
    { 0 },
};

static const Option request_options[] = {
    { .kind = OPTION_TEXT,
      .name = "session",
      .metavar = "ID",
      .help = "which session; the newest where none is named" },
    { .kind = OPTION_FLAG, .name = "detach", .help = "do not wait until it is done" },
    { 0 },
};

/* -- which session ------------------------------------------------------------------------------------- */

static bool newest(Store *store, Arena *a, Lineage *ret, Err *err)
{
    AUTO(SessionList) *list = sessions_open(store, &(SessionQuery){ 0 }, err);
    bool more;

    if (!list || !sessions_next(list, a, ret, &more, err))
        return false;
    return more || err_set(err, ERR_NOT_FOUND, "there is no session yet");
}

static bool find_session(Cli *cli, const Args *args, Lineage *ret, Str *ret_home, Err *err)
{
    Str id = args_text(args, "session");
    Store *store;

    if (!cli_store(cli, &store, err) ||
        !(id.n ? store_find(store, cli->arena, id, ret, err) : newest(store, cli->arena, ret, err)))
        return false;
    *ret_home = store_home(store, ret->tip.home)->path;
    return true;
}

/* An answer that is on its way belongs to where it was asked for. */
static bool check_idle(Cli *cli, Str home, Str session_id, Err *err)
{
    AUTO(Runs) *runs = NULL;
    Conversation c;
    Err none;

    if (!str_eq(home, cli->homes.data))
        return true;
    runs = runs_open(cli->homes.data, err);
    if (!runs)
        return false;
    if (!conversation_get(runs, cli->arena, session_id, &c, &none) || !c.running.n)
        return true;
    return err_set(err, ERR_BUSY, "the agent is in the middle of an answer in '%.*s'; wait for it",
                   STR_FMT(session_id));
}

static bool check_platform(const Cli *cli, Str home, Str platform, bool detach, Err *err)
{
    bool local = str_eqz(platform, "local");

    if (!local && str_eq(home, cli->homes.data))
        return err_set(err, ERR_REFUSED,
                       "%.*s is not set up here, and no Hermes gateway sees a session of ours",
                       STR_FMT(platform));
    if (local && !detach && !gateway_is_running(cli->homes.data))
        return err_set(
            err, ERR_REFUSED,
            "no gateway is running: start one with 'talaria gateway run', or use --detach");
    return true;
}

/* -- waiting -------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

typedef struct Wait {
    Cli *cli;
    Journal *journal;
    int64_t began, claimed, told; /* monotonic; 0: not yet */
    bool asked;                   /* to be left */
} Wait;

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
}

/* Leaves it: at once where nobody has it, else by asking. */
static void give_up(Wait *w, const Handoff *h)
{
    bool over;
    Err err;

    if (w->asked)
        return;
    w->asked = true;
    if (!handoff_cancel(w->journal, h->id, &over, &err))
        log_note("%s", err.text);
    else if (!over)
        log_note("the gateway was asked to leave it");
}

static void tell(Wait *w, const Handoff *h, int64_t now)
{
    if (!w->claimed && h->state > HANDOFF_QUEUED && h->state <= HANDOFF_DONE) {
        w->claimed = w->told = now;
        log_note("picked up by the gateway");
    }
    if (now - w->told >= HEARTBEAT_MS) {
        w->told = now;
        log_note("still at it after %lld s: %.*s%s%.*s", (long long)(now - w->began) / 1000,
                 STR_FMT(h->step), h->error_text.n ? ", " : "", STR_FMT(h->error_text));
    }
}

static bool wait_for(Wait *w, Handoff *h, Err *err)
{
    for (;;) {
        int64_t now = clock_mono_ms();

        if (!handoff_look(w->journal, w->cli->arena, h->id, h, err))
            return false;
        tell(w, h, now);
        if (handoff_is_over(h->state))
            return true;
        if (interrupted || (!w->claimed && now - w->began > CLAIM_MS))
            give_up(w, h);
        if (w->claimed && now - w->claimed > DISPATCH_MS)
            return err_set(
                err, ERR_BUSY,
                "not done after 15 minutes; 'talaria handoff status' says how far it is");
        nap();
    }
}

static bool judge(Cli *cli, const Handoff *h, Err *err)
{
    if (h->state == HANDOFF_DONE) {
        log_note(
            "done: the session goes on at %.*s; 'talaria handoff back --session %.*s' brings it "
            "back",
            STR_FMT(h->platform), STR_FMT(h->session_id));
        if (!cli->json)
            say(cli, "%.*s\n", STR_FMT(h->dest_key));
        return true;
    }
    if (interrupted)
        return err_set(err, ERR_INTERRUPTED, "cancelled; the session goes on here");
    if (h->state == HANDOFF_CANCELLED)
        return err_set(err, ERR_REFUSED,
                       "no gateway took it within 60 seconds; is one running that serves %.*s? The "
                       "session goes on here",
                       STR_FMT(h->platform));
    return err_set(err, ERR_REFUSED, "the handoff failed: %.*s; the session goes on here",
                   STR_FMT(h->error_text));
}

/* -- showing ---------------------------------------------------------------------------------------------- */

static void put_handoff(JsonWriter *w, const Handoff *h)
{
    json_field_str(w, "id", h->id);
    json_field_str(w, "session_id", h->session_id);
    json_field_str(w, "platform", h->platform);
    json_field_str(w, "state", str_of(handoff_state_name(h->state)));
    json_field_str(w, "step", h->step);
    json_field_int(w, "attempt", h->attempt);
    json_field_str(w, "key", h->dest_key.n ? h->dest_key : STR_NONE);
    json_field_str(w, "thread", h->thread_ref.n ? h->thread_ref : STR_NONE);
    json_field_str(w, "error", h->error_text.n ? h->error_text : STR_NONE);
    json_field_int(w, "requested_ms", h->requested_ms);
    json_field_int(w, "updated_ms", h->updated_ms);
}

static void show_one(Cli *cli, const Handoff *h)
{
    JsonWriter w;

    if (!cli->json)
        return;
    w = cli_json_begin(cli);
    put_handoff(&w, h);
    cli_json_end(cli, &w);
}

/* -- handoff PLATFORM --------------------------------------------------------------------------------------- */

static bool wait_and_tell(Cli *cli, Journal *journal, Handoff *h, Err *err)
{
    struct sigaction catch = { .sa_handler = on_signal };
    Wait w = { .cli = cli, .journal = journal, .began = clock_mono_ms() };

    w.told = w.began;
    sigaction(SIGINT, &catch, NULL);
    sigaction(SIGTERM, &catch, NULL);
    if (!wait_for(&w, h, err))
        return false;
    show_one(cli, h);
    return judge(cli, h, err);
}

static bool hand_over(Cli *cli, const Args *args, const char *platform, Err *err)
{
    HandoffWish wish = { .platform = str_of(platform) };
    bool detach = args_flag(args, "detach");
    AUTO(Journal) *journal = NULL;
    Lineage lineage;
    Handoff h;

    if (!find_session(cli, args, &lineage, &wish.home, err) ||
        !check_platform(cli, wish.home, wish.platform, detach, err) ||
        !check_idle(cli, wish.home, lineage.tip.id, err))
        return false;
    wish.session_id = lineage.tip.id;
    journal = journal_open(cli->homes.data, err);
    if (!journal || !handoff_request(journal, cli->arena, &wish, &h, err))
        return false;
    wake_call(cli->homes.data);
    log_note("queued: '%.*s' to %s", STR_FMT(lineage.title), platform);
    if (!detach)
        return wait_and_tell(cli, journal, &h, err);
    show_one(cli, &h);
    if (!cli->json)
        say(cli, "%.*s\n", STR_FMT(h.id));
    return true;
}

/* X(name, title) */
#define PLATFORMS(X)                                                                               \
    X(local, "the chat in our own database")                                                       \
    X(telegram, "Telegram, through a Hermes gateway")                                              \
    X(discord, "Discord, through a Hermes gateway")                                                \
    X(slack, "Slack, through a Hermes gateway")

#define X(name, title)                                                                             \
    static bool to_##name(Cli *cli, const Args *args, Err *err)                                    \
    {                                                                                              \
        return hand_over(cli, args, #name, err);                                                   \
    }
PLATFORMS(X)
#undef X

/* -- status, cancel, back ------------------------------------------------------------------------------------- */

static void print_list(Cli *cli, const Handoff *all, size_t n)
{
    double now = clock_wall();

    if (n == 0)
        say(cli, "No handoff yet\n");
    for (size_t i = 0; i < n; i++) {
        say(cli, "%.*s  %-9s  %.*s -> %.*s  %.*s", STR_FMT(all[i].id),
            handoff_state_name(all[i].state), STR_FMT(all[i].session_id), STR_FMT(all[i].platform),
            STR_FMT(human_ago(cli->arena, (double)all[i].requested_ms / 1000, now)));
        if (all[i].error_text.n) {
            say(cli, "  ");
            say_text(cli, all[i].error_text, false);
        }
        say(cli, "\n");
    }
}

static bool status(Cli *cli, const Args *args, Err *err)
{
    AUTO(Journal) *journal = NULL;
    Handoff *all;
    size_t n;

    (void)args;
    if (!cli_homes(cli, &(const Homes *){ NULL }, err))
        return false;
    journal = journal_open(cli->homes.data, err);
    if (!journal || !handoff_list(journal, cli->arena, STR(""), STR(""), MOST_SHOWN, &all, &n, err))
        return false;
    if (cli->json) {
        JsonWriter w = cli_json_begin(cli);

        json_field_bool(&w, "gateway", gateway_is_running(cli->homes.data));
        json_key(&w, "handoffs");
        json_begin(&w, '[');
        for (size_t i = 0; i < n; i++) {
            json_begin(&w, '{');
            put_handoff(&w, &all[i]);
            json_end(&w, '}');
        }
        json_end(&w, ']');
        cli_json_end(cli, &w);
    } else {
        print_list(cli, all, n);
    }
    return true;
}

/* The one that was named, else the newest that is not over. */
static bool find_handoff(Cli *cli, Journal *journal, Str id, Str *ret, Err *err)
{
    Handoff *all;
    size_t n;

    *ret = id;
    if (id.n)
        return true;
    if (!handoff_list(journal, cli->arena, STR(""), STR(""), MOST_SHOWN, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!handoff_is_over(all[i].state)) {
            *ret = all[i].id;
            return true;
        }
    return err_set(err, ERR_NOT_FOUND, "no handoff is on its way");
}

static bool cancel(Cli *cli, const Args *args, Err *err)
{
    AUTO(Journal) *journal = NULL;
    bool over;
    Handoff h;
    Str id;

    if (!cli_homes(cli, &(const Homes *){ NULL }, err))
        return false;
    journal = journal_open(cli->homes.data, err);
    if (!journal || !find_handoff(cli, journal, args_operand(args, 0), &id, err) ||
        !handoff_cancel(journal, id, &over, err) || !handoff_get(journal, cli->arena, id, &h, err))
        return false;
    wake_call(cli->homes.data);
    show_one(cli, &h);
    if (!cli->json)
        say(cli, over ? "cancelled\n" : "asked the gateway to leave it\n");
    return true;
}

static bool back(Cli *cli, const Args *args, Err *err)
{
    AUTO(Journal) *journal = NULL;
    SessionOwner owner;
    Lineage lineage;
    Str home;

    if (!find_session(cli, args, &lineage, &home, err) ||
        !check_idle(cli, home, lineage.tip.id, err))
        return false;
    journal = journal_open(cli->homes.data, err);
    if (!journal || !owner_get(journal, cli->arena, home, lineage.tip.id, &owner, err))
        return false;
    if (!owner.surface.n || str_eqz(owner.surface, "cli"))
        return err_set(err, ERR_CONFLICT, "session '%.*s' is here already",
                       STR_FMT(lineage.tip.id));
    if (!routing_release(journal, home, lineage.tip.id, err))
        return false;
    if (cli->json) {
        JsonWriter w = cli_json_begin(cli);

        json_field_str(&w, "session_id", lineage.tip.id);
        json_field_str(&w, "from", owner.surface);
        cli_json_end(cli, &w);
    } else {
        say(cli, "'%.*s' is back from %.*s\n", STR_FMT(lineage.title), STR_FMT(owner.surface));
    }
    return true;
}

/* -- the rows ---------------------------------------------------------------------------------------------------- */

static const Example examples[] = {
    { "talaria handoff local", "the newest session goes on in the local chat" },
    { "talaria handoff status", "what is on its way, and what became of the others" },
    { "talaria handoff back", "and it is here again" },
    { 0 },
};

#define REQUEST_DETAILS                                                                            \
    "Waits for a gateway to take it (60 seconds), then until it is done (15 minutes), and says "   \
    "how "                                                                                         \
    "far it is. Ctrl-C cancels it as long as the session has not moved. Whatever happens, "        \
    "exactly "                                                                                     \
    "one side has the session: on failure that is this one. Prints the key under which the "       \
    "session "                                                                                     \
    "is found there."

static const Command children[] = {
#define X(platform, title)                                                                         \
    { .name = #platform,                                                                           \
      .summary = "hand a session over to " title,                                                  \
      .details = REQUEST_DETAILS,                                                                  \
      .options = request_options,                                                                  \
      .examples = examples,                                                                        \
      .run = to_##platform },
    PLATFORMS(X)
#undef X
        { .name = "status",
          .summary = "list handoffs, the newest first",
          .examples = examples,
          .run = status },
    { .name = "cancel",
      .operands = "[ID]",
      .summary = "leave a handoff that is on its way",
      .details =
          "What no gateway has taken is cancelled; one that has is asked to leave it, which it "
          "does between two steps. A session that has moved is brought back by 'back'.",
      .examples = examples,
      .most = 1,
      .run = cancel },
    { .name = "back",
      .summary = "take a session back from where it was handed to",
      .options = session_option,
      .examples = examples,
      .run = back },
    { 0 },
};

const Command cmd_handoff = { .name = "handoff",
                              .summary = "move a session to a chat platform, and back",
                              .examples = examples,
                              .children = children };
