#include "sleep/mining/mined.h"

#include "base/limits.h"
#include "text/sha256.h"

/* The rules by which tasks are mined; another number, and all are mined anew. */
#define MINE_VERSION 2

Str mined_key(Arena *a, Str marks, size_t max, const MineOptions *options)
{
    return str_printf(a, "%d:%zu:%zu:%zu:%.*s", MINE_VERSION, max, options->max, options->instances,
                      STR_FMT(sha256_hex(a, marks)));
}

/* The counts stand in front of the tasks. */
static bool unpack(Arena *a, Str packed, MinedFrom *ret_from, TaskRecords *ret)
{
    if (packed.n < sizeof *ret_from)
        return false;
    memcpy(ret_from, packed.p, sizeof *ret_from);
    return tasks_unpack(a, str_dup(a, str_skip(packed, sizeof *ret_from)), ret);
}

bool mined_get(Db *db, Arena *a, Str key, MinedFrom *ret_from, Mined *ret, bool *ret_found,
               Err *err)
{
    Stmt *get = NULL;
    bool row = false, ok;

    if (!db_prepare(db, "SELECT recurring, checkable, left_out, tasks FROM mined WHERE key = ?",
                    &get, err))
        return false;
    db_bind_str(get, 1, key);
    ok = db_step(db, get, &row, err);
    *ret = (Mined){ 0 };
    if (ok && row) {
        ret->recurring = (size_t)sqlite3_column_int64(get, 0);
        ret->checkable = (size_t)sqlite3_column_int64(get, 1);
        ret->left_out = (size_t)sqlite3_column_int64(get, 2);
        row = unpack(a, db_str(get, 3), ret_from, &ret->tasks);
    }
    stmt_free(get);
    *ret_found = row;
    return ok;
}

bool mined_put(Db *db, Str key, const MinedFrom *from, const Mined *mined, Err *err)
{
    AUTO_BUF packed = BUF(LIMIT_SLEEP_FILE);
    Stmt *put = NULL;
    bool row, ok;

    buf_add(&packed, (Str){ (const char *)from, sizeof *from });
    tasks_pack(&packed, &mined->tasks);
    if (buf_full(&packed))
        return true; /* it is mined anew every time */
    if (!db_prepare(
            db,
            "INSERT OR REPLACE INTO mined SELECT ?, 1 + coalesce(max(number), 0), ?, ?, ?, ? "
            "FROM mined",
            &put, err))
        return false;
    db_bind_str(put, 1, key);
    sqlite3_bind_int64(put, 2, (int64_t)mined->recurring);
    sqlite3_bind_int64(put, 3, (int64_t)mined->checkable);
    sqlite3_bind_int64(put, 4, (int64_t)mined->left_out);
    sqlite3_bind_blob64(put, 5, packed.p, packed.n, SQLITE_STATIC);
    ok = db_step(db, put, &row, err);
    stmt_free(put);
    return ok &&
           db_exec(db, "DELETE FROM mined WHERE number <= (SELECT max(number) FROM mined) - 8",
                   err);
}
