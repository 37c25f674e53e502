/* Two guards. One pass over the lines estimates what cmark multiplies: cells of tables, and open
 * blocks times lines. Everything else that cmark could blow up needs memory, and its allocator is
 * ours: past the budget it leaves the parser with a jump, and the arena takes back whatever the
 * parser had. */
#include "text/markdown_read.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <pthread.h>
#include <setjmp.h>

#include "base/limits.h"

/* -- what a text would cost -- */

typedef struct Cost {
    size_t lines, depth; /* the deepest nesting that one line opens */
    size_t rows, columns,
        cells; /* of the table that may stand between two empty lines; of all of them */
} Cost;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Behind the marker of a list item at i, or i. */
static size_t marker_end(Str line, size_t i)
{
    size_t end = i;

    if (i < line.n && (line.p[i] == '-' || line.p[i] == '+' || line.p[i] == '*'))
        end = i + 1;
    while (end < line.n && end - i < 9 && line.p[end] >= '0' && line.p[end] <= '9')
        end++;
    if (end > i && line.p[end - 1] >= '0' && line.p[end - 1] <= '9')
        end += end < line.n && (line.p[end] == '.' || line.p[end] == ')') ? 1 : i - end;
    return end == line.n || is_blank(line.p[end]) ? end : i;
}

/* How many quotes and list items are open behind the beginning of this line, at most. */
static size_t depth_of(Str line)
{
    size_t depth = 0, blanks = 0, i = 0;
    bool items = false;

    while (i < line.n) {
        size_t end = marker_end(line, i);

        if (is_blank(line.p[i])) {
            blanks++;
            i++;
        } else if (line.p[i] == '>') {
            depth++;
            i++;
        } else if (end > i) {
            items = true;
            depth++;
            i = end;
        } else {
            break;
        }
    }
    return depth + (items ? blanks / 2 : 0);
}

/* The columns of a row of dashes below a table's head; 0: it is none. */
static size_t columns_of(Str line)
{
    size_t columns = 1;
    bool dashes = false;

    for (size_t i = 0; i < line.n; i++) {
        if (!strchr("|:- \t>\r\v\f", line.p[i]) || !line.p[i])
            return 0;
        columns += line.p[i] == '|';
        dashes |= line.p[i] == '-';
    }
    return dashes ? columns : 0;
}

static bool is_empty(Str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != '>' && line.p[i] != '\r' && !is_blank(line.p[i]))
            return false;
    return true;
}

static void end_table(Cost *c)
{
    c->cells += c->rows * c->columns;
    c->rows = c->columns = 0;
}

static Cost cost_of(Str text)
{
    Cost c = { 0 };
    Str line;

    while (str_split(&text, '\n', &line)) {
        size_t depth = depth_of(line), columns = columns_of(line);

        c.lines++;
        c.depth = depth > c.depth ? depth : c.depth;
        c.columns = columns > c.columns ? columns : c.columns;
        c.rows++;
        if (is_empty(line))
            end_table(&c);
    }
    end_table(&c);
    return c;
}

/* -- memory -- */

typedef struct Memory {
    Arena *arena;
    size_t left;
    jmp_buf over;
    bool reading; /* afterwards there is nothing to jump out of; what is asked for then is small */
} Memory;

typedef union Block {
    size_t n;
    max_align_t align;
} Block;

static _Thread_local Memory *memory; /* cmark gives its allocator no context */

static void *take(size_t n)
{
    Block *b;

    if (memory->reading && n >= memory->left)
        longjmp(memory->over, 1);
    memory->left -= n < memory->left ? n : memory->left;
    b = arena_alloc(memory->arena, sizeof *b + n);
    b->n = n;
    return b + 1;
}

static void *take_array(size_t count, size_t size)
{
    return take(size && count > SIZE_MAX / 2 / size ? SIZE_MAX / 2 : count * size);
}

static void *take_more(void *p, size_t n)
{
    Block *b = p;
    void *more;

    if (p && b[-1].n >= n)
        return p;
    more = take(n);
    if (p)
        memcpy(more, p, b[-1].n);
    return more;
}

static void give_back(void *p)
{
    (void)p; /* with the arena */
}

static cmark_mem allocator = { take_array, take_more, give_back };

/* -- reading -- */

/* cmark's table of extensions is global, filled once and read-only afterwards. */
static void attach(cmark_parser *parser, const char *extension)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, cmark_gfm_core_extensions_ensure_registered);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(extension));
}

static cmark_node *parse(Str text, unsigned parts)
{
    int tildes = parts & MARKDOWN_ONE_TILDE ? 0 : CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE;
    cmark_parser *parser =
        cmark_parser_new_with_mem(CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8 | tildes, &allocator);

    if (parts & MARKDOWN_TABLES)
        attach(parser, "table");
    attach(parser, "strikethrough");
    if (parts & MARKDOWN_TASKS)
        attach(parser, "tasklist");
    cmark_parser_feed(parser, text.p, text.n);
    return cmark_parser_finish(parser);
}

/* NULL: it would have taken too much. */
static cmark_node *parse_within(Memory *m, Str text, unsigned parts)
{
    if (setjmp(m->over))
        return NULL;
    return parse(text, parts);
}

static bool is_leaf(cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);

    return type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_THEMATIC_BREAK ||
           type == CMARK_NODE_CODE_BLOCK || type == CMARK_NODE_TEXT ||
           type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK ||
           type == CMARK_NODE_CODE || type == CMARK_NODE_HTML_INLINE;
}

static void walk(cmark_node *root, MarkdownVisitor *visit, void *ctx)
{
    cmark_node *node = root, *next;
    bool enter = true;

    for (;;) {
        visit(ctx, node, enter);
        next = enter ? cmark_node_first_child(node) : NULL;
        if (next) {
            node = next;
        } else if (enter && !is_leaf(node)) {
            enter = false;
        } else if (node == root) {
            return;
        } else {
            next = cmark_node_next(node);
            enter = next != NULL;
            node = next ? next : cmark_node_parent(node);
        }
    }
}

bool markdown_visit(Str text, unsigned parts, MarkdownVisitor *visit, void *ctx)
{
    AUTO(Arena) *arena = NULL;
    Memory *outer = memory, own = { .reading = true };
    cmark_node *root;
    Cost cost;

    if (text.n > LIMIT_MARKDOWN_BYTES)
        return false;
    cost = cost_of(text);
    if (cost.lines * cost.depth > LIMIT_MARKDOWN_NESTING)
        return false;
    if (cost.cells > LIMIT_MARKDOWN_CELLS)
        parts &= ~(unsigned)MARKDOWN_TABLES;
    arena = own.arena = arena_new();
    own.left = text.n * LIMIT_MARKDOWN_MEMORY + MIB(1);
    memory = &own;
    root = parse_within(&own, text, parts);
    own.reading = false;
    if (root)
        walk(root, visit, ctx);
    memory = outer;
    return root != NULL;
}

bool markdown_node_is(cmark_node *node, const char *type)
{
    return strcmp(cmark_node_get_type_string(node), type) == 0;
}

void markdown_list(MarkdownLists *lists, cmark_node *list, bool enter)
{
    if (enter && lists->depth < MARKDOWN_NUMBERED)
        lists->next[lists->depth] = cmark_node_get_list_start(list);
    lists->depth += enter ? 1 : -1;
}

Str markdown_item_marker(MarkdownLists *lists, Arena *a, cmark_node *item)
{
    cmark_node *list = cmark_node_parent(item);

    if (cmark_node_get_list_type(list) != CMARK_ORDERED_LIST)
        return STR("• ");
    return str_printf(a, "%d. ",
                      lists->depth <= MARKDOWN_NUMBERED ? lists->next[lists->depth - 1]++
                                                        : cmark_node_get_list_start(list));
}
