/* Keys that lead somewhere without a handoff: a first message, /resume, and looking up where a message belongs. */
#include "handoff/routing.h"
#include "handoff/routing_inside.h"
#include "chat/topics.h"

bool routing_is_there(Journal *j, Arena *a, Str place_json_text, Err *err)
{
    Place place, now;

    if (!place_parse(a, place_json_text, &place, err))
        return false;
    now = place;
    if (!thread_now(j, a, &now, err))
        return false;
    return str_eq(now.thread_id, place.thread_id) ||
           err_set(err, ERR_BUSY, "thread '%.*s' is gone meanwhile", STR_FMT(place.thread_id));
}

bool routing_is_idle(SessionDb *s, Str session_id, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;

    if (!s->ours)
        return true;
    if (!db_prepare(s->db, "SELECT 1 FROM run WHERE conversation_id = ? AND ended_ms IS NULL",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, session_id);
    if (!db_step(s->db, stmt, &row, err))
        return false;
    return !row ||
           err_set(err, ERR_BUSY, "a turn of session '%.*s' is under way", STR_FMT(session_id));
}

bool routing_source(SessionDb *s, Arena *a, Str session_id, Str *ret_source, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(s->db, "SELECT source FROM sessions WHERE id = ?", &stmt, err))
        return false;
    db_bind_str(stmt, 1, session_id);
    if (!db_step(s->db, stmt, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(session_id));
    *ret_source = str_dup(a, db_str(stmt, 0));
    return true;
}

static bool may_take(Journal *j, Arena *a, const Handoff *h, Err *err)
{
    SessionOwner owner;

    if (!owner_get(j, a, h->home, h->session_id, &owner, err))
        return false;
    return !owner.surface.n || str_eqz(owner.surface, "cli") ||
           str_eq(owner.surface, h->platform) ||
           err_set(err, ERR_CONFLICT, "session '%.*s' continues in the %.*s chat",
                   STR_FMT(h->session_id), STR_FMT(owner.surface));
}

static bool place_rows(Journal *j, Arena *a, Handoff *h, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Change change = { 0 };
    Str source;

    if (!sessiondb_begin(journal_db(j), journal_data(j), h->home, &s, err) ||
        !routing_needs_table(&s, h->home, err) || !may_take(j, a, h, err) ||
        !routing_is_there(j, a, h->dest_source_json, err) ||
        !routing_is_idle(&s, h->session_id, err) ||
        !routing_source(&s, a, h->session_id, &source, err) ||
        !routing_bind_session(&s, a, h, routing_scope(a, h->home), &change, err) ||
        !owner_set(j, h->home, h->session_id, h->platform, source, err) ||
        !sessiondb_commit(&s, err))
        return false;
    routing_follow(a, &s, h->home, &change);
    return true;
}

bool routing_place(Journal *j, Arena *a, Str home, Str session_id, const Place *place, Str key,
                   Err *err)
{
    Handoff h = { .home = home,
                  .session_id = session_id,
                  .platform = place->platform,
                  .dest_key = key,
                  .dest_source_json = place_json(a, place) };

    return journal_begin(j, err) && journal_end(j, place_rows(j, a, &h, err), err);
}

/* -- looking up ---------------------------------------------------------------------------------------- */

bool routing_goes_on_in(Journal *j, Arena *a, Str home, Str session_id, Str *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "SELECT conversation_id FROM conversation_of WHERE home = ? AND session_id = ?",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, home);
    db_bind_str(stmt, 2, session_id);
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    *ret = row ? str_dup(a, db_str(stmt, 0)) : STR("");
    return true;
}

static bool entry_at(Journal *j, Arena *a, Str home, Str key, double *ret_at, Str *ret_id, Err *err)
{
    AUTO(Db) *foreign = NULL;
    AUTO(Stmt) *stmt = NULL;
    Db *db = journal_db(j);
    bool row;

    *ret_id = STR("");
    if (!str_eq(home, journal_data(j))) {
        foreign = db_open_read(str_z(a, str_join_path(a, home, STR("state.db"))), err);
        if (!foreign)
            return err->kind == ERR_NOT_FOUND;
        db = foreign;
    }
    /* An older Hermes has no such table, and no keys. */
    if (!db_prepare(db,
                    "SELECT entry_json, updated_at FROM gateway_routing WHERE scope = ? AND "
                    "session_key = ?",
                    &stmt, err))
        return foreign != NULL;
    db_bind_str(stmt, 1, routing_scope(a, home));
    db_bind_str(stmt, 2, key);
    if (!db_step(db, stmt, &row, err))
        return false;
    if (row) {
        *ret_id = routing_id_in(a, str_dup(a, db_str(stmt, 0)));
        *ret_at = sqlite3_column_double(stmt, 1);
    }
    return true;
}

bool routing_lookup(Journal *j, Arena *a, const Str *homes, size_t n, Str key, size_t *ret_home,
                    Str *ret_id, Err *err)
{
    double newest = 0;

    *ret_id = STR("");
    *ret_home = 0;
    for (size_t i = 0; i < n; i++) {
        double at = 0;
        Str id;

        if (!entry_at(j, a, homes[i], key, &at, &id, err))
            return false;
        if (id.n && (!ret_id->n || at > newest)) {
            *ret_id = id;
            *ret_home = i;
            newest = at;
        }
    }
    return true;
}
