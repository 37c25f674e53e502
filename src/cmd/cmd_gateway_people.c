/* talaria gateway pair, sethome: who may come in, and where what nobody asked for goes. */
#include "base/clock.h"
#include "chat/home_channels.h"
#include "chat/people.h"
#include "cmd/cmd_gateway.h"
#include "gateway/connections.h"
#include "handoff/wake.h"
#include "platforms/platforms.h"
#include "text/human.h"

static bool open_journal(Cli *cli, OwnStore **ret, Err *err)
{
    const Homes *homes;

    if (!cli_homes(cli, &homes, err))
        return false;
    *ret = own_store_open(homes->data, err);
    return *ret != NULL;
}

/* -- pair --------------------------------------------------------------------------------------------------- */

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

static bool list(Cli *cli, const Args *args, Err *err)
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
    json_key(&w, "people");
    json_begin(&w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        put_person(&w, &all[i]);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
    return true;
}

static bool approve(Cli *cli, const Args *args, Err *err)
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

const Command gateway_pair[] = {
    { .name = "list",
      .summary = "list people who asked for access and people who have it",
      .examples = gateway_examples,
      .run = list },
    { .name = "approve",
      .operands = "CODE",
      .summary = "give access to the person with this code",
      .details =
          "A person without access who writes in a private chat gets a code, at most once "
          "an hour; it is valid for an hour. People with access talk to the model as guests: "
          "without your memory, your past sessions and your tools.",
      .examples = gateway_examples,
      .min = 1,
      .max = 1,
      .acts = true,
      .run = approve },
    { 0 },
};

/* -- sethome -------------------------------------------------------------------------------------------------- */

/* Whatever arrives while we are connected lies in the inbox; a gateway is to look at it. */
static void pass_on(void *ctx)
{
    wake_call(*(const Str *)ctx);
}

static bool look(const GatewayConnections *lines, Arena *a, Str platform, Str chat, Str owner,
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
static bool check(GatewayConfig *config, Str platform, Str chat, Err *err)
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

bool gateway_sethome(Cli *cli, const Args *args, Err *err)
{
    Str platform = args_operand(args, 0), chat = args_operand(args, 1);
    AUTO(OwnStore) *j = NULL;
    AUTO(GatewayConnections) *lines = NULL;
    GatewayConfig config;
    const Homes *homes;
    HomeChannel home;

    if (!open_journal(cli, &j, err) || !cli_homes(cli, &homes, err) ||
        !gateway_config(cli->arena, &cli->settings, homes, &config, err) ||
        !check(&config, platform, chat, err))
        return false;
    lines = gateway_connections_open(
        &(GatewayConnectionsOptions){
            .data = homes->data, .config = &config, .arrived = pass_on, .ctx = &cli->homes.data },
        err);
    if (!lines || !look(lines, cli->arena, platform, chat, args_text(args, "owner"), &home, err) ||
        !home_set(j, platform, &home, err))
        return false;
    show_home(cli, platform, &home);
    return true;
}
