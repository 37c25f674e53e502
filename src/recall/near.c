/* Documents of a session are numbered one after the other, so the next one is a number away. */
#include "recall/near.h"

bool recall_near(Db *db, const Ranked *at, int steps, Ranked *ret, bool *ret_found, Err *err)
{
    int64_t row = at->id / 2 + steps;
    AUTO(Stmt) *stmt = NULL;

    *ret_found = false;
    if (row < 0 || DOC_ORD(row) != at->ord)
        return true;
    if (!db_prepare(db, "SELECT place, line, part, role, at FROM recall_docs WHERE id = ?", &stmt,
                    err))
        return false;
    sqlite3_bind_int64(stmt, 1, DOC_ID(row, at->id % 2));
    if (!db_step(db, stmt, ret_found, err))
        return false;
    if (*ret_found)
        *ret = (Ranked){ .id = DOC_ID(row, at->id % 2),
                         .ord = at->ord,
                         .key = at->key,
                         .place = sqlite3_column_int64(stmt, 0),
                         .line = sqlite3_column_int64(stmt, 1),
                         .part = sqlite3_column_int(stmt, 2),
                         .role = (DocRole)sqlite3_column_int(stmt, 3),
                         .at = (double)sqlite3_column_int64(stmt, 4) / 1000 };
    return true;
}
