/* Documents of a session are numbered one after the other, so the next one is a number away. */
#include "recall/near.h"

bool recall_near(Db *db, const Ranked *at, int steps, Ranked *ret, bool *ret_found, Err *err)
{
    int64_t row = at->id / 2 + steps;
    AUTO(DbRows) *rows = NULL;

    *ret_found = false;
    if (row < 0 || DOC_ORD(row) != at->ord)
        return true;
    if (!db_query(db, &rows, err,
                  "SELECT place, line, part, role, at FROM recall_docs WHERE id = ?",
                  INT(DOC_ID(row, at->id % 2))) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found)
        *ret = (Ranked){ .id = DOC_ID(row, at->id % 2),
                         .ord = at->ord,
                         .key = at->key,
                         .place = row_int(rows, 0),
                         .line = row_int(rows, 1),
                         .part = (int)row_int(rows, 2),
                         .role = (DocRole)((int)row_int(rows, 3) & ~DOC_OF_GUEST),
                         .guest = (int)row_int(rows, 3) & DOC_OF_GUEST,
                         .at = (double)row_int(rows, 4) / 1000 };
    return true;
}

bool recall_is_narration(Db *db, const Ranked *at, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Ranked next;
    bool found, row = false;

    *ret = false;
    if (at->role != DOC_ASSISTANT)
        return true;
    if (!recall_near(db, at, 1, &next, &found, err) ||
        !db_query(db, &rows, err,
                  "SELECT 1 FROM recall_docs WHERE id BETWEEN ? AND ? AND role = ? AND "
                  "place >= ? AND place < ? LIMIT 1",
                  INT(DOC_ID(DOC_ROW(at->ord, 0), 0)), INT(DOC_ID(DOC_ROW(at->ord + 1, 0), 0) - 1),
                  INT(DOC_CALL), INT(at->place),
                  INT(found && next.place > at->place ? next.place : INT64_MAX)))
        return false;
    if (!db_row(rows, &row, err))
        return false;
    *ret = row;
    return true;
}
