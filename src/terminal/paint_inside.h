/* paint_inside.h - the parts of the painter; for paint*.c. */
#ifndef TALARIA_TERMINAL_PAINT_INSIDE_H
#define TALARIA_TERMINAL_PAINT_INSIDE_H

#include "base/limits.h"
#include "terminal/paint.h"

enum { PAINT_BOLD = 1, PAINT_ITALIC = 2, PAINT_CODE = 4, PAINT_LINK = 8, PAINT_DIM = 16 };
enum { MAX_LINKS = 200, MAX_TABLE_ROWS = 200, MAX_SPAN = 1000, MAX_DEPTH = 4 };

/* The row that is being drawn. */
typedef struct Row {
    size_t columns; /* that may be used */
    size_t col;     /* behind the words that are final */
    size_t indent;  /* columns before the text of the block */
    Str lead;       /* drawn before each row of the block: marks of a quotation */
    size_t lead_cols;
    bool begun;           /* lead and indent are drawn */
    bool blank;           /* a blank is wanted before the next word */
    unsigned style;       /* wanted */
    unsigned drawn_style; /* after the word */
    unsigned word_style;  /* before the word */
    Buf word;             /* the last word, with its styles */
    size_t word_cols;
    size_t shown_bytes; /* of it, on the terminal already */
    size_t shown_cols;
    bool shown_blank; /* before it */
} Row;

struct Paint {
    PaintOptions options;
    Arena *arena; /* until paint_end */
    Row row;
    Buf held;     /* text that is not clear yet */
    bool in_line; /* the block of this line is known */
    char before;  /* the last character of the line that was drawn */
    bool fence;
    char fence_mark;
    size_t hang; /* columns that lines of this list item begin at */
    int blank_lines;
    bool any; /* something was drawn */
    Str table[MAX_TABLE_ROWS];
    size_t n_table;
    Str links[MAX_LINKS];
    size_t n_links;
};

/* -- paint_row.c: words and rows -- */

void row_char(Paint *p, Buf *out, Str bytes);      /* of a word: one character */
void row_blank(Paint *p, Buf *out);                /* the word is over */
void paint_row_text(Paint *p, Buf *out, Str text); /* words and blanks as they are, no marks */
void row_style(Paint *p, unsigned style);          /* from here on */
void row_escape(Paint *p, Str sequence);           /* the painter's own, of no width */
void row_show(Paint *p, Buf *out);                 /* what there is of the last word, for now */
void row_end(Paint *p, Buf *out);                  /* the row is over, if one was begun */

/* -- paint_span.c: marks within a line -- */

/* Draws from *rest what is clear; `whole`: no more comes of this line. */
void paint_spans(Paint *p, Buf *out, Str *rest, bool whole, int depth);

/* -- paint_table.c -- */

void paint_table(Paint *p, Buf *out);

#endif
