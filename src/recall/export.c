#include "recall/export.h"

#include "base/limits.h"
#include "recall/lines_hermes.h"
#include "text/human.h"
#include "text/redact.h"

static const struct {
    const char *name, *type;
} formats[] = {
#define X(id, name, type) { name, type },
    EXPORT_FORMATS(X)
#undef X
};

bool export_format_parse(Str name, ExportFormat *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_eqz(name, formats[i].name)) {
            *ret = (ExportFormat)i;
            return true;
        }
    return false;
}

const char *export_format_type(ExportFormat f)
{
    return formats[f].type;
}

typedef struct Export {
    Buf *out;
    bool raw;
    int64_t messages;
    Arena *arena; /* emptied after each message */
} Export;

/* A reader that went away, or a full disk, ends the walk. */
static bool goes_on(const Export *x, Err *err)
{
    return !buf_full(x->out) ||
           err_set(err, ERR_TOO_LARGE, "the export cannot be written any further");
}

/* -- JSON lines -- */

static bool put_line(void *ctx, const Message *m, Err *err)
{
    Export *x = ctx;

    line_put_message(x->out, m, x->raw);
    x->messages++;
    return goes_on(x, err);
}

/* Of a transcript the file itself is asked, not what the catalogue remembers of it. */
static bool put_file_lines(const HistoryItem *item, Export *x, Err *err)
{
    Loaded loaded;

    if (!history_load_file(x->arena, item, &loaded, err))
        return false;
    if (!loaded.session.id.n)
        loaded.session.id = item->lineage.tip.id;
    line_put_session(x->out, &loaded.session, x->raw);
    for (size_t i = 0; i < loaded.n; i++)
        if (!put_line(x, &loaded.messages[i], err))
            return false;
    line_put_end(x->out, x->messages);
    return true;
}

static bool put_lines(History *h, const HistoryItem *item, Export *x, Err *err)
{
    MessageQuery query = { .inactive = true };

    if (item->is_file)
        return put_file_lines(item, x, err);
    for (size_t i = 0; i < item->lineage.n_parts; i++) {
        x->messages = 0;
        line_put_session(x->out, &item->lineage.parts[i], x->raw);
        if (!history_messages(h, item, i, &query, put_line, x, err))
            return false;
        line_put_end(x->out, x->messages);
    }
    return true;
}

/* -- as Hermes writes it -- */

/* Without messages that were rewound or compacted away: Hermes' import would take them for active
 * ones. */

typedef struct HermesExport {
    Export *x;
    History *history;
    const HistoryItem *item;
    const Session *session;
    JsonWriter w;
} HermesExport;

static bool put_hermes_message(void *ctx, const Message *m, Err *err)
{
    HermesExport *e = ctx;
    AUTO(Arena) *a = arena_new();
    StoredCells cells;

    if (!history_cells(e->history, a, e->item, e->session, m, &cells.all, &cells.n, err))
        return false;
    hermes_put_message(&e->w, e->session, m, cells, e->x->raw);
    return goes_on(e->x, err);
}

static bool put_hermes_part(History *h, const HistoryItem *item, size_t part, const Session *s,
                            Export *x, Err *err)
{
    HermesExport e = {
        .x = x, .history = h, .item = item, .session = s, .w = JSON_WRITER(x->out, 0)
    };
    AUTO(Arena) *a = arena_new();
    MessageQuery query = { 0 };
    StoredCells cells;

    if (!history_cells(h, a, item, s, NULL, &cells.all, &cells.n, err))
        return false;
    hermes_put_begin(&e.w, s, cells, x->raw);
    if (!history_messages(h, item, part, &query, put_hermes_message, &e, err))
        return false;
    hermes_put_end(&e.w);
    return true;
}

static bool put_hermes(History *h, const HistoryItem *item, Export *x, Err *err)
{
    for (size_t i = 0; i < item->lineage.n_parts; i++)
        if (!put_hermes_part(h, item, i, &item->lineage.parts[i], x, err))
            return false;
    return true;
}

/* -- Markdown -- */

static Str shown(const Export *x, Str text)
{
    return x->raw ? text : redact_text(x->arena, text);
}

/* A fence longer than any in the text, so that nothing in it ends the block. */
static void put_block(Export *x, const char *language, Str text)
{
    size_t longest = 2, run = 0;

    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    buf_pad(x->out, '`', longest + 1);
    buf_addf(x->out, "%s\n", language);
    buf_add(x->out, text);
    buf_addc(x->out, '\n');
    buf_pad(x->out, '`', longest + 1);
    buf_addz(x->out, "\n\n");
}

/* On one line: a title must not begin a list or end its heading. */
static void put_inline(Export *x, Str text)
{
    for (size_t i = 0; i < text.n; i++)
        buf_addc(x->out, (unsigned char)text.p[i] < ' ' ? ' ' : text.p[i]);
}

static void put_calls(Export *x, Str tool_calls)
{
    ToolCall *calls;
    size_t n;

    if (!tool_calls.n || !toolcalls_read(x->arena, tool_calls, &calls, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        buf_addz(x->out, "→ **");
        put_inline(x, calls[i].name);
        buf_addz(x->out, "**\n\n");
        put_block(x, "json", shown(x, calls[i].arguments));
    }
}

static bool put_spoken(void *ctx, const Message *m, Err *err)
{
    Export *x = ctx;
    bool tool = str_eqz(m->role, "tool");
    Str text;

    arena_reset(x->arena);
    text = m->content.n ? shown(x, message_text(x->arena, m->content)) : STR("");
    buf_addz(x->out, "## ");
    put_inline(x, m->role);
    if (m->tool_name.n) {
        buf_addc(x->out, ' ');
        put_inline(x, m->tool_name);
    }
    buf_addf(x->out, " · %.*s%s\n\n", STR_FMT(human_iso(x->arena, m->timestamp)),
             message_is_side_chain(m) ? " · sub-agent" : "");
    if (text.n && tool) {
        put_block(x, "", text);
    } else if (text.n) {
        buf_add(x->out, text);
        buf_addz(x->out, "\n\n");
    }
    put_calls(x, m->tool_calls);
    return goes_on(x, err);
}

static void put_heading(const HistoryItem *item, Export *x)
{
    const Lineage *l = &item->lineage;
    Arena *a = x->arena;

    buf_addz(x->out, "# ");
    put_inline(x, shown(x, l->title));
    buf_addf(x->out, "\n\n- session `%.*s` (%s", STR_FMT(l->tip.id), origin_title(item->origin));
    if (item->origin == ORIGIN_HERMES && l->tip.source.n)
        buf_addf(x->out, ", %.*s", STR_FMT(l->tip.source));
    buf_addf(x->out, ")\n- %.*s to %.*s\n", STR_FMT(human_iso(a, l->started_at)),
             STR_FMT(human_iso(a, l->last_active)));
    if (l->tip.model.n)
        buf_addf(x->out, "- model %.*s\n", STR_FMT(l->tip.model));
    if (l->tip.cwd.n)
        buf_addf(x->out, "- folder %.*s\n", STR_FMT(shown(x, l->tip.cwd)));
    buf_addf(x->out, "- %.*s, %.*s\n\n", STR_FMT(human_n(a, l->messages, "message")),
             STR_FMT(human_n(a, l->tool_calls, "tool call")));
}

static bool put_markdown(History *h, const HistoryItem *item, Export *x, Err *err)
{
    MessageQuery query = { 0 };

    put_heading(item, x);
    for (size_t i = 0; i < item->lineage.n_parts; i++) {
        if (item->lineage.n_parts > 1)
            buf_addf(x->out, "---\n\nPart %zu of %zu: `%.*s`\n\n", i + 1, item->lineage.n_parts,
                     STR_FMT(item->lineage.parts[i].id));
        if (!history_messages(h, item, i, &query, put_spoken, x, err))
            return false;
    }
    return true;
}

bool export_session(History *h, const HistoryItem *item, const ExportOptions *options, Buf *out,
                    Err *err)
{
    AUTO(Arena) *a = arena_new();
    Export x = { .out = out, .raw = options->raw, .arena = a };

    if (options->format == EXPORT_HERMES)
        return put_hermes(h, item, &x, err);
    return options->format == EXPORT_JSONL ? put_lines(h, item, &x, err)
                                           : put_markdown(h, item, &x, err);
}
