/* render.h - blocks of context as text that no quotation can break out of.
 *
 * The whole stands between two lines of our own, each block between two more. What is quoted has "> "
 * in front of every line, so that nothing in it begins a line; our fences, the special tokens of chat
 * formats and names of roles in it are written so that they are read and not obeyed. Control characters
 * and secrets are taken out. The same input gives the same bytes. */
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
void render_quote(Buf *out, Str text, size_t most_chars);
/* The same on one line without the mark: titles, names, reasons. */
void render_line(Buf *out, Str text, size_t most_chars);

#endif
