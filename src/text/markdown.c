/* Our own rendering of what cmark read: the HTML that cmark itself would write, but for raw HTML
 * (text here), images (links here: the page loads nothing from elsewhere, and a model must not be
 * able to make it try), links to other schemes (no target) and bare addresses (found here). */
#include "text/markdown.h"

#include <cmark-gfm-core-extensions.h>

#include "base/buf.h"
#include "base/limits.h"
#include "text/markdown_read.h"
#include "text/utf8.h"

/* -- bare addresses -- */

/* Our own instead of cmark's extension, whose time is quadratic in texts like a@a@a@ and
 * http://a)))). The rules are those of GitHub: trailing punctuation and parentheses that were not
 * opened inside do not belong to an address. One pass, linear in the text. */
enum {
    LOCAL_PART = 64, /* bytes before the @ */
    HOST = 255
};

typedef struct Address {
    size_t from, to;
    const char *scheme; /* what has to be put before it: "http://", "mailto:", "" */
} Address;

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_letter_or_digit(char c)
{
    return is_alnum(c) || (unsigned char)c >= 0x80;
}

/* Without what a sentence puts behind an address. */
static size_t trimmed(Str s, size_t from, size_t to)
{
    size_t open = 0, closed = 0;

    for (size_t i = from; i < to; i++) {
        open += s.p[i] == '(';
        closed += s.p[i] == ')';
    }
    while (to > from) {
        char c = s.p[to - 1];

        if (c == ')' && closed > open)
            closed--;
        else if (!strchr("?!.,:;*_~'\"", c) || !c)
            break;
        to--;
    }
    return to;
}

static bool url_at(Str s, size_t i, Address *ret)
{
    static const struct {
        Str lead;
        const char *scheme;
    } leads[] = { { STR_INIT("http://"), "" },
                  { STR_INIT("https://"), "" },
                  { STR_INIT("www."), "http://" } };
    Str rest = str_skip(s, i);

    if (i && is_letter_or_digit(s.p[i - 1]))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(leads); k++) {
        size_t from = i + leads[k].lead.n, to = from;

        if (from >= s.n || !is_letter_or_digit(s.p[from]) ||
            strncasecmp(rest.p, leads[k].lead.p, leads[k].lead.n) != 0)
            continue;
        while (to < s.n && (unsigned char)s.p[to] > ' ' && s.p[to] != '<')
            to++;
        *ret = (Address){ i, trimmed(s, from, to), leads[k].scheme };
        return true;
    }
    return false;
}

static bool mail_at(Str s, size_t at, Address *ret)
{
    size_t from = at, to = at + 1, dots = 0;

    while (from && at - from < LOCAL_PART &&
           (is_alnum(s.p[from - 1]) || strchr(".-_+", s.p[from - 1])))
        from--;
    while (to < s.n && to - at < HOST && (is_alnum(s.p[to]) || s.p[to] == '-' || s.p[to] == '.'))
        dots += s.p[to++] == '.';
    while (to > at + 1 && !is_alnum(s.p[to - 1]))
        dots -= s.p[--to] == '.';
    if (from == at || !dots || s.p[at + 1] == '.')
        return false;
    *ret = (Address){ from, to, "mailto:" };
    return true;
}

static bool find_address(Str s, Address *ret)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if ((c == 'h' || c == 'H' || c == 'w' || c == 'W') && url_at(s, i, ret))
            return true;
        if (c == '@' && mail_at(s, i, ret))
            return true;
    }
    return false;
}

typedef struct Html {
    Buf out;
    int links; /* open ones: no address inside of a link is another */
    bool body; /* of a table was begun */
    size_t column;
} Html;

/* -- text -- */

static void put(Html *h, const char *s)
{
    buf_addz(&h->out, s);
}

/* What follows begins a line. */
static void fresh_line(Html *h)
{
    if (h->out.n && h->out.p[h->out.n - 1] != '\n')
        buf_addc(&h->out, '\n');
}

static void put_escaped(Html *h, Str s)
{
    size_t from = 0;

    for (size_t i = 0; i < s.n; i++) {
        const char *with = s.p[i] == '&'   ? "&amp;"
                           : s.p[i] == '<' ? "&lt;"
                           : s.p[i] == '>' ? "&gt;"
                           : s.p[i] == '"' ? "&quot;"
                                           : NULL;

        if (!with)
            continue;
        buf_add(&h->out, (Str){ s.p + from, i - from });
        put(h, with);
        from = i + 1;
    }
    buf_add(&h->out, str_skip(s, from));
}

static bool scheme_is_fine(Str url)
{
    static const Str fine[] = { STR_INIT("http://"), STR_INIT("https://"), STR_INIT("mailto:") };

    for (size_t i = 0; i < ARRAY_LEN(fine); i++)
        if (url.n >= fine[i].n && strncasecmp(url.p, fine[i].p, fine[i].n) == 0)
            return true;
    return false;
}

static void put_address(Html *h, Str url)
{
    static const char hex[] = "0123456789ABCDEF", plain[] = "-_.+!*(),%#@?=;:/$~";

    for (size_t i = 0; i < url.n; i++) {
        unsigned char c = (unsigned char)url.p[i];

        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c && strchr(plain, c)))
            buf_addc(&h->out, (char)c);
        else if (c == '&')
            put(h, "&amp;");
        else
            buf_add(&h->out, (Str){ (char[]){ '%', hex[c >> 4], hex[c & 15] }, 3 });
    }
}

static void put_text(Html *h, Str text)
{
    Address address;

    while (!h->links && find_address(text, &address)) {
        Str found = { text.p + address.from, address.to - address.from };

        put_escaped(h, str_head(text, address.from));
        put(h, "<a href=\"");
        put(h, address.scheme);
        put_address(h, found);
        put(h, "\">");
        put_escaped(h, found);
        put(h, "</a>");
        text = str_skip(text, address.to);
    }
    put_escaped(h, text);
}

static void put_link(Html *h, cmark_node *node, bool enter)
{
    Str url = str_of(cmark_node_get_url(node)), title = str_of(cmark_node_get_title(node));

    h->links += enter ? 1 : -1;
    if (!enter) {
        put(h, "</a>");
        return;
    }
    put(h, "<a href=\"");
    if (scheme_is_fine(url))
        put_address(h, url);
    if (title.n && cmark_node_get_type(node) == CMARK_NODE_LINK) {
        put(h, "\" title=\"");
        put_escaped(h, title);
    }
    put(h, "\">");
}

static bool put_inline(Html *h, cmark_node *node, bool enter)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_TEXT) {
        put_text(h, str_of(cmark_node_get_literal(node)));
    } else if (type == CMARK_NODE_HTML_INLINE) {
        put_escaped(h, str_of(cmark_node_get_literal(node)));
    } else if (type == CMARK_NODE_SOFTBREAK) {
        put(h, "\n");
    } else if (type == CMARK_NODE_LINEBREAK) {
        put(h, "<br />\n");
    } else if (type == CMARK_NODE_CODE) {
        put(h, "<code>");
        put_escaped(h, str_of(cmark_node_get_literal(node)));
        put(h, "</code>");
    } else if (type == CMARK_NODE_STRONG) {
        put(h, enter ? "<strong>" : "</strong>");
    } else if (type == CMARK_NODE_EMPH) {
        put(h, enter ? "<em>" : "</em>");
    } else if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) {
        put_link(h, node, enter);
    } else if (markdown_node_is(node, "strikethrough")) {
        put(h, enter ? "<del>" : "</del>");
    } else {
        return false;
    }
    return true;
}

/* -- tables -- */

static void put_cell(Html *h, cmark_node *node, bool enter)
{
    cmark_node *row = cmark_node_parent(node);
    bool head = cmark_gfm_extensions_get_table_row_is_header(row);
    const uint8_t *align = cmark_gfm_extensions_get_table_alignments(cmark_node_parent(row));

    if (!enter) {
        put(h, head ? "</th>" : "</td>");
        h->column++;
        return;
    }
    fresh_line(h);
    put(h, head ? "<th" : "<td");
    put(h, align[h->column] == 'l'   ? " align=\"left\">"
           : align[h->column] == 'r' ? " align=\"right\">"
           : align[h->column] == 'c' ? " align=\"center\">"
                                     : ">");
}

static void put_row(Html *h, bool head, bool enter)
{
    fresh_line(h);
    if (enter) {
        put(h, head ? "<thead>\n<tr>" : h->body ? "<tr>" : "<tbody>\n<tr>");
        h->body |= !head;
        h->column = 0;
    } else {
        put(h, head ? "</tr>\n</thead>" : "</tr>");
    }
}

static bool put_table(Html *h, cmark_node *node, bool enter)
{
    if (markdown_node_is(node, "table_cell")) {
        put_cell(h, node, enter);
    } else if (markdown_node_is(node, "table_row") || markdown_node_is(node, "table_header")) {
        put_row(h, cmark_gfm_extensions_get_table_row_is_header(node), enter);
    } else if (markdown_node_is(node, "table")) {
        fresh_line(h);
        put(h, enter ? "<table>" : h->body ? "</tbody>\n</table>\n" : "</table>\n");
        h->body = false;
    } else {
        return false;
    }
    return true;
}

/* -- blocks -- */

static void put_list(Html *h, cmark_node *node, bool enter)
{
    bool bullets = cmark_node_get_list_type(node) == CMARK_BULLET_LIST;
    int start = cmark_node_get_list_start(node);

    if (!enter) {
        put(h, bullets ? "</ul>\n" : "</ol>\n");
        return;
    }
    fresh_line(h);
    if (bullets || start == 1)
        put(h, bullets ? "<ul>\n" : "<ol>\n");
    else
        buf_addf(&h->out, "<ol start=\"%d\">\n", start);
}

static void put_item(Html *h, cmark_node *node, bool enter)
{
    if (!enter) {
        put(h, "</li>\n");
        return;
    }
    fresh_line(h);
    put(h, "<li>");
    if (markdown_node_is(node, "tasklist"))
        put(h, cmark_gfm_extensions_get_tasklist_item_checked(node)
                   ? "<input type=\"checkbox\" checked=\"\" disabled=\"\" /> "
                   : "<input type=\"checkbox\" disabled=\"\" /> ");
}

/* The items of a tight list have no paragraphs. */
static void put_paragraph(Html *h, cmark_node *node, bool enter)
{
    cmark_node *item = cmark_node_parent(node), *list = item ? cmark_node_parent(item) : NULL;

    if (list && cmark_node_get_type(list) == CMARK_NODE_LIST && cmark_node_get_list_tight(list))
        return;
    if (enter)
        fresh_line(h);
    put(h, enter ? "<p>" : "</p>\n");
}

static void put_code_block(Html *h, cmark_node *node)
{
    Str info = str_of(cmark_node_get_fence_info(node));
    size_t n = 0;

    while (n < info.n && !strchr(" \t\n\v\f\r", info.p[n]))
        n++;
    fresh_line(h);
    put(h, "<pre");
    if (n) {
        put(h, " lang=\"");
        put_escaped(h, str_head(info, n));
        put(h, "\"");
    }
    put(h, "><code>");
    put_escaped(h, str_of(cmark_node_get_literal(node)));
    put(h, "</code></pre>\n");
}

static void put_plain(Html *h, Str text)
{
    fresh_line(h);
    put(h, "<p class=\"plain\">");
    put_escaped(h, str_ends(text, STR("\n")) ? str_head(text, text.n - 1) : text);
    put(h, "</p>\n");
}

static void put_block(Html *h, cmark_node *node, bool enter)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_PARAGRAPH) {
        put_paragraph(h, node, enter);
    } else if (type == CMARK_NODE_BLOCK_QUOTE) {
        fresh_line(h);
        put(h, enter ? "<blockquote>\n" : "</blockquote>\n");
    } else if (type == CMARK_NODE_LIST) {
        put_list(h, node, enter);
    } else if (type == CMARK_NODE_HEADING) {
        if (enter)
            fresh_line(h);
        buf_addf(&h->out, enter ? "<h%d>" : "</h%d>\n", cmark_node_get_heading_level(node));
    } else if (type == CMARK_NODE_CODE_BLOCK) {
        put_code_block(h, node);
    } else if (type == CMARK_NODE_HTML_BLOCK) {
        put_plain(h, str_of(cmark_node_get_literal(node)));
    } else if (type == CMARK_NODE_THEMATIC_BREAK) {
        fresh_line(h);
        put(h, "<hr />\n");
    } else if (type == CMARK_NODE_ITEM || markdown_node_is(node, "tasklist")) {
        put_item(h, node, enter);
    }
}

static void put_node(void *ctx, cmark_node *node, bool enter)
{
    Html *h = ctx;

    if (!put_inline(h, node, enter) && !put_table(h, node, enter))
        put_block(h, node, enter);
}

Str markdown_html(Arena *a, Str text)
{
    Html h = { .out = BUF(text.n * LIMIT_MARKDOWN_OUTPUT + KIB(4)) };
    unsigned parts = MARKDOWN_TABLES | MARKDOWN_TASKS | MARKDOWN_ONE_TILDE;
    Str html;

    if (!markdown_visit(text, parts, put_node, &h) || buf_full(&h.out)) {
        buf_done(&h.out);
        h = (Html){ .out = BUF(text.n * LIMIT_MARKDOWN_OUTPUT + KIB(4)) };
        put_plain(&h, utf8_repair(a, text));
    }
    html = str_dup(a, buf_str(&h.out));
    buf_done(&h.out);
    return html;
}
