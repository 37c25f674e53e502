#include "cmd/version.h"

#include <cmark-gfm.h>
#include <hs.h>
#include <microhttpd.h>
#include <yaml.h>
#include <zlib.h>

#ifndef TALARIA_VERSION
#error "the build gives the version"
#endif

const char talaria_version[] = TALARIA_VERSION;

void version_parts(VersionPart ret[VERSION_PARTS])
{
    const VersionPart parts[VERSION_PARTS] = {
        { "talaria", talaria_version },           { "SQLite", store_engine_version() },
        { "simdjson", json_reader_version() },    { "Vectorscan", hs_version() },
        { "libmicrohttpd", MHD_get_version() },   { "cmark-gfm", cmark_version_string() },
        { "libyaml", yaml_get_version_string() }, { "zlib", zlibVersion() }
    };

    memcpy(ret, parts, sizeof parts);
}

void version_print(Cli *cli)
{
    VersionPart parts[VERSION_PARTS];
    JsonWriter w;

    version_parts(parts);
    if (!cli->json) {
        for (size_t i = 0; i < VERSION_PARTS; i++)
            say(cli, "%s %s\n", parts[i].name, parts[i].version);
        return;
    }
    w = cli_json_begin(cli);
    for (size_t i = 0; i < VERSION_PARTS; i++)
        json_field_str(&w, parts[i].name, str_of(parts[i].version));
    cli_json_end(cli, &w);
}
