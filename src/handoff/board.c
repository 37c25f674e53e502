/* Figures are asked for one platform at a time: there are a handful, and what waits is found by
 * partial indexes. */
#include "handoff/board.h"

#include "chat/inbox.h"
#include "store/db.h"

bool board_steps(OwnStore *own, Arena *a, Str handoff_id, BoardStep **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    BoardStep *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT state, at_ms FROM handoff_step WHERE handoff_id = ? ORDER BY seq",
                  TEXT(handoff_id)))
        return false;
    while (db_next(rows, &ok, err)) {
        BoardStep step;

        step = (BoardStep){ str_dup(a, row_text(rows, 0)), row_int(rows, 1) };
        ARENA_PUSH(a, all, n, cap, step);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

/* -- queues -- */

static bool read_outbox(OwnStore *own, Str platform, int64_t *ret_n, int64_t *ret_oldest, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT count(*), ifnull(min(nullif(created_ms, 0)), 0) FROM outbox "
                  "WHERE state = 'waiting' AND platform = ?",
                  TEXT(platform)) ||
        !db_row(rows, &row, err))
        return false;
    *ret_n = row_int(rows, 0);
    *ret_oldest = row_int(rows, 1);
    return true;
}

bool board_queue(OwnStore *own, Str platform, BoardQueue *ret, Err *err)
{
    int64_t in, out, sending;
    size_t waiting;

    if (!inbox_waiting(own, platform, &waiting, &in, err) ||
        !read_outbox(own, platform, &sending, &out, err))
        return false;
    *ret = (BoardQueue){ .inbox = (int64_t)waiting,
                         .outbox = sending,
                         .oldest_ms = in && (!out || in < out) ? in : out };
    return true;
}

/* -- marks -- */

bool board_mark(OwnStore *own, BoardMark *ret, Err *err)
{
    BoardMark m;

#define X(name, sql) db_get_int(own_store_db(own), 0, &m.name, err, sql) &&
    if (!(BOARD_MARKS(X) true))
        return false;
#undef X
    *ret = m;
    return true;
}
