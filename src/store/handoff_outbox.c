/* Who may send a row is said by its time: taking it moves that time on, so a sender that died is followed by
 * the next one when it has come. */
#include "store/handoff_outbox.h"

#include "base/clock.h"
#include "store/db.h"

static const char *const states[] = {
#define X(id, name) name,
    OUTBOX_STATES(X)
#undef X
};

static int64_t now_in_ms(void)
{
    return (int64_t)(clock_wall() * 1000);
}

/* -- rows -------------------------------------------------------------------------------------------- */

#define ROW                                                                                        \
    "SELECT id, platform, place_json, text, first_ref, error, state, sending, sent, pieces, "      \
    "attempt, not_before_ms, created_ms FROM outbox "

static Outgoing read_row(Arena *a, Stmt *stmt)
{
    Outgoing o = { .id = str_dup(a, db_str(stmt, 0)),
                   .platform = str_dup(a, db_str(stmt, 1)),
                   .place_json = str_dup(a, db_str(stmt, 2)),
                   .text = str_dup(a, db_str(stmt, 3)),
                   .first_ref = str_dup(a, db_str(stmt, 4)),
                   .error = str_dup(a, db_str(stmt, 5)),
                   .sending = sqlite3_column_int64(stmt, 7),
                   .sent = sqlite3_column_int64(stmt, 8),
                   .pieces = sqlite3_column_int64(stmt, 9),
                   .attempt = sqlite3_column_int64(stmt, 10),
                   .not_before_ms = sqlite3_column_int64(stmt, 11),
                   .created_ms = sqlite3_column_int64(stmt, 12) };

    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (str_eqz(db_str(stmt, 6), states[i]))
            o.state = (OutboxState)i;
    return o;
}

static bool read_all(Journal *j, Arena *a, Stmt *stmt, Outgoing **ret, size_t *ret_n, Err *err)
{
    Outgoing *all = NULL;
    size_t n = 0, cap = 0;
    bool row;

    for (;;) {
        if (!db_step(journal_db(j), stmt, &row, err))
            return false;
        if (!row)
            break;
        ARENA_PUSH(a, all, n, cap, read_row(a, stmt));
    }
    *ret = all;
    *ret_n = n;
    return true;
}

static bool insert(Journal *j, const Outgoing *o, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "INSERT OR IGNORE INTO outbox(id, platform, place_json, text, state, "
                    "not_before_ms, created_ms, updated_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, o->id);
    db_bind_str(stmt, 2, o->platform);
    db_bind_str(stmt, 3, o->place_json);
    db_bind_str(stmt, 4, o->text.p ? o->text : STR(""));
    db_bind_str(stmt, 5, str_of(states[o->state]));
    sqlite3_bind_int64(stmt, 6, o->not_before_ms);
    sqlite3_bind_int64(stmt, 7, now_in_ms());
    return db_step(journal_db(j), stmt, &row, err);
}

bool outbox_get(Journal *j, Arena *a, Str id, Outgoing *ret, bool *ret_found, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(j), ROW "WHERE id = ?", &stmt, err))
        return false;
    db_bind_str(stmt, 1, id);
    if (!db_step(journal_db(j), stmt, ret_found, err))
        return false;
    if (*ret_found)
        *ret = read_row(a, stmt);
    return true;
}

bool outbox_put(Journal *j, Arena *a, const Outgoing *o, Outgoing *ret, Err *err)
{
    bool found;

    if (!insert(j, o, err) || !outbox_get(j, a, o->id, ret, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no words '%.*s'", STR_FMT(o->id));
}

bool outbox_mark(Journal *j, const Outgoing *o, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "UPDATE outbox SET sending = ?, sent = ?, pieces = ?, first_ref = ?, error = "
                    "?, state = ?, attempt = ?, not_before_ms = ?, updated_ms = ? WHERE id = ?",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, o->sending);
    sqlite3_bind_int64(stmt, 2, o->sent);
    sqlite3_bind_int64(stmt, 3, o->pieces);
    db_bind_str(stmt, 4, o->first_ref.n ? o->first_ref : STR_NONE);
    db_bind_str(stmt, 5, o->error.n ? o->error : STR(""));
    db_bind_str(stmt, 6, str_of(states[o->state]));
    sqlite3_bind_int64(stmt, 7, o->attempt);
    sqlite3_bind_int64(stmt, 8, o->not_before_ms);
    sqlite3_bind_int64(stmt, 9, now_in_ms());
    db_bind_str(stmt, 10, o->id);
    return db_step(journal_db(j), stmt, &row, err);
}

bool outbox_finish(Journal *j, Str id, Str text, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "UPDATE outbox SET text = ?1, state = CASE WHEN ?1 = '' THEN 'sent' ELSE "
                    "'waiting' END, not_before_ms = 0, updated_ms = ?2 WHERE id = ?3 AND state = "
                    "'open'",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, text.p ? text : STR(""));
    sqlite3_bind_int64(stmt, 2, now_in_ms());
    db_bind_str(stmt, 3, id);
    return db_step(journal_db(j), stmt, &row, err);
}

/* -- who sends it -------------------------------------------------------------------------------------- */

static bool next_time(Journal *j, int64_t *ret, Err *err)
{
    return db_int(journal_db(j),
                  "SELECT coalesce(min(not_before_ms), -1) FROM outbox WHERE state = 'waiting'", -1,
                  ret, err);
}

bool outbox_due(Journal *j, Arena *a, size_t most, Outgoing **ret, size_t *ret_n,
                int64_t *ret_next_ms, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    int64_t next;

    if (!next_time(j, &next, err) ||
        !db_prepare(journal_db(j),
                    ROW "WHERE state = 'waiting' AND not_before_ms <= ? ORDER BY not_before_ms, "
                        "created_ms, id LIMIT ?",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now_in_ms());
    sqlite3_bind_int64(stmt, 2, (int64_t)most);
    *ret_next_ms = next < 0 ? 0 : next > 0 ? next : 1;
    return read_all(j, a, stmt, ret, ret_n, err);
}

bool outbox_take(Journal *j, Str id, int64_t until_ms, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "UPDATE outbox SET not_before_ms = ? WHERE id = ? AND state = 'waiting' AND "
                    "not_before_ms <= ?",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, until_ms);
    db_bind_str(stmt, 2, id);
    sqlite3_bind_int64(stmt, 3, now_in_ms());
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    *ret = sqlite3_changes(journal_db(j)->handle) == 1;
    return true;
}

bool outbox_open(Journal *j, Arena *a, Str prefix, Outgoing **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(j),
                    ROW "WHERE state = 'open' AND substr(id, 1, ?1) = ?2 ORDER BY created_ms",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, (int64_t)prefix.n);
    db_bind_str(stmt, 2, prefix);
    return read_all(j, a, stmt, ret, ret_n, err);
}

/* -- for people ------------------------------------------------------------------------------------------- */

bool outbox_dead(Journal *j, Arena *a, size_t most, Outgoing **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(j),
                    ROW "WHERE state = 'dead' ORDER BY created_ms DESC, id DESC LIMIT ?", &stmt,
                    err))
        return false;
    sqlite3_bind_int64(stmt, 1, (int64_t)most);
    return read_all(j, a, stmt, ret, ret_n, err);
}

bool outbox_retry(Journal *j, Str id, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "UPDATE outbox SET state = 'waiting', attempt = 0, not_before_ms = 0, "
                    "updated_ms = ? WHERE id = ? AND state = 'dead' RETURNING id",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, now_in_ms());
    db_bind_str(stmt, 2, id);
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no dead letter '%.*s'", STR_FMT(id));
}
