/* talaria sessions search: what was said and done, in every session of every source.
 *
 * For people: one heading a session, and beneath it up to three passages, what people and
 * assistants said before what tools printed. Passages that say nearly the same are shown once. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd_sessions.h"
#include "cmd/searching.h"
#include "cmd/table.h"
#include "recall/freshen.h"
#include "recall/search_fold.h"
#include "recall/search_json.h"
#include "text/human.h"
#include "text/utf8.h"

const Option sessions_search_options[] = {
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

/* -- bringing the index up to date -- */

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

/* -- printing -- */

enum { PASSAGES = 3, ROW_INDENT = 4 };

typedef struct Group {
    const SearchHit *hits[PASSAGES];
    size_t n;
    bool said; /* a person or an assistant, not only tools */
} Group;

typedef struct Groups {
    Group *all;
    size_t n;
} Groups;

/* -- groups -- */

static void add_hit(Groups *g, const SearchHit *hit)
{
    Group *group = g->all;

    while (group < g->all + g->n && group->hits[0]->entry.key != hit->entry.key)
        group++;
    if (group == g->all + g->n)
        g->n++;
    group->hits[group->n++] = hit;
    group->said |= hit->at.role < DOC_CALL;
}

static Groups make_groups(Arena *a, const SearchAnswer *answer, const SearchFold *fold)
{
    Groups g = { .all = ARENA_ARRAY(a, Group, answer->n + 1) };

    for (int tools = 0; tools < 2; tools++)
        for (size_t i = 0; i < answer->n; i++)
            if (fold->shown[i] && (answer->hits[i].at.role >= DOC_CALL) == tools)
                add_hit(&g, &answer->hits[i]);
    return g;
}

/* -- on a terminal -- */

/* As the list names it: Hermes' own source if there is one, so that --source takes it. */
static Str source_of(const Searching *s, const Entry *e)
{
    return e->home.n && e->entrypoint.n ? e->entrypoint : search_origin(s->homes, e);
}

static void print_heading(Cli *cli, const Searching *s, History *h, const SearchHit *hit)
{
    Arena *a = cli->arena;
    Str id = history_short_id(h, a, hit->entry.id);
    Str source = utf8_fit(a, source_of(s, &hit->entry), 12);
    Str ago = human_ago(a, hit->entry.last_at, clock_wall());
    size_t used = utf8_columns(id) + 2, width = cli_width(cli),
           right = utf8_columns(source) + 2 + ago.n + 2;
    size_t room = width > used + right + 10 ? width - used - right : 10;

    say(cli, "%s%.*s%s  %s%.*s%s  %s%.*s  %.*s%s\n", style(cli, STYLE_CYAN), STR_FMT(id),
        style(cli, STYLE_OFF), style(cli, STYLE_BOLD),
        STR_FMT(utf8_fit(a, hit->entry.title.n ? hit->entry.title : STR("Untitled"), room)),
        style(cli, STYLE_OFF), style(cli, STYLE_DIM), STR_FMT(source), STR_FMT(ago),
        style(cli, STYLE_OFF));
}

/* A passage as one text, with a flag for every byte that was searched for. */
typedef struct Writer {
    Cli *cli;
    Buf text, flags;
    size_t used, width;
    bool lit; /* the style of a hit is on */
} Writer;

static void light(Writer *w, bool on)
{
    if (on == w->lit)
        return;
    if (on)
        say(w->cli, "%s%s", style(w->cli, STYLE_BOLD), style(w->cli, STYLE_YELLOW));
    else
        say(w->cli, "%s", style(w->cli, STYLE_OFF));
    w->lit = on;
}

static void next_line(Writer *w)
{
    light(w, false);
    say(w->cli, "\n%*s", ROW_INDENT, "");
    w->used = ROW_INDENT;
}

/* A word of which a part may be a hit; one that is wider than a line continues on the next. */
static void print_word(Writer *w, Str word)
{
    if (w->used > ROW_INDENT && w->used + 1 + utf8_columns(word) > w->width)
        next_line(w);
    else if (w->used > ROW_INDENT)
        w->used++, say(w->cli, " ");
    while (word.n) {
        Str rest = word;
        size_t at = (size_t)(word.p - w->text.p), columns, n;

        (void)utf8_next(&rest);
        n = word.n - rest.n;
        columns = utf8_columns(str_head(word, n));
        if (w->used + columns > w->width)
            next_line(w);
        light(w, w->flags.p[at] == '1');
        buf_add(w->cli->out, str_head(word, n));
        w->used += columns;
        word = rest;
    }
}

static Str label_of(Arena *a, const SearchHit *hit)
{
    if (hit->at.role < DOC_CALL || !hit->at.tool.n)
        return str_printf(a, "%s%s%s", doc_role_name(hit->at.role), hit->at.guest ? " (guest)" : "",
                          hit->rewound ? " (rewound)" : "");
    return str_printf(a, "%.*s (%s)", STR_FMT(utf8_fit(a, hit->at.tool, 30)),
                      doc_role_name(hit->at.role));
}

static void print_passage(Cli *cli, const SearchHit *hit)
{
    Writer w = { .cli = cli, .width = cli_width(cli), .text = BUF(KIB(8)), .flags = BUF(KIB(8)) };
    Str label = label_of(cli->arena, hit), rest, word;

    for (size_t i = 0; i < hit->n_snippet; i++) {
        Str text = utf8_fit(cli->arena, hit->snippet[i].text, SIZE_MAX);

        buf_add(&w.text, text);
        for (size_t k = 0; k < text.n; k++)
            buf_addc(&w.flags, hit->snippet[i].hit ? '1' : '0');
    }
    say(cli, "  %s%.*s%s ", style(cli, STYLE_GREEN), STR_FMT(label), style(cli, STYLE_OFF));
    w.used = 2 + utf8_columns(label) + 1;
    rest = buf_str(&w.text);
    while (rest.n && str_split(&rest, ' ', &word))
        if (word.n)
            print_word(&w, word);
    light(&w, false);
    say(cli, "\n");
    buf_done(&w.text);
    buf_done(&w.flags);
}

static void print_groups(Cli *cli, const Searching *s, History *h, const Groups *g, bool said)
{
    for (size_t i = 0; i < g->n; i++) {
        if (g->all[i].said != said)
            continue;
        print_heading(cli, s, h, g->all[i].hits[0]);
        for (size_t k = 0; k < g->all[i].n; k++)
            print_passage(cli, g->all[i].hits[k]);
        say(cli, "\n");
    }
}

/* -- in a pipe -- */

static const TableColumn columns[] = {
    { .title = "ID" },   { .title = "SOURCE" }, { .title = "TIME" }, { .title = "ROLE" },
    { .title = "TOOL" }, { .title = "TITLE" },  { .title = "TEXT" },
};

static void print_data(Cli *cli, const Searching *s, const Groups *g)
{
    AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->all[i].n; k++) {
            const SearchHit *hit = g->all[i].hits[k];
            AUTO_BUF text = BUF(KIB(8));

            for (size_t p = 0; p < hit->n_snippet; p++)
                buf_add(&text, hit->snippet[p].text);
            table_cell(t, hit->entry.id);
            table_cell(t, source_of(s, &hit->entry));
            table_cell(t, human_iso(cli->arena, hit->at.at));
            table_cell(t, str_of(doc_role_name(hit->at.role)));
            table_cell(t, hit->at.tool);
            table_cell(t, hit->entry.title);
            table_cell(t, buf_str(&text));
        }
    table_end(t);
}

static bool print_answer(Cli *cli, const Searching *s, const SearchAnswer *answer, size_t max,
                         Err *err)
{
    SearchFold fold = search_fold(cli->arena, answer, max, PASSAGES);
    Groups g = make_groups(cli->arena, answer, &fold);
    AUTO(History) *h = sessions_history(cli, err);

    if (!h)
        return false;
    if (!cli_on_terminal(cli)) {
        print_data(cli, s, &g);
        return true;
    }
    print_groups(cli, s, h, &g, true);
    print_groups(cli, s, h, &g, false);
    if (fold.similar)
        hint(cli, "%.*s not shown.",
             STR_FMT(human_n(cli->arena, (int64_t)fold.similar, "similar passage")));
    if (g.n)
        hint(cli, "Open a session with 'talaria sessions show ID'.%s",
             answer->more || fold.n >= max ? " More results: --limit N." : "");
    return true;
}

/* -- the command -- */

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

bool sessions_search(Cli *cli, const Args *args, Err *err)
{
    AUTO_SEARCHING s = { 0 };
    Str note = STR_NONE;
    SearchAnswer answer;
    SearchOptions options;
    JsonWriter w;
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
        w = cli_json_begin(cli);
        search_put(&w, s.homes, options.text, &answer, note);
        cli_json_end(cli, &w);
        return true;
    }
    if (note.n)
        log_note("%.*s", STR_FMT(note));
    if (answer.n == 0)
        log_note("no matches");
    return print_answer(cli, &s, &answer, max, err);
}

const Example sessions_search_examples[] = {
    { "talaria sessions search retry policy", "messages that contain both words, in any form" },
    { "talaria sessions search 'what did we decide about the cache?'", "ask a question" },
    { "talaria sessions search --since 'last week' '\"connection reset\" tool:Bash'",
      "an exact phrase in the shell's output, from last week on" },
    { 0 },
};
