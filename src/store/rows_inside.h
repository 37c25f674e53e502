/* rows_inside.h - what the files of rows.h share; no other file includes it. */
#ifndef TALARIA_STORE_ROWS_INSIDE_H
#define TALARIA_STORE_ROWS_INSIDE_H

#include "store/db_sqlite.h"
#include "store/rows_events.h"

struct Rows {
    Db *db;
    int slice_ms;
    bool has_active, has_archived, has_usage, is_ours;
    const KnownAs *kept; /* elsewhere: rows_skip */
    size_t n_kept;
    RowsQuery query;
    Stmt *messages, *newest, *first, *models, *begin, *commit;
    RowsEvents *events;
    struct SessionWalk *sessions_walk; /* under way */
    struct MessageWalk *messages_walk;
    bool reading;  /* a read is open between two sessions */
    int64_t until; /* when that one has to end */
};

enum { ROWS_LOOK_EVERY = 8 }; /* rows between two looks at the clock */

/* -- reading for a while (rows.c) -- */

/* The read that is open, or a new one: r->until says when it has to end. */
MUST_CHECK bool rows_go_on(Rows *r, Err *err);

/* -- small things (rows.c) -- */

/* The column where there is one, else NULL. */
const char *rows_column(Rows *r, const char *table, const char *name);

/* Lent for as long as the value is. */
static inline Str rows_text(sqlite3_value *value)
{
    const char *p = sqlite3_value_blob(value);

    if (!p)
        return sqlite3_value_type(value) == SQLITE_NULL ? STR_NONE : STR("");
    return (Str){ p, (size_t)sqlite3_value_bytes(value) };
}

/* -- one session (rows_messages.c) -- */

MUST_CHECK bool rows_prepare_messages(Rows *r, Err *err);

#endif
