/* recorded.h - databases filled from recorded rows.
 *
 * The rows are JSON lines. An object {"table": NAME, "columns": [...]} says what follows; each
 * array after it is one row of that table. All rows of a call go into one transaction. The text is
 * part of the program (data/demo/), not input from outside: table and column names are used as they
 * are. */
#ifndef TALARIA_STORE_RECORDED_H
#define TALARIA_STORE_RECORDED_H

#include "base/err.h"
#include "base/str.h"

/* Adds rows to Talaria's own database in this data folder; creates it if it is missing. */
MUST_CHECK bool recorded_fill_own(Str data_folder, Str rows, Err *err);

/* Creates a database by the schema (SQL) and fills it. */
MUST_CHECK bool recorded_fill_new(const char *path, const char *schema, Str rows, Err *err);

#endif
