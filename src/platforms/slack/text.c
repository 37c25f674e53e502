/* Slack's mark-up is not Markdown: *bold*, _italic_, ~strike~, <address|words>, no headings and no
 * tables. cmark reads the Markdown, and this walks over what it read. Headings become bold, tables
 * stay as they were typed, in a block of code, and blocks keep an empty line between them where
 * there was one. Three characters are escaped wherever they occur, so that nothing a model writes
 * can name a channel or everyone in it. */
#include "base/limits.h"
#include "platforms/slack/slack.h"
#include "text/markdown_read.h"
#include "text/utf8.h"

enum {
    MAX_REFERENCE = 4000, /* bytes that are searched for the end of a <reference> */
    MAX_INDENT = 8,       /* levels of lists; deeper ones are no further to the right */
    MAX_OUT = MIB(1),
};

/* -- Markdown as Slack's mark-up -- */

typedef enum Mark { MARK_BOLD, MARK_ITALIC, MARK_STRIKE, MARK_COUNT } Mark;

typedef struct Writer {
    Arena *arena;
    Buf *out;
    Str source;          /* the Markdown from line `source_line` on */
    int source_line;     /* counted from 1 */
    int last_line;       /* of the block that was written last; 0: none yet */
    bool last_is_quoted; /* that block is in a quote */
    bool after_marker;   /* the next block begins behind "• ", and not on its own line */
    int quotes;
    MarkdownLists lists;
    cmark_node *table;     /* the one whose rows were written already */
    int marks[MARK_COUNT]; /* how many open nodes ask for each; Slack knows no bold in bold */
    char open[MARK_COUNT]; /* the marks that are written and not closed, the outer one first */
    size_t n_open;
    cmark_node *link; /* the one that is being written */
    size_t link_at, label_at;
} Writer;

static void escape(Buf *out, Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '&')
            buf_add(out, STR("&amp;"));
        else if (s.p[i] == '<')
            buf_add(out, STR("&lt;"));
        else if (s.p[i] == '>')
            buf_add(out, STR("&gt;"));
        else
            buf_addc(out, s.p[i]);
    }
}

static void new_line(Writer *w)
{
    buf_addz(w->out, w->quotes ? "\n> " : "\n");
}

static void indent(Writer *w, int levels)
{
    buf_pad(w->out, ' ', 2 * (size_t)(levels < MAX_INDENT ? levels : MAX_INDENT));
}

/* -- inline -- */

static void put_text(Writer *w, Str text)
{
    if (!w->link) {
        escape(w->out, text);
        return;
    }
    for (size_t i = 0; i < text.n; i++) /* '|' ends the address of a link */
        escape(w->out, text.p[i] == '|' ? STR("/") : str_head(str_skip(text, i), 1));
}

static void put_code(Writer *w, Str text)
{
    const char *tick = w->link ? "" : "`";

    buf_addz(w->out, tick);
    put_text(w, text);
    buf_addz(w->out, tick);
}

static void put_mark(Writer *w, Mark mark, bool enter)
{
    char c = "*_~"[mark];

    if (w->link || (enter ? w->marks[mark]++ : --w->marks[mark]))
        return;
    buf_addc(w->out, c);
    if (enter)
        w->open[w->n_open++] = c;
    else
        w->n_open--;
}

/* A mark of Slack's ends with its line, so that the open ones are closed and opened again. */
static void put_break(Writer *w)
{
    if (w->link) {
        buf_addc(w->out, ' ');
        return;
    }
    for (size_t i = w->n_open; i-- > 0;)
        buf_addc(w->out, w->open[i]);
    new_line(w);
    indent(w, w->lists.depth);
    buf_add(w->out, (Str){ w->open, w->n_open });
}

static bool is_address(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || strchr("|<>", s.p[i]))
            return false;
    return str_starts(s, STR("https://")) || str_starts(s, STR("http://")) ||
           str_starts(s, STR("mailto:"));
}

/* Images too are links; where Slack would not take the address, only the words are written. */
static void put_link(Writer *w, cmark_node *node, bool enter)
{
    Str url = str_of(cmark_node_get_url(node)), label, address;

    if (enter && !w->link && is_address(url)) {
        w->link = node;
        buf_addc(w->out, '<');
        w->link_at = w->out->n;
        escape(w->out, url);
        buf_addc(w->out, '|');
        w->label_at = w->out->n;
    } else if (!enter && node == w->link) {
        label = str_skip(buf_str(w->out), w->label_at);
        address = (Str){ w->out->p + w->link_at, w->label_at - w->link_at - 1 };
        if (!label.n || str_eq(label, address))
            w->out->n = w->label_at - 1;
        buf_addc(w->out, '>');
        w->link = NULL;
    }
}

static bool put_inline(Writer *w, cmark_node *node, bool enter)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_HTML_INLINE)
        put_text(w, str_of(cmark_node_get_literal(node)));
    else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
        put_break(w);
    else if (type == CMARK_NODE_CODE)
        put_code(w, str_of(cmark_node_get_literal(node)));
    else if (type == CMARK_NODE_STRONG)
        put_mark(w, MARK_BOLD, enter);
    else if (type == CMARK_NODE_EMPH)
        put_mark(w, MARK_ITALIC, enter);
    else if (markdown_node_is(node, "strikethrough"))
        put_mark(w, MARK_STRIKE, enter);
    else if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE)
        put_link(w, node, enter);
    else
        return false;
    return true;
}

/* -- blocks -- */

/* Begins the line of a block, `levels` of lists to the right. */
static void begin_block(Writer *w, cmark_node *node, int levels)
{
    int first = cmark_node_get_start_line(node), last = cmark_node_get_end_line(node);

    if (!w->after_marker) {
        if (w->last_line && first > w->last_line + 1)
            buf_addz(w->out, w->quotes && w->last_is_quoted ? "\n>" : "\n");
        if (w->last_line)
            new_line(w);
        else if (w->quotes)
            buf_add(w->out, STR("> "));
        indent(w, levels);
    }
    w->after_marker = false;
    w->last_is_quoted = w->quotes > 0;
    w->last_line = last > first ? last : first;
}

static void put_item(Writer *w, cmark_node *item, bool enter)
{
    if (enter) {
        begin_block(w, item, w->lists.depth - 1);
        w->last_line = cmark_node_get_start_line(item);
        buf_add(w->out, markdown_item_marker(&w->lists, w->arena, item));
    }
    w->after_marker = enter;
}

static void put_lines(Writer *w, Str text)
{
    Str line;

    if (str_ends(text, STR("\n")))
        text = str_head(text, text.n - 1);
    for (bool first = true; str_split(&text, '\n', &line); first = false) {
        if (!first)
            new_line(w);
        escape(w->out, line);
    }
}

static void put_code_block(Writer *w, cmark_node *node)
{
    begin_block(w, node, 0);
    buf_add(w->out, STR("```"));
    new_line(w);
    put_lines(w, str_of(cmark_node_get_literal(node)));
    new_line(w);
    buf_add(w->out, STR("```"));
}

/* Takes a line off *rest; cmark ends lines at CR, too. */
static Str next_line(Str *rest)
{
    size_t n = 0;
    Str line;

    while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r')
        n++;
    line = str_head(*rest, n);
    *rest = str_skip(*rest, str_starts(str_skip(*rest, n), STR("\r\n")) ? n + 2 : n + 1);
    return line;
}

/* Takes the lines of the source that are the table's, without the marks of a quote around it. */
static void put_table(Writer *w, cmark_node *table)
{
    int first = cmark_node_get_start_line(table);
    int last = cmark_node_get_start_line(cmark_node_last_child(table));

    if (last == first) /* its head, and the dashes below it */
        last++;
    begin_block(w, table, 0);
    w->last_line = last;
    buf_add(w->out, STR("```"));
    for (; w->source_line <= last && w->source.n; w->source_line++) {
        Str line = next_line(&w->source);

        if (w->source_line < first)
            continue;
        while (line.n && strchr("> \t", line.p[0]))
            line = str_skip(line, 1);
        new_line(w);
        escape(w->out, str_trim(line));
    }
    new_line(w);
    buf_add(w->out, STR("```"));
    w->table = table;
}

static void put_block(Writer *w, cmark_node *node, bool enter)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_BLOCK_QUOTE) {
        w->quotes += enter ? 1 : -1;
    } else if (type == CMARK_NODE_LIST) {
        markdown_list(&w->lists, node, enter);
    } else if (type == CMARK_NODE_ITEM) {
        put_item(w, node, enter);
    } else if (type == CMARK_NODE_HEADING) {
        if (enter)
            begin_block(w, node, w->lists.depth);
        put_mark(w, MARK_BOLD, enter);
    } else if (type == CMARK_NODE_CODE_BLOCK) {
        put_code_block(w, node);
    } else if (type == CMARK_NODE_PARAGRAPH && enter) {
        begin_block(w, node, w->lists.depth);
    } else if (type == CMARK_NODE_HTML_BLOCK) {
        begin_block(w, node, 0);
        put_lines(w, str_of(cmark_node_get_literal(node)));
    } else if (type == CMARK_NODE_THEMATIC_BREAK) {
        begin_block(w, node, 0);
        buf_add(w->out, STR("———"));
    }
}

static void put_node(void *ctx, cmark_node *node, bool enter)
{
    Writer *w = ctx;

    if (node == w->table && !enter)
        w->table = NULL;
    else if (!w->table && markdown_node_is(node, "table"))
        put_table(w, node);
    else if (!w->table && !put_inline(w, node, enter))
        put_block(w, node, enter);
}

Str slack_from_markdown(Arena *a, Str text)
{
    AUTO_BUF out = BUF(MAX_OUT);
    Writer w = { .arena = a, .out = &out, .source = utf8_repair(a, text), .source_line = 1 };

    if (!markdown_visit(text, MARKDOWN_TABLES, put_node, &w))
        escape(&out, w.source);
    return str_dup(a, buf_str(&out));
}

/* -- Slack's mark-up as Markdown -- */

/* What is between '<' and '>': an address, a name, a word for many. */
static void put_reference(Buf *out, Str s)
{
    size_t bar = str_find(s, STR("|"));
    Str label = bar < s.n ? str_skip(s, bar + 1) : STR_NONE, target = str_head(s, bar);

    if (target.n && strchr("@#!", target.p[0])) {
        buf_addc(out, target.p[0] == '#' ? '#' : '@');
        buf_add(out, label.n ? label : str_skip(target, 1));
    } else if (label.n && !str_eq(label, target)) {
        buf_addf(out, "[%.*s](%.*s)", STR_FMT(label), STR_FMT(target));
    } else {
        buf_add(out, target);
    }
}

static size_t put_unescaped(Buf *out, Str s)
{
    static const struct {
        Str from;
        char to;
    } escapes[] = { { STR_INIT("&amp;"), '&' },
                    { STR_INIT("&lt;"), '<' },
                    { STR_INIT("&gt;"), '>' } };

    for (size_t i = 0; i < ARRAY_LEN(escapes); i++)
        if (str_starts(s, escapes[i].from)) {
            buf_addc(out, escapes[i].to);
            return escapes[i].from.n;
        }
    buf_addc(out, s.p[0]);
    return 1;
}

static void unescape(Buf *out, Str s)
{
    while (s.n)
        s = str_skip(s, put_unescaped(out, s));
}

Str slack_to_markdown(Arena *a, Str text)
{
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES), plain = BUF(LIMIT_UPDATE_BYTES);

    while (text.n) {
        size_t end = text.p[0] == '<' ? str_find(str_head(text, MAX_REFERENCE), STR(">")) : 0;

        if (end && end < text.n && end < MAX_REFERENCE) {
            buf_clear(&plain);
            put_reference(&plain, str_head(str_skip(text, 1), end - 1));
            unescape(&out, buf_str(&plain));
            text = str_skip(text, end + 1);
        } else {
            text = str_skip(text, put_unescaped(&out, text));
        }
    }
    return str_dup(a, buf_str(&out));
}
