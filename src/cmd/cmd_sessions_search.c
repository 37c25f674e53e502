/* talaria sessions search: what was said and done, in every session of every source. */
#include "cmd/cmd_sessions_search.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_sessions.h"
#include "recall/freshen.h"
#include "recall/search_fold.h"
#include "recall/search_json.h"

const Option search_options[] = {
    { OPT_NUMBER("limit", "N", "maximum number of passages"), .letter = 'n', .fallback = "20" },
    { OPT_TEXT("source", "SOURCE", "only sessions from this agent or platform"),
      .choices = SESSION_SOURCES, .values = "sources" },
    { OPT_CHOICE("role", "ROLE",
                 "only messages of this role; 'tool' means tool calls and their results"),
      .choices = "user|assistant|tool|call|result" },
    { OPT_TEXT("tool", "TOOL", "only calls and results of this tool") },
    { OPT_TEXT("project", "PROJECT",
               "only sessions in this folder or below it (path or folder name)") },
    { OPT_TEXT("model", "MODEL", "only sessions with a model whose name contains this") },
    { OPT_TIME("since", "TIME",
               "only messages from this time on: 7d, yesterday, last week, 2026-11-15") },
    { OPT_TIME("until", "TIME", "only messages before this time") },
    { OPT_FLAG("archived", "include archived sessions") },
    { OPT_FLAG("substring", "find the exact text, also inside words") },
    { 0 },
};

/* -- bringing the index up to date ---------------------------------------------------------------------- */

static void show_progress(int64_t done, int64_t total)
{
    progress_show_now("indexing sessions", (uint64_t)done, (uint64_t)total);
}

/* Up to a second for what is new; if that is not enough, the search uses what is indexed. */
static void freshen(Cli *cli, Searching *s, Str *ret_note)
{
    Freshen how = { .max_ms = FRESHEN_MS, .progress = show_progress };
    int percent = 100;
    Err err;

    if (!recall_freshen(s->index, s->catalogue, s->homes, &how, &percent, &err))
        log_warning("the search index is not up to date: %s", err.text);
    progress_end();
    *ret_note = index_note(cli->arena, percent);
}

/* -- printing --------------------------------------------------------------------------------------------- */

static void print_json(Cli *cli, const Searching *s, Str query, const SearchAnswer *answer,
                       Str note)
{
    JsonWriter w = cli_json_begin(cli);

    search_put(&w, s->homes, query, answer, note);
    cli_json_end(cli, &w);
}

/* -- the command ------------------------------------------------------------------------------------------ */

static bool read_options(Cli *cli, const Args *args, SearchOptions *ret, Err *err)
{
    int64_t limit = args_number(args, "limit");
    Str role = args_text(args, "role");

    if (limit < 1 || limit > LIMIT_SEARCH_HITS)
        return err_set(err, ERR_USAGE, "--limit must be from 1 to %d", LIMIT_SEARCH_HITS);
    *ret = (SearchOptions){ .text = args_words(cli->arena, args),
                            .filter = SEARCH_FILTER_NONE,
                            .max = (size_t)limit,
                            .substring = args_flag(args, "substring") };
    if (role.n && !doc_role_parse(role, &ret->filter.role))
        return err_set(err, ERR_USAGE, "unknown role '%.*s'", STR_FMT(role));
    ret->filter.source = args_text(args, "source");
    ret->filter.model = args_text(args, "model");
    ret->filter.until = args_time(args, "until");
    ret->filter.skip_archived = !args_flag(args, "archived");
    ret->filter.tool = args_text(args, "tool");
    ret->filter.project = args_text(args, "project");
    ret->filter.since = args_time(args, "since");
    return true;
}

bool search_run(Cli *cli, const Args *args, Err *err)
{
    AUTO_SEARCHING s = { 0 };
    Str note = STR_NONE;
    SearchAnswer answer;
    SearchOptions options;

    size_t max;

    if (!read_options(cli, args, &options, err) || !searching_open(cli, &s, err))
        return false;
    freshen(cli, &s, &note);
    max = options.max;
    if (!cli->json) /* several passages of a session, or nearly equal ones, are shown as fewer */
        options.max = search_fold_max(max);
    if (!recall_search(s.recall, s.catalogue, s.homes, cli->arena, &options, &answer, err))
        return false;
    answer.partial |= note.n > 0;
    if (note.n && answer.note.n)
        note = str_printf(cli->arena, "%.*s; %.*s", STR_FMT(note), STR_FMT(answer.note));
    else if (!note.n)
        note = answer.note;
    if (cli->json) {
        print_json(cli, &s, options.text, &answer, note);
        return true;
    }
    if (note.n)
        log_note("%.*s", STR_FMT(note));
    if (answer.n == 0)
        log_note("no matches");
    return search_print(cli, &s, &answer, max, err);
}

const Example search_examples[] = {
    { "talaria sessions search retry policy", "messages that contain both words, in any form" },
    { "talaria sessions search 'what did we decide about the cache?'", "ask a question" },
    { "talaria sessions search --since 'last week' '\"connection reset\" tool:Bash'",
      "an exact phrase in the shell's output, from last week on" },
    { 0 },
};
