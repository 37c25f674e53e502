/* db.h - one typed SQL interface: how a database is opened, queries with typed parameters,
 * transactions.
 *
 *     AUTO(DbRows) *rows = NULL;
 *     bool ok = db_query(db, &rows, err, "SELECT id, size FROM files WHERE folder = ?",
 * TEXT(folder));
 *
 *     while (ok && db_next(rows, &ok, err))
 *         show(row_text(rows, 0), row_int(rows, 1));
 *     return ok;
 *
 * No type of an engine is named here; store/db_sqlite.h has SQLite's, for this room. A foreign
 * database is opened by db_open_read alone, which keeps the rules that Hermes users paid for:
 * read-only, never immutable, no mmap, nothing checkpointed, the write-ahead log never truncated or
 * unlinked by us. Nothing but SQLite ever opens the file: closing any other descriptor of it would
 * drop the locks that this process holds.
 *
 * A Db belongs to one thread at a time. DbRows belong to their Db. Parameters are borrowed until
 * the DbRows is done; text read from DbRows is borrowed until the next row. */
#ifndef TALARIA_STORE_DB_H
#define TALARIA_STORE_DB_H

#include "base/arena.h"
#include "base/err.h"

typedef struct Db Db;
typedef struct DbRows DbRows; /* a query in use; done, its statement is kept for the next use */

/* -- opening -- */

/* Refused unless the tables that we read are plain ones: a view or a virtual table may run without
 * end. One step takes LIMIT_READ_STEP_MS at most, and none continues after db_end_reads. */
MUST_CHECK Db *db_open_read(const char *path, Err *err);
/* The process ends: every step on a read handle fails as interrupted from now on. Any thread. */
void db_end_reads(void);

/* For the few writes of an explicit handoff: never created, never checkpointed, its journal mode
 * left alone. BEGIN and COMMIT wait for a lock, up to LIMIT_HANDOFF_LOCK_MS. */
MUST_CHECK Db *db_open_foreign(const char *path, Err *err);

/* Ours: created where missing, 0600, WAL, synchronous=FULL where `durable`, else NORMAL. */
MUST_CHECK Db *db_open_own(const char *path, bool durable, Err *err);
/* A database in memory instead of the file at `path`, where that cannot be written: empty at first,
 * gone when closed. */
MUST_CHECK Db *db_open_private(const char *path, Err *err);
MUST_CHECK bool db_copy(Db *to, Db *from, Err *err);
Db *db_close(Db *db);
AUTO_FREE(Db, db_close)

const char *db_path(const Db *db);
bool db_is_private(const Db *db); /* of db_open_private: no other process sees it */
bool db_has_column(Db *db, const char *table, const char *column);

/* From then on (clock_mono_ms) statements fail as interrupted; 0: no limit. */
void db_end_by(Db *db, int64_t mono_ms);

/* -- parameters -- */

typedef struct DbValue {
    enum { DB_TEXT, DB_INT, DB_REAL, DB_BLOB, DB_NULL } kind;
    Str bytes;
    int64_t number;
    double real;
} DbValue;

/* STR_NONE is NULL, STR("") is not. */
#define TEXT(s)  ((DbValue){ .kind = DB_TEXT, .bytes = (s) })
#define BLOB(s)  ((DbValue){ .kind = DB_BLOB, .bytes = (s) })
#define INT(n)   ((DbValue){ .kind = DB_INT, .number = (n) })
#define REAL(x)  ((DbValue){ .kind = DB_REAL, .real = (x) })
#define MAYBE(s) TEXT((s).n ? (s) : STR_NONE) /* NULL where empty */
#define SOME(s)  TEXT((s).n ? (s) : STR(""))  /* never NULL */
#define DB_VALUES(...)                                                                             \
    (const DbValue[]){ __VA_ARGS__ }, ARRAY_LEN(((const DbValue[]){ __VA_ARGS__ }))

/* -- statements -- */

/* sql is a literal: its address is the key under which the prepared statement is kept. */
#define db_query(db, ret_rows, err, sql, ...)                                                      \
    db_query_values((db), (ret_rows), "" sql, true, DB_VALUES(__VA_ARGS__), (err))
/* For SQL that is composed: prepared for this one use. */
#define db_query_once(db, ret_rows, err, sql, ...)                                                 \
    db_query_values((db), (ret_rows), (sql), false, DB_VALUES(__VA_ARGS__), (err))
MUST_CHECK bool db_query_values(Db *db, DbRows **ret, const char *sql, bool keep,
                                const DbValue *values, size_t n, Err *err);

/* Runs a statement to its end. ret_changed: the number of rows written; may be NULL. */
#define db_exec(db, ret_changed, err, sql, ...)                                                    \
    db_exec_values((db), (ret_changed), "" sql, true, DB_VALUES(__VA_ARGS__), (err))
#define db_exec_once(db, ret_changed, err, sql, ...)                                               \
    db_exec_values((db), (ret_changed), (sql), false, DB_VALUES(__VA_ARGS__), (err))
MUST_CHECK bool db_exec_values(Db *db, int64_t *ret_changed, const char *sql, bool keep,
                               const DbValue *values, size_t n, Err *err);

/* Several statements without parameters, separated by semicolons. */
MUST_CHECK bool db_script(Db *db, const char *sql, Err *err);
/* One number, `fallback` where there is no row or it is NULL. */
#define db_get_int(db, fallback, ret, err, sql, ...)                                               \
    db_get_int_values((db), (fallback), (ret), "" sql, true, DB_VALUES(__VA_ARGS__), (err))
#define db_get_int_once(db, fallback, ret, err, sql, ...)                                          \
    db_get_int_values((db), (fallback), (ret), (sql), false, DB_VALUES(__VA_ARGS__), (err))
MUST_CHECK bool db_get_int_values(Db *db, int64_t fallback, int64_t *ret, const char *sql,
                                  bool keep, const DbValue *values, size_t n, Err *err);

int64_t db_last_id(const Db *db); /* of the row inserted last */
int64_t db_changes(const Db *db); /* rows that the last statement wrote */
int64_t db_total_changes(const Db *db);
bool db_is_duplicate(const Db *db); /* the last failure: the row exists already (UNIQUE) */
/* The last failure was that of the statement (a constraint, a trigger, a missing function), not of
 * the file or a lock: why; else NULL. */
const char *db_refusal(const Db *db);

/* -- rows -- */

/* For loops: true while there is another row; at the end *ret_ok tells success from failure. */
MUST_CHECK bool db_next(DbRows *rows, bool *ret_ok, Err *err);
/* For one row: *ret_row says whether there is one. */
MUST_CHECK bool db_row(DbRows *rows, bool *ret_row, Err *err);
DbRows *db_rows_done(DbRows *rows);
AUTO_FREE(DbRows, db_rows_done)

/* Columns count from 0. Any cell of a foreign database may have any type: SQLite converts. */
Str row_text(DbRows *rows, int at);          /* STR_NONE where NULL; bytes of a blob as they are */
Str row_dup(Arena *a, DbRows *rows, int at); /* copied; STR("") where NULL */
int64_t row_int(DbRows *rows, int at);
bool row_bool(DbRows *rows, int at);
double row_real(DbRows *rows, int at);
bool row_is_null(DbRows *rows, int at);
/* A number that a history claims: so bounded that millions of them can be added. */
int64_t row_count(DbRows *rows, int at);

/* -- transactions -- */

MUST_CHECK bool db_begin(Db *db, Err *err); /* takes the write lock */
MUST_CHECK bool db_end(Db *db, bool ok,
                       Err *err); /* commits where ok, else rolls back; whether it committed */
void db_rollback(Db *db);         /* also fine when nothing was begun */

/* For a database whose owner syncs and checkpoints at moments of its choice (agent/runs.c). */
void db_stop_checkpoints(Db *db);
void db_checkpoint(Db *db);                /* what can be done without waiting */
MUST_CHECK bool db_sync(Db *db, Err *err); /* what has been committed survives a power cut */

/* Brings PRAGMA user_version from where it is to n by the steps, each in its own transaction;
 * refuses a database that is newer than that. */
MUST_CHECK bool db_migrate(Db *db, const char *const *steps, size_t n, Err *err);

#endif
