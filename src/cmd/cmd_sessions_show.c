/* talaria sessions show: a session of any source, and its transcript. */
#include "base/limits.h"
#include "cmd/cmd_sessions.h"
#include "recall/history_json.h"
#include "recall/resume.h"
#include "store/session_json.h"
#include "text/human.h"
#include "text/utf8.h"

const Example sessions_show_examples[] = {
    { "talaria sessions show 20261115_2030", "by the beginning of its id" },
    { "talaria sessions show ID --full | less -R", "with complete tool results" },
    { "talaria sessions show ID --json", "as JSON" },
    { 0 },
};

const Option sessions_show_options[] = {
    { OPT_FLAG("all", "include messages that were rewound or compacted away") },
    { OPT_FLAG("full", "print complete tool arguments and results") },
    { OPT_NUMBER("limit", "N", "print only the first N messages of each part"), .letter = 'n' },
    { 0 },
};

typedef struct Show {
    Cli *cli;
    JsonWriter *w;
    Arena *arena; /* emptied after each message */
    bool full;
    size_t shown; /* messages of the part at hand */
} Show;

static void print_heading(Cli *cli, const HistoryItem *item)
{
    const Lineage *l = &item->lineage;
    Arena *a = cli->arena;
    Str resume = resume_command(a, item);
    bool named_alike = str_eq(l->tip.source, item->home);

    say(cli, "%s", style(cli, STYLE_BOLD));
    say_text(cli, l->title, false);
    say(cli, "%s\n", style(cli, STYLE_OFF));
    say(cli, "  session  %.*s (%.*s%s%.*s)\n", STR_FMT(l->tip.id), STR_FMT(l->tip.source),
        named_alike ? "" : ", ", STR_FMT(named_alike ? STR("") : item->home));
    if (item->is_file)
        say(cli, "  file     %.*s%s\n", STR_FMT(item->file.path),
            item->side_chain ? " (a sub-agent's)" : "");
    say(cli, "  model    %.*s\n", STR_FMT(l->tip.model.n ? l->tip.model : STR("-")));
    if (l->tip.cwd.n)
        say(cli, "  folder   %.*s%s%.*s\n", STR_FMT(l->tip.cwd), l->tip.git_branch.n ? " on " : "",
            STR_FMT(l->tip.git_branch));
    say(cli, "  time     %.*s to %.*s\n", STR_FMT(human_time(a, l->started_at)),
        STR_FMT(human_time(a, l->last_active)));
    say(cli, "  size     %.*s, %.*s, %.*s tokens in, %.*s out, %.*s\n",
        STR_FMT(human_n(a, l->messages, "message")),
        STR_FMT(human_n(a, l->tool_calls, "tool call")), STR_FMT(human_count(a, l->input_tokens)),
        STR_FMT(human_count(a, l->output_tokens)), STR_FMT(human_cost(a, l->cost_usd)));
    if (history_parent(item).n)
        say(cli, "  thread   %s %.*s\n", item->side_chain ? "sub-agent of" : "forked from",
            STR_FMT(history_parent(item)));
    if (item->continues.n)
        say(cli, "  thread   continues %.*s session %.*s\n", STR_FMT(item->continues_origin),
            STR_FMT(item->continues));
    if (item->guest)
        say(cli,
            "  guest    a guest of the gateway spoke in it; what guests said is not used as your "
            "history\n");
    if (item->continued_in.n)
        say(cli, "  thread   continued in %.*s\n", STR_FMT(item->continued_in));
    if (resume.n) {
        say(cli, "  resume   ");
        say_text(cli, resume, false);
        say(cli, "\n");
    }
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
    json_field_bool(w, "side_chain", message_is_side_chain(m));
    json_field_begin(w, "tool_calls", '[');
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
    say(cli, "%s %s%.*s%s%s%s\n", style(cli, STYLE_OFF), style(cli, STYLE_DIM),
        STR_FMT(human_time(a, m->timestamp)), message_is_side_chain(m) ? " (sub-agent)" : "",
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

static bool show_part(Show *show, History *h, const HistoryItem *item, size_t i,
                      const MessageQuery *query, Err *err)
{
    const Lineage *l = &item->lineage;
    Cli *cli = show->cli;

    if (l->n_parts > 1)
        say(cli, "\n%s── part %zu of %zu: %.*s ──%s\n", style(cli, STYLE_MAGENTA), i + 1,
            l->n_parts, STR_FMT(l->parts[i].id), style(cli, STYLE_OFF));
    if (!history_messages(h, item, i, query, show_message, show, err))
        return false;
    if (show->shown == 0)
        say(cli, "\n%s(no messages%s)%s\n", style(cli, STYLE_DIM),
            query->inactive ? "" : " left; --all shows those that were compacted away",
            style(cli, STYLE_OFF));
    return true;
}

static bool json_part(Show *show, History *h, const HistoryItem *item, size_t i,
                      const MessageQuery *query, Err *err)
{
    json_begin(show->w, '{');
    session_put(show->w, &item->lineage.parts[i]);
    json_field_begin(show->w, "transcript", '[');
    if (!history_messages(h, item, i, query, show_message, show, err))
        return false;
    json_end(show->w, ']');
    json_end(show->w, '}');
    return true;
}

static bool show_parts(Show *show, History *h, const HistoryItem *item, const MessageQuery *query,
                       Err *err)
{
    for (size_t i = 0; i < item->lineage.n_parts; i++) {
        show->shown = 0;
        if (!(show->w ? json_part(show, h, item, i, query, err)
                      : show_part(show, h, item, i, query, err)))
            return false;
    }
    return true;
}

bool sessions_show(Cli *cli, const Args *args, Err *err)
{
    MessageQuery query = { .inactive = args_flag(args, "all"),
                           .max = (size_t)args_number(args, "limit") };
    AUTO(History) *h = sessions_history(cli, err);
    AUTO(Arena) *a = arena_new();
    Show how = { .cli = cli, .arena = a, .full = args_flag(args, "full") };
    HistoryItem item;
    JsonWriter w;

    if (!h || !history_find(h, cli->arena, args_operand(args, 0), &item, err))
        return false;
    if (!cli->json) {
        print_heading(cli, &item);
        return show_parts(&how, h, &item, &query, err);
    }
    w = cli_json_begin(cli);
    how.w = &w;
    history_put(&w, cli->arena, &item);
    json_field_begin(&w, "parts", '[');
    if (!show_parts(&how, h, &item, &query, err))
        return false;
    json_end(&w, ']');
    cli_json_end(cli, &w);
    return true;
}
