/* Who may write a session, and sessions that an exit of others ended although they had moved. */
#include "base/clock.h"
#include "base/limits.h"
#include "handoff/routing.h"
#include "handoff/session_db.h"

/* -- owners -- */

bool owner_get(OwnStore *own, Arena *a, Str home, Str session_id, SessionOwner *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT owner_surface, owner_fence, source FROM session_owner WHERE home = ? AND "
                  "session_id = ?",
                  TEXT(home), TEXT(session_id)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = (SessionOwner){ .surface = row ? str_dup(a, row_text(rows, 0)) : STR(""),
                           .fence = row ? row_int(rows, 1) : 0,
                           .source = row ? str_dup(a, row_text(rows, 2)) : STR("") };
    return true;
}

bool owner_set(OwnStore *own, Str home, Str session_id, Str surface, Str source, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT INTO session_owner(home, session_id, owner_surface, owner_fence, "
                   "since_ms, source) VALUES(?1, ?2, ?3, 1, ?4, ?5) ON CONFLICT(home, session_id) "
                   "DO UPDATE SET source = CASE WHEN ?5 IS NOT NULL AND owner_surface = 'cli' THEN "
                   "?5 ELSE source END, owner_surface = ?3, owner_fence = owner_fence + 1, "
                   "since_ms = ?4",
                   TEXT(home), TEXT(session_id), TEXT(surface), INT(clock_wall_ms()), TEXT(source));
}

/* -- what an exit of others undid -- */

#define ENDED_BY_EXIT "id = ? AND end_reason = 'cli_close' AND session_key = ?"

/* By a reading handle: nobody is to wait for a lock because of a question. */
static bool ended_by_exit(OwnStore *own, Arena *a, const Handoff *h, bool *ret, Err *err)
{
    AUTO(Db) *foreign = NULL;
    AUTO(DbRows) *rows = NULL;
    Db *db = own_store_db(own);

    if (!str_eq(h->home, own_store_data(own))) {
        foreign = db_open_read(str_z(a, str_join_path(a, h->home, STR("state.db"))), err);
        db = foreign;
    }
    if (!db || !db_query(db, &rows, err, "SELECT 1 FROM sessions WHERE " ENDED_BY_EXIT,
                         TEXT(h->session_id), TEXT(h->dest_key)))
        return false;
    return db_row(rows, ret, err);
}

static bool reopen_rows(OwnStore *own, const Handoff *h, Err *err)
{
    AUTO_SESSIONDB s = { 0 };

    return sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) &&
           db_exec(s.db, NULL, err,
                   "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE " ENDED_BY_EXIT,
                   TEXT(h->session_id), TEXT(h->dest_key)) &&
           sessiondb_commit(&s, err);
}

bool routing_reopen(OwnStore *own, int64_t since_ms, size_t *ret_n, Err *err)
{
    AUTO(Arena) *a = arena_new();
    size_t n, count = 0;
    Handoff *all;

    if (!handoff_list(own, a, STR(""), STR(""), LIMIT_HANDOFFS_RECENT, &all, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        bool ended = false;

        if (all[i].state != HANDOFF_DONE || all[i].updated_ms < since_ms || !all[i].dest_key.n)
            continue;
        if (!ended_by_exit(own, a, &all[i], &ended, err))
            return false;
        if (ended && (!own_store_begin(own, err) ||
                      !own_store_end(own, reopen_rows(own, &all[i], err), err)))
            return false;
        count += ended;
    }
    *ret_n = count;
    return true;
}
