/* When each session was last active.
 *
 * No index of Hermes' has the sessions by that, so it takes a search among the messages of each
 * one: 60 ms for 100,000 sessions. Where the keys of an earlier time are known, one walk over the
 * sessions does, and a search for those to which messages were added since. Ids of messages that
 * AUTOINCREMENT gives are never given again, so every message that came since has a higher one. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "store/sqlite_inside.h"

/* So many sessions are looked at in one transaction: under a millisecond. */
enum { SEARCHED_AT_ONCE = 256, WALKED_AT_ONCE = 1024 };

typedef struct Walk {
    Conn *conn;
    Arena *arena;
    const KnownKeys *known; /* NULL: none */
    size_t at_known;
    int64_t *touched; /* sessions that have new messages, by rowid */
    size_t n_touched, at_touched;
    Stmt *rows;
    size_t at_once, cap;
    ActivityKeys *ret;
} Walk;

/* -- what came since -- */

static bool last_message(Conn *c, int64_t *ret, Err *err)
{
    *ret = -1;
    return !db_has_column(c->db, "sqlite_sequence", "seq") ||
           db_get_int(c->db, -1, ret, err,
                      "SELECT seq FROM sqlite_sequence WHERE name = 'messages'");
}

static bool find_touched(Walk *w, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    size_t cap = 0;
    bool row = true;

    if (!stmt_prepare(
            w->conn->db,
            "SELECT rowid FROM sessions WHERE id IN (SELECT session_id FROM messages WHERE "
            "id > ?1) ORDER BY rowid",
            &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, w->known->last_message);
    while (row) {
        if (!stmt_step(w->conn->db, stmt, &row, err))
            return false;
        if (row)
            ARENA_PUSH(w->arena, w->touched, w->n_touched, cap, sqlite3_column_int64(stmt, 0));
    }
    return true;
}

/* -- the walk -- */

static bool prepare_rows(Walk *w, const SessionQuery *query, Err *err)
{
    Conn *c = w->conn;
    AUTO_BUF sql = BUF(KIB(4));

    w->at_once = w->known ? WALKED_AT_ONCE : SEARCHED_AT_ONCE;
    buf_addf(&sql, "SELECT rowid, started_at, %s, %s, source IS '" SOURCE_ASK "'%s FROM sessions ",
             c->has_last_activity ? "last_activity_at" : "0", c->has_archived ? "archived" : "0",
             w->known ? ""
                      : ", (SELECT max(timestamp) FROM messages WHERE session_id = sessions.id)");
    buf_addf(&sql, "WHERE rowid > ?1 AND id <> ''%s ORDER BY rowid LIMIT %zu",
             query->source.n ? " AND source = ?2" : "", w->at_once);
    if (!stmt_prepare(c->db, sql.p, &w->rows, err))
        return false;
    if (query->source.n)
        stmt_bind_text(w->rows, 2, query->source);
    return true;
}

static SessionKey key_of(const Walk *w)
{
    SessionKey k = { .rowid = sqlite3_column_int64(w->rows, 0),
                     .started_at = sqlite3_column_double(w->rows, 1),
                     .active = sqlite3_column_double(w->rows, 2),
                     .marks = (sqlite3_column_int(w->rows, 3) ? KEY_ARCHIVED : 0) |
                              (sqlite3_column_int(w->rows, 4) ? KEY_ONE_SHOT : 0) };

    double said = w->known ? 0 : sqlite3_column_double(w->rows, 5);

    if (said > k.active)
        k.active = said;
    return k;
}

static const SessionKey *known_key(Walk *w, int64_t rowid)
{
    const KnownKeys *known = w->known;

    while (w->at_known < known->n && known->keys[w->at_known].rowid < rowid)
        w->at_known++;
    return w->at_known < known->n && known->keys[w->at_known].rowid == rowid
               ? &known->keys[w->at_known]
               : NULL;
}

static bool is_touched(Walk *w, int64_t rowid)
{
    while (w->at_touched < w->n_touched && w->touched[w->at_touched] < rowid)
        w->at_touched++;
    return w->at_touched < w->n_touched && w->touched[w->at_touched] == rowid;
}

static bool search_newest(Conn *c, int64_t rowid, double *ret, Err *err)
{
    bool row = false, ok;

    if (!conn_prepared(c, &c->newest_at,
                       "SELECT max(timestamp) FROM messages WHERE session_id = (SELECT id FROM "
                       "sessions WHERE rowid = ?)",
                       err))
        return false;
    sqlite3_bind_int64(c->newest_at, 1, rowid);
    ok = stmt_step(c->db, c->newest_at, &row, err);
    *ret = ok ? sqlite3_column_double(c->newest_at, 0) : 0;
    sqlite3_reset(c->newest_at);
    return ok;
}

/* A rowid may be given again to another session, which then began at another time. */
static bool complete(Walk *w, SessionKey *k, Err *err)
{
    const SessionKey *before = known_key(w, k->rowid);
    double said;

    if (before && !is_touched(w, k->rowid) && before->started_at == k->started_at)
        said = before->active;
    else if (!search_newest(w->conn, k->rowid, &said, err))
        return false;
    if (said > k->active)
        k->active = said;
    return true;
}

static bool read_some(Walk *w, int64_t after, bool *ret_more, Err *err)
{
    ActivityKeys *ret = w->ret;
    size_t before = ret->n;
    bool row = true;

    sqlite3_bind_int64(w->rows, 1, after);
    while (row) {
        if (!stmt_step(w->conn->db, w->rows, &row, err))
            return false;
        if (row)
            ARENA_PUSH(w->arena, ret->keys, ret->n, w->cap, key_of(w));
    }
    sqlite3_reset(w->rows);
    *ret_more = ret->n - before == w->at_once;
    for (size_t i = before; w->known && i < ret->n; i++)
        if (!complete(w, &ret->keys[i], err))
            return false;
    return true;
}

bool conn_activity(Conn *c, Arena *a, const SessionQuery *query, const KnownKeys *known,
                   ActivityKeys *ret, Err *err)
{
    Walk w = { .conn = c, .arena = a, .ret = ret };
    bool more = true, ok;

    *ret = (ActivityKeys){ 0 };
    /* Before the walk: what is written meanwhile counts as new the next time. */
    if (!last_message(c, &ret->last_message, err))
        return false;
    if (known && known->last_message >= 0 && ret->last_message >= known->last_message &&
        ret->last_message - known->last_message <= LIMIT_ACTIVITY_NEW)
        w.known = known;
    ok = (!w.known || find_touched(&w, err)) && prepare_rows(&w, query, err);
    while (ok && more)
        ok = read_some(&w, ret->n ? ret->keys[ret->n - 1].rowid : INT64_MIN, &more, err);
    stmt_free(w.rows);
    return ok;
}
