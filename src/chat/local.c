#include "chat/local.h"

#include "base/clock.h"
#include "store/db.h"

static int64_t now_in_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

/* One text out of one row by one key. *ret_found false: there is none. */
static bool one_text(Journal *j, Arena *a, const char *sql, Str key, Str *ret, bool *ret_found,
                     Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(j), sql, &stmt, err))
        return false;
    db_bind_str(stmt, 1, key);
    if (!db_step(journal_db(j), stmt, ret_found, err))
        return false;
    if (*ret_found)
        *ret = str_dup(a, db_str(stmt, 0));
    return true;
}

bool local_channel_name(Journal *j, Arena *a, Str channel, Str *ret, Err *err)
{
    bool found;

    if (!one_text(j, a, "SELECT name FROM local_channel WHERE id = ?", channel, ret, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no channel '%.*s'", STR_FMT(channel));
}

bool local_thread_open(Journal *j, Arena *a, Str channel, Str title, Str key, Str *ret_id, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row, found;

    if (!db_prepare(
            journal_db(j),
            "INSERT OR IGNORE INTO local_thread(id, channel, title, key, created_ms) "
            "SELECT 't' || (SELECT count(*) + 1 FROM local_thread) || '-' || substr(?3, -6), "
            "?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM local_channel WHERE id = ?1)",
            &stmt, err))
        return false;
    db_bind_str(stmt, 1, channel);
    db_bind_str(stmt, 2, title);
    db_bind_str(stmt, 3, key);
    sqlite3_bind_int64(stmt, 4, now_in_ms());
    if (!db_step(journal_db(j), stmt, &row, err) ||
        !one_text(j, a, "SELECT id FROM local_thread WHERE key = ?", key, ret_id, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no channel '%.*s'", STR_FMT(channel));
}

bool local_thread_drop(Journal *j, Str id, Err *err)
{
    static const char *const all[] = { "DELETE FROM local_message WHERE thread = ?",
                                       "DELETE FROM local_thread WHERE id = ?" };
    bool ok = journal_begin(j, err);

    if (!ok)
        return false;
    for (size_t i = 0; ok && i < ARRAY_LEN(all); i++) {
        AUTO(Stmt) *stmt = NULL;
        bool row;

        ok = db_prepare(journal_db(j), all[i], &stmt, err);
        if (ok) {
            db_bind_str(stmt, 1, id);
            ok = db_step(journal_db(j), stmt, &row, err);
        }
    }
    return journal_end(j, ok, err);
}

bool local_say(Journal *j, const LocalMessage *m, int64_t *ret_id, Err *err)
{
    AUTO(Stmt) *stmt = NULL, *again = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "INSERT OR IGNORE INTO local_message(channel, thread, author, text, key, "
                    "created_ms) VALUES(?, ?, ?, ?, ?, ?)",
                    &stmt, err) ||
        !db_prepare(journal_db(j), "SELECT id FROM local_message WHERE key = ?", &again, err))
        return false;
    db_bind_str(stmt, 1, m->channel);
    db_bind_str(stmt, 2, m->thread.n ? m->thread : STR(""));
    db_bind_str(stmt, 3, m->author);
    db_bind_str(stmt, 4, m->text);
    db_bind_str(stmt, 5, m->key);
    sqlite3_bind_int64(stmt, 6, now_in_ms());
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    db_bind_str(again, 1, m->key);
    if (!db_step(journal_db(j), again, &row, err))
        return false;
    *ret_id =
        row ? sqlite3_column_int64(again, 0) : sqlite3_last_insert_rowid(journal_db(j)->handle);
    return true;
}

bool local_edit(Journal *j, int64_t id, Str text, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "UPDATE local_message SET text = ?, edited_ms = ? WHERE id = ? RETURNING id",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, text);
    sqlite3_bind_int64(stmt, 2, now_in_ms());
    sqlite3_bind_int64(stmt, 3, id);
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no message %lld", (long long)id);
}

bool local_messages(Journal *j, Arena *a, Str channel, Str thread, int64_t after, size_t most,
                    LocalMessage **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    LocalMessage *all = NULL;
    size_t n = 0, cap = 0;
    bool row;

    if (!db_prepare(journal_db(j),
                    "SELECT id, created_ms, author, text, key FROM local_message WHERE channel = ? "
                    "AND thread = ? AND id > ? ORDER BY id LIMIT ?",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, channel);
    db_bind_str(stmt, 2, thread.n ? thread : STR(""));
    sqlite3_bind_int64(stmt, 3, after);
    sqlite3_bind_int64(stmt, 4, (int64_t)most);
    for (;;) {
        LocalMessage m;

        if (!db_step(journal_db(j), stmt, &row, err))
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
