#include "store/handoff_outbox.h"

#include "base/clock.h"
#include "store/db.h"

static bool insert(Journal *j, const Outgoing *o, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "INSERT OR IGNORE INTO outbox(id, platform, place_json, text, updated_ms) "
                    "VALUES(?, ?, ?, ?, ?)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, o->id);
    db_bind_str(stmt, 2, o->platform);
    db_bind_str(stmt, 3, o->place_json);
    db_bind_str(stmt, 4, o->text);
    sqlite3_bind_int64(stmt, 5, (int64_t)(clock_wall() * 1000));
    return db_step(journal_db(j), stmt, &row, err);
}

bool outbox_put(Journal *j, Arena *a, const Outgoing *o, Outgoing *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!insert(j, o, err) ||
        !db_prepare(journal_db(j),
                    "SELECT platform, place_json, text, first_ref, sending, sent, pieces FROM "
                    "outbox WHERE id = ?",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, o->id);
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "no words '%.*s'", STR_FMT(o->id));
    *ret = (Outgoing){ .id = str_dup(a, o->id),
                       .platform = str_dup(a, db_str(stmt, 0)),
                       .place_json = str_dup(a, db_str(stmt, 1)),
                       .text = str_dup(a, db_str(stmt, 2)),
                       .first_ref = str_dup(a, db_str(stmt, 3)),
                       .sending = sqlite3_column_int64(stmt, 4),
                       .sent = sqlite3_column_int64(stmt, 5),
                       .pieces = sqlite3_column_int64(stmt, 6) };
    return true;
}

bool outbox_mark(Journal *j, const Outgoing *o, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(
            journal_db(j),
            "UPDATE outbox SET sending = ?, sent = ?, pieces = ?, first_ref = ?, updated_ms "
            "= ? WHERE id = ?",
            &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, o->sending);
    sqlite3_bind_int64(stmt, 2, o->sent);
    sqlite3_bind_int64(stmt, 3, o->pieces);
    db_bind_str(stmt, 4, o->first_ref.n ? o->first_ref : STR_NONE);
    sqlite3_bind_int64(stmt, 5, (int64_t)(clock_wall() * 1000));
    db_bind_str(stmt, 6, o->id);
    return db_step(journal_db(j), stmt, &row, err);
}
