#include "cmd/version.h"

#include <yaml.h>

#ifndef TALARIA_VERSION
#error "the build gives the version"
#endif

const char talaria_version[] = TALARIA_VERSION;

void version_print(Cli *cli)
{
    const struct {
        const char *name, *version;
    } parts[] = { { "talaria", talaria_version },
                  { "SQLite", store_engine_version() },
                  { "simdjson", json_reader_version() },
                  { "libyaml", yaml_get_version_string() } };
    JsonWriter w;

    if (!cli->json) {
        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
            say(cli, "%s %s\n", parts[i].name, parts[i].version);
        return;
    }
    w = cli_json_begin(cli);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        json_field_str(&w, parts[i].name, str_of(parts[i].version));
    cli_json_end(cli, &w);
}
