/* cmark reads; this walks over what it read. Breaks between blocks are owed until something follows
 * them, so that no entity begins or ends with one. What a chat cannot show (headings, lists, rules)
 * is written the way people write it by hand. Tables stay as they were typed. */
#include "platforms/telegram/entities.h"

#include "base/buf.h"
#include "base/limits.h"
#include "text/markdown_read.h"
#include "text/utf8.h"

typedef struct Walk {
    Arena *arena;
    Buf out;
    size_t units; /* of out, in UTF-16 */
    int owed;     /* line feeds before whatever comes next */
    int quotes;
    MarkdownLists lists;
    int spans;                          /* open entities that code may not stand in */
    size_t open[LIMIT_ENTITIES], depth; /* where in `all` those are that have no end yet */
    Entity *all;
    size_t n;
} Walk;

const char *entity_name(EntityKind kind)
{
    static const char *const names[] = {
#define X(id, name) [id] = name,
        ENTITY_KINDS(X)
#undef X
    };

    return names[kind];
}

size_t utf16_count(Str text)
{
    size_t n = 0;

    while (text.n)
        n += utf8_next(&text) > 0xffff ? 2 : 1;
    return n;
}

/* -- writing -- */

static void put_owed(Walk *w)
{
    for (; w->owed > 0; w->owed--)
        if (w->out.n) {
            buf_addc(&w->out, '\n');
            w->units++;
        }
}

static void put(Walk *w, Str text)
{
    if (!text.n)
        return;
    put_owed(w);
    buf_add(&w->out, text);
    w->units += utf16_count(text);
}

static void owe(Walk *w, int lines)
{
    if (w->owed < lines)
        w->owed = lines;
}

/* One that begins here; its length follows. Past the limit they are counted and dropped. */
static void open_entity(Walk *w, EntityKind kind, Str extra)
{
    put_owed(w);
    if (w->depth < LIMIT_ENTITIES)
        w->open[w->depth] = w->n;
    w->depth++;
    if (w->n < LIMIT_ENTITIES)
        w->all[w->n++] =
            (Entity){ .kind = kind, .at = w->units, .extra = str_dup(w->arena, extra) };
}

static void close_entity(Walk *w)
{
    size_t i = --w->depth < LIMIT_ENTITIES ? w->open[w->depth] : LIMIT_ENTITIES;

    if (i < LIMIT_ENTITIES)
        w->all[i].n = w->units - w->all[i].at;
}

static void span(Walk *w, EntityKind kind, bool enter)
{
    if (enter)
        open_entity(w, kind, STR(""));
    else
        close_entity(w);
    w->spans += enter ? 1 : -1;
}

/* -- inline -- */

static bool can_be_linked(Str url)
{
    return str_starts(url, STR("https://")) || str_starts(url, STR("http://")) ||
           str_starts(url, STR("tg://"));
}

/* An address that the platform would not follow is written behind its text, as one would by
 * hand. */
static void link_to(Walk *w, Str url, bool enter)
{
    if (can_be_linked(url)) {
        if (enter)
            open_entity(w, ENTITY_LINK, url);
        else
            close_entity(w);
        w->spans += enter ? 1 : -1;
    } else if (!enter && url.n) {
        put(w, STR(" ("));
        put(w, url);
        put(w, STR(")"));
    }
}

static void code(Walk *w, EntityKind kind, Str text, Str language)
{
    if (w->spans || !text.n) {
        put(w, text);
        return;
    }
    open_entity(w, kind, language);
    put(w, text);
    close_entity(w);
}

static bool inline_node(Walk *w, cmark_node *node, bool enter)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_HTML_INLINE)
        put(w, str_of(cmark_node_get_literal(node)));
    else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK)
        put(w, STR("\n"));
    else if (type == CMARK_NODE_CODE)
        code(w, ENTITY_CODE, str_of(cmark_node_get_literal(node)), STR(""));
    else if (type == CMARK_NODE_STRONG)
        span(w, ENTITY_BOLD, enter);
    else if (type == CMARK_NODE_EMPH)
        span(w, ENTITY_ITALIC, enter);
    else if (markdown_node_is(node, "strikethrough"))
        span(w, ENTITY_STRIKE, enter);
    else if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE)
        link_to(w, str_of(cmark_node_get_url(node)), enter);
    else
        return false;
    return true;
}

/* -- blocks -- */

static void quote(Walk *w, bool enter)
{
    if (enter && w->quotes++ == 0)
        open_entity(w, ENTITY_QUOTE, STR(""));
    if (!enter && --w->quotes == 0)
        close_entity(w);
}

static void begin_item(Walk *w, cmark_node *item)
{
    owe(w, 1);
    for (int i = 1; i < w->lists.depth && i < 8; i++)
        put(w, STR("  "));
    put(w, markdown_item_marker(&w->lists, w->arena, item));
}

static void code_block(Walk *w, cmark_node *node)
{
    Str text = str_of(cmark_node_get_literal(node)), info = str_of(cmark_node_get_fence_info(node));
    Str language = STR("");

    (void)str_split(&info, ' ', &language);
    if (str_ends(text, STR("\n")))
        text = str_head(text, text.n - 1);
    code(w, ENTITY_PRE, text, language);
}

static void html_block(Walk *w, cmark_node *node)
{
    Str text = str_of(cmark_node_get_literal(node));

    put(w, str_ends(text, STR("\n")) ? str_head(text, text.n - 1) : text);
}

static void block_node(Walk *w, cmark_node *node, bool enter)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_BLOCK_QUOTE)
        quote(w, enter);
    else if (type == CMARK_NODE_HEADING)
        span(w, ENTITY_BOLD, enter);
    else if (type == CMARK_NODE_LIST)
        markdown_list(&w->lists, node, enter);
    else if (type == CMARK_NODE_ITEM && enter)
        begin_item(w, node);
    else if (type == CMARK_NODE_CODE_BLOCK)
        code_block(w, node);
    else if (type == CMARK_NODE_HTML_BLOCK)
        html_block(w, node);
    else if (type == CMARK_NODE_THEMATIC_BREAK)
        put(w, STR("———"));
    /* A leaf has no exit of its own. */
    if (!enter || type == CMARK_NODE_CODE_BLOCK || type == CMARK_NODE_HTML_BLOCK ||
        type == CMARK_NODE_THEMATIC_BREAK)
        owe(w, w->lists.depth ? 1 : 2);
}

/* -- all of it -- */

static void visit(void *ctx, cmark_node *node, bool enter)
{
    if (!inline_node(ctx, node, enter))
        block_node(ctx, node, enter);
}

static void leave_out_empty(Walk *w)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++)
        if (w->all[i].n)
            w->all[kept++] = w->all[i];
    w->n = kept;
}

void entities_of(Arena *a, Str markdown, EntityText *ret)
{
    Walk *w = ARENA_NEW(a, Walk);

    *w = (Walk){ .arena = a,
                 .out = BUF(2 * markdown.n + KIB(4)),
                 .all = ARENA_ARRAY(a, Entity, LIMIT_ENTITIES) };
    if (!markdown_visit(markdown, 0, visit, w))
        put(w, utf8_repair(a, markdown));
    leave_out_empty(w);
    *ret = (EntityText){ .text = str_dup(a, buf_str(&w->out)), .all = w->all, .n = w->n };
    buf_done(&w->out);
}
