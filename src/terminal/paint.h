/* paint.h - Markdown as a person reads it on a terminal, while it comes.
 *
 * Text is given in pieces and drawn as soon as it is clear what it is: words at once, a span of
 * bold or code when it is closed, lines of code when they are over, a table with its last row.
 * Lines wrap at words. The last word may grow with the next piece: if it does not fit any more, it
 * is taken back and drawn on the next row. Links show their text and a number; paint_end lists the
 * numbers with the command or address to open.
 *
 * Everything passes through utf8_show: the only escape sequences in the output are the painter's
 * own (colours, "cursor left", "erase to the end of the row", hyperlinks). Memory and time are
 * bounded by the text. One thread. */
#ifndef TALARIA_TERMINAL_PAINT_H
#define TALARIA_TERMINAL_PAINT_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/homes.h"

typedef struct PaintOptions {
    size_t columns; /* of the terminal */
    bool color;
    bool hyperlinks;    /* OSC 8, for http and https */
    const Homes *homes; /* whose sessions links name: their ids are shortened; NULL: they are not */
} PaintOptions;

typedef struct Paint Paint;

Paint *paint_new(const PaintOptions *options);
Paint *paint_free(Paint *p);
AUTO_FREE(Paint, paint_free)

/* What can be drawn of the text so far is appended to `out`, which continues where it ended the
 * last time. */
void paint_add(Paint *p, Str text, Buf *out);
/* Something else is shown next: what waits is drawn as it is, and the line ends. */
void paint_break(Paint *p, Buf *out);
/* The end: what waits, then the list of links. The next text starts from scratch. */
void paint_end(Paint *p, Buf *out);
/* The terminal was resized. */
void paint_resize(Paint *p, size_t columns);

/* All of a text at once. */
void paint_text(const PaintOptions *options, Str text, Buf *out);

#endif
