/* db.h - SQLite as the store uses it: how handles are opened, and errors in our words.
 *
 * Only files of store/ include this. A foreign database is opened by db_open_read alone, which keeps
 * the rules that Hermes users paid for: read-only, never immutable, no mmap, nothing checkpointed,
 * the write-ahead log never truncated or unlinked by us. Nothing but SQLite ever opens the file:
 * closing any other descriptor of it would drop the locks that this process holds. */
#ifndef TALARIA_STORE_DB_H
#define TALARIA_STORE_DB_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"

typedef struct Db {
    sqlite3 *handle;
    char *path;
    int64_t until;      /* of db_end_by */
    int64_t busy_since; /* a lock of others is waited for since then */
    int64_t busy_ms;    /* and so long */
    int64_t step_until; /* of a read handle: by then one step has to end */
    bool is_private;    /* of db_open_private: no other process sees it */
} Db;

/* Refused unless the tables that we read are plain ones: a view or a virtual table may run without end. One step takes
 * LIMIT_READ_STEP_MS at most, and none goes on after db_end_reads. */
MUST_CHECK Db *db_open_read(const char *path, Err *err);
/* The process ends: every step on a read handle fails as interrupted from now on. Any thread. */
void db_end_reads(void);

/* For the few writes of an explicit handoff: never made, never checkpointed, its journal mode left alone.
 * A lock is waited for by whoever begins the transaction. */
MUST_CHECK Db *db_open_foreign(const char *path, Err *err);

/* Ours: made where missing, 0600, WAL, synchronous=FULL where `durable`, else NORMAL. */
MUST_CHECK Db *db_open_own(const char *path, bool durable, Err *err);
/* Stands in for the file at `path` where that cannot be written: empty at first, gone when closed. */
MUST_CHECK Db *db_open_private(const char *path, Err *err);
MUST_CHECK bool db_copy(Db *to, Db *from, Err *err);
Db *db_close(Db *db);
AUTO_FREE(Db, db_close)

/* The last failure of the handle as an Err that names the file. Is false. */
#define db_error(db, err) (db_set_error((db), (err)), false)
void db_set_error(Db *db, Err *err);

MUST_CHECK bool db_exec(Db *db, const char *sql, Err *err);
MUST_CHECK bool db_prepare(Db *db, const char *sql, sqlite3_stmt **ret, Err *err);
/* *ret_row: there is one. */
MUST_CHECK bool db_step(Db *db, sqlite3_stmt *stmt, bool *ret_row, Err *err);
/* For loops over rows: whether there is one more; *ret_ok false: that could not be said, and why. */
MUST_CHECK bool db_next(Db *db, sqlite3_stmt *stmt, bool *ret_ok, Err *err);

bool db_has_column(Db *db, const char *table, const char *column);

/* From then on (clock_mono_ms) statements fail as interrupted; 0: they take as long as they take. */
void db_end_by(Db *db, int64_t mono_ms);

/* One number, `fallback` where there is no row or it is NULL. */
MUST_CHECK bool db_int(Db *db, const char *sql, int64_t fallback, int64_t *ret, Err *err);

static inline void db_bind_str(sqlite3_stmt *stmt, int at, Str s)
{
    if (s.p)
        sqlite3_bind_text64(stmt, at, s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(stmt, at);
}

/* Borrowed until the next step; p NULL where the column is NULL. */
/* A number that a history claims: so bounded that millions of them can be added. */
static inline int64_t db_count(sqlite3_stmt *stmt, int at)
{
    int64_t n = sqlite3_column_int64(stmt, at);

    return n > LIMIT_COUNT ? LIMIT_COUNT : n < -LIMIT_COUNT ? -LIMIT_COUNT : n;
}

static inline Str db_str(sqlite3_stmt *stmt, int at)
{
    const char *p = sqlite3_column_blob(stmt, at);
    size_t n = (size_t)sqlite3_column_bytes(stmt, at);

    if (sqlite3_column_type(stmt, at) == SQLITE_NULL)
        return STR_NONE;
    return (Str){ p ? p : "", n };
}

typedef sqlite3_stmt Stmt;
static inline Stmt *stmt_free(Stmt *stmt)
{
    sqlite3_finalize(stmt);
    return NULL;
}
AUTO_FREE(Stmt, stmt_free)

/* -- migrations of our own files -------------------------------------------------------- */

/* Brings PRAGMA user_version from where it is to n by the steps, each in a transaction of its own;
 * refuses a database that is newer than that. */
MUST_CHECK bool db_migrate(Db *db, const char *const *steps, size_t n, Err *err);

#endif
