/* wrapped.h - standard output on a terminal, with lines broken between words.
 *
 * Whatever a command prints passes through here, so that no word is broken by the edge of the window.
 * A line that is too long continues below its own indent. Escape sequences have no width. */
#ifndef TALARIA_CMD_WRAPPED_H
#define TALARIA_CMD_WRAPPED_H

#include "base/buf.h"

typedef struct Wrapped {
    size_t width;
    BufSink *sink; /* where the lines go */
    void *sink_ctx;
    size_t column, indent, spaces;
    bool begun; /* the line has a word */
    bool open;  /* the last word may continue in the next piece */
    Buf word;
} Wrapped;

/* A BufSink; ctx is a Wrapped. Nothing is held back between two calls. */
bool wrapped_write(void *ctx, const char *p, size_t n);
void wrapped_done(Wrapped *w);

#endif
