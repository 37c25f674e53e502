/* Images become links to what they show: the page loads nothing from elsewhere, and a model must not
 * be able to make it try. */
#include "text/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>
#include <pthread.h>
#include <string.h>

enum { OPTIONS = CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8 | CMARK_OPT_GITHUB_PRE_LANG };

/* cmark's table of extensions is global, filled once and read-only afterwards. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

void markdown_ready(void)
{
    pthread_once(&once, cmark_gfm_core_extensions_ensure_registered);
}

static cmark_parser *new_parser(void)
{
    static const char *const wanted[] = { "table", "strikethrough", "autolink", "tasklist" };
    cmark_parser *parser;

    markdown_ready();
    parser = cmark_parser_new(OPTIONS);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(wanted[i]));
    return parser;
}

static bool scheme_is_fine(const char *url)
{
    static const char *const fine[] = { "http://", "https://", "mailto:" };

    for (size_t i = 0; url && i < ARRAY_LEN(fine); i++)
        if (strncasecmp(url, fine[i], strlen(fine[i])) == 0)
            return true;
    return false;
}

static void image_to_link(cmark_node *image)
{
    cmark_node *link = cmark_node_new(CMARK_NODE_LINK), *child;
    const char *url = cmark_node_get_url(image);

    cmark_node_set_url(link, scheme_is_fine(url) ? url : "");
    while ((child = cmark_node_first_child(image)) != NULL)
        if (!cmark_node_append_child(link, child))
            cmark_node_free(child); /* takes itself out */
    if (!cmark_node_insert_before(image, link))
        cmark_node_free(link);
    cmark_node_unlink(image);
    cmark_node_free(image);
}

/* A link to anywhere else loses its target. */
static void tame(cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);

    if (type == CMARK_NODE_IMAGE)
        image_to_link(node);
    else if (type == CMARK_NODE_LINK && !scheme_is_fine(cmark_node_get_url(node)))
        cmark_node_set_url(node, "");
}

static void tame_all(cmark_node *root)
{
    cmark_iter *it = cmark_iter_new(root);

    /* On the way out of a node, so that it may be replaced. */
    for (cmark_event_type e; (e = cmark_iter_next(it)) != CMARK_EVENT_DONE;)
        if (e == CMARK_EVENT_EXIT)
            tame(cmark_iter_get_node(it));
    cmark_iter_free(it);
}

Str markdown_html(Arena *a, Str text)
{
    cmark_parser *parser = new_parser();
    cmark_node *root;
    char *html;
    Str kept;

    cmark_parser_feed(parser, text.p, text.n);
    root = cmark_parser_finish(parser);
    tame_all(root);
    html = cmark_render_html(root, OPTIONS, cmark_parser_get_syntax_extensions(parser));
    kept = str_dup(a, str_of(html));
    free(html);
    cmark_node_free(root);
    cmark_parser_free(parser);
    return kept;
}
