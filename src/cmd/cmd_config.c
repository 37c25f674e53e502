/* talaria config: every setting, what it is and where that comes from. */
#include "cmd/commands.h"

static void list_models(Cli *cli, const Settings *s)
{
    for (size_t m = 0; m < s->n_models; m++)
        for (size_t i = 0; i < SETTING_COUNT; i++)
            if (s->models[m].values[i].p)
                say(cli, "models.%.*s.%s: %.*s\n", STR_FMT(s->models[m].name),
                    strchr(setting_infos[i].key, '.') + 1, STR_FMT(s->models[m].values[i]));
}

static void put_models(JsonWriter *w, const Settings *s)
{
    json_key(w, "models");
    json_begin(w, '{');
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

static bool list(Cli *cli, const Args *args, Err *err)
{
    const Settings *s = &cli->settings;
    JsonWriter w;

    (void)args;
    (void)err;
    if (!cli->json) {
        say(cli, "# %.*s%s\n", STR_FMT(s->path), s->found ? "" : " (no such file: defaults)");
        for (size_t i = 0; i < SETTING_COUNT; i++)
            say(cli, "%s: %.*s  %s# %s%s%s\n", setting_infos[i].key, STR_FMT(s->values[i].text),
                style(cli, STYLE_DIM), setting_infos[i].help,
                s->values[i].given ? " (set in the file)" : "", style(cli, STYLE_OFF));
        list_models(cli, s);
        return true;
    }
    w = cli_json_begin(cli);
    json_field_str(&w, "path", s->path);
    json_field_bool(&w, "found", s->found);
    json_key(&w, "settings");
    json_begin(&w, '{');
    for (size_t i = 0; i < SETTING_COUNT; i++)
        json_field_str(&w, setting_infos[i].key, s->values[i].text);
    json_end(&w, '}');
    put_models(&w, s);
    cli_json_end(cli, &w);
    return true;
}

static bool get(Cli *cli, const Args *args, Err *err)
{
    Str key = args_operand(args, 0);
    JsonWriter w;

    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!str_eqz(key, setting_infos[i].key))
            continue;
        if (!cli->json) {
            say(cli, "%.*s\n", STR_FMT(cli->settings.values[i].text));
            return true;
        }
        w = cli_json_begin(cli);
        json_field_str(&w, "key", key);
        json_field_str(&w, "value", cli->settings.values[i].text);
        cli_json_end(cli, &w);
        return true;
    }
    return err_set(err, ERR_NOT_FOUND, "no setting '%.*s'; 'talaria config list' shows them",
                   STR_FMT(key));
}

static const Command children[] = {
    { .name = "list", .summary = "every setting, its value and what it does", .run = list },
    { .name = "get",
      .operands = "KEY",
      .summary = "the value of one setting",
      .least = 1,
      .most = 1,
      .run = get },
    { 0 },
};

static const Example examples[] = {
    { "talaria config list", "every setting with its value" },
    { "talaria config get homes.profiles", "one value" },
    { "talaria config list --json", "for programs" },
    { 0 },
};

const Command cmd_config = { .name = "config",
                             .summary = "settings of config.yaml",
                             .examples = examples,
                             .children = children };
