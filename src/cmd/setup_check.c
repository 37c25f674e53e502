#include "cmd/setup_check.h"

#include "cmd/cmd_sleep.h"
#include "model/call.h"
#include "platforms/whoami.h"
#include "sleep/schedule/schedule.h"

enum { TEST_MS = 30000, TEST_TOKENS = 64 };

const char *setup_status_name(SetupStatus s)
{
    static const char *const names[] = { "unset", "ok", "failed" };

    return names[s];
}

/* -- asking ------------------------------------------------------------------------------------------ */

bool setup_try_model(Arena *a, const ModelConfig *config, Str *ret, Err *err)
{
    AUTO(Net) *net = net_new(err);
    AUTO(ModelClient) *client = NULL;
    ModelConfig once = *config;
    ModelAnswer answer = { 0 };

    once.tries = 1;
    once.times.total = once.times.first = TEST_MS;
    client = net ? model_client_new(net, &once, err) : NULL;
    if (!client)
        return false;
    /* A model that thinks may use up the few tokens before its first word: it has answered all the same. */
    if (!model_ask(a, client, STR("Reply with the word OK."), TEST_TOKENS, NULL, &answer, err) &&
        answer.fail.kind != MODEL_FAIL_EMPTY)
        return false;
    *ret =
        str_printf(a, "%.*s answered in %.1f s", STR_FMT(config->name), (double)answer.ms / 1000);
    return true;
}

bool setup_try_platform(Arena *a, Str platform, const PlatformConfig *config, Str *ret, Err *err)
{
    AUTO(Net) *net = net_new(err);
    Str name;

    if (!net || !platform_whoami(net, a, platform, config, &name, err))
        return false;
    *ret = str_printf(a, "works as @%.*s", STR_FMT(name));
    return true;
}

/* -- what is configured -------------------------------------------------------------------------------- */

static void settle(Arena *a, SetupItem *item, bool ok, Str text, const Err *err)
{
    item->status = ok ? SETUP_OK : SETUP_FAILED;
    item->text = ok ? text : str_dup(a, str_of(err->text));
}

static SetupItem look_at_model(Cli *cli, bool test)
{
    SetupItem item = { "model", "Model", SETUP_UNSET,
                       STR("not configured; answers quote your history") };
    ModelConfig config;
    Str text;
    Err err;

    if (!model_config_exists(&cli->settings))
        return item;
    if (!model_config(cli->arena, &cli->settings, &config, &err)) {
        settle(cli->arena, &item, false, STR(""), &err);
        return item;
    }
    text = str_printf(cli->arena, "%.*s at %.*s", STR_FMT(config.name), STR_FMT(config.base_url));
    settle(cli->arena, &item, !test || setup_try_model(cli->arena, &config, &text, &err), text,
           &err);
    return item;
}

static SetupItem look_at_platform(Cli *cli, const GatewayConfig *config, GatewayPlatform which,
                                  const char *title, bool test)
{
    Str name = str_of(gateway_platform_name(which)), text = STR("token is set");
    SetupItem item = { name.p, title, SETUP_UNSET, config->trouble[which] };
    const PlatformConfig *p = &config->platforms[which];
    Err err;

    if (!p->enabled)
        return item;
    if (!p->token.n) {
        item.status = SETUP_FAILED;
        return item;
    }
    settle(cli->arena, &item, !test || setup_try_platform(cli->arena, name, p, &text, &err), text,
           &err);
    return item;
}

static SetupItem look_at_nights(Cli *cli)
{
    SetupItem item = { "nights", "Nights", SETUP_UNSET, STR("not scheduled") };
    SleepHome home;
    ScheduleRows all;
    Err err;

    if (!sleep_home_of(cli, &home, &err) || !schedule_list(cli->arena, &home, &all, &err)) {
        settle(cli->arena, &item, false, STR(""), &err);
        return item;
    }
    if (all.n) {
        item.status = SETUP_OK;
        item.text = str_printf(cli->arena, "every night at %02d:%02d by %s, %zu project%s",
                               all.items[0].hour, all.items[0].minute,
                               scheduler_name(all.items[0].kind), all.n, all.n == 1 ? "" : "s");
    }
    return item;
}

bool setup_look(Cli *cli, bool test, SetupItem ret[SETUP_ITEMS], Err *err)
{
    GatewayConfig config;
    const Homes *homes;

    if (!cli_homes(cli, &homes, err) ||
        !gateway_config(cli->arena, &cli->settings, homes, &config, err))
        return false;
    ret[0] = look_at_model(cli, test);
    ret[1] = look_at_platform(cli, &config, GATEWAY_TELEGRAM, "Telegram", test);
    ret[2] = look_at_platform(cli, &config, GATEWAY_DISCORD, "Discord", test);
    ret[3] = look_at_platform(cli, &config, GATEWAY_SLACK, "Slack", test);
    ret[4] = look_at_nights(cli);
    return true;
}
