/* talaria status: what was found, where, how much, how fresh. */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "recall/history_json.h"
#include "text/human.h"

static const Example examples[] = {
    { "talaria status", "every history folder" },
    { "talaria status --home ~/.hermes", "only this history folder" },
    { "talaria status --json", "as JSON" },
    { 0 },
};

static void print_home(Cli *cli, const HomeFacts *f)
{
    Arena *a = cli->arena;

    say(cli, "%s%.*s%s  %.*s\n", style(cli, STYLE_BOLD), STR_FMT(f->home->name),
        style(cli, STYLE_OFF), STR_FMT(f->home->database));
    if (!f->home->present) {
        say(cli, "  no database yet\n");
        return;
    }
    if (!f->readable) {
        say(cli, "  %scannot be read:%s %s\n", style(cli, STYLE_RED), style(cli, STYLE_OFF),
            f->trouble);
        return;
    }
    say(cli, "  %.*s sessions, %s%.*s messages, %.*s\n", STR_FMT(human_count(a, f->sessions)),
        f->messages_are_about ? "about " : "", STR_FMT(human_count(a, f->messages)),
        STR_FMT(human_bytes(a, f->bytes)));
    say(cli, "  last activity %.*s (%.*s)\n", STR_FMT(human_ago(a, f->newest, clock_wall())),
        STR_FMT(human_time(a, f->newest)));
    say(cli, "  %sschema %lld, journal %s%s\n", style(cli, STYLE_DIM), (long long)f->schema_version,
        f->journal, style(cli, STYLE_OFF));
}

static void print_files(Cli *cli, const HomeFacts *facts, size_t n)
{
    SourceFacts sources[ORIGIN_COUNT];
    Arena *a = cli->arena;
    Err err;

    if (!history_sources(a, !cli->where.home, facts, n, sources, &err)) {
        log_warning("without transcripts: %s", err.text);
        return;
    }
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        if (sources[i].folder.n && sources[i].present)
            say(cli, "%s%s%s  %.*s\n  %.*s sessions, last activity %.*s\n", style(cli, STYLE_BOLD),
                origin_title(sources[i].origin), style(cli, STYLE_OFF), STR_FMT(sources[i].folder),
                STR_FMT(human_count(a, sources[i].sessions)),
                STR_FMT(human_ago(a, sources[i].newest, clock_wall())));
}

/* A home that was asked for by name and cannot be read is a failure; others are only told. */
static bool verdict(const Cli *cli, const HomeFacts *facts, size_t n, Err *err)
{
    for (size_t i = 0; i < n && cli->where.home; i++)
        if (facts[i].home->present && !facts[i].readable)
            return err_set(err, ERR_CORRUPT, "%s", facts[i].trouble);
    return true;
}

static bool run_status(Cli *cli, const Args *args, Err *err)
{
    const Homes *homes;
    HomeFacts *facts;
    JsonWriter w;
    size_t n;

    (void)args;
    if (!cli_homes(cli, &homes, err))
        return false;
    store_facts(cli->arena, homes, &facts, &n);
    if (cli->json) {
        w = cli_json_begin(cli);
        status_put(&w, cli->arena, homes, !cli->where.home, facts, n);
        cli_json_end(cli, &w);
    } else {
        for (size_t i = 0; i < n; i++)
            print_home(cli, &facts[i]);
        print_files(cli, facts, n);
        if (n == 1 && !facts[0].home->present)
            say(cli, "\nNo sessions yet. Try 'talaria demo' for sample data.\n");
    }
    return verdict(cli, facts, n, err);
}

const Command cmd_status = { .name = "status",
                             .summary = "show which sessions were found, and where",
                             .examples = examples,
                             .run = run_status };
