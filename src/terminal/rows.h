/* rows.h - where the cursor of a terminal is after something was written. Pure, but for wcwidth. */
#ifndef TALARIA_TERMINAL_ROWS_H
#define TALARIA_TERMINAL_ROWS_H

#include <wchar.h>

#include "base/str.h"

typedef struct CursorPosition {
    size_t row, col; /* col may be `columns`: the row is full, and the next character goes below */
} CursorPosition;

/* From p, after text that a terminal was given as it is: no controls but line feeds, tabs and the
 * sequences of terminal/paint.h. */
CursorPosition position_after(CursorPosition p, Str text, size_t columns);

/* The row that libedit has the cursor on after a prompt and n characters of the line: it shows
 * controls as ^X, what cannot be printed by its number, and leaves a full row at once. */
size_t rows_of(const wchar_t *prompt, const wchar_t *line, size_t n, size_t columns);

#endif
