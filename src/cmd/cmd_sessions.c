/* talaria sessions: list; show, export, import and search are next door. */
#include "cmd/cmd_sessions.h"

#include "base/clock.h"
#include "base/log.h"
#include "cmd/cmd_sessions_search.h"
#include "recall/history_json.h"
#include "store/session_json.h"
#include "text/human.h"
#include "text/utf8.h"

/* -- what they share ------------------------------------------------------------------------- */

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
        log_note(
            "not all transcripts have been read yet; the next run goes on where this one stopped");
}

/* -- list ---------------------------------------------------------------------------------- */

static const Option list_options[] = {
    { .kind = OPTION_NUMBER,
      .name = "limit",
      .letter = 'n',
      .metavar = "N",
      .help = "how many to show (default: setting sessions.limit, 50); 0 for all" },
    SESSIONS_FILTERS,
    { 0 },
};

enum { WIDTH_ID = 27, WIDTH_FIXED = WIDTH_ID + 50 };

static void print_row(Cli *cli, Arena *a, const Lineage *l)
{
    size_t width = cli_width(cli), room = width > WIDTH_FIXED + 20 ? width - WIDTH_FIXED : 20;
    Str id = utf8_fit(a, l->tip.id, WIDTH_ID), source = utf8_fit(a, l->tip.source, 9);
    Str ago = human_ago(a, l->last_active, clock_wall());
    Str messages = human_short(a, l->messages), tools = human_short(a, l->tool_calls);
    Str tokens = human_short(a, l->input_tokens + l->output_tokens);
    Str cost = human_cost(a, l->cost_usd);
    Str parts = l->n_parts > 1 ? str_printf(a, " (%zu parts)", l->n_parts) : STR("");
    Str title = utf8_fit(a, l->title, room - parts.n);

    say(cli, "%s%-*.*s%s %-9.*s %10.*s %5.*s %5.*s %5.*s %7.*s  %.*s%s%.*s%s\n",
        style(cli, STYLE_CYAN), WIDTH_ID, STR_FMT(id), style(cli, STYLE_OFF), STR_FMT(source),
        STR_FMT(ago), STR_FMT(messages), STR_FMT(tools), STR_FMT(tokens), STR_FMT(cost),
        STR_FMT(title), style(cli, STYLE_DIM), STR_FMT(parts), style(cli, STYLE_OFF));
}

static void print_head(Cli *cli)
{
    say(cli, "%s%-*s %-9s %10s %5s %5s %5s %7s  %s%s\n", style(cli, STYLE_DIM), WIDTH_ID, "ID",
        "SOURCE", "ACTIVE", "MSGS", "TOOLS", "TOKS", "COST", "TITLE", style(cli, STYLE_OFF));
}

/* One row a session; the arena is emptied after each, so that any number can be listed. One more
 * than shown is read, to know whether there are more: to count them all would take longer. */
static bool print_rows(Cli *cli, HistoryList *list, int64_t limit, JsonWriter *w,
                       int64_t *ret_shown, bool *ret_more, Err *err)
{
    AUTO(Arena) *a = arena_new();
    int64_t shown = 0;

    for (;; shown++) {
        HistoryItem item;

        arena_reset(a);
        if (!history_next(list, a, &item, ret_more, err))
            return false;
        if (!*ret_more || (limit && shown == limit))
            break;
        if (w) {
            json_begin(w, '{');
            history_put(w, a, &item);
            lineage_put_parts(w, &item.lineage);
            json_end(w, '}');
        } else {
            if (shown == 0)
                print_head(cli);
            print_row(cli, a, &item.lineage);
        }
    }
    *ret_shown = shown;
    return true;
}

static bool list_text(Cli *cli, HistoryList *all, int64_t limit, Err *err)
{
    int64_t shown = 0;
    bool more = false;

    if (!print_rows(cli, all, limit, NULL, &shown, &more, err))
        return false;
    if (shown == 0)
        say(cli, "No sessions found; 'talaria status' says where they are looked for\n");
    else if (more)
        say(cli, "%sthe newest %lld; --limit shows more%s\n", style(cli, STYLE_DIM),
            (long long)shown, style(cli, STYLE_OFF));
    return true;
}

static bool list_json(Cli *cli, History *h, HistoryList *all, int64_t limit, Err *err)
{
    JsonWriter w = cli_json_begin(cli);
    int64_t shown = 0;
    bool more = false;

    json_key(&w, "sessions");
    json_begin(&w, '[');
    if (!print_rows(cli, all, limit, &w, &shown, &more, err))
        return false;
    json_end(&w, ']');
    json_field_bool(&w, "more", more);
    json_field_bool(&w, "partial", history_partial(h));
    cli_json_end(cli, &w);
    return true;
}

static bool list(Cli *cli, const Args *args, Err *err)
{
    int64_t limit = args_given(args, "limit") ? args_number(args, "limit")
                                              : setting_int(&cli->settings, SETTING_LIST_LIMIT);
    HistoryQuery query = sessions_filters(args);
    AUTO(History) *h = sessions_history(cli, err);
    AUTO(HistoryList) *all = NULL;

    query.facts = cli->json;
    all = h ? history_list(h, &query, err) : NULL;
    if (!all || !(cli->json ? list_json(cli, h, all, limit, err) : list_text(cli, all, limit, err)))
        return false;
    sessions_tell_partial(h);
    return true;
}

/* -- rows ---------------------------------------------------------------------------------- */

static const Example list_examples[] = {
    { "talaria sessions list", "the 50 newest" },
    { "talaria sessions list --source telegram --since 2026-11-01",
      "what came by Telegram lately" },
    { "talaria sessions list --source claude --project billing-api",
      "work on one project, of one program" },
    { "talaria sessions list --limit 0 --json", "all of them, for a program" },
    { 0 },
};

static const Command children[] = {
    { .name = "list",
      .summary = "the newest sessions of every source; a compressed chain is one",
      .options = list_options,
      .examples = list_examples,
      .run = list },
    { .name = "show",
      .operands = "SESSION",
      .summary = "a session and its transcript",
      .details = "SESSION is the id of any part, or an unambiguous beginning of one.",
      .options = sessions_show_options,
      .examples = sessions_show_examples,
      .least = 1,
      .most = 1,
      .run = sessions_show },
    { .name = "resume",
      .operands = "SESSION",
      .summary = "continue a session in the program that wrote it",
      .details = "Runs the agent's own command in the session's folder: 'claude --resume', 'codex "
                 "resume', 'hermes --resume', or 'talaria chat --resume' for Talaria's own "
                 "sessions. To continue any of them here instead: 'talaria chat --resume SESSION'.",
      .options = sessions_resume_options,
      .examples = sessions_resume_examples,
      .least = 1,
      .most = 1,
      .run = sessions_resume },
    { .name = "export",
      .operands = "[SESSION...]",
      .summary = "sessions as JSON lines, to keep or to import elsewhere, or as Markdown to read",
      .details =
          "Secrets are taken out unless --raw is given. With ids these sessions; else --all, or "
          "those that the filters name. JSON lines hold every row, also those that were compacted "
          "away; docs/cmd.md describes them.",
      .options = sessions_export_options,
      .examples = sessions_export_examples,
      .most = -1,
      .run = sessions_export },
    { .name = "import",
      .operands = "FILE...",
      .summary = "sessions that were exported, and transcripts of Claude Code and Codex",
      .details =
          "Into our own database, a session at a time, each whole or not at all. A session "
          "that is there already is skipped where it is the same, else a conflict; --replace "
          "takes the new one. '-' reads standard input.",
      .options = sessions_import_options,
      .examples = sessions_import_examples,
      .least = 1,
      .most = -1,
      .run = sessions_import },
    SEARCH_COMMAND,
    { .name = "rename",
      .operands = "SESSION TITLE",
      .summary = "give one of Talaria's own sessions another title",
      .details = "Sessions of Hermes, Claude Code and Codex belong to those programs and are not "
                 "changed.",
      .examples = sessions_rename_examples,
      .least = 2,
      .most = 2,
      .run = sessions_rename },
    { .name = "archive",
      .operands = "SESSION",
      .summary = "keep one of Talaria's own sessions, but leave it out of lists",
      .options = sessions_archive_options,
      .examples = sessions_archive_examples,
      .least = 1,
      .most = 1,
      .run = sessions_archive },
    { .name = "delete",
      .operands = "SESSION...",
      .summary = "delete Talaria's own sessions with everything that belongs to them",
      .details =
          "Messages, runs, attached files, summaries and search entries go with the session. "
          "Sessions that are being answered or are away in a chat are refused.",
      .options = sessions_delete_options,
      .examples = sessions_delete_examples,
      .least = 1,
      .most = -1,
      .run = sessions_delete },
    { 0 },
};

static const Example examples[] = {
    { "talaria sessions list", "the 50 newest" },
    { "talaria sessions show 20261115_2030", "a session, by the beginning of its id" },
    { "talaria sessions list --json", "for a program" },
    { 0 },
};

const Command cmd_sessions = { .name = "sessions",
                               .summary = "the sessions of every source, as one history",
                               .examples = examples,
                               .children = children };
