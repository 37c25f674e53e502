/* render.h - context blocks as text that quoted text cannot break out of.
 *
 * The whole is between two fence lines, each block between two more. Every quoted line starts with
 * "> ", so that no quoted text starts a line; fences, special tokens of chat formats and role names
 * in it are escaped. Control characters and secrets are removed. The same input gives the same
 * bytes. */
#ifndef TALARIA_AGENT_RENDER_H
#define TALARIA_AGENT_RENDER_H

#include "base/arena.h"
#include "base/buf.h"

void render_begin(Buf *out);
void render_end(Buf *out);

/* A block's fence; `note` says what it is, in one line. */
void render_block_begin(Buf *out, const char *name, Str note);
void render_block_end(Buf *out, const char *name);

/* The text as quoted data: redacted, escaped, "> " before each line, at most so many characters. */
void render_quote(Buf *out, Str text, size_t max_chars);
/* The same on one line without the mark: titles, names, reasons. */
void render_line(Buf *out, Str text, size_t max_chars);

#endif
