/* talaria gateway status: each platform in a few lines, as the gateway last wrote it down. */
#include "base/clock.h"
#include "chat/connections.h"
#include "chat/home_channels.h"
#include "chat/inbox.h"
#include "cmd/cmd_gateway.h"
#include "cmd/table.h"
#include "handoff/wake.h"
#include "platforms/config.h"
#include "text/human.h"

typedef struct Row {
    const char *name;
    bool enabled;
    Str missing;           /* why it is not set up; empty: it is */
    ConnectionStatus link; /* .link empty: not served */
    HomeChannel home;      /* .chat_id empty: none */
    size_t waiting;        /* in the inbox */
    int64_t lag_ms;        /* of the oldest of them */
    ConnectionQueues queues;
} Row;

static const ConnectionStatus *link_of(const ConnectionStatus *all, size_t n, const char *platform)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(all[i].platform, platform))
            return &all[i];
    return NULL;
}

static bool fill(Cli *cli, OwnStore *own, const GatewayConfig *config, bool running, Row *rows,
                 Err *err)
{
    int64_t now = clock_wall_ms(), oldest;
    ConnectionStatus *links;
    size_t n;
    Err none;

    if (!connections_list(own, cli->arena, &links, &n, err))
        return false;
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++) {
        Row *r = &rows[i];
        const ConnectionStatus *l = link_of(links, n, gateway_platform_name((GatewayPlatform)i));

        *r = (Row){ .name = gateway_platform_name((GatewayPlatform)i),
                    .enabled = config->platforms[i].enabled,
                    .missing = config->trouble[i] };
        if (l && running)
            r->link = *l;
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

/* -- for programs ------------------------------------------------------------------------------------------- */

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

static void put_row(JsonWriter *w, const Row *r)
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

static void show_json(Cli *cli, bool running, const Row *rows)
{
    JsonWriter w = cli_json_begin(cli);

    json_field_bool(&w, "running", running);
    json_key(&w, "platforms");
    json_begin(&w, '[');
    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++)
        put_row(&w, &rows[i]);
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

/* -- for people ----------------------------------------------------------------------------------------------- */

static void show_link(Cli *cli, const Row *r, double now)
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

static void show_row(Cli *cli, const Row *r, double now)
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
static void list_rows(Cli *cli, const Row *rows)
{
    static const TableColumn columns[] = {
        { .title = "PLATFORM" }, { .title = "STATE" },   { .title = "ACCOUNT" },
        { .title = "QUEUED" },   { .title = "TO SEND" }, { .title = "GIVEN UP" },
        { .title = "CHAT" },     { .title = "PROBLEM" },
    };
    AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < GATEWAY_PLATFORM_COUNT; i++) {
        const Row *r = &rows[i];

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

bool gateway_status(Cli *cli, const Args *args, Err *err)
{
    Row rows[GATEWAY_PLATFORM_COUNT];
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
    if (!own || !fill(cli, own, &config, running, rows, err))
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
