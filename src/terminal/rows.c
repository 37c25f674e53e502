#include "terminal/rows.h"

#include <wctype.h>

#include "text/utf8.h"

enum { TAB = 8, LONG_NUMBER = 8, NUMBER = 7 };

/* A wide character that does not fit goes to the next row whole. */
static CursorPosition put(CursorPosition p, size_t width, size_t columns)
{
    if (p.col + width > columns)
        p = (CursorPosition){ p.row + 1, 0 };
    p.col += width;
    return p;
}

/* A tab never leaves its row. */
static CursorPosition put_tab(CursorPosition p, size_t columns)
{
    size_t next = (p.col / TAB + 1) * TAB;

    p.col = next < columns ? next : columns - 1;
    return p;
}

/* The painter's own sequences: colours and hyperlinks have no width, "cursor left" goes back. */
static CursorPosition skip_sequence(CursorPosition p, Str *text)
{
    size_t n = 1, left = 0;

    if (str_starts(*text, STR("\033]"))) {
        *text = str_skip(*text, str_find(*text, STR("\033\\")) + 2);
        return p;
    }
    while (++n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        left = left * 10 + (size_t)(text->p[n] - '0');
    if (n < text->n && text->p[n] == 'D')
        p.col -= left < p.col ? left : p.col;
    *text = str_skip(*text, n + 1);
    return p;
}

CursorPosition position_after(CursorPosition p, Str text, size_t columns)
{
    while (text.n) {
        Str before = text;
        uint32_t c;

        if (text.p[0] == '\033') {
            p = skip_sequence(p, &text);
            continue;
        }
        c = utf8_next(&text);
        if (c == '\n')
            p = (CursorPosition){ p.row + 1, 0 };
        else if (c == '\t')
            p = put_tab(p, columns);
        else
            p = put(p, utf8_columns(str_head(before, before.n - text.n)), columns);
    }
    return p;
}

static size_t width_in_line(wchar_t c)
{
    int width = wcwidth(c);

    if (c < 0x20 || c == 0x7f)
        return 2;
    if (width < 0)
        return c > 0xffff ? LONG_NUMBER : NUMBER;
    return (size_t)width;
}

static CursorPosition put_typed(CursorPosition p, wchar_t c, size_t columns)
{
    if (c == L'\n')
        return (CursorPosition){ p.row + 1, 0 };
    if (c == L'\t') {
        do
            p = put(p, 1, columns);
        while (p.col % TAB);
    } else {
        p = put(p, width_in_line(c), columns);
    }
    return p.col == columns ? (CursorPosition){ p.row + 1, 0 } : p;
}

size_t rows_of(const wchar_t *prompt, const wchar_t *line, size_t n, size_t columns)
{
    CursorPosition p = { 0, 0 };

    for (; *prompt; prompt++)
        p = put_typed(p, *prompt, columns);
    for (size_t i = 0; i < n; i++)
        p = put_typed(p, line[i], columns);
    return p.row;
}
