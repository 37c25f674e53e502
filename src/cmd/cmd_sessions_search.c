/* talaria sessions search: what was said and done, in every session of every source. */
#include "cmd/cmd_sessions_search.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/searching.h"
#include "recall/freshen.h"
#include "recall/search_json.h"
#include "text/human.h"
#include "text/utf8.h"

const Option search_options[] = {
    { .kind = OPTION_NUMBER,
      .name = "limit",
      .letter = 'n',
      .metavar = "N",
      .help = "how many hits to show",
      .fallback = "20" },
    { .kind = OPTION_CHOICE,
      .name = "source",
      .metavar = "S",
      .choices = "hermes|claude|codex",
      .help = "only sessions of this source" },
    { .kind = OPTION_CHOICE,
      .name = "role",
      .metavar = "R",
      .choices = "user|assistant|tool|call|result",
      .help = "only what this role said; tool is call and result" },
    { .kind = OPTION_TEXT, .name = "tool", .metavar = "T", .help = "only calls and results of it" },
    { .kind = OPTION_TEXT,
      .name = "project",
      .metavar = "P",
      .help = "only sessions in this folder or below it; or the folder's name" },
    { .kind = OPTION_TIME,
      .name = "since",
      .metavar = "DATE",
      .help = "only what was said then or later" },
    { .kind = OPTION_FLAG,
      .name = "substring",
      .help = "the text as it stands, also in the middle of words" },
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

static Str folder_name(Str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return str_skip(path, i);
    return path;
}

static void print_hit(Cli *cli, const Searching *s, const SearchHit *hit)
{
    Arena *a = cli->arena;
    size_t width = cli_width(cli), room = width > 70 ? width - 50 : 20;
    Str id = hit->entry.home.n ? hit->entry.id : str_head(hit->entry.id, 8);
    Str ago = human_ago(a, hit->at.at, clock_wall());

    say(cli, "%s%.*s%s %.*s  %s%.*s%s%.*s%s  %.*s\n", style(cli, STYLE_CYAN), STR_FMT(id),
        style(cli, STYLE_OFF), STR_FMT(search_origin(s->homes, &hit->entry)), style(cli, STYLE_DIM),
        STR_FMT(ago), hit->entry.cwd.n ? "  " : "",
        STR_FMT(utf8_fit(a, folder_name(hit->entry.cwd), 20)), style(cli, STYLE_OFF),
        STR_FMT(utf8_fit(a, hit->entry.title, room)));
    say(cli, "  %s%s", style(cli, STYLE_GREEN), doc_role_name(hit->at.role));
    if (hit->at.tool.n)
        say(cli, " %.*s", STR_FMT(utf8_fit(a, hit->at.tool, 40)));
    say(cli, "%s  ", style(cli, STYLE_OFF));
    for (size_t i = 0; i < hit->n_snippet; i++) {
        const char *on = hit->snippet[i].hit ? style(cli, STYLE_BOLD) : "";

        say(cli, "%s%s", on, hit->snippet[i].hit ? style(cli, STYLE_YELLOW) : "");
        say_text(cli, hit->snippet[i].text, false);
        say(cli, "%s", hit->snippet[i].hit ? style(cli, STYLE_OFF) : "");
    }
    say(cli, "\n");
}

static void print_json(Cli *cli, const Searching *s, Str query, const SearchAnswer *answer,
                       Str note)
{
    JsonWriter w = cli_json_begin(cli);

    search_put(&w, s->homes, query, answer, note);
    cli_json_end(cli, &w);
}

static void print_text(Cli *cli, const Searching *s, const SearchAnswer *answer, Str note)
{
    if (note.n)
        log_note("%.*s", STR_FMT(note));
    if (answer->n == 0)
        log_note("nothing was found");
    for (size_t i = 0; i < answer->n; i++)
        print_hit(cli, s, &answer->hits[i]);
    if (answer->n)
        say(cli, "%s'talaria sessions show ID' opens a session%s%s\n", style(cli, STYLE_DIM),
            answer->more ? "; there are more hits (--limit)" : "", style(cli, STYLE_OFF));
}

/* -- the command ------------------------------------------------------------------------------------------ */

/* Several operands are one query, as they would be on a page. */
static Str query_of(Cli *cli, const Args *args)
{
    AUTO_BUF b = BUF(KIB(64));

    for (size_t i = 0; i < args_count(args); i++) {
        if (i)
            buf_addc(&b, ' ');
        buf_add(&b, args_operand(args, i));
    }
    return str_dup(cli->arena, buf_str(&b));
}

static bool read_wish(Cli *cli, const Args *args, SearchWish *ret, Err *err)
{
    int64_t limit = args_number(args, "limit");
    Str source = args_text(args, "source"), role = args_text(args, "role");
    SourceKind kind;

    if (limit < 1 || limit > LIMIT_SEARCH_HITS)
        return err_set(err, ERR_USAGE, "--limit must be from 1 to %d", LIMIT_SEARCH_HITS);
    *ret = (SearchWish){ .text = query_of(cli, args),
                         .filter = SEARCH_FILTER_NONE,
                         .most = (size_t)limit,
                         .substring = args_flag(args, "substring") };
    if (source.n && source_parse(source, &kind))
        ret->filter.source = (int)kind;
    if (role.n && !doc_role_parse(role, &ret->filter.role))
        return err_set(err, ERR_USAGE, "--role names no role");
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
    SearchWish wish;

    if (!read_wish(cli, args, &wish, err) || !searching_open(cli, &s, err))
        return false;
    freshen(cli, &s, &note);
    if (!recall_search(s.recall, s.catalogue, s.homes, cli->arena, &wish, &answer, err))
        return false;
    answer.partial |= note.n > 0;
    if (note.n && answer.note.n)
        note = str_printf(cli->arena, "%.*s; %.*s", STR_FMT(note), STR_FMT(answer.note));
    else if (!note.n)
        note = answer.note;
    if (cli->json)
        print_json(cli, &s, wish.text, &answer, note);
    else
        print_text(cli, &s, &answer, note);
    return true;
}

const Example search_examples[] = {
    { "talaria sessions search retry policy", "messages with both words, in any form" },
    { "talaria sessions search 'what did we decide about the cache?'", "a question" },
    { "talaria sessions search '\"connection reset\" tool:Bash since:2026-11-01'", "with filters" },
    { 0 },
};
