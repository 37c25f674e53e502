#include "recall/forget.h"

#include "recall/index.h"

static bool find_key(Db *db, Str home, Str id, int64_t *ret, bool *ret_found, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(db, &rows, err, "SELECT key FROM entries WHERE home = ? AND id = ?", TEXT(home),
                  TEXT(id)) ||
        !db_row(rows, ret_found, err))
        return false;
    *ret = *ret_found ? row_int(rows, 0) : 0;
    return true;
}

static bool delete_by_key(Db *db, const char *sql, int64_t key, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    return db_query_once(db, &rows, err, sql, INT(key)) && db_row(rows, &row, err);
}

static bool delete_facts(Db *db, Str home, Str id, Err *err)
{
    return db_exec(db, NULL, err, "DELETE FROM facts WHERE home = ? AND session_id = ?", TEXT(home),
                   TEXT(id));
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

    if (!x || !db_script(catalogue_db(c), "BEGIN IMMEDIATE", err))
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = forget_one(x, catalogue_db(c), homes->data, ids[i], err);
    ok = ok && recall_index_flush(x, err) && db_script(catalogue_db(c), "COMMIT", err);
    if (!ok)
        (void)!db_script(catalogue_db(c), "ROLLBACK", &ignored);
    return ok;
}
