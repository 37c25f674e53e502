#include "sleep/mining/mined.h"

#include "base/limits.h"
#include "text/sha256.h"

/* The rules by which tasks are mined; another number, and all are mined anew. */
#define MINE_VERSION 3

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
    AUTO(DbRows) *rows = NULL;

    *ret = (Mined){ 0 };
    if (!db_query(db, &rows, err,
                  "SELECT recurring, checkable, left_out, tasks FROM mined WHERE key = ?",
                  TEXT(key)) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found) {
        ret->recurring = (size_t)row_int(rows, 0);
        ret->checkable = (size_t)row_int(rows, 1);
        ret->left_out = (size_t)row_int(rows, 2);
        *ret_found = unpack(a, row_text(rows, 3), ret_from, &ret->tasks);
    }
    return true;
}

bool mined_put(Db *db, Str key, const MinedFrom *from, const Mined *mined, Err *err)
{
    AUTO_BUF packed = BUF(LIMIT_SLEEP_FILE);

    buf_add(&packed, (Str){ (const char *)from, sizeof *from });
    tasks_pack(&packed, &mined->tasks);
    if (buf_full(&packed))
        return true; /* it is mined anew every time */
    return db_exec(db, NULL, err,
                   "INSERT OR REPLACE INTO mined SELECT ?, 1 + coalesce(max(number), 0), ?, ?, ?, "
                   "? FROM mined",
                   TEXT(key), INT((int64_t)mined->recurring), INT((int64_t)mined->checkable),
                   INT((int64_t)mined->left_out), BLOB(buf_str(&packed))) &&
           db_script(db, "DELETE FROM mined WHERE number <= (SELECT max(number) FROM mined) - 8",
                     err);
}
