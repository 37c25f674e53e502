/* talaria sessions: list; show, export, import and search are next door. */
#include "cmd/cmd_sessions.h"

#include "base/clock.h"
#include "base/log.h"
#include "cmd/table.h"
#include "recall/history_json.h"
#include "store/session_json.h"
#include "text/human.h"

/* -- what they share -- */

enum { UPDATE_MS = 1000 }; /* what a person waits without asking why */

History *sessions_history(Cli *cli, Err *err)
{
    HistoryWhere where = { .files = !cli->where.home, .budget_ms = UPDATE_MS };

    if (!cli_homes(cli, &where.homes, err) || !cli_store(cli, &where.store, err))
        return NULL;
    return history_open(&where);
}

HistoryQuery sessions_filters(const Args *args)
{
    return (HistoryQuery){ .source = args_text(args, "source"),
                           .project = args_text(args, "project"),
                           .model = args_text(args, "model"),
                           .tool = args_text(args, "tool"),
                           .since = args_time(args, "since"),
                           .until = args_time(args, "until"),
                           .archived = args_flag(args, "archived"),
                           .side_chains = args_flag(args, "side-chains") };
}

void sessions_tell_partial(const History *h)
{
    if (history_partial(h))
        log_note("not all transcripts have been read yet; the next run continues");
}

/* -- list -- */

static const Option list_options[] = {
    { OPT_NUMBER("limit", "N",
                 "maximum number of sessions, 0 for all (default: 50, setting sessions.limit)"),
      .letter = 'n' },
    SESSIONS_FILTERS,
    { 0 },
};

static const TableColumn list_columns[] = {
    { .title = "ID", .style = STYLE_CYAN },         { .title = "SOURCE", .drop = 1 },
    { .title = "ACTIVE", .right = true },           { .title = "MSGS", .right = true },
    { .title = "TOOLS", .right = true, .drop = 4 }, { .title = "TOKENS", .right = true, .drop = 3 },
    { .title = "COST", .right = true, .drop = 2 },  { .title = "TITLE", .min = 30 },
};

static Str number(Arena *a, int64_t n)
{
    return str_printf(a, "%lld", (long long)n);
}

static void list_row(Cli *cli, Table *t, History *h, Arena *a, const HistoryItem *item)
{
    const Lineage *l = &item->lineage;
    int64_t tokens = l->input_tokens + l->output_tokens;
    Str parts = l->n_parts > 1 ? str_printf(a, " (%zu parts)", l->n_parts) : STR("");

    table_cell(t, cli_on_terminal(cli) ? history_short_id(h, a, l->tip.id) : l->tip.id);
    table_cell(t, l->tip.source);
    table_cell_as(t, human_ago(a, l->last_active, clock_wall()), human_iso(a, l->last_active));
    table_cell_as(t, human_short(a, l->messages), number(a, l->messages));
    table_cell_as(t, human_short(a, l->tool_calls), number(a, l->tool_calls));
    table_cell_as(t, human_short(a, tokens), number(a, tokens));
    table_cell_as(t, human_cost(a, l->cost_usd),
                  l->cost_usd > 0 ? str_printf(a, "%.6g", l->cost_usd) : STR(""));
    table_cell_as(t,
                  str_printf(a, "%s%.*s%.*s", item->guest ? "(guest) " : "", STR_FMT(l->title),
                             STR_FMT(parts)),
                  l->title);
}

typedef struct Rows {
    Cli *cli;
    History *history;
    HistoryList *list;
    int64_t limit, shown;
    bool more;
    JsonWriter *w; /* NULL: a table */
} Rows;

/* One row a session; the arena is emptied after each, so that any number can be listed. One more
 * than shown is read, to know whether there are more: to count them all would take longer. */
static bool each_row(Rows *r, Table *t, Err *err)
{
    AUTO(Arena) *a = arena_new();

    for (;; r->shown++) {
        HistoryItem item;

        arena_reset(a);
        if (!history_next(r->list, a, &item, &r->more, err))
            return false;
        if (!r->more || (r->limit && r->shown == r->limit))
            return true;
        if (r->w) {
            json_begin(r->w, '{');
            history_put(r->w, a, &item);
            lineage_put_parts(r->w, &item.lineage);
            json_end(r->w, '}');
        } else {
            list_row(r->cli, t, r->history, a, &item);
        }
    }
}

static bool list_text(Rows *r, Err *err)
{
    AUTO(Table) *t = table_begin(r->cli, list_columns, ARRAY_LEN(list_columns));

    if (!each_row(r, t, err))
        return false;
    table_end(t);
    if (r->shown == 0)
        hint(r->cli, "No sessions found. 'talaria status' shows which folders were searched.");
    else if (r->more)
        hint(r->cli, "The %lld most recent sessions. Use --limit N for more, --limit 0 for all.",
             (long long)r->shown);
    return true;
}

static bool list_json(Rows *r, Err *err)
{
    JsonWriter w = cli_json_begin(r->cli);

    r->w = &w;
    json_field_begin(&w, "sessions", '[');
    if (!each_row(r, NULL, err))
        return false;
    json_end(&w, ']');
    json_field_bool(&w, "more", r->more);
    json_field_bool(&w, "partial", history_partial(r->history));
    cli_json_end(r->cli, &w);
    return true;
}

static bool list(Cli *cli, const Args *args, Err *err)
{
    int64_t limit = args_given(args, "limit") ? args_number(args, "limit")
                                              : setting_int(&cli->settings, SETTING_LIST_LIMIT);
    HistoryQuery query = sessions_filters(args);
    AUTO(History) *h = sessions_history(cli, err);
    AUTO(HistoryList) *all = NULL;

    Rows rows = { .cli = cli, .history = h, .limit = limit };

    query.facts = cli->json;
    all = h ? history_list(h, &query, err) : NULL;
    rows.list = all;
    if (!all || !(cli->json ? list_json(&rows, err) : list_text(&rows, err)))
        return false;
    sessions_tell_partial(h);
    return true;
}

/* -- rows -- */

static const Example list_examples[] = {
    { "talaria sessions list", "the 50 most recent sessions" },
    { "talaria sessions list --source telegram --since 2026-11-01", "recent Telegram sessions" },
    { "talaria sessions list --source claude --project billing-api",
      "Claude Code sessions in one project" },
    { "talaria sessions list --limit 0 --json", "all sessions as JSON" },
    { 0 },
};

static const Command children[] = {
    { .name = "list",
      .summary = "list the most recently active sessions of every agent",
      .options = list_options,
      .examples = list_examples,
      .run = list },
    { .name = "show",
      .operands = "SESSION",
      .values = "sessions",
      .summary = "show a session and its transcript",
      .details = "SESSION is an id or a unique beginning of one.",
      .options = sessions_show_options,
      .examples = sessions_show_examples,
      .run = sessions_show },
    { .name = "resume",
      .operands = "SESSION",
      .values = "sessions",
      .summary = "continue a session in the program that wrote it",
      .details = "Runs the agent's own command in the session's folder: 'claude --resume', 'codex "
                 "resume', 'hermes --resume', or 'talaria chat --resume' for Talaria's own "
                 "sessions. To continue any of them here instead: 'talaria chat --resume SESSION'.",
      .options = sessions_resume_options,
      .examples = sessions_resume_examples,
      .run = sessions_resume },
    { .name = "export",
      .operands = "[SESSION...]",
      .values = "sessions",
      .summary = "export sessions as JSON lines (backup, import) or Markdown",
      .details = "Exports the given sessions, all of them (--all), or those that match the "
                 "filters. Secrets are redacted unless --raw is given. JSON lines contain every "
                 "message, including compacted ones; docs/cmd.md describes the format.",
      .options = sessions_export_options,
      .examples = sessions_export_examples,
      .run = sessions_export },
    { .name = "import",
      .operands = "FILE...",
      .summary = "import exported sessions and transcripts of Claude Code and Codex",
      .details = "Imports into Talaria's own database, each session completely or not at all. "
                 "Identical sessions are skipped; a session that differs is a conflict unless "
                 "--replace is given. '-' reads standard input.",
      .options = sessions_import_options,
      .examples = sessions_import_examples,
      .acts = true,
      .run = sessions_import },
    { .name = "search",
      .operands = "QUERY...",
      .summary = "search messages and tool output in every session",
      .details = "Words find messages that contain all of them, in any form. A question finds "
                 "messages that contain some of its words, and their context. Narrow a search with "
                 "\"exact words\", -without, prefix*, role:user, tool:Bash, source:claude, "
                 "project:NAME, model:NAME, since:7d and until:2026-01-01. Anything else is text.",
      .options = sessions_search_options,
      .examples = sessions_search_examples,
      .run = sessions_search },
    { .name = "rename",
      .operands = "SESSION TITLE",
      .values = "sessions",
      .summary = "give one of Talaria's own sessions another title",
      .details = "Sessions of Hermes, Claude Code and Codex belong to those programs and are not "
                 "changed.",
      .examples = sessions_rename_examples,
      .acts = true,
      .run = sessions_rename },
    { .name = "archive",
      .operands = "SESSION",
      .values = "sessions",
      .summary = "keep one of Talaria's own sessions, but leave it out of lists",
      .options = sessions_archive_options,
      .examples = sessions_archive_examples,
      .acts = true,
      .run = sessions_archive },
    { .name = "delete",
      .operands = "SESSION...",
      .values = "sessions",
      .summary = "delete Talaria's own sessions with everything that belongs to them",
      .details =
          "Messages, runs, attached files, summaries and search entries go with the session. "
          "Sessions that are being answered or are away in a chat are refused.",
      .options = sessions_delete_options,
      .examples = sessions_delete_examples,
      .acts = true,
      .run = sessions_delete },
    { 0 },
};

static const Example examples[] = {
    { "talaria sessions list", "the 50 most recent sessions" },
    { "talaria sessions show 20261115_2030", "show a session, by the beginning of its id" },
    { "talaria sessions list --json", "as JSON" },
    { 0 },
};

const Command cmd_sessions = { .name = "sessions",
                               .summary = "list, search, show and manage sessions",
                               .examples = examples,
                               .children = children };
