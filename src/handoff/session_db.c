/* The guards are those of Hermes itself for request and claim. Its complete and fail have none,
 * which is how a late completion swallowed a retry, and how a waiter failed what was under way;
 * ours have. */
#include "handoff/session_db.h"

#include "text/utf8.h"

/* -- columns -- */

static bool has_table(Db *db, const char *name, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(db, &rows, err, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
                    TEXT(str_of(name))) &&
           db_row(rows, ret, err);
}

bool sessiondb_columns(SessionDb *s, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    int handoff = 0;
    bool ok;

    if (!db_query(s->db, &rows, err, "SELECT name FROM pragma_table_info('sessions')"))
        return false;
    while (db_next(rows, &ok, err)) {
        Str name;

        name = row_text(rows, 0);
        handoff += str_is_one_of(name, "handoff_state|handoff_platform|handoff_error");
        s->activity |= str_eqz(name, "last_activity_at");
#define X(column) s->has_##column |= str_eqz(name, #column);
        PEER_COLUMNS(X)
#undef X
    }
    if (!ok)
        return false;
    s->handoff = handoff == 3;
    return has_table(s->db, "gateway_routing", &s->routing, err);
}

bool sessiondb_add_columns(SessionDb *s, Err *err)
{
    static const char *const add[] = { "ALTER TABLE sessions ADD COLUMN handoff_state TEXT",
                                       "ALTER TABLE sessions ADD COLUMN handoff_platform TEXT",
                                       "ALTER TABLE sessions ADD COLUMN handoff_error TEXT" };

    for (size_t i = 0; !s->handoff && i < ARRAY_LEN(add); i++)
        if (!db_script(s->db, add[i], err) &&
            !(db_refusal(s->db) && strstr(db_refusal(s->db), "duplicate column")))
            return false;
    s->handoff = true;
    return true;
}

/* -- transactions -- */

bool sessiondb_begin(Db *own, Str data, Str home, SessionDb *ret, Err *err)
{
    AUTO(Arena) *a = arena_new();

    *ret = (SessionDb){ .ours = str_eq(data, home) };
    if (ret->ours) {
        ret->db = own;
        return sessiondb_columns(ret, err);
    }
    ret->opened = db_open_foreign(str_z(a, str_join_path(a, home, STR("state.db"))), err);
    ret->db = ret->opened;
    if (!ret->db || !db_script(ret->db, "BEGIN IMMEDIATE", err))
        return false;
    ret->began = true;
    return sessiondb_columns(ret, err);
}

bool sessiondb_commit(SessionDb *s, Err *err)
{
    if (s->began && !db_script(s->db, "COMMIT", err))
        return false;
    s->began = false;
    return true;
}

void sessiondb_done(SessionDb *s)
{
    if (s->began)
        db_rollback(s->db);
    db_close(s->opened);
    *s = (SessionDb){ 0 };
}

/* -- the state that others see -- */

static Str copied(Arena *a, DbRows *rows, int at)
{
    Str s = row_text(rows, at);

    return s.n ? str_dup(a, s) : STR("");
}

bool shown_get(SessionDb *s, Arena *a, Str session_id, ShownState *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    ShownState shown = { .state = STR(""), .platform = STR(""), .error = STR("") };
    char sql[256];

    snprintf(sql, sizeof sql, "SELECT %s, %s, %s FROM sessions WHERE id = ?",
             s->handoff ? "handoff_state, handoff_platform, handoff_error" : "NULL, NULL, NULL",
             s->has_session_key ? "session_key" : "NULL", s->has_source ? "source" : "NULL");
    if (!db_query_once(s->db, &rows, err, sql, TEXT(session_id)))
        return false;
    if (!db_row(rows, &shown.exists, err))
        return false;
    if (shown.exists) {
        shown.state = copied(a, rows, 0);
        shown.platform = copied(a, rows, 1);
        shown.error = copied(a, rows, 2);
        shown.key = copied(a, rows, 3);
        shown.source = copied(a, rows, 4);
    }
    *ret = shown;
    return true;
}

bool shown_look(Db *own, Str data, Arena *a, Str home, Str session_id, ShownState *ret, Err *err)
{
    AUTO(Db) *opened = NULL;
    SessionDb s = { .db = own };

    if (!str_eq(data, home)) {
        opened = db_open_read(str_z(a, str_join_path(a, home, STR("state.db"))), err);
        s.db = opened;
    }
    return s.db && sessiondb_columns(&s, err) && shown_get(&s, a, session_id, ret, err);
}

bool shown_request(SessionDb *s, Str session_id, Str platform, bool *ret_won, Err *err)
{
    int64_t n = 0;

    if (!db_exec(s->db, &n, err,
                 "UPDATE sessions SET handoff_state = 'pending', handoff_platform = ?, "
                 "handoff_error = NULL WHERE id = ? AND (handoff_state IS NULL OR handoff_state IN "
                 "('completed', 'failed'))",
                 TEXT(platform), TEXT(session_id)))
        return false;
    *ret_won = n > 0;
    return true;
}

bool shown_claim(SessionDb *s, Str session_id, Str platform, bool *ret_won, Err *err)
{
    int64_t n = 0;

    if (!db_exec(s->db, &n, err,
                 "UPDATE sessions SET handoff_state = 'running' WHERE id = ? AND handoff_state = "
                 "'pending' AND handoff_platform = ?",
                 TEXT(session_id), TEXT(platform)))
        return false;
    *ret_won = n > 0;
    return true;
}

bool shown_complete(SessionDb *s, Str session_id, Str platform, bool *ret_won, Err *err)
{
    int64_t n = 0;

    if (!db_exec(s->db, &n, err,
                 "UPDATE sessions SET handoff_state = 'completed', handoff_error = NULL WHERE id = "
                 "? AND handoff_state = 'running' AND handoff_platform = ?",
                 TEXT(session_id), TEXT(platform)))
        return false;
    *ret_won = n > 0;
    return true;
}

/* Hermes keeps 500 characters. */
bool shown_fail(SessionDb *s, Str session_id, Str platform, Str why, bool pending_only,
                bool *ret_won, Err *err)
{
    int64_t n = 0;

    if (!db_exec(s->db, &n, err,
                 "UPDATE sessions SET handoff_state = 'failed', handoff_error = ?1 WHERE id = ?2 "
                 "AND handoff_platform = ?4 AND (handoff_state = 'pending' OR (?3 IS NULL AND "
                 "handoff_state = 'running'))",
                 TEXT(utf8_first(why, 500)), TEXT(session_id),
                 TEXT(pending_only ? STR("1") : STR_NONE), TEXT(platform)))
        return false;
    *ret_won = n > 0;
    return true;
}
