/* Keys that lead somewhere without a handoff: a first message, /resume, and looking up where a
 * message belongs. */
#include "chat/topics.h"
#include "handoff/routing.h"
#include "handoff/routing_inside.h"

bool routing_is_there(OwnStore *own, Arena *a, Str place_json_text, Err *err)
{
    ChatAddress place, now;

    if (!address_parse(a, place_json_text, &place, err))
        return false;
    now = place;
    if (!topic_now(own, a, &now, err))
        return false;
    return str_eq(now.thread_id, place.thread_id) ||
           err_set(err, ERR_BUSY, "thread '%.*s' is gone meanwhile", STR_FMT(place.thread_id));
}

bool routing_is_idle(SessionDb *s, Str session_id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    if (!s->ours)
        return true;
    if (!db_query(s->db, &rows, err,
                  "SELECT 1 FROM run WHERE conversation_id = ? AND ended_ms IS NULL",
                  TEXT(session_id)) ||
        !db_row(rows, &row, err))
        return false;
    return !row ||
           err_set(err, ERR_BUSY, "a turn of session '%.*s' is under way", STR_FMT(session_id));
}

bool routing_source(SessionDb *s, Arena *a, Str session_id, Str *ret_source, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(s->db, &rows, err, "SELECT source FROM sessions WHERE id = ?",
                  TEXT(session_id)) ||
        !db_row(rows, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(session_id));
    *ret_source = str_dup(a, row_text(rows, 0));
    return true;
}

static bool may_take(OwnStore *own, Arena *a, const Handoff *h, Err *err)
{
    SessionOwner owner;

    if (!owner_get(own, a, h->home, h->session_id, &owner, err))
        return false;
    return !owner.surface.n || str_eqz(owner.surface, "cli") ||
           str_eq(owner.surface, h->platform) ||
           err_set(err, ERR_CONFLICT, "session '%.*s' continues in the %.*s chat",
                   STR_FMT(h->session_id), STR_FMT(owner.surface));
}

static bool still_waits(SessionDb *s, Arena *a, const Handoff *h, Str waiting, Err *err)
{
    Str now;

    if (!waiting.n)
        return true;
    return routing_leads_to(s, a, routing_scope(a, h->home), waiting, &now, err) &&
           (str_eq(now, h->session_id) ||
            err_set(err, ERR_CONFLICT, "session '%.*s' was claimed meanwhile",
                    STR_FMT(h->session_id)));
}

/* `waiting`: the key under which it has waited for somebody, and where it must be still; empty:
 * none. `last`: nothing of that key is left behind this. */
static bool place_rows(OwnStore *own, Arena *a, Handoff *h, Str waiting, bool last, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Change change = { 0 };
    Str source;

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
        !routing_needs_table(&s, h->home, err) || !still_waits(&s, a, h, waiting, err) ||
        !may_take(own, a, h, err) || !routing_is_there(own, a, h->dest_source_json, err) ||
        !routing_is_idle(&s, h->session_id, err) ||
        !routing_source(&s, a, h->session_id, &source, err) ||
        !routing_bind_session(&s, a, h, routing_scope(a, h->home), &change, err) ||
        !owner_set(own, h->home, h->session_id, h->platform, source, err) ||
        (last && !handoff_claimed(own, waiting, h->dest_key, h->dest_source_json,
                                  h->prev_session_id.n ? h->prev_session_id : STR_NONE, err)) ||
        !sessiondb_commit(&s, err))
        return false;
    routing_follow(a, &s, h->home, &change);
    return true;
}

bool routing_place(OwnStore *own, Arena *a, Str home, Str session_id, const ChatAddress *place,
                   Str key, Err *err)
{
    Handoff h = { .home = home,
                  .session_id = session_id,
                  .platform = place->platform,
                  .dest_key = key,
                  .dest_source_json = address_json(a, place) };

    return own_store_begin(own, err) &&
           own_store_end(own, place_rows(own, a, &h, STR(""), false, err), err);
}

/* -- claiming -- */

static bool claim_one(OwnStore *own, Arena *a, Handoff *h, Str waiting, bool last, Err *err)
{
    Err why;

    if (own_store_begin(own, err) &&
        own_store_end(own, place_rows(own, a, h, waiting, last, err), err))
        return true;
    why = *err;
    /* Somebody was faster, or the session was deleted. */
    return why.kind == ERR_CONFLICT || why.kind == ERR_NOT_FOUND;
}

bool routing_claim(OwnStore *own, Arena *a, const Str *homes, size_t n, Str waiting,
                   const ChatAddress *place, Str key, Err *err)
{
    Handoff *all = ARENA_ARRAY(a, Handoff, n + 1);
    size_t found = 0;

    for (size_t i = n; i-- > 0;) {
        Handoff h = { .home = homes[i],
                      .platform = place->platform,
                      .dest_key = key,
                      .dest_source_json = address_json(a, place) };
        size_t home;

        if (!routing_lookup(own, a, &homes[i], 1, waiting, &home, &h.session_id, err))
            return false;
        if (h.session_id.n)
            all[found++] = h;
    }
    for (size_t i = 0; i < found; i++)
        if (!claim_one(own, a, &all[i], waiting, i + 1 == found, err))
            return false;
    return true;
}

/* -- looking up -- */

bool routing_goes_on_in(OwnStore *own, Arena *a, Str home, Str session_id, Str *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT conversation_id FROM conversation_of WHERE home = ? AND session_id = ?",
                  TEXT(home), TEXT(session_id)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = row ? str_dup(a, row_text(rows, 0)) : STR("");
    return true;
}

static bool entry_at(OwnStore *own, Arena *a, Str home, Str key, double *ret_at, Str *ret_id,
                     Err *err)
{
    AUTO(Db) *foreign = NULL;
    AUTO(DbRows) *rows = NULL;
    Db *db = own_store_db(own);
    bool row;

    *ret_id = STR("");
    if (!str_eq(home, own_store_data(own))) {
        foreign = db_open_read(str_z(a, str_join_path(a, home, STR("state.db"))), err);
        if (!foreign)
            return err->kind == ERR_NOT_FOUND;
        db = foreign;
    }
    /* An older Hermes has no such table, and no keys. */
    if (!db_query(db, &rows, err,
                  "SELECT entry_json, updated_at FROM gateway_routing WHERE scope = ? AND "
                  "session_key = ?",
                  TEXT(routing_scope(a, home)), TEXT(key)))
        return foreign != NULL;
    if (!db_row(rows, &row, err))
        return false;
    if (row) {
        *ret_id = routing_id_in(a, str_dup(a, row_text(rows, 0)));
        *ret_at = row_real(rows, 1);
    }
    return true;
}

bool routing_lookup(OwnStore *own, Arena *a, const Str *homes, size_t n, Str key, size_t *ret_home,
                    Str *ret_id, Err *err)
{
    double newest = 0;

    *ret_id = STR("");
    *ret_home = 0;
    for (size_t i = 0; i < n; i++) {
        double at = 0;
        Str id;

        if (!entry_at(own, a, homes[i], key, &at, &id, err))
            return false;
        if (id.n && (!ret_id->n || at > newest)) {
            *ret_id = id;
            *ret_home = i;
            newest = at;
        }
    }
    return true;
}
