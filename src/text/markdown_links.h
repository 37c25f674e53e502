/* markdown_links.h - bare addresses in a text: https://…, www.…, name@host. One pass, linear in the text. */
#ifndef TALARIA_TEXT_MARKDOWN_LINKS_H
#define TALARIA_TEXT_MARKDOWN_LINKS_H

#include "base/str.h"

/* A stretch of text; with an address also what has to stand before it to be one ("http://", "mailto:", ""). */
typedef struct TextPiece {
    Str text;
    const char *scheme; /* NULL: just text */
} TextPiece;

/* Takes the next piece off *rest; false at the end. */
bool markdown_next_piece(Str *rest, TextPiece *ret);

#endif
