#include "store/continued.h"

#include "store/db.h"

static bool read_all(Db *db, Arena *a, Continuation **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    size_t cap = 0;
    bool row;

    if (!db_prepare(db,
                    "SELECT o.home, o.session_id, o.fingerprint, o.conversation_id, s.archived "
                    "FROM conversation_of o JOIN sessions s ON s.id = o.conversation_id",
                    &stmt, err))
        return false;
    for (;;) {
        if (!db_step(db, stmt, &row, err))
            return false;
        if (!row)
            return true;
        ARENA_PUSH(a, *ret, *ret_n, cap,
                   ((Continuation){ .home = str_dup(a, db_str(stmt, 0)),
                                    .session_id = str_dup(a, db_str(stmt, 1)),
                                    .fingerprint = str_dup(a, db_str(stmt, 2)),
                                    .conversation_id = str_dup(a, db_str(stmt, 3)),
                                    .archived = sqlite3_column_int(stmt, 4) != 0 }));
    }
}

/* A database of an older Talaria has no such table, until something is written to it. */
bool continuations_load(Str data, Arena *a, Continuation **ret, size_t *ret_n, Err *err)
{
    AUTO(Db) *db = NULL;

    *ret = NULL;
    *ret_n = 0;
    db = db_open_read(str_z(a, str_join_path(a, data, STR("talaria.db"))), err);
    if (!db)
        return err->kind == ERR_NOT_FOUND;
    if (sqlite3_table_column_metadata(db->handle, NULL, "conversation_of", "home", NULL, NULL, NULL,
                                      NULL, NULL) != SQLITE_OK)
        return true;
    return read_all(db, a, ret, ret_n, err);
}
