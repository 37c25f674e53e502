/* wrap.h - prose in lines that end between words. */
#ifndef TALARIA_TEXT_WRAP_H
#define TALARIA_TEXT_WRAP_H

#include "base/buf.h"

/* Appends `text` in lines of at most `width` columns. `used` columns of the first line are taken
 * already; every further line begins with `indent` spaces. Line feeds in the text stay. A word that
 * is wider than a line is never broken: it may be an id or an address that somebody copies. */
void text_wrap(Buf *out, Str text, size_t used, size_t indent, size_t width);

#endif
