/* talaria setup: model, chat platforms and nights, asked for one by one; what is given is tried
 * before it is kept. */
#include <unistd.h>

#include "base/limits.h"
#include "cmd/cmd_sleep.h"
#include "cmd/commands.h"
#include "cmd/prompt.h"
#include "model/call.h"
#include "model/config.h"
#include "model/dialect.h"
#include "platforms/config.h"
#include "platforms/whoami.h"
#include "sleep/schedule/schedule.h"
#include "text/settings_write.h"

static const Option options[] = {
    { OPT_FLAG("check", "test the current settings and ask nothing") },
    { 0 },
};

enum { TEST_MS = 30000, TEST_TOKENS = 64 };

typedef enum SetupStatus { SETUP_UNSET, SETUP_OK, SETUP_FAILED } SetupStatus;

typedef struct SetupItem {
    const char *name; /* "model", "telegram", ... */
    const char *title;
    SetupStatus status;
    Str text;
} SetupItem;

enum { SETUP_ITEMS = 5 };

/* -- asking -- */

/* One tiny request to the model: "gpt-5-mini answered in 0.4 s", or why not. */
static bool setup_try_model(Arena *a, const ModelConfig *config, Str *ret, Err *err)
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
    /* A model that thinks may use up the few tokens before its first word: it has answered all the
     * same. */
    if (!model_ask(a, client, STR("Reply with the word OK."), TEST_TOKENS, NULL, &answer, err) &&
        answer.fail.kind != MODEL_FAIL_EMPTY)
        return false;
    *ret =
        str_printf(a, "%.*s answered in %.1f s", STR_FMT(config->name), (double)answer.ms / 1000);
    return true;
}

/* Asks the platform whose token that is: "works as @name". */
static bool setup_try_platform(Arena *a, Str platform, const PlatformConfig *config, Str *ret,
                               Err *err)
{
    AUTO(Net) *net = net_new(err);
    Str name;

    if (!net || !platform_whoami(net, a, platform, config, &name, err))
        return false;
    *ret = str_printf(a, "works as @%.*s", STR_FMT(name));
    return true;
}

/* -- what is configured -- */

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

/* test: ask the model and the platforms; else only what is configured. */
static bool setup_look(Cli *cli, bool test, SetupItem ret[SETUP_ITEMS], Err *err)
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

/* -- state -- */

static void print_items(Cli *cli, const SetupItem *all)
{
    static const char *const marks[] = { "-", "ok", "failed" };
    static const Style styles[] = { STYLE_DIM, STYLE_GREEN, STYLE_RED };

    for (size_t i = 0; i < SETUP_ITEMS; i++) {
        say(cli, "  %-10s%s%-8s%s", all[i].title, style(cli, styles[all[i].status]),
            marks[all[i].status], style(cli, STYLE_OFF));
        say_prose(cli, 20, 20, all[i].text);
    }
}

static void put_items(Cli *cli, const SetupItem *all)
{
    static const char *const names[] = { "unset", "ok", "failed" };
    JsonWriter w = cli_json_begin(cli);

    json_field_begin(&w, "checks", '[');
    for (size_t i = 0; i < SETUP_ITEMS; i++) {
        json_begin(&w, '{');
        json_field_str(&w, "name", str_of(all[i].name));
        json_field_str(&w, "status", str_of(names[all[i].status]));
        json_field_str(&w, "text", all[i].text);
        json_end(&w, '}');
    }
    json_end(&w, ']');
    cli_json_end(cli, &w);
}

static bool check(Cli *cli, Err *err)
{
    SetupItem all[SETUP_ITEMS];
    size_t failed = 0;

    if (!setup_look(cli, true, all, err))
        return false;
    if (cli->json)
        put_items(cli, all);
    else
        print_items(cli, all);
    for (size_t i = 0; i < SETUP_ITEMS; i++)
        failed += all[i].status == SETUP_FAILED;
    cli->told = true;
    return !failed || err_set(err, ERR_INVALID, "%zu of %d do not work", failed, SETUP_ITEMS);
}

/* -- what the steps share -- */

/* What was printed so far has to be read before it is answered. */
static bool ask(Cli *cli, const char *question, Str *ret, Err *err)
{
    buf_flush(cli->out);
    return prompt_line(cli->arena, question, ret, err);
}

static bool ask_secret(Cli *cli, const char *question, Str *ret, Err *err)
{
    buf_flush(cli->out);
    return prompt_secret(cli->arena, question, ret, err);
}

/* How a try ended; *ret_keep: it worked, or is to be kept although it did not. */
static bool tell_verdict(Cli *cli, bool works, Str text, const Err *why, bool *ret_keep, Err *err)
{
    Str answer;

    *ret_keep = works;
    say(cli, "  %s%s%s", style(cli, works ? STYLE_GREEN : STYLE_RED), works ? "ok" : "failed",
        style(cli, STYLE_OFF));
    say(cli, "  ");
    say_prose(cli, 10, 4, works ? text : str_of(why->text));
    if (works)
        return true;
    if (!ask(cli, "  Keep it anyway? [y/N] ", &answer, err))
        return false;
    *ret_keep = answer.n && (answer.p[0] | 0x20) == 'y';
    if (!*ret_keep)
        say(cli, "  Nothing was changed.\n");
    return true;
}

static bool keep(Cli *cli, const char *key, Str value, Err *err)
{
    return settings_set(cli->arena, &cli->settings, str_of(key), value, err);
}

static bool keep_secret(Cli *cli, const char *key, Str value, Err *err)
{
    return !value.n || secret_set(cli->arena, &cli->settings, str_of(key), value, err);
}

/* -- model -- */

typedef struct Provider {
    const char *name, *base_url, *dialect, *example;
    bool key;
} Provider;

static const Provider providers[] = {
    { "openai", "https://api.openai.com/v1", "openai-chat", "gpt-5-mini", true },
    { "anthropic", "https://api.anthropic.com", "anthropic", "claude-sonnet-4-5", true },
    { "openrouter", "https://openrouter.ai/api/v1", "openai-chat", "openai/gpt-5-mini", true },
    { "ollama", "http://127.0.0.1:11434/v1", "openai-chat", "llama3.2", false },
    { "other", "", "openai-chat", "the name that the server uses", true },
};

/* NULL in *ret: skipped. */
static bool ask_provider(Cli *cli, const Provider **ret, Err *err)
{
    Str answer;

    for (*ret = NULL;;) {
        if (!ask(cli, "  Provider (openai, anthropic, openrouter, ollama, other; Enter: skip): ",
                 &answer, err))
            return false;
        if (!answer.n)
            return true;
        for (size_t i = 0; i < ARRAY_LEN(providers); i++)
            if (str_eqz(answer, providers[i].name))
                *ret = &providers[i];
        if (*ret)
            return true;
        say(cli, "  Not one of these. 'other' takes the address of any compatible API.\n");
    }
}

static bool ask_address(Cli *cli, const Provider *p, Str *ret_url, Str *ret_dialect, Err *err)
{
    *ret_url = str_of(p->base_url);
    *ret_dialect = str_of(p->dialect);
    if (ret_url->n)
        return true;
    if (!ask(cli, "  Address of the API (https://host/v1; Enter: skip): ", ret_url, err))
        return false;
    for (Str answer = STR("?"); ret_url->n && answer.n;) {
        if (!ask(cli, "  API (openai-chat, openai-responses, anthropic; Enter: openai-chat): ",
                 &answer, err))
            return false;
        if (answer.n && str_is_one_of(answer, "openai-chat|openai-responses|anthropic")) {
            *ret_dialect = answer;
            break;
        }
    }
    return true;
}

static bool try_and_keep_model(Cli *cli, const ModelConfig *c, Str dialect, Err *err)
{
    Str text = STR("");
    bool works, kept;
    Err why;

    say(cli, "  Asking %.*s for one word ...\n", STR_FMT(c->name));
    buf_flush(cli->out);
    works = setup_try_model(cli->arena, c, &text, &why);
    if (!tell_verdict(cli, works, text, &why, &kept, err))
        return false;
    return !kept ||
           (keep(cli, "model.base_url", c->base_url, err) &&
            keep(cli, "model.name", c->name, err) && keep(cli, "model.dialect", dialect, err) &&
            keep_secret(cli, "model.api_key", c->key, err));
}

static bool model_step(Cli *cli, Err *err)
{
    Str url, dialect, name, key = STR("");
    ModelDialect kind = MODEL_OPENAI_CHAT;
    ModelConfig config;
    const Provider *p;

    say(cli, "\n%sModel%s\n", style(cli, STYLE_BOLD), style(cli, STYLE_OFF));
    if (!ask_provider(cli, &p, err))
        return false;
    if (!p)
        return true;
    if (!ask_address(cli, p, &url, &dialect, err))
        return false;
    if (!url.n)
        return true;
    if (!ask(cli,
             str_z(cli->arena,
                   str_printf(cli->arena, "  Model (for example %s; Enter: skip): ", p->example)),
             &name, err))
        return false;
    if (!name.n)
        return true;
    if (p->key && !ask_secret(cli, "  API key (not shown; Enter: none): ", &key, err))
        return false;
    if (!model_dialect_of(dialect, &kind))
        return err_set(err, ERR_INVALID, "unknown dialect '%.*s'", STR_FMT(dialect));
    config = model_config_plain(url, name, kind, key);
    return try_and_keep_model(cli, &config, dialect, err);
}

/* -- platforms -- */

typedef struct PlatformStep {
    GatewayPlatform which;
    const char *title, *question, *more, *more_key;
} PlatformStep;

static const PlatformStep platform_steps[] = {
    { GATEWAY_TELEGRAM, "Telegram", "  Bot token from @BotFather (not shown; Enter: skip): ", NULL,
      NULL },
    { GATEWAY_DISCORD, "Discord",
      "  Bot token from discord.com/developers (not shown; Enter: skip): ", NULL, NULL },
    { GATEWAY_SLACK, "Slack", "  Bot token (xoxb-..., not shown; Enter: skip): ",
      "  App-level token for Socket Mode (xapp-..., not shown; Enter: none): ",
      "platforms.slack.app_token" },
};

static bool keep_platform(Cli *cli, const PlatformStep *step, Str token, Str more, Err *err)
{
    const char *name = gateway_platform_name(step->which);
    char *enabled = str_z(cli->arena, str_printf(cli->arena, "platforms.%s.enabled", name));
    char *key = str_z(cli->arena, str_printf(cli->arena, "platforms.%s.token", name));

    if (!keep_secret(cli, key, token, err) ||
        (step->more_key && !keep_secret(cli, step->more_key, more, err)) ||
        !keep(cli, enabled, STR("true"), err))
        return false;
    say(cli, "  Saved. 'talaria up' serves it; write to the bot, then approve yourself with "
             "'talaria gateway pair'.\n");
    return true;
}

static bool platform_step(Cli *cli, const PlatformStep *step, const GatewayConfig *now, Err *err)
{
    PlatformConfig config = { .api_base = now->platforms[step->which].api_base };
    Str more = STR(""), text = STR("");
    bool works, kept;
    Err why;

    say(cli, "\n%s%s%s\n", style(cli, STYLE_BOLD), step->title, style(cli, STYLE_OFF));
    if (!ask_secret(cli, step->question, &config.token, err))
        return false;
    if (!config.token.n)
        return true;
    if (step->more && !ask_secret(cli, step->more, &more, err))
        return false;
    works = setup_try_platform(cli->arena, str_of(gateway_platform_name(step->which)), &config,
                               &text, &why);
    return tell_verdict(cli, works, text, &why, &kept, err) &&
           (!kept || keep_platform(cli, step, config.token, more, err));
}

static bool platform_steps_all(Cli *cli, Err *err)
{
    GatewayConfig now;
    const Homes *homes;

    if (!cli_homes(cli, &homes, err) ||
        !gateway_config(cli->arena, &cli->settings, homes, &now, err))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(platform_steps); i++)
        if (!platform_step(cli, &platform_steps[i], &now, err))
            return false;
    return true;
}

/* -- nights -- */

static bool read_time(Str text, int *ret_hour, int *ret_minute)
{
    size_t colon = str_find(text, STR(":"));
    int64_t hour, minute = 0;

    if (!str_to_int(str_head(text, colon), 0, 23, &hour) ||
        (colon < text.n && !str_to_int(str_skip(text, colon + 1), 0, 59, &minute)))
        return false;
    *ret_hour = (int)hour;
    *ret_minute = (int)minute;
    return true;
}

static bool nights_step(Cli *cli, Err *err)
{
    int hour, minute;
    Str answer;
    Err why;

    say(cli, "\n%sNights%s\n", style(cli, STYLE_BOLD), style(cli, STYLE_OFF));
    say_prosef(
        cli, 2,
        "  A night looks for corrections that you keep repeating in this folder's sessions and "
        "proposes skills for you to review.");
    for (;;) {
        if (!ask(cli, "  Run one every night at (HH:MM; Enter: skip): ", &answer, err))
            return false;
        if (!answer.n)
            return true;
        if (read_time(answer, &hour, &minute))
            break;
        say(cli, "  Not a time of day; 03:17 is one.\n");
    }
    if (!sleep_schedule_here(cli, hour, minute, &why))
        say(cli, "  %sfailed%s  %s\n", style(cli, STYLE_RED), style(cli, STYLE_OFF), why.text);
    return true;
}

/* -- the command -- */

static bool run(Cli *cli, const Args *args, Err *err)
{
    SetupItem all[SETUP_ITEMS];

    if (args_flag(args, "check"))
        return check(cli, err);
    if (cli->json || !prompt_possible())
        return err_set(
            err, ERR_USAGE,
            "'setup' asks questions and needs a terminal; 'talaria config set KEY VALUE' "
            "changes a setting, 'talaria setup --check' tests what is set");
    if (!setup_look(cli, false, all, err))
        return false;
    say(cli, "Now:\n");
    print_items(cli, all);
    say_prosef(cli, 0,
               "\nEach step can be skipped with Enter. Settings go to %.*s, secrets to files "
               "beside it that only you can read.",
               STR_FMT(cli->settings.path));
    if (!model_step(cli, err) || !platform_steps_all(cli, err) || !nights_step(cli, err))
        return false;
    say(cli, "\nDone. 'talaria setup --check' tests everything again.\n");
    return true;
}

static const Example examples[] = {
    { "talaria setup", "answer questions; each answer is tested" },
    { "talaria setup --check", "test the current settings" },
    { "talaria config set model.name gpt-5-mini", "one setting, without questions" },
    { 0 },
};

const Command cmd_setup = {
    .name = "setup",
    .summary = "set up a model, chat platforms and nights, and test them",
    .details =
        "Shows the current settings, then asks about each part; every step can be skipped. Tests a "
        "model with a one-word request and a platform by looking up its bot. --check asks nothing; "
        "its exit code is 1 if a configured part does not work.",
    .options = options,
    .examples = examples,
    .run = run
};
