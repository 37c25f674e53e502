/* talaria config: every setting, what it is and where that comes from; and changing one. */
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/prompt.h"
#include "text/settings_write.h"

/* -- list -- */

static void put_models(JsonWriter *w, const Settings *s)
{
    json_field_begin(w, "models", '{');
    for (size_t m = 0; m < s->n_models; m++) {
        json_key_str(w, s->models[m].name);
        json_begin(w, '{');
        for (size_t i = 0; i < SETTING_COUNT; i++)
            if (s->models[m].values[i].p)
                json_field_str(w, strchr(setting_infos[i].key, '.') + 1, s->models[m].values[i]);
        json_end(w, '}');
    }
    json_end(w, '}');
}

/* That a secret is set, and where; never what it is. */
static void list_secrets(Cli *cli, const Settings *s)
{
    for (size_t i = 0; i < secret_count; i++) {
        Str source = secret_source(cli->arena, s, &secret_infos[i]);

        say(cli, "%s: %s", secret_infos[i].key, source.p ? "(set: " : "(not set");
        say_text(cli, source, false);
        say(cli, ")  %s# %s%s\n", style(cli, STYLE_DIM), secret_infos[i].help,
            style(cli, STYLE_OFF));
    }
}

static void list_text(Cli *cli, const Settings *s)
{
    say(cli, "# %.*s%s\n", STR_FMT(s->path), s->found ? "" : " (no such file; using defaults)");
    for (size_t i = 0; i < SETTING_COUNT; i++)
        say(cli, "%s: %.*s  %s# %s%s%s\n", setting_infos[i].key, STR_FMT(s->values[i].text),
            style(cli, STYLE_DIM), setting_infos[i].help,
            s->values[i].given ? " (set in the file)" : "", style(cli, STYLE_OFF));
    for (size_t m = 0; m < s->n_models; m++)
        for (size_t i = 0; i < SETTING_COUNT; i++)
            if (s->models[m].values[i].p)
                say(cli, "models.%.*s.%s: %.*s\n", STR_FMT(s->models[m].name),
                    strchr(setting_infos[i].key, '.') + 1, STR_FMT(s->models[m].values[i]));
    list_secrets(cli, s);
}

static bool list(Cli *cli, const Args *args, Err *err)
{
    const Settings *s = &cli->settings;
    Settings ignored;
    JsonWriter w;

    (void)args;
    /* The file is read once more for its error: a wrong name in it is looked up here. */
    if (!settings_load(cli->arena, &ignored, err))
        log_warning("%s; these are the defaults", err->text);
    if (!cli->json) {
        list_text(cli, s);
        return true;
    }
    w = cli_json_begin(cli);
    json_field_str(&w, "path", s->path);
    json_field_bool(&w, "found", s->found);
    json_field_begin(&w, "settings", '{');
    for (size_t i = 0; i < SETTING_COUNT; i++)
        json_field_str(&w, setting_infos[i].key, s->values[i].text);
    json_end(&w, '}');
    put_models(&w, s);
    json_field_begin(&w, "secrets", '{');
    for (size_t i = 0; i < secret_count; i++)
        json_field_bool(&w, secret_infos[i].key,
                        secret_source(cli->arena, s, &secret_infos[i]).p != NULL);
    json_end(&w, '}');
    cli_json_end(cli, &w);
    return true;
}

/* -- get -- */

static bool show_value(Cli *cli, Str key, Str value)
{
    JsonWriter w;

    if (!cli->json) {
        say(cli, "%.*s\n", STR_FMT(value));
        return true;
    }
    w = cli_json_begin(cli);
    json_field_str(&w, "key", key);
    json_field_str(&w, "value", value);
    cli_json_end(cli, &w);
    return true;
}

static bool show_secret(Cli *cli, Str key)
{
    Str source = secret_source(cli->arena, &cli->settings, secret_info(key));
    JsonWriter w;

    if (!cli->json) {
        say(cli, source.p ? "(set: " : "(not set");
        say_text(cli, source, false);
        say(cli, ")\n");
        return true;
    }
    w = cli_json_begin(cli);
    json_field_str(&w, "key", key);
    json_field_bool(&w, "set", source.p != NULL);
    cli_json_end(cli, &w);
    return true;
}

/* models.NAME.FIELD; p NULL: nothing is said about it. */
static Str model_value(Cli *cli, Str key)
{
    Str rest = str_skip(key, strlen("models."));
    size_t dot = rest.n;
    const NamedModel *m;
    Str field;

    while (dot && rest.p[dot - 1] != '.')
        dot--;
    m = dot ? settings_model(&cli->settings, str_head(rest, dot - 1)) : NULL;
    field = str_printf(cli->arena, "model.%.*s", STR_FMT(str_skip(rest, dot)));
    for (size_t i = 0; m && i < SETTING_COUNT; i++)
        if (str_eqz(field, setting_infos[i].key))
            return m->values[i];
    return STR_NONE;
}

static bool get(Cli *cli, const Args *args, Err *err)
{
    Str key = setting_full_key(cli->arena, args_operand(args, 0)), value;

    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (str_eqz(key, setting_infos[i].key))
            return show_value(cli, key, cli->settings.values[i].text);
    if (setting_is_secret(key) && !str_starts(key, STR("models.")))
        return show_secret(cli, key);
    value = str_starts(key, STR("models.")) ? model_value(cli, key) : STR_NONE;
    if (value.p)
        return show_value(cli, key, value);
    return err_set(err, ERR_NOT_FOUND, "no setting '%.*s'; 'talaria config list' shows them",
                   STR_FMT(key));
}

/* -- set and unset -- */

static void tell_changed(Cli *cli, Str key, Str value, const char *how)
{
    JsonWriter w;

    if (!cli->json) {
        say(cli, "%.*s %s", STR_FMT(key), how);
        say_text(cli, value, false);
        say(cli, "\n");
        return;
    }
    w = cli_json_begin(cli);
    json_field_str(&w, "key", key);
    if (value.p)
        json_field_str(&w, "value", value);
    else
        json_field_bool(&w, "set", how[0] == 'i');
    cli_json_end(cli, &w);
}

static bool set_secret(Cli *cli, Str key, bool given, Err *err)
{
    Str secret;

    if (given)
        return err_set(
            err, ERR_USAGE,
            "'%.*s' is a secret, and the command line can be seen by other programs and "
            "stays in the shell's history; run 'talaria config set %.*s' and type it, or "
            "pipe it to standard input",
            STR_FMT(key), STR_FMT(key));
    if (!prompt_or_read_secret(
            cli->arena,
            str_z(cli->arena, str_printf(cli->arena, "%s (not shown): ", secret_info(key)->help)),
            &secret, err) ||
        !secret_set(cli->arena, &cli->settings, key, secret, err))
        return false;
    tell_changed(cli, key, STR_NONE, "is set");
    return true;
}

static bool set(Cli *cli, const Args *args, Err *err)
{
    Str key = setting_full_key(cli->arena, args_operand(args, 0)), value = args_operand(args, 1);

    if (setting_is_secret(key))
        return set_secret(cli, key, value.p != NULL, err);
    if (!value.p)
        return err_set(err, ERR_USAGE, "'config set %.*s' needs a value", STR_FMT(key));
    if (!settings_set(cli->arena, &cli->settings, key, value, err))
        return false;
    tell_changed(cli, key, value, "is now ");
    return true;
}

static bool unset(Cli *cli, const Args *args, Err *err)
{
    Str key = setting_full_key(cli->arena, args_operand(args, 0));
    bool found = false;

    if (!(setting_is_secret(key) ? secret_unset(cli->arena, &cli->settings, key, &found, err)
                                 : settings_unset(cli->arena, &cli->settings, key, &found, err)))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "'%.*s' is not set in '%.*s'", STR_FMT(key),
                       STR_FMT(cli->settings.path));
    tell_changed(cli, key, STR_NONE,
                 setting_is_secret(key) ? "is no longer set" : "has its default again");
    return true;
}

/* -- rows -- */

static const Example set_examples[] = {
    { "talaria config set model.name gpt-5-mini", "change one setting" },
    { "talaria config set platforms.telegram.token", "prompt for a secret without showing it" },
    { "printf %s \"$TOKEN\" | talaria config set platforms.telegram.token",
      "read a secret from standard input" },
    { 0 },
};

static const Command children[] = {
    { .name = "list",
      .summary = "list every setting with its value and meaning",
      .any_settings = true,
      .run = list },
    { .name = "get",
      .operands = "KEY",
      .values = "settings",
      .summary = "print the value of one setting",
      .run = get },
    { .name = "set",
      .operands = "KEY [VALUE]",
      .values = "settings",
      .summary = "change one setting in config.yaml",
      .details =
          "Comments, order and unknown keys of the file stay as they are. Tokens and API keys "
          "are typed or read from standard input, never given as VALUE; they are kept in "
          "files of mode 0600 beside config.yaml.",
      .examples = set_examples,
      .any_settings = true,
      .acts = true,
      .run = set },
    { .name = "unset",
      .operands = "KEY",
      .values = "settings",
      .summary = "remove one setting from config.yaml, so that its default applies",
      .any_settings = true,
      .acts = true,
      .run = unset },
    { 0 },
};

static const Example examples[] = {
    { "talaria config list", "list every setting with its value" },
    { "talaria config set model.name gpt-5-mini", "change a setting" },
    { "talaria config get homes.profiles", "print one value" },
    { 0 },
};

const Command cmd_config = { .name = "config",
                             .summary = "show and change settings",
                             .examples = examples,
                             .children = children };
