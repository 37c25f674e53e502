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
                         .role = (DocRole)(sqlite3_column_int(stmt, 3) & ~DOC_OF_GUEST),
                         .guest = sqlite3_column_int(stmt, 3) & DOC_OF_GUEST,
                         .at = (double)sqlite3_column_int64(stmt, 4) / 1000 };
    return true;
}

bool recall_is_narration(Db *db, const Ranked *at, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Ranked next;
    bool found, row = false;

    *ret = false;
    if (at->role != DOC_ASSISTANT)
        return true;
    if (!recall_near(db, at, 1, &next, &found, err) ||
        !db_prepare(db,
                    "SELECT 1 FROM recall_docs WHERE id BETWEEN ? AND ? AND role = ? AND "
                    "place >= ? AND place < ? LIMIT 1",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, DOC_ID(DOC_ROW(at->ord, 0), 0));
    sqlite3_bind_int64(stmt, 2, DOC_ID(DOC_ROW(at->ord + 1, 0), 0) - 1);
    sqlite3_bind_int(stmt, 3, DOC_CALL);
    sqlite3_bind_int64(stmt, 4, at->place);
    sqlite3_bind_int64(stmt, 5, found && next.place > at->place ? next.place : INT64_MAX);
    if (!db_step(db, stmt, &row, err))
        return false;
    *ret = row;
    return true;
}
