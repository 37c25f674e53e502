/* talaria status: what was found, where, how much, how fresh. */
#include "base/clock.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/table.h"
#include "recall/history_json.h"
#include "text/human.h"

enum { UPDATE_MS = 1000 }; /* for transcripts that were not read yet */

static const Example examples[] = {
    { "talaria status", "every history folder" },
    { "talaria status --home ~/.hermes", "only this history folder" },
    { "talaria status --json", "as JSON" },
    { 0 },
};

static void print_database(Cli *cli, const HomeFacts *f, const SessionCounts *counts)
{
    Arena *a = cli->arena;

    if (!f->readable) {
        say(cli, "  %scannot be read:%s %s\n", style(cli, STYLE_RED), style(cli, STYLE_OFF),
            f->trouble);
        return;
    }
    say(cli, "  %.*s, %s%.*s message%s, %.*s\n", STR_FMT(history_count_text(a, counts)),
        f->messages_are_about ? "about " : "", STR_FMT(human_count(a, f->messages)),
        f->messages == 1 ? "" : "s", STR_FMT(human_bytes(a, f->bytes)));
    if (counts->newest > 0)
        say(cli, "  last activity %.*s (%.*s)\n",
            STR_FMT(human_ago(a, counts->newest, clock_wall())),
            STR_FMT(human_time(a, counts->newest)));
    say(cli, "  %sschema %lld, journal %s%s\n", style(cli, STYLE_DIM), (long long)f->schema_version,
        f->journal, style(cli, STYLE_OFF));
}

static void print_home(Cli *cli, const HomeFacts *f, const SessionCounts *counts)
{
    say(cli, "%s%.*s%s  %.*s\n", style(cli, STYLE_BOLD), STR_FMT(f->home->name),
        style(cli, STYLE_OFF), STR_FMT(f->home->database));
    if (f->home->present)
        print_database(cli, f, counts);
    else if (f->home->kind == HOME_OURS)
        say(cli, "  no sessions yet ($TALARIA_HOME or --data names another folder)\n");
    else
        say(cli, "  no database yet\n");
}

/* Folders of transcripts, and of Hermes where there is none: found or not. */
static void print_source(Cli *cli, const SourceFacts *s, bool has_home)
{
    Arena *a = cli->arena;

    if (!s->folder.n || has_home)
        return;
    say(cli, "%s%s%s  %.*s\n", style(cli, STYLE_BOLD), origin_title(s->origin),
        style(cli, STYLE_OFF), STR_FMT(s->folder));
    if (!s->present)
        say(cli, "  not found ($%s names another folder)\n", s->variable);
    else if (s->counts.newest > 0)
        say(cli, "  %.*s, last activity %.*s (%.*s)\n", STR_FMT(history_count_text(a, &s->counts)),
            STR_FMT(human_ago(a, s->counts.newest, clock_wall())),
            STR_FMT(human_time(a, s->counts.newest)));
    else
        say(cli, "  no sessions yet\n");
}

static bool has_home(const HomeFacts *facts, size_t n, Origin origin)
{
    for (size_t i = 0; i < n; i++)
        if (origin_of(facts[i].home, STR("")) == origin)
            return true;
    return false;
}

static void print_all(Cli *cli, const HomeFacts *facts, size_t n, const HistoryFacts *history)
{
    SessionCounts total = history_total(history);

    for (size_t i = 0; i < n; i++)
        print_home(cli, &facts[i], &history->homes[i]);
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        print_source(cli, &history->sources[i], has_home(facts, n, (Origin)i));
    if (total.sessions)
        say(cli, "\n%.*s in all\n", STR_FMT(history_count_text(cli->arena, &total)));
    else
        say(cli, "\nNo sessions yet. Try 'talaria demo' for sample data.\n");
    if (history->partial)
        log_note("not all transcripts have been read yet; some numbers are estimates");
}

/* -- in a pipe -- */

static const TableColumn columns[] = {
    { .title = "SOURCE" },   { .title = "FOLDER" },      { .title = "STATE" },
    { .title = "SESSIONS" }, { .title = "LAST ACTIVE" }, { .title = "PROBLEM" },
};

static void put_row(Cli *cli, Table *t, const char *state, const SessionCounts *counts)
{
    table_cell(t, str_of(state));
    table_cellf(t, "%lld", (long long)counts->sessions);
    if (counts->newest > 0)
        table_cell(t, human_iso(cli->arena, counts->newest));
    else
        table_cell(t, STR(""));
}

static void list_all(Cli *cli, const HomeFacts *facts, size_t n, const HistoryFacts *history)
{
    AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < n; i++) {
        const HomeFacts *f = &facts[i];

        table_cell(t, f->home->name);
        table_cell(t, f->home->database);
        put_row(cli, t,
                !f->home->present ? "missing"
                : f->readable     ? "found"
                                  : "unreadable",
                &history->homes[i]);
        table_cell(t, str_of(f->trouble));
    }
    for (size_t i = 0; i < ORIGIN_COUNT; i++) {
        const SourceFacts *s = &history->sources[i];

        if (!s->folder.n || has_home(facts, n, (Origin)i))
            continue;
        table_cell(t, str_of(origin_name((Origin)i)));
        table_cell(t, s->folder);
        put_row(cli, t, s->present ? "found" : "missing", &s->counts);
        table_cell(t, STR(""));
    }
    table_end(t);
    if (history->partial)
        log_note("not all transcripts have been read yet; some numbers are estimates");
}

static bool run_status(Cli *cli, const Args *args, Err *err)
{
    HistoryWhere where = { .files = !cli->where.home, .budget_ms = UPDATE_MS };
    HistoryFacts history;
    HomeFacts *facts;
    JsonWriter w;
    size_t n;

    (void)args;
    if (!cli_homes(cli, &where.homes, err))
        return false;
    store_facts(cli->arena, where.homes, &facts, &n);
    if (!history_facts(&where, cli->arena, facts, n, &history, err))
        return false;
    if (cli->json) {
        w = cli_json_begin(cli);
        status_put(&w, where.homes, facts, n, &history);
        cli_json_end(cli, &w);
    } else if (cli_on_terminal(cli)) {
        print_all(cli, facts, n, &history);
    } else {
        list_all(cli, facts, n, &history);
    }
    /* A folder that was named and cannot be read is a failure; others are only reported. */
    for (size_t i = 0; i < n && cli->where.home; i++)
        if (facts[i].home->present && !facts[i].readable)
            return err_set(err, ERR_CORRUPT, "%s", facts[i].trouble);
    return true;
}

const Command cmd_status = { .name = "status",
                             .summary = "show which sessions were found, and where",
                             .examples = examples,
                             .run = run_status };
