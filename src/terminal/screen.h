/* screen.h - what has been said, above the line that is being typed.
 *
 * Between two calls the cursor is at the beginning of an empty row, where the editor draws its
 * line. Words of an answer come in pieces: the next piece continues where the last one ended, a row
 * higher up, because the screen remembers the column. Without a terminal, words go to standard
 * output and all other talk to standard error. Text must have been made safe before
 * (text/utf8.h). */
#ifndef TALARIA_TERMINAL_SCREEN_H
#define TALARIA_TERMINAL_SCREEN_H

#include "terminal/editor.h"

typedef struct Screen {
    FILE *out;      /* NULL: no terminal */
    Editor *editor; /* may be NULL */
    size_t col;     /* where the answer continues; 0: on a new line */
} Screen;

void screen_words(Screen *s, Str text);
/* Whole lines, which begin on a row of their own. */
void screen_lines(Screen *s, Str lines);
/* The next words start on a new line. */
void screen_fresh(Screen *s);

#endif
