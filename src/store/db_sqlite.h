/* db_sqlite.h - SQLite behind db.h: for this room, and for full-text search (recall/fts*.c). */
#ifndef TALARIA_STORE_DB_SQLITE_H
#define TALARIA_STORE_DB_SQLITE_H

#include <sqlite3.h>

#include "base/limits.h"
#include "store/db.h"

struct Db {
    sqlite3 *handle;
    char *path;
    DbRows *kept;       /* prepared statements by the address of their SQL */
    int64_t until;      /* of db_end_by */
    int64_t busy_since; /* waiting for a lock of others since then */
    int64_t busy_ms;    /* and for so long at most */
    int64_t step_until; /* of a read handle: by then one step has to end */
    bool is_private;
};

/* The last failure of the handle as an Err that names the file. Is false. */
#define db_error(db, err) (db_set_error((db), (err)), false)
void db_set_error(Db *db, Err *err);

void db_forget_statements(Db *db);

/* -- statements of the readers of foreign histories -- */

/* They keep a statement over many short reads and hand out rows where SQLite has them; all others
 * use db_query. */
typedef sqlite3_stmt Stmt;
static inline Stmt *stmt_free(Stmt *stmt)
{
    sqlite3_finalize(stmt);
    return NULL;
}
AUTO_FREE(Stmt, stmt_free)

MUST_CHECK bool stmt_prepare(Db *db, const char *sql, Stmt **ret, Err *err);
MUST_CHECK bool stmt_step(Db *db, Stmt *stmt, bool *ret_row, Err *err);

static inline void stmt_bind_text(Stmt *stmt, int at, Str s)
{
    if (s.p)
        sqlite3_bind_text64(stmt, at, s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(stmt, at);
}

/* Borrowed until the next step; p NULL where the column is NULL. */
static inline Str stmt_text(Stmt *stmt, int at)
{
    const char *p = sqlite3_column_blob(stmt, at);

    if (sqlite3_column_type(stmt, at) == SQLITE_NULL)
        return STR_NONE;
    return (Str){ p ? p : "", (size_t)sqlite3_column_bytes(stmt, at) };
}

/* A number that a history claims: so bounded that millions of them can be added. */
static inline int64_t stmt_count(Stmt *stmt, int at)
{
    int64_t n = sqlite3_column_int64(stmt, at);

    return n > LIMIT_COUNT ? LIMIT_COUNT : n < -LIMIT_COUNT ? -LIMIT_COUNT : n;
}

#endif
