/* table.h - rows and columns, as every command prints them.
 *
 * On a terminal a table fits its width: columns are as wide as their widest cell, free text (`min`)
 * is shortened with "…", and where that is not enough the columns with the highest `drop` are left
 * out. A cell of a column without `min` is never shortened: ids can always be copied.
 *
 * In a pipe each row is one line of whole values, separated by tabs, with no heading and no colour:
 * what `cut` and `awk` expect. */
#ifndef TALARIA_CMD_TABLE_H
#define TALARIA_CMD_TABLE_H

#include "cmd/cli.h"

typedef struct TableColumn {
    const char *title;
    bool right; /* aligned to the right, as numbers are */
    int drop;   /* 0: always shown; else left out on a narrow terminal, the highest first */
    int min;    /* free text that may be shortened to this many columns; 0: never shortened */
    int max;    /* no wider than this, where there is a `min`; 0: any width */
    Style style;
    bool only_terminal; /* left out in a pipe, where another column says the same */
} TableColumn;

typedef struct Table Table;

/* Borrows `columns`: AUTO(Table) *t = table_begin(cli, columns, ARRAY_LEN(columns)). */
Table *table_begin(Cli *cli, const TableColumn *columns, size_t n);
Table *table_free(Table *t);
AUTO_FREE(Table, table_free)

/* The next cell. `text` comes from anywhere: it is made safe for a terminal, and fits on one
 * line. */
void table_cell(Table *t, Str text);
void table_cellf(Table *t, const char *fmt, ...) PRINTF(2, 3);
/* Different text for people and for programs: "3 h ago" and 2026-11-15T20:30:05Z. */
void table_cell_as(Table *t, Str shown, Str data);
/* The same with a different style, such as red for a failure. */
void table_cell_style(Table *t, Str text, Style s);
/* A line above the rows that follow; nothing in a pipe. */
void table_heading(Table *t, Str text);
/* Prints what is left. The heading appears only above rows, and not with --quiet. */
void table_end(Table *t);

#endif
