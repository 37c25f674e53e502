/* talaria sessions: list, show. */
#include "base/clock.h"
#include "base/limits.h"
#include "cmd/commands.h"
#include "store/session_json.h"
#include "text/human.h"
#include "text/utf8.h"

/* -- list ---------------------------------------------------------------------------------- */

static const Option list_options[] = {
    { .kind = OPTION_NUMBER,
      .name = "limit",
      .letter = 'n',
      .metavar = "N",
      .help = "how many to show (default: setting sessions.limit, 50); 0 for all" },
    { .kind = OPTION_TEXT,
      .name = "source",
      .metavar = "S",
      .help = "only this source: cli, telegram, ..." },
    { .kind = OPTION_TIME,
      .name = "since",
      .metavar = "DATE",
      .help = "only those that began then or later" },
    { .kind = OPTION_FLAG, .name = "archived", .help = "the archived ones too" },
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

/* One row a lineage; the arena is emptied after each, so that any number can be listed. One more
 * than shown is read, to know whether there are more: to count them all would take longer. */
static bool print_rows(Cli *cli, Store *store, SessionList *list, int64_t limit, JsonWriter *w,
                       int64_t *ret_shown, bool *ret_more, Err *err)
{
    AUTO(Arena) *a = arena_new();
    int64_t shown = 0;

    for (;; shown++) {
        Lineage l;

        arena_reset(a);
        if (!sessions_next(list, a, &l, ret_more, err))
            return false;
        if (!*ret_more || (limit && shown == limit))
            break;
        if (w) {
            json_begin(w, '{');
            lineage_put(w, store, &l);
            lineage_put_parts(w, &l);
            json_end(w, '}');
        } else {
            if (shown == 0)
                print_head(cli);
            print_row(cli, a, &l);
        }
    }
    *ret_shown = shown;
    return true;
}

static bool list(Cli *cli, const Args *args, Err *err)
{
    SessionQuery query = { .source = args_text(args, "source"),
                           .since = args_time(args, "since"),
                           .archived = args_flag(args, "archived") };
    int64_t limit = args_given(args, "limit") ? args_number(args, "limit")
                                              : setting_int(&cli->settings, SETTING_LIST_LIMIT);
    AUTO(SessionList) *all = NULL;
    int64_t shown = 0;
    bool more = false;
    JsonWriter w;
    Store *store;

    if (!cli_store(cli, &store, err))
        return false;
    all = sessions_open(store, &query, err);
    if (!all)
        return false;
    if (!cli->json) {
        if (!print_rows(cli, store, all, limit, NULL, &shown, &more, err))
            return false;
        if (shown == 0)
            say(cli, "No sessions found; 'talaria status' says where they are looked for\n");
        else if (more)
            say(cli, "%sthe newest %lld; --limit shows more%s\n", style(cli, STYLE_DIM),
                (long long)shown, style(cli, STYLE_OFF));
        return true;
    }
    w = cli_json_begin(cli);
    json_key(&w, "sessions");
    json_begin(&w, '[');
    if (!print_rows(cli, store, all, limit, &w, &shown, &more, err))
        return false;
    json_end(&w, ']');
    json_field_bool(&w, "more", more);
    cli_json_end(cli, &w);
    return true;
}

/* -- show ---------------------------------------------------------------------------------- */

static const Option show_options[] = {
    { .kind = OPTION_FLAG, .name = "all", .help = "rows that were rewound or compacted away, too" },
    { .kind = OPTION_FLAG, .name = "full", .help = "tool arguments and results uncut" },
    { .kind = OPTION_NUMBER,
      .name = "limit",
      .letter = 'n',
      .metavar = "N",
      .help = "only the first N messages of each part" },
    { 0 },
};

typedef struct Show {
    Cli *cli;
    JsonWriter *w;
    Arena *arena; /* emptied after each message */
    bool full;
    size_t shown; /* messages of the part at hand */
} Show;

static void print_heading(Cli *cli, const Store *store, const Lineage *l)
{
    Arena *a = cli->arena;

    say(cli, "%s", style(cli, STYLE_BOLD));
    say_text(cli, l->title, false);
    say(cli, "%s\n", style(cli, STYLE_OFF));
    say(cli, "  session  %.*s (%.*s, %.*s)\n", STR_FMT(l->tip.id), STR_FMT(l->tip.source),
        STR_FMT(store_home(store, l->tip.home)->name));
    say(cli, "  model    %.*s\n", STR_FMT(l->tip.model.n ? l->tip.model : STR("-")));
    if (l->tip.cwd.n)
        say(cli, "  folder   %.*s%s%.*s\n", STR_FMT(l->tip.cwd), l->tip.git_branch.n ? " on " : "",
            STR_FMT(l->tip.git_branch));
    say(cli, "  time     %.*s to %.*s\n", STR_FMT(human_time(a, l->started_at)),
        STR_FMT(human_time(a, l->last_active)));
    say(cli, "  size     %.*s messages, %.*s tool calls, %.*s tokens in, %.*s out, %.*s\n",
        STR_FMT(human_count(a, l->messages)), STR_FMT(human_count(a, l->tool_calls)),
        STR_FMT(human_count(a, l->input_tokens)), STR_FMT(human_count(a, l->output_tokens)),
        STR_FMT(human_cost(a, l->cost_usd)));
    if (l->n_parts > 1) {
        say(cli, "  parts    ");
        for (size_t i = 0; i < l->n_parts; i++)
            say(cli, "%s%.*s", i ? " → " : "", STR_FMT(l->parts[i].id));
        say(cli, "\n");
    }
}

static Style style_of_role(Str role)
{
    return str_eqz(role, "user")        ? STYLE_GREEN
           : str_eqz(role, "assistant") ? STYLE_BLUE
           : str_eqz(role, "tool")      ? STYLE_YELLOW
                                        : STYLE_DIM;
}

/* Long text is shown by its head and tail, and the cut is said. */
static void print_body(Show *show, Str text, bool may_cut)
{
    enum { HEAD = 700, TAIL = 300 };
    Cli *cli = show->cli;

    if (show->full || !may_cut || text.n <= HEAD + TAIL + 200) {
        say_text(cli, text, true);
    } else {
        Str head = utf8_head(text, HEAD), tail = utf8_tail(text, TAIL);

        say_text(cli, head, true);
        say(cli, "\n%s[... %zu bytes; --full shows them ...]%s\n", style(cli, STYLE_DIM),
            text.n - head.n - tail.n, style(cli, STYLE_OFF));
        say_text(cli, tail, true);
    }
    if (text.n && text.p[text.n - 1] != '\n')
        say(cli, "\n");
}

static void print_calls(Show *show, Str tool_calls)
{
    ToolCall *calls;
    size_t n;

    if (!toolcalls_read(show->arena, tool_calls, &calls, &n)) {
        say(show->cli, "  (tool calls that cannot be read)\n");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        say(show->cli, "%s→ ", style(show->cli, STYLE_YELLOW));
        say_text(show->cli, calls[i].name, false);
        say(show->cli, "%s ", style(show->cli, STYLE_OFF));
        print_body(show, calls[i].arguments, true);
    }
}

static void json_message(JsonWriter *w, Arena *a, const Message *m)
{
    ToolCall *calls;
    size_t n;

    json_begin(w, '{');
    message_put(w, m, m->content.p ? message_text(a, m->content) : STR_NONE);
    json_key(w, "tool_calls");
    json_begin(w, '[');
    if (toolcalls_read(a, m->tool_calls, &calls, &n))
        for (size_t i = 0; i < n; i++) {
            json_begin(w, '{');
            toolcall_put(w, &calls[i]);
            json_end(w, '}');
        }
    json_end(w, ']');
    json_end(w, '}');
}

static bool show_message(void *ctx, const Message *m, Err *err)
{
    Show *show = ctx;
    Cli *cli = show->cli;
    Arena *a = show->arena;

    (void)err;
    arena_reset(a);
    show->shown++;
    if (show->w) {
        json_message(show->w, a, m);
        return true;
    }
    say(cli, "\n%s%s", style(cli, STYLE_BOLD), style(cli, style_of_role(m->role)));
    say_text(cli, m->role, false);
    if (m->tool_name.n) {
        say(cli, " ");
        say_text(cli, m->tool_name, false);
    }
    say(cli, "%s %s%.*s%s%s\n", style(cli, STYLE_OFF), style(cli, STYLE_DIM),
        STR_FMT(human_time(a, m->timestamp)),
        m->active      ? ""
        : m->compacted ? " (compacted)"
                       : " (rewound)",
        style(cli, STYLE_OFF));
    if (m->content.n)
        print_body(show, message_text(a, m->content), str_eqz(m->role, "tool"));
    if (m->tool_calls.n)
        print_calls(show, m->tool_calls);
    return true;
}

static bool show_part(Show *show, Store *store, const Lineage *l, size_t i,
                      const MessageQuery *query, Err *err)
{
    Cli *cli = show->cli;

    if (l->n_parts > 1)
        say(cli, "\n%s── part %zu of %zu: %.*s ──%s\n", style(cli, STYLE_MAGENTA), i + 1,
            l->n_parts, STR_FMT(l->parts[i].id), style(cli, STYLE_OFF));
    if (!messages_each(store, &l->parts[i], query, show_message, show, err))
        return false;
    if (show->shown == 0)
        say(cli, "\n%s(no messages%s)%s\n", style(cli, STYLE_DIM),
            query->inactive ? "" : " left; --all shows those that were compacted away",
            style(cli, STYLE_OFF));
    return true;
}

static bool json_part(Show *show, Store *store, const Session *part, const MessageQuery *query,
                      Err *err)
{
    json_begin(show->w, '{');
    session_put(show->w, part);
    json_key(show->w, "transcript");
    json_begin(show->w, '[');
    if (!messages_each(store, part, query, show_message, show, err))
        return false;
    json_end(show->w, ']');
    json_end(show->w, '}');
    return true;
}

static bool show_parts(Show *show, Store *store, const Lineage *l, const MessageQuery *query,
                       Err *err)
{
    for (size_t i = 0; i < l->n_parts; i++) {
        show->shown = 0;
        if (!(show->w ? json_part(show, store, &l->parts[i], query, err)
                      : show_part(show, store, l, i, query, err)))
            return false;
    }
    return true;
}

static bool show(Cli *cli, const Args *args, Err *err)
{
    MessageQuery query = { .inactive = args_flag(args, "all"),
                           .most = (size_t)args_number(args, "limit") };
    AUTO(Arena) *a = arena_new();
    Show how = { .cli = cli, .arena = a, .full = args_flag(args, "full") };
    Lineage l;
    JsonWriter w;
    Store *store;

    if (!cli_store(cli, &store, err) ||
        !store_find(store, cli->arena, args_operand(args, 0), &l, err))
        return false;
    if (!cli->json) {
        print_heading(cli, store, &l);
        return show_parts(&how, store, &l, &query, err);
    }
    w = cli_json_begin(cli);
    how.w = &w;
    lineage_put(&w, store, &l);
    json_key(&w, "parts");
    json_begin(&w, '[');
    if (!show_parts(&how, store, &l, &query, err))
        return false;
    json_end(&w, ']');
    cli_json_end(cli, &w);
    return true;
}

/* -- rows ---------------------------------------------------------------------------------- */

static const Example list_examples[] = {
    { "talaria sessions list", "the 50 newest" },
    { "talaria sessions list --source telegram --since 2026-11-01",
      "what came by Telegram lately" },
    { "talaria sessions list --limit 0 --json", "all of them, for a program" },
    { 0 },
};

static const Example show_examples[] = {
    { "talaria sessions show 20261115_2030", "by the beginning of an id" },
    { "talaria sessions show ID --full | less -R", "with whole tool results" },
    { "talaria sessions show ID --json", "for a program" },
    { 0 },
};

static const Command children[] = {
    { .name = "list",
      .summary = "the newest sessions of every home; a compressed chain is one",
      .options = list_options,
      .examples = list_examples,
      .run = list },
    { .name = "show",
      .operands = "SESSION",
      .summary = "a session and its transcript",
      .details = "SESSION is the id of any part, or an unambiguous beginning of one.",
      .options = show_options,
      .examples = show_examples,
      .least = 1,
      .most = 1,
      .run = show },
    { 0 },
};

static const Example examples[] = {
    { "talaria sessions list", "the 50 newest" },
    { "talaria sessions show 20261115_2030", "a session, by the beginning of its id" },
    { "talaria sessions list --json", "for a program" },
    { 0 },
};

const Command cmd_sessions = { .name = "sessions",
                               .summary = "the sessions of every home, as one history",
                               .examples = examples,
                               .children = children };
