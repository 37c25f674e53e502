/* Statements and their rows. A statement is prepared once a handle and reset when its rows are
 * done, so that it holds no lock between two uses. */
#include <unistd.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/limits.h"
#include "store/db_sqlite.h"

enum { JOURNAL_MS = 500, NAP_US = 1000 };

struct DbRows {
    const char *sql; /* the key; NULL: for one use */
    Db *db;
    sqlite3_stmt *stmt;
    bool in_use;
    UT_hash_handle hh;
};

/* SQLite looks at another process's journal and at its lock at two moments. In between one write
 * may end and the next one begin, and a reader takes the journal for one that a dead process left.
 * Such a one stays, the other one goes. */
static bool may_pass(int code, int64_t *since)
{
    if (code != SQLITE_READONLY_ROLLBACK)
        return false;
    if (!*since)
        *since = clock_mono_ms();
    if (clock_mono_ms() - *since >= JOURNAL_MS)
        return false;
    usleep(NAP_US);
    return true;
}

static bool prepare(Db *db, const char *sql, unsigned flags, Stmt **ret, Err *err)
{
    int64_t since = 0;
    int code;

    do {
        code = sqlite3_prepare_v3(db->handle, sql, -1, flags, ret, NULL);
    } while (may_pass(code, &since));
    return code == SQLITE_OK || db_error(db, err);
}

bool stmt_prepare(Db *db, const char *sql, Stmt **ret, Err *err)
{
    return prepare(db, sql, 0, ret, err);
}

bool stmt_step(Db *db, Stmt *stmt, bool *ret_row, Err *err)
{
    int64_t since = 0;
    int code;

    if (db->step_until)
        db->step_until = clock_mono_ms() + LIMIT_READ_STEP_MS;
    while (may_pass(code = sqlite3_step(stmt), &since))
        sqlite3_reset(stmt);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return db_error(db, err);
    *ret_row = code == SQLITE_ROW;
    return true;
}

static DbRows *rows_new(Db *db, const char *sql, bool keep, Err *err)
{
    Stmt *stmt = NULL;
    DbRows *cursor;

    if (!prepare(db, sql, keep ? SQLITE_PREPARE_PERSISTENT : 0, &stmt, err))
        return NULL;
    cursor = mem_alloc(sizeof *cursor);
    cursor->db = db;
    cursor->stmt = stmt;
    return cursor;
}

static void bind_value(sqlite3_stmt *stmt, int at, const DbValue *v)
{
    switch (v->kind) {
    case DB_TEXT:
        if (v->bytes.p)
            sqlite3_bind_text64(stmt, at, v->bytes.p, v->bytes.n, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case DB_BLOB:
        sqlite3_bind_blob64(stmt, at, v->bytes.p, v->bytes.n, SQLITE_STATIC);
        break;
    case DB_INT:
        sqlite3_bind_int64(stmt, at, v->number);
        break;
    case DB_REAL:
        sqlite3_bind_double(stmt, at, v->real);
        break;
    case DB_NULL:
        break;
    }
}

bool db_query_values(Db *db, DbRows **ret, const char *sql, bool keep, const DbValue *values,
                     size_t n, Err *err)
{
    DbRows *rows = NULL;
    size_t n_parameters;

    if (keep)
        HASH_FIND_PTR(db->kept, &sql, rows);
    /* One that is in use (a loop inside a loop) needs a second. */
    if (rows && rows->in_use)
        keep = false;
    if (!rows || rows->in_use) {
        rows = rows_new(db, sql, keep, err);
        if (!rows)
            return false;
        if (keep) {
            rows->sql = sql;
            HASH_ADD_PTR(db->kept, sql, rows);
        }
    }
    n_parameters = (size_t)sqlite3_bind_parameter_count(rows->stmt);
    ASSERT(n >= n_parameters);
    for (size_t i = 0; i < n_parameters; i++)
        bind_value(rows->stmt, (int)i + 1, &values[i]);
    rows->in_use = true;
    *ret = rows;
    return true;
}

static void rows_free(DbRows *rows)
{
    sqlite3_finalize(rows->stmt);
    mem_free(rows);
}

DbRows *db_rows_done(DbRows *rows)
{
    if (!rows)
        return NULL;
    if (!rows->sql) {
        rows_free(rows);
        return NULL;
    }
    sqlite3_reset(rows->stmt);
    sqlite3_clear_bindings(rows->stmt);
    rows->in_use = false;
    return NULL;
}

void db_forget_statements(Db *db)
{
    DbRows *rows, *next;

    HASH_ITER(hh, db->kept, rows, next)
    {
        HASH_DEL(db->kept, rows);
        /* Rows whose scope ends after that of the handle are freed by db_rows_done: SQLite keeps a
         * closed handle until its last statement is gone. */
        if (rows->in_use)
            rows->sql = NULL;
        else
            rows_free(rows);
    }
}

bool db_row(DbRows *rows, bool *ret_row, Err *err)
{
    return stmt_step(rows->db, rows->stmt, ret_row, err);
}

bool db_next(DbRows *rows, bool *ret_ok, Err *err)
{
    bool row = false;

    *ret_ok = db_row(rows, &row, err);
    return *ret_ok && row;
}

bool db_exec_values(Db *db, int64_t *ret_changed, const char *sql, bool keep, const DbValue *values,
                    size_t n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!db_query_values(db, &rows, sql, keep, values, n, err))
        return false;
    do {
        if (!db_row(rows, &row, err))
            return false;
    } while (row);
    if (ret_changed)
        *ret_changed = sqlite3_changes64(db->handle);
    return true;
}

bool db_get_int_values(Db *db, int64_t fallback, int64_t *ret, const char *sql, bool keep,
                       const DbValue *values, size_t n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!db_query_values(db, &rows, sql, keep, values, n, err) || !db_row(rows, &row, err))
        return false;
    *ret = row && !row_is_null(rows, 0) ? row_int(rows, 0) : fallback;
    return true;
}

bool db_script(Db *db, const char *sql, Err *err)
{
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || db_error(db, err);
}

int64_t db_last_id(const Db *db)
{
    return sqlite3_last_insert_rowid(db->handle);
}

int64_t db_changes(const Db *db)
{
    return sqlite3_changes64(db->handle);
}

int64_t db_total_changes(const Db *db)
{
    return sqlite3_total_changes64(db->handle);
}

bool db_is_duplicate(const Db *db)
{
    return sqlite3_extended_errcode(db->handle) == SQLITE_CONSTRAINT_UNIQUE;
}

const char *db_refusal(const Db *db)
{
    int code = sqlite3_errcode(db->handle) & 0xff;

    return code == SQLITE_ERROR || code == SQLITE_CONSTRAINT ? sqlite3_errmsg(db->handle) : NULL;
}

/* -- cells -- */

Str row_text(DbRows *rows, int at)
{
    return stmt_text(rows->stmt, at);
}

Str row_dup(Arena *a, DbRows *rows, int at)
{
    Str s = row_text(rows, at);

    return s.n ? str_dup(a, s) : STR("");
}

int64_t row_int(DbRows *rows, int at)
{
    return sqlite3_column_int64(rows->stmt, at);
}

bool row_bool(DbRows *rows, int at)
{
    return sqlite3_column_int64(rows->stmt, at) != 0;
}

double row_real(DbRows *rows, int at)
{
    return sqlite3_column_double(rows->stmt, at);
}

bool row_is_null(DbRows *rows, int at)
{
    return sqlite3_column_type(rows->stmt, at) == SQLITE_NULL;
}

int64_t row_count(DbRows *rows, int at)
{
    return stmt_count(rows->stmt, at);
}

/* -- transactions -- */

bool db_begin(Db *db, Err *err)
{
    return db_exec(db, NULL, err, "BEGIN IMMEDIATE");
}

bool db_end(Db *db, bool ok, Err *err)
{
    ok = ok && db_exec(db, NULL, err, "COMMIT");
    if (!ok)
        db_rollback(db);
    return ok;
}

void db_rollback(Db *db)
{
    if (!sqlite3_get_autocommit(db->handle))
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

void db_stop_checkpoints(Db *db)
{
    sqlite3_wal_autocheckpoint(db->handle, 0);
}

void db_checkpoint(Db *db)
{
    (void)sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

/* Does what synchronous=FULL does at the end of a commit. Where the disk has no shared memory there
 * is no write-ahead log: then the journal is closed by now, and the commit itself has synced the
 * database. */
bool db_sync(Db *db, Err *err)
{
    sqlite3_file *wal = NULL;

    if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) == SQLITE_OK &&
        wal && (!wal->pMethods || wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL) == SQLITE_OK))
        return true;
    return err_set(err, ERR_IO, "cannot sync '%s'", db->path);
}
