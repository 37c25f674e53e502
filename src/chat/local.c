#include "chat/local.h"

#include "base/clock.h"
#include "store/db.h"

/* One text out of one row by one key. *ret_found false: there is none. */
static bool one_text(OwnStore *own, Arena *a, const char *sql, Str key, Str *ret, bool *ret_found,
                     Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query_once(own_store_db(own), &rows, err, sql, TEXT(key)) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found)
        *ret = str_dup(a, row_text(rows, 0));
    return true;
}

bool local_channel_name(OwnStore *own, Arena *a, Str channel, Str *ret, Err *err)
{
    bool found;

    if (!one_text(own, a, "SELECT name FROM local_channel WHERE id = ?", channel, ret, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no channel '%.*s'", STR_FMT(channel));
}

bool local_thread_open(OwnStore *own, Arena *a, Str channel, Str title, Str key, Str *ret_id,
                       Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row, found;

    if (!db_query(own_store_db(own), &rows, err,
                  "INSERT OR IGNORE INTO local_thread(id, channel, title, key, created_ms) "
                  "SELECT 't' || (SELECT count(*) + 1 FROM local_thread) || '-' || substr(?3, -6), "
                  "?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM local_channel WHERE id = ?1)",
                  TEXT(channel), TEXT(title), TEXT(key), INT(clock_wall_ms())))
        return false;
    if (!db_row(rows, &row, err) ||
        !one_text(own, a, "SELECT id FROM local_thread WHERE key = ?", key, ret_id, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no channel '%.*s'", STR_FMT(channel));
}

bool local_thread_drop(OwnStore *own, Str id, Err *err)
{
    Db *db = own_store_db(own);

    return own_store_begin(own, err) &&
           own_store_end(
               own,
               db_exec(db, NULL, err, "DELETE FROM local_message WHERE thread = ?", TEXT(id)) &&
                   db_exec(db, NULL, err, "DELETE FROM local_thread WHERE id = ?", TEXT(id)),
               err);
}

bool local_say(OwnStore *own, const LocalMessage *m, int64_t *ret_id, Err *err)
{
    Db *db = own_store_db(own);

    return db_exec(db, NULL, err,
                   "INSERT OR IGNORE INTO local_message(channel, thread, author, text, key, "
                   "created_ms) VALUES(?, ?, ?, ?, ?, ?)",
                   TEXT(m->channel), SOME(m->thread), TEXT(m->author), TEXT(m->text), TEXT(m->key),
                   INT(clock_wall_ms())) &&
           db_get_int(db, db_last_id(db), ret_id, err, "SELECT id FROM local_message WHERE key = ?",
                      TEXT(m->key));
}

bool local_edit(OwnStore *own, int64_t id, Str text, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "UPDATE local_message SET text = ?, edited_ms = ? WHERE id = ? RETURNING id",
                  TEXT(text), INT(clock_wall_ms()), INT(id)) ||
        !db_row(rows, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no message %lld", (long long)id);
}

bool local_messages(OwnStore *own, Arena *a, Str channel, Str thread, int64_t after, size_t max,
                    LocalMessage **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    LocalMessage *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT id, created_ms, author, text, key FROM local_message WHERE channel = ? "
                  "AND thread = ? AND id > ? ORDER BY id LIMIT ?",
                  TEXT(channel), TEXT(thread.n ? thread : STR("")), INT(after), INT(max)))
        return false;
    while (db_next(rows, &ok, err)) {
        LocalMessage m;

        m = (LocalMessage){ .id = row_int(rows, 0),
                            .created_ms = row_int(rows, 1),
                            .channel = channel,
                            .thread = thread,
                            .author = str_dup(a, row_text(rows, 2)),
                            .text = str_dup(a, row_text(rows, 3)),
                            .key = str_dup(a, row_text(rows, 4)) };
        ARENA_PUSH(a, all, n, cap, m);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}
