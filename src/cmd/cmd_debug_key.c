/* talaria debug session-key: which session a message belongs to, for places given as lines of JSON. */
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_debug.h"
#include "platforms/platform.h"

#include <unistd.h>

/* An update as the platform sends it, with the flags that are the default. */
static bool one_update(Arena *a, const Shape *shape, Str line, Str aliases, Str *ret, Err *err)
{
    KeyFlags flags = KEY_FLAGS;
    Inbound in;
    bool is;

    if (!shape->parse(a, line, &(Identity){ 0 }, &in, &is, err))
        return false;
    if (!is)
        return err_set(err, ERR_INVALID, "no message of %s", shape->name);
    flags.aliases = aliases;
    *ret = address_key(a, &in.place, &flags);
    return true;
}

static bool one_line(Arena *a, Str line, Str aliases, Str *ret, Err *err)
{
    const PyValue *source, *given;
    PyValue v, none = { .type = PY_NULL };
    KeyFlags flags;
    ChatAddress place;

    if (!pyjson_read(a, line, &v))
        return err_set(err, ERR_INVALID, "not JSON");
    source = pyjson_get(&v, STR("source"));
    given = pyjson_get(&v, STR("flags"));
    if (!source)
        return err_set(err, ERR_INVALID, "no 'source'");
    if (!address_read(source, &place, err) || !key_flags_read(given ? given : &none, &flags, err))
        return false;
    flags.aliases = aliases;
    *ret = address_key(a, &place, &flags);
    return true;
}

static void show(Cli *cli, Str key)
{
    if (cli->json) {
        JsonWriter w = JSON_WRITER(cli->out, 0);

        json_begin(&w, '{');
        json_field_int(&w, "format", 1);
        json_field_str(&w, "key", key);
        json_end(&w, '}');
    } else {
        say_text(cli, key, false);
    }
    say(cli, "\n");
}

bool debug_key(Cli *cli, const Args *args, Err *err)
{
    AUTO(Arena) *a = arena_new();
    const Shape *shape = args_given(args, "update") ? shape_named(args_text(args, "update")) : NULL;
    const Homes *homes;
    size_t bad = 0, number = 0;
    Str text, line, aliases;

    if (!cli_homes(cli, &homes, err) ||
        !file_read_fd(cli->arena, STDIN_FILENO, "standard input", LIMIT_STDIN_BYTES, &text, err))
        return false;
    aliases = str_join_path(cli->arena, homes->primary->path, STR("whatsapp/session"));
    while (str_split(&text, '\n', &line)) {
        Err why;
        Str key;

        arena_reset(a);
        number++;
        if (!str_trim(line).n)
            continue;
        if (shape ? one_update(a, shape, line, aliases, &key, &why)
                  : one_line(a, line, aliases, &key, &why)) {
            show(cli, key);
            continue;
        }
        log_error("line %zu: %s", number, why.text);
        bad++;
    }
    return bad == 0 || err_set(err, ERR_INVALID, "%zu of the lines could not be read", bad);
}

const Option debug_key_options[] = {
    { OPT_CHOICE("update", "PLATFORM", "the lines are updates as that platform sends them"),
      .choices = "telegram|discord|slack|local" },
    { 0 },
};

const Example debug_key_examples[] = {
    { "echo '{\"source\":{\"platform\":\"telegram\",\"chat_id\":55}}' | talaria debug session-key",
      "agent:main:telegram:dm:55" },
    { 0 },
};
