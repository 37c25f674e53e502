/* talaria gateway: the process that serves chat platforms and carries handoffs out. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/signals.h"
#include "chat/connections.h"
#include "chat/home_channels.h"
#include "chat/inbox.h"
#include "chat/people.h"
#include "cmd/commands.h"
#include "cmd/table.h"
#include "gateway/connections.h"
#include "gateway/gateway.h"
#include "handoff/wake.h"
#include "platforms/config.h"
#include "platforms/platforms.h"
#include "text/human.h"

static const Example examples[] = {
    { "talaria gateway run", "serve until stopped" },
    { "talaria gateway status", "show connections, queued messages and the last error" },
    { "talaria gateway sethome telegram 123456", "send handed-over sessions to this chat" },
    { "talaria gateway pair approve ABCD-EFGH", "give access to the person with this code" },
    { 0 },
};

/* -- run -- */

static void ready(void *ctx, Str platforms)
{
    Cli *cli = ctx;

    say(cli, "serving %.*s\n", STR_FMT(platforms));
    buf_flush(cli->out);
}

/* Something that never ends, such as a read on a disk that does not answer, must not keep the
 * program: the next gateway resumes unfinished work, as after a crash. */
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

/* -- status: each platform in a few lines, as the gateway last wrote it down -- */

typedef struct PlatformRow {
    const char *name;
    bool enabled;
    Str missing;           /* why it is not set up; empty: it is */
    ConnectionStatus link; /* .link empty: not served */
    HomeChannel home;      /* .chat_id empty: none */
    size_t waiting;        /* in the inbox */
    int64_t lag_ms;        /* of the oldest of them */
    ConnectionQueues queues;
} PlatformRow;

static bool read_rows(Cli *cli, OwnStore *own, const GatewayConfig *config, bool running,
                      PlatformRow *rows, Err *err)
{
    int64_t now = clock_wall_ms(), oldest;
    ConnectionStatus *links;
    size_t n;
    Err none;

    if (!connections_list(own, cli->arena, &links, &n, err))
        return false;
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++) {
        PlatformRow *r = &rows[i];

        *r = (PlatformRow){ .name = gateway_platform_name((GatewayPlatform)i),
                            .enabled = config->platforms[i].enabled,
                            .missing = config->trouble[i] };
        for (size_t k = 0; k < n && running; k++)
            if (str_eqz(links[k].platform, r->name))
                r->link = links[k];
        if (!inbox_waiting(own, str_of(r->name), &r->waiting, &oldest, err) ||
            !connections_queues(own, str_of(r->name), &r->queues, err))
            return false;
        r->lag_ms = oldest ? now - oldest : 0;
        if (!home_get(own, cli->arena, str_of(r->name), config->platforms[i].home_channel, &r->home,
                      &none))
            r->home = (HomeChannel){ .chat_id = config->platforms[i].home_channel };
    }
    return true;
}

/* -- for programs -- */

static void put_home(JsonWriter *w, const HomeChannel *h)
{
    json_key(w, "home");
    if (!h->chat_id.n) {
        json_put_null(w);
        return;
    }
    json_begin(w, '{');
    json_field_str(w, "chat_id", h->chat_id);
    json_field_str(w, "name", h->name.n ? h->name : STR_NONE);
    json_field_str(w, "chat_type", h->chat_type.n ? h->chat_type : STR_NONE);
    json_field_str(w, "scope_id", h->scope_id.n ? h->scope_id : STR_NONE);
    json_field_str(w, "owner_id", h->owner_id.n ? h->owner_id : STR_NONE);
    json_end(w, '}');
}

static void put_row(JsonWriter *w, const PlatformRow *r)
{
    json_begin(w, '{');
    json_field_str(w, "platform", str_of(r->name));
    json_field_bool(w, "enabled", r->enabled);
    json_field_str(w, "missing", r->missing.n ? r->missing : STR_NONE);
    json_field_str(w, "link", r->link.link.n ? r->link.link : STR_NONE);
    json_field_str(w, "account", r->link.account.n ? r->link.account : STR_NONE);
    json_field_int(w, "since_ms", r->link.since_ms);
    json_field_int(w, "heard_ms", r->link.heard_ms);
    json_field_int(w, "waiting", (int64_t)r->waiting);
    json_field_int(w, "lag_ms", r->lag_ms);
    json_field_int(w, "outgoing", r->queues.outgoing);
    json_field_int(w, "dead", r->queues.dead);
    json_field_int(w, "parked", r->queues.parked);
    json_field_str(w, "error", r->link.error.n ? r->link.error : STR_NONE);
    json_field_int(w, "error_ms", r->link.error_ms);
    put_home(w, &r->home);
    json_end(w, '}');
}

static void show_json(Cli *cli, bool running, const PlatformRow *rows)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_bool(&w, "running", running);
    json_field_begin(&w, "platforms", '[');
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++)
        put_row(&w, &rows[i]);
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

/* -- for people -- */

static void show_link(Cli *cli, const PlatformRow *r, double now)
{
    if (r->link.link.n) {
        say(cli, "%.*s", STR_FMT(r->link.link));
        if (r->link.account.n) {
            say(cli, " as ");
            say_text(cli, r->link.account, false);
        }
        say(cli, ", since %.*s",
            STR_FMT(human_ago(cli->arena, (double)r->link.since_ms / 1000, now)));
    } else {
        say(cli, r->enabled ? "set up, not connected" : "not set up");
    }
    if (r->waiting)
        say(cli, "; %zu queued, the oldest for %lld s", r->waiting, (long long)r->lag_ms / 1000);
    if (r->queues.outgoing)
        say(cli, "; %lld to send", (long long)r->queues.outgoing);
    if (r->queues.dead || r->queues.parked)
        say(cli, "; given up: %lld to send, %lld to read", (long long)r->queues.dead,
            (long long)r->queues.parked);
    say(cli, "\n");
}

static void show_row(Cli *cli, const PlatformRow *r, double now)
{
    say(cli, "%-9s ", r->name);
    show_link(cli, r, now);
    if (r->missing.n)
        say(cli, "          %.*s\n", STR_FMT(r->missing));
    if (r->home.chat_id.n) {
        say(cli, "          default chat: ");
        say_text(cli, r->home.name.n ? r->home.name : r->home.chat_id, false);
        say(cli, r->home.chat_type.n ? " (%.*s)\n" : "\n", STR_FMT(r->home.chat_type));
    } else if (r->enabled) {
        say(cli, "          default chat: none; type /sethome in a chat there\n");
    }
    if (r->link.error.n) {
        say(cli, "          last error, %.*s: ",
            STR_FMT(human_ago(cli->arena, (double)r->link.error_ms / 1000, now)));
        say_text(cli, r->link.error, false);
        say(cli, "\n");
    }
}

/* In a pipe: one platform a line. */
static void list_rows(Cli *cli, const PlatformRow *rows)
{
    static const TableColumn columns[] = {
        { .title = "PLATFORM" }, { .title = "STATE" },   { .title = "ACCOUNT" },
        { .title = "QUEUED" },   { .title = "TO SEND" }, { .title = "GIVEN UP" },
        { .title = "CHAT" },     { .title = "PROBLEM" },
    };
    AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++) {
        const PlatformRow *r = &rows[i];

        table_cell(t, str_of(r->name));
        table_cell(t, r->link.link.n ? r->link.link : str_of(r->enabled ? "set up" : "not set up"));
        table_cell(t, r->link.account);
        table_cellf(t, "%zu", r->waiting);
        table_cellf(t, "%lld", (long long)r->queues.outgoing);
        table_cellf(t, "%lld", (long long)(r->queues.dead + r->queues.parked));
        table_cell(t, r->home.chat_id);
        table_cell(t, r->link.error.n ? r->link.error : r->missing);
    }
    table_end(t);
}

static bool status(Cli *cli, const Args *args, Err *err)
{
    PlatformRow rows[GATEWAY_PLATFORM_COUNT];
    AUTO(OwnStore) *own = NULL;
    GatewayConfig config;
    const Homes *homes;
    bool running, copy;

    (void)args;
    if (!cli_homes(cli, &homes, err) ||
        !gateway_config(cli->arena, &cli->settings, homes, &config, err))
        return false;
    running = gateway_is_running(homes->data);
    own = own_store_open_to_read(homes->data, &copy, err);
    if (!own || !read_rows(cli, own, &config, running, rows, err))
        return false;
    if (cli->json) {
        show_json(cli, running, rows);
        return true;
    }
    if (!cli_on_terminal(cli)) {
        list_rows(cli, rows);
        return true;
    }
    say(cli, running ? "A gateway is running\n" : "No gateway is running\n");
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++)
        show_row(cli, &rows[i], clock_wall());
    return true;
}

static bool open_journal(Cli *cli, OwnStore **ret, Err *err)
{
    const Homes *homes;

    if (!cli_homes(cli, &homes, err))
        return false;
    *ret = own_store_open(homes->data, err);
    return *ret != NULL;
}

/* -- pair -- */

static void put_person(JsonWriter *w, const Person *p)
{
    json_field_str(w, "platform", p->platform);
    json_field_str(w, "user_id", p->user_id);
    json_field_str(w, "name", p->name);
    json_field_bool(w, "allowed", p->allowed);
    json_field_str(w, "code", p->code.n ? p->code : STR_NONE);
    json_field_int(w, "asked_ms", p->asked_ms);
}

static void show_person(Cli *cli, const Person *p)
{
    say(cli, "%-9.*s ", STR_FMT(p->platform));
    say_text(cli, p->user_id, false);
    if (p->name.n) {
        say(cli, " (");
        say_text(cli, p->name, false);
        say(cli, ")");
    }
    if (p->allowed)
        say(cli, ": has access\n");
    else
        say(cli, ": asked for access %.*s, code %.*s\n",
            STR_FMT(human_ago(cli->arena, (double)p->asked_ms / 1000, clock_wall())),
            STR_FMT(p->code));
}

static bool list_people(Cli *cli, const Args *args, Err *err)
{
    AUTO(OwnStore) *j = NULL;
    JsonWriter w;
    Person *all;
    size_t n;

    (void)args;
    if (!open_journal(cli, &j, err) || !people_list(j, cli->arena, &all, &n, err))
        return false;
    if (!cli->json) {
        if (n == 0)
            say(cli, "No access requests\n");
        for (size_t i = 0; i < n; i++)
            show_person(cli, &all[i]);
        return true;
    }
    w = cli_json_begin(cli);
    json_field_begin(&w, "people", '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        put_person(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
    return true;
}

static bool approve_person(Cli *cli, const Args *args, Err *err)
{
    AUTO(OwnStore) *j = NULL;
    JsonWriter w;
    Person p;

    if (!open_journal(cli, &j, err) ||
        !person_approve(j, cli->arena, args_operand(args, 0), &p, err))
        return false;
    if (!cli->json) {
        show_person(cli, &p);
        return true;
    }
    w = cli_json_begin(cli);
    put_person(&w, &p);
    cli_json_end(cli, &w);
    return true;
}

static const Command pair_children[] = {
    { .name = "list",
      .summary = "list people who asked for access and people who have it",
      .examples = examples,
      .run = list_people },
    { .name = "approve",
      .operands = "CODE",
      .summary = "give access to the person with this code",
      .details =
          "A person without access who writes in a private chat gets a code, at most once "
          "an hour; it is valid for an hour. People with access talk to the model as guests: "
          "without your memory, your past sessions and your tools.",
      .examples = examples,
      .acts = true,
      .run = approve_person },
    { 0 },
};

/* -- sethome -- */

/* Messages that arrive while we are connected are in the inbox; wake the gateway to read them. */
static void pass_on(void *ctx)
{
    wake_call(*(const Str *)ctx);
}

static bool find_chat(const GatewayConnections *lines, Arena *a, Str platform, Str chat, Str owner,
                      HomeChannel *ret, Err *err)
{
    size_t n;
    const GatewayConnection *all = gateway_connections_list(lines, &n),
                            *s = gateway_connection_named(all, n, platform);

    if (!s)
        return err_set(err, ERR_REFUSED, "cannot check the chat: %.*s is not connected",
                       STR_FMT(platform));
    return s->platform->look(s->connection, a, chat, owner, ret, err);
}

/* The platform alone, as it is configured. */
static bool check_platform(GatewayConfig *config, Str platform, Str chat, Err *err)
{
    const PlatformConfig *c = gateway_config_of(config, platform);

    if (!c || !platform_named(platform))
        return err_set(err, ERR_NOT_FOUND, "unknown platform '%.*s'", STR_FMT(platform));
    if (!c->enabled)
        return err_set(err, ERR_REFUSED, "%.*s is not set up: %.*s", STR_FMT(platform),
                       STR_FMT(gateway_config_trouble(config, platform)));
    if (!home_may_be(platform, c->home_channel, chat, err))
        return false;
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++)
        if (&config->platforms[i] != c)
            config->platforms[i].enabled = false;
    return true;
}

static void show_home(Cli *cli, Str platform, const HomeChannel *h)
{
    JsonWriter w;

    if (!cli->json) {
        say(cli, "default chat of %.*s: ", STR_FMT(platform));
        say_text(cli, h->name.n ? h->name : h->chat_id, false);
        say(cli, " (%.*s); sessions arrive %s\n", STR_FMT(h->chat_type),
            h->threads ? "each in its own thread" : HOME_WITHOUT_THREADS);
        return;
    }
    w = cli_json_begin(cli);
    json_field_str(&w, "platform", platform);
    json_field_str(&w, "chat_id", h->chat_id);
    json_field_str(&w, "name", h->name);
    json_field_str(&w, "chat_type", h->chat_type);
    json_field_str(&w, "owner_id", h->owner_id.n ? h->owner_id : STR_NONE);
    json_field_bool(&w, "threads", h->threads);
    cli_json_end(cli, &w);
}

static bool sethome(Cli *cli, const Args *args, Err *err)
{
    Str platform = args_operand(args, 0), chat = args_operand(args, 1);
    AUTO(OwnStore) *j = NULL;
    AUTO(GatewayConnections) *lines = NULL;
    GatewayConfig config;
    const Homes *homes;
    HomeChannel home;

    if (!open_journal(cli, &j, err) || !cli_homes(cli, &homes, err) ||
        !gateway_config(cli->arena, &cli->settings, homes, &config, err) ||
        !check_platform(&config, platform, chat, err))
        return false;
    lines = gateway_connections_open(
        &(GatewayConnectionsOptions){
            .data = homes->data, .config = &config, .arrived = pass_on, .ctx = &cli->homes.data },
        err);
    if (!lines ||
        !find_chat(lines, cli->arena, platform, chat, args_text(args, "owner"), &home, err) ||
        !home_set(j, platform, &home, err))
        return false;
    show_home(cli, platform, &home);
    return true;
}

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
      .examples = examples,
      .run = run },
    { .name = "status",
      .summary = "show connections, queued messages and the last error",
      .examples = examples,
      .run = status },
    { .name = "sethome",
      .operands = "PLATFORM CHAT",
      .summary = "set the default chat for handoffs and notices (same as /sethome there)",
      .details = "Checks with the platform that the chat exists and that Talaria may write to it.",
      .options = sethome_options,
      .examples = examples,
      .acts = true,
      .run = sethome },
    { .name = "pair",
      .summary = "approve people who asked for access",
      .examples = examples,
      .children = pair_children },
    { 0 },
};

const Command cmd_gateway = { .name = "gateway",
                              .summary = "connect chat platforms and process handoffs",
                              .examples = examples,
                              .children = children };
