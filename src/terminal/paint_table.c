/* A table is drawn when it is over. If its columns fit the terminal they are set side by side, else
 * each row becomes lines of "Heading: value". */
#include "terminal/paint_inside.h"
#include "text/utf8.h"

enum { MAX_COLUMNS = 12, GAP = 2 };

typedef struct Cells {
    Str all[MAX_COLUMNS];
    size_t n;
} Cells;

static Cells cut_cells(Str line)
{
    Cells c = { .n = 0 };
    size_t from = 0;

    line = str_trim(line);
    if (line.n && line.p[0] == '|')
        line = str_skip(line, 1);
    if (str_ends(line, STR("|")) && !str_ends(line, STR("\\|")))
        line.n--;
    for (size_t i = 0; i <= line.n && c.n < MAX_COLUMNS; i++) {
        bool bar = i == line.n || (line.p[i] == '|' && (i == 0 || line.p[i - 1] != '\\'));

        if (!bar)
            continue;
        c.all[c.n++] = str_trim((Str){ line.p + from, i - from });
        from = i + 1;
    }
    return c;
}

static bool is_ruler(Str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr("|-: \t\r", line.p[i]) || !line.p[i])
            return false;
    return str_find(line, STR("-")) < line.n;
}

/* A cell as it is drawn, on a separate row. */
static Str draw_cell(Paint *p, Str cell, unsigned style)
{
    AUTO_BUF out = BUF(KIB(64));
    Row kept = p->row;

    p->row = (Row){ .columns = SIZE_MAX / 2, .word = BUF(KIB(16)) };
    row_style(p, style);
    paint_spans(p, &out, &cell, true, 0);
    row_end(p, &out);
    buf_done(&p->row.word);
    p->row = kept;
    return str_dup(p->arena, str_trim(buf_str(&out)));
}

/* Columns of text with the painter's own escapes in it. */
static size_t drawn_columns(Str s)
{
    size_t n = 0;

    while (s.n) {
        size_t escape = str_find(s, STR("\033"));

        n += utf8_columns(str_head(s, escape));
        s = str_skip(s, escape);
        if (str_starts(s, STR("\033]")))
            s = str_skip(s, str_find(s, STR("\033\\")) + 2);
        else if (s.n)
            s = str_skip(s, str_find(s, STR("m")) + 1);
    }
    return n;
}

static void draw_side_by_side(Paint *p, Buf *out, Cells *rows, size_t n, const size_t *widths)
{
    for (size_t i = 0; i < n; i++) {
        buf_add(out, p->row.lead);
        for (size_t k = 0; k < rows[i].n; k++) {
            buf_add(out, rows[i].all[k]);
            if (k + 1 < rows[i].n)
                buf_pad(out, ' ', widths[k] + GAP - drawn_columns(rows[i].all[k]));
        }
        buf_addc(out, '\n');
    }
}

static void draw_as_lines(Paint *p, Buf *out, const Cells *rows, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = 0; k < rows[i].n; k++) {
            Str name = k < rows[0].n ? rows[0].all[k] : STR(""), value = rows[i].all[k];

            row_style(p, PAINT_BOLD);
            paint_spans(p, out, &name, true, 0);
            row_char(p, out, STR(":"));
            row_style(p, 0);
            row_blank(p, out);
            paint_spans(p, out, &value, true, 0);
            row_end(p, out);
        }
        if (i + 1 < n)
            buf_addc(out, '\n');
    }
}

/* The rows as they were written, without the ruler. */
static size_t read_rows(const Paint *p, Cells *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_table; i++)
        if (!is_ruler(p->table[i]))
            rows[n++] = cut_cells(p->table[i]);
    return n;
}

void paint_table(Paint *p, Buf *out)
{
    Cells *rows = ARENA_ARRAY(p->arena, Cells, p->n_table + 1);
    Cells *drawn = ARENA_ARRAY(p->arena, Cells, p->n_table + 1);
    size_t widths[MAX_COLUMNS] = { 0 }, all = 0, links = p->n_links, n = read_rows(p, rows);

    p->n_table = 0;
    for (size_t i = 0; i < n; i++) {
        drawn[i].n = rows[i].n;
        for (size_t k = 0; k < rows[i].n; k++) {
            size_t wide;

            drawn[i].all[k] = draw_cell(p, rows[i].all[k], i ? 0 : PAINT_BOLD);
            wide = drawn_columns(drawn[i].all[k]);
            widths[k] = wide > widths[k] ? wide : widths[k];
        }
    }
    for (size_t k = 0; k < MAX_COLUMNS; k++)
        all += widths[k] ? widths[k] + GAP : 0;
    p->any = true;
    if (all <= p->row.columns + GAP) {
        draw_side_by_side(p, out, drawn, n, widths);
    } else {
        p->n_links = links;
        draw_as_lines(p, out, rows, n);
    }
}
