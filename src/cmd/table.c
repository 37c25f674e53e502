/* Widths are known only when the rows are, so on a terminal rows are kept and printed together. A
 * list without a limit would keep them all: after ROWS_KEPT they are printed with the widths found
 * so far, which later rows can only widen. */
#include "cmd/table.h"

#include <stdarg.h>

#include "text/utf8.h"

enum { MAX_COLUMNS = 16, ROWS_KEPT = 2000, GAP = 2 };

typedef struct Cell {
    Str text;
    Style style;
} Cell;

typedef struct Row {
    Cell cells[MAX_COLUMNS];
    bool heading; /* only the first cell, across all columns */
} Row;

struct Table {
    Cli *cli;
    Arena *arena; /* of the rows */
    const TableColumn *columns;
    size_t n_columns, width[MAX_COLUMNS];
    Row *rows;
    size_t n_rows, cap_rows;
    size_t at; /* the next cell of the row at hand */
    Row row;
    bool piped, titled;
};

Table *table_begin(Cli *cli, const TableColumn *columns, size_t n)
{
    Table *t = mem_alloc(sizeof *t);

    ASSERT(n <= MAX_COLUMNS);
    t->cli = cli;
    t->arena = arena_new();
    t->columns = columns;
    t->n_columns = n;
    t->piped = !cli_on_terminal(cli);
    return t;
}

/* -- in a pipe -- */

static void print_data(Table *t)
{
    Buf *out = t->cli->out;
    bool first = true;

    for (size_t c = 0; c < t->n_columns; c++) {
        if (t->columns[c].only_terminal)
            continue;
        if (!first)
            buf_addc(out, '\t');
        first = false;
        buf_add(out, t->row.cells[c].text);
    }
    buf_addc(out, '\n');
}

/* -- on a terminal -- */

static size_t min_width(const TableColumn *c, size_t wanted)
{
    return c->min && wanted > (size_t)c->min ? (size_t)c->min : wanted;
}

static void measure(Table *t)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        const TableColumn *column = &t->columns[c];
        size_t title = strlen(column->title);

        if (t->width[c] < title && !t->cli->quiet)
            t->width[c] = title;
        for (size_t r = 0; r < t->n_rows; r++) {
            size_t n = t->rows[r].heading ? 0 : utf8_columns(t->rows[r].cells[c].text);

            if (column->min && column->max && n > (size_t)column->max)
                n = (size_t)column->max;
            if (n > t->width[c])
                t->width[c] = n;
        }
    }
}

/* The least room that the shown columns need. */
static size_t min_total(const Table *t, const bool *shown)
{
    size_t total = 0;

    for (size_t c = 0; c < t->n_columns; c++)
        if (shown[c])
            total += min_width(&t->columns[c], t->width[c]) + (total ? GAP : 0);
    return total;
}

/* Leaves out the columns that matter least; false when all that are left must stay. */
static bool drop_some(const Table *t, bool *shown)
{
    int worst = 0;

    for (size_t c = 0; c < t->n_columns; c++)
        if (shown[c] && t->columns[c].drop > worst)
            worst = t->columns[c].drop;
    for (size_t c = 0; c < t->n_columns && worst; c++)
        shown[c] = shown[c] && t->columns[c].drop != worst;
    return worst > 0;
}

/* The widths to print with: what is left over goes to the shortened columns, from left to right. */
static void fit(const Table *t, bool *shown, size_t *width)
{
    size_t room = cli_width(t->cli), used;

    while (min_total(t, shown) > room && drop_some(t, shown))
        ;
    used = min_total(t, shown);
    for (size_t c = 0; c < t->n_columns; c++) {
        size_t spare = room > used ? room - used : 0, more;

        width[c] = min_width(&t->columns[c], t->width[c]);
        if (!shown[c])
            continue;
        more = t->width[c] - width[c];
        if (more > spare)
            more = spare;
        width[c] += more;
        used += more;
    }
    /* Narrower than every minimum: the last shortened column gives way, so that no row wraps. */
    for (size_t c = t->n_columns; c-- > 0 && used > room;)
        if (shown[c] && t->columns[c].min) {
            size_t less = used - room < width[c] - 1 ? used - room : width[c] - 1;

            width[c] -= less;
            used -= less;
        }
}

static void print_cell(Table *t, size_t c, Str text, Style s, size_t width, bool last)
{
    Cli *cli = t->cli;
    size_t columns = utf8_columns(text), pad;

    if (t->columns[c].min && columns > width) {
        text = utf8_fit(t->arena, text, width);
        columns = utf8_columns(text);
    }
    pad = width > columns ? width - columns : 0;
    if (t->columns[c].right)
        say(cli, "%*s", (int)pad, "");
    say(cli, "%s%.*s%s", s ? style(cli, s) : "", STR_FMT(text), s ? style(cli, STYLE_OFF) : "");
    if (!t->columns[c].right && !last)
        say(cli, "%*s", (int)pad, "");
}

static void print_row(Table *t, const Row *row, const bool *shown, const size_t *width)
{
    size_t last = 0;
    bool first = true;

    for (size_t c = 0; c < t->n_columns; c++)
        if (shown[c])
            last = c;
    for (size_t c = 0; c < t->n_columns; c++) {
        const TableColumn *column = &t->columns[c];

        if (!shown[c])
            continue;
        if (!first)
            say(t->cli, "%*s", GAP, "");
        first = false;
        if (row)
            print_cell(t, c, row->cells[c].text, row->cells[c].style, width[c], c == last);
        else
            print_cell(t, c, str_of(column->title), STYLE_DIM, width[c], c == last);
    }
    say(t->cli, "\n");
}

static void print_rows(Table *t)
{
    size_t width[MAX_COLUMNS];
    bool shown[MAX_COLUMNS];

    if (!t->n_rows)
        return;
    measure(t);
    for (size_t c = 0; c < t->n_columns; c++)
        shown[c] = true;
    fit(t, shown, width);
    if (!t->titled && !t->cli->quiet)
        print_row(t, NULL, shown, width);
    t->titled = true;
    for (size_t r = 0; r < t->n_rows; r++)
        if (t->rows[r].heading)
            say(t->cli, "\n%s%.*s%s\n", style(t->cli, STYLE_CYAN),
                STR_FMT(t->rows[r].cells[0].text), style(t->cli, STYLE_OFF));
        else
            print_row(t, &t->rows[r], shown, width);
    arena_reset(t->arena);
    t->rows = NULL;
    t->n_rows = t->cap_rows = 0;
}

/* -- cells -- */

static void end_row(Table *t)
{
    t->at = 0;
    if (t->piped) {
        print_data(t);
        arena_reset(t->arena);
        return;
    }
    ARENA_PUSH(t->arena, t->rows, t->n_rows, t->cap_rows, t->row);
    if (t->n_rows == ROWS_KEPT)
        print_rows(t);
}

static void add_cell(Table *t, Str text, Style s)
{
    ASSERT(t->at < t->n_columns);
    t->row.cells[t->at] =
        (Cell){ utf8_fit(t->arena, text, SIZE_MAX), s ? s : t->columns[t->at].style };
    if (++t->at == t->n_columns)
        end_row(t);
}

void table_cell(Table *t, Str text)
{
    add_cell(t, text, STYLE_OFF);
}

void table_cellf(Table *t, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add_cell(t, str_of(text), STYLE_OFF);
}

void table_cell_as(Table *t, Str shown, Str data)
{
    add_cell(t, t->piped ? data : shown, STYLE_OFF);
}

void table_cell_style(Table *t, Str text, Style s)
{
    add_cell(t, text, s);
}

void table_heading(Table *t, Str text)
{
    Row row = { .heading = true };

    ASSERT(t->at == 0);
    if (t->piped)
        return;
    row.cells[0].text = utf8_fit(t->arena, text, SIZE_MAX);
    ARENA_PUSH(t->arena, t->rows, t->n_rows, t->cap_rows, row);
}

void table_end(Table *t)
{
    ASSERT(t->at == 0);
    print_rows(t);
}

Table *table_free(Table *t)
{
    if (t) {
        arena_free(t->arena);
        mem_free(t);
    }
    return NULL;
}
