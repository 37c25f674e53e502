#include "chat/local.h"

#include "base/clock.h"
#include "store/db.h"

/* One text out of one row by one key. *ret_found false: there is none. */
static bool one_text(OwnStore *own, Arena *a, const char *sql, Str key, Str *ret, bool *ret_found,
                     Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(own_store_db(own), sql, &stmt, err))
        return false;
    db_bind_str(stmt, 1, key);
    if (!db_step(own_store_db(own), stmt, ret_found, err))
        return false;
    if (*ret_found)
        *ret = str_dup(a, db_str(stmt, 0));
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
    AUTO(Stmt) *stmt = NULL;
    bool row, found;

    if (!db_prepare(
            own_store_db(own),
            "INSERT OR IGNORE INTO local_thread(id, channel, title, key, created_ms) "
            "SELECT 't' || (SELECT count(*) + 1 FROM local_thread) || '-' || substr(?3, -6), "
            "?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM local_channel WHERE id = ?1)",
            &stmt, err))
        return false;
    db_bind_str(stmt, 1, channel);
    db_bind_str(stmt, 2, title);
    db_bind_str(stmt, 3, key);
    sqlite3_bind_int64(stmt, 4, clock_wall_ms());
    if (!db_step(own_store_db(own), stmt, &row, err) ||
        !one_text(own, a, "SELECT id FROM local_thread WHERE key = ?", key, ret_id, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no channel '%.*s'", STR_FMT(channel));
}

bool local_thread_drop(OwnStore *own, Str id, Err *err)
{
    static const char *const all[] = { "DELETE FROM local_message WHERE thread = ?",
                                       "DELETE FROM local_thread WHERE id = ?" };
    bool ok = own_store_begin(own, err);

    if (!ok)
        return false;
    for (size_t i = 0; ok && i < ARRAY_LEN(all); i++) {
        AUTO(Stmt) *stmt = NULL;
        bool row;

        ok = db_prepare(own_store_db(own), all[i], &stmt, err);
        if (ok) {
            db_bind_str(stmt, 1, id);
            ok = db_step(own_store_db(own), stmt, &row, err);
        }
    }
    return own_store_end(own, ok, err);
}

bool local_say(OwnStore *own, const LocalMessage *m, int64_t *ret_id, Err *err)
{
    AUTO(Stmt) *stmt = NULL, *again = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "INSERT OR IGNORE INTO local_message(channel, thread, author, text, key, "
                    "created_ms) VALUES(?, ?, ?, ?, ?, ?)",
                    &stmt, err) ||
        !db_prepare(own_store_db(own), "SELECT id FROM local_message WHERE key = ?", &again, err))
        return false;
    db_bind_str(stmt, 1, m->channel);
    db_bind_str(stmt, 2, m->thread.n ? m->thread : STR(""));
    db_bind_str(stmt, 3, m->author);
    db_bind_str(stmt, 4, m->text);
    db_bind_str(stmt, 5, m->key);
    sqlite3_bind_int64(stmt, 6, clock_wall_ms());
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    db_bind_str(again, 1, m->key);
    if (!db_step(own_store_db(own), again, &row, err))
        return false;
    *ret_id =
        row ? sqlite3_column_int64(again, 0) : sqlite3_last_insert_rowid(own_store_db(own)->handle);
    return true;
}

bool local_edit(OwnStore *own, int64_t id, Str text, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "UPDATE local_message SET text = ?, edited_ms = ? WHERE id = ? RETURNING id",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, text);
    sqlite3_bind_int64(stmt, 2, clock_wall_ms());
    sqlite3_bind_int64(stmt, 3, id);
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no message %lld", (long long)id);
}

bool local_messages(OwnStore *own, Arena *a, Str channel, Str thread, int64_t after, size_t max,
                    LocalMessage **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    LocalMessage *all = NULL;
    size_t n = 0, cap = 0;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "SELECT id, created_ms, author, text, key FROM local_message WHERE channel = ? "
                    "AND thread = ? AND id > ? ORDER BY id LIMIT ?",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, channel);
    db_bind_str(stmt, 2, thread.n ? thread : STR(""));
    sqlite3_bind_int64(stmt, 3, after);
    sqlite3_bind_int64(stmt, 4, (int64_t)max);
    for (;;) {
        LocalMessage m;

        if (!db_step(own_store_db(own), stmt, &row, err))
            return false;
        if (!row)
            break;
        m = (LocalMessage){ .id = sqlite3_column_int64(stmt, 0),
                            .created_ms = sqlite3_column_int64(stmt, 1),
                            .channel = channel,
                            .thread = thread,
                            .author = str_dup(a, db_str(stmt, 2)),
                            .text = str_dup(a, db_str(stmt, 3)),
                            .key = str_dup(a, db_str(stmt, 4)) };
        ARENA_PUSH(a, all, n, cap, m);
    }
    *ret = all;
    *ret_n = n;
    return true;
}
