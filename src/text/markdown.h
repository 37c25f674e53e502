/* markdown.h - what models and users write, as HTML that cannot do anything.
 *
 * cmark-gfm in safe mode: raw HTML is left out, links go to http, https, mailto and nowhere else,
 * images are not loaded. Tables, strikethrough and bare links as GitHub has them. Thread-safe. */
#ifndef TALARIA_TEXT_MARKDOWN_H
#define TALARIA_TEXT_MARKDOWN_H

#include "base/arena.h"

/* Never fails: what cannot be read as Markdown is a paragraph of its text. */
Str markdown_html(Arena *a, Str text);

/* cmark's extensions are there; for whoever else reads Markdown with it. Any thread, any number of times. */
void markdown_ready(void);

#endif
