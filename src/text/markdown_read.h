/* markdown_read.h - Markdown read by cmark-gfm within a budget: the same reading for the page and
 * for chat platforms.
 *
 * cmark's time and memory are not linear in the text (tables, reference links, deep nesting). So
 * the text is measured before cmark sees it, and cmark's memory is bounded while it reads.
 * Thread-safe. */
#ifndef TALARIA_TEXT_MARKDOWN_READ_H
#define TALARIA_TEXT_MARKDOWN_READ_H

#include <cmark-gfm.h>

#include "base/arena.h"

typedef enum MarkdownParts {
    MARKDOWN_TABLES =
        1, /* unless they have more than LIMIT_MARKDOWN_CELLS cells; then they stay as typed */
    MARKDOWN_TASKS = 2,     /* - [x] done */
    MARKDOWN_ONE_TILDE = 4, /* ~one~ strikes out as well as ~~two~~ */
} MarkdownParts;

/* Called when a node begins and, but for leaves, when it ends. Nodes live until markdown_visit
 * returns. */
typedef void MarkdownVisitor(void *ctx, cmark_node *node, bool enter);

/* False, before the first call of visit: the text is over the budget and is to be shown as it
 * is. */
MUST_CHECK bool markdown_visit(Str text, unsigned parts, MarkdownVisitor *visit, void *ctx);

/* Whether a node of an extension is of this type: "table", "strikethrough". */
bool markdown_node_is(cmark_node *node, const char *type);

/* -- lists as chats write them: by hand -- */

enum { MARKDOWN_NUMBERED = 32 };

/* The lists that are open where a visitor is. Begins as zero. */
typedef struct MarkdownLists {
    int depth;
    int next[MARKDOWN_NUMBERED]; /* the number of the next item; deeper lists count from their
                                  * start */
} MarkdownLists;

/* For each node of a list, when it begins and when it ends. */
void markdown_list(MarkdownLists *lists, cmark_node *list, bool enter);
/* What goes before the words of an item: "• " or "3. ". */
Str markdown_item_marker(MarkdownLists *lists, Arena *a, cmark_node *item);

#endif
