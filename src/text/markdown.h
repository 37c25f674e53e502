/* markdown.h - what models and users write, as HTML that cannot do anything.
 *
 * Raw HTML is shown as the text it is, links go to http, https, mailto and nowhere else, images
 * become links to what they show. Tables, task lists, strikethrough and bare links as GitHub has
 * them. Output and time are bounded (markdown_read.h, LIMIT_MARKDOWN_OUTPUT). Thread-safe. */
#ifndef TALARIA_TEXT_MARKDOWN_H
#define TALARIA_TEXT_MARKDOWN_H

#include "base/arena.h"

/* Never fails: a text over the limits is one paragraph of class "plain", escaped and with its line
 * breaks. */
Str markdown_html(Arena *a, Str text);

#endif
