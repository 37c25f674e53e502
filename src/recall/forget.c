#include "recall/forget.h"

#include "recall/index.h"

static bool find_key(Db *db, Str home, Str id, int64_t *ret, bool *ret_found, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(db, "SELECT key FROM entries WHERE home = ? AND id = ?", &stmt, err))
        return false;
    db_bind_str(stmt, 1, home);
    db_bind_str(stmt, 2, id);
    if (!db_step(db, stmt, ret_found, err))
        return false;
    *ret = *ret_found ? sqlite3_column_int64(stmt, 0) : 0;
    return true;
}

static bool delete_by_key(Db *db, const char *sql, int64_t key, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(db, sql, &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, key);
    return db_step(db, stmt, &row, err);
}

static bool delete_facts(Db *db, Str home, Str id, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(db, "DELETE FROM facts WHERE home = ? AND session_id = ?", &stmt, err))
        return false;
    db_bind_str(stmt, 1, home);
    db_bind_str(stmt, 2, id);
    return db_step(db, stmt, &row, err);
}

static bool forget_one(RecallIndex *x, Db *db, Str home, Str id, Err *err)
{
    bool found;
    int64_t key;

    if (!delete_facts(db, home, id, err) || !find_key(db, home, id, &key, &found, err))
        return false;
    return !found || (recall_index_drop(x, key, err) &&
                      delete_by_key(db, "DELETE FROM traces WHERE entry = ?", key, err) &&
                      delete_by_key(db, "DELETE FROM entries WHERE key = ?", key, err) &&
                      delete_by_key(db, "DELETE FROM recall_due WHERE key = ?", key, err));
}

bool recall_forget(const Homes *homes, const Str *ids, size_t n, Err *err)
{
    CatalogueQuery query = { .homes = homes, .hermes = true };
    AUTO(Catalogue) *c = catalogue_open(&query, err);
    AUTO(RecallIndex) *x = c ? recall_index_open(catalogue_db(c), err) : NULL;
    bool ok = true;
    Err ignored;

    if (!x || !db_exec(catalogue_db(c), "BEGIN IMMEDIATE", err))
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = forget_one(x, catalogue_db(c), homes->data, ids[i], err);
    ok = ok && recall_index_flush(x, err) && db_exec(catalogue_db(c), "COMMIT", err);
    if (!ok)
        (void)!db_exec(catalogue_db(c), "ROLLBACK", &ignored);
    return ok;
}
