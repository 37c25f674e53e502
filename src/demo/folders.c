#include <stdlib.h>
#include <unistd.h>

#include "demo/demo.h"

static bool entered;

DemoFolders demo_folders(Arena *a, Str data_folder)
{
    Str root = str_join_path(a, data_folder, STR("demo"));

    return (DemoFolders){ .root = root,
                          .data = str_join_path(a, root, STR("data")),
                          .hermes = str_join_path(a, root, STR("hermes")),
                          .claude = str_join_path(a, root, STR("claude")),
                          .codex = str_join_path(a, root, STR("codex")),
                          .config = str_join_path(a, root, STR("config")) };
}

/* Variables that lead to something of the user's: tokens of chat platforms, the model and its key.
 * TALARIA_HERMES_BASE_URL stays: script/server sets it for the stand-in beside the demo. */
static const char *const private_variables[] = {
    "TELEGRAM_",        "DISCORD_",       "SLACK_",        "TALARIA_TELEGRAM_",
    "TALARIA_DISCORD_", "TALARIA_SLACK_", "TALARIA_MODEL", "GATEWAY_ALLOW",
    "TALARIA_DEMO",     "TALARIA_CLAUDE", "TALARIA_CODEX"
};

static bool is_private(Str name)
{
    for (size_t i = 0; i < ARRAY_LEN(private_variables); i++)
        if (str_starts(name, str_of(private_variables[i])))
            return true;
    return false;
}

static void forget_private(Arena *a)
{
    /* unsetenv moves the array: start again after each. */
    for (size_t i = 0; environ && environ[i];) {
        Str all = str_of(environ[i]), name = str_head(all, str_find(all, STR("=")));

        if (name.n && is_private(name) && unsetenv(str_z(a, name)) == 0)
            i = 0;
        else
            i++;
    }
}

bool demo_enter(Arena *a, Str data_folder, Err *err)
{
    DemoFolders f = demo_folders(a, data_folder);
    const struct {
        const char *name;
        Str value;
    } variables[] = {
        { "TALARIA_HOME", f.data },        { "HERMES_HOME", f.hermes },
        { "CLAUDE_CONFIG_DIR", f.claude }, { "CODEX_HOME", f.codex },
        { "XDG_CONFIG_HOME", f.config },   { "HOME", f.root },
    };

    if (access(str_z(a, str_join_path(a, f.root, STR("demo.json"))), F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "no demo in '%.*s'; 'talaria demo' creates it",
                       STR_FMT(f.root));
    forget_private(a);
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (setenv(variables[i].name, str_z(a, variables[i].value), 1) != 0)
            return err_errno(err, "cannot set $%s", variables[i].name);
    entered = true;
    return true;
}

bool demo_entered(void)
{
    return entered;
}
