/* What must be one instant for everyone else is one transaction. Hermes does the same in four, and
 * a crash between two of them leaves a session that two places believe in. */
#include "handoff/routing.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "handoff/routing_inside.h"
#include "handoff/session_db.h"

/* -- rows of the session -- */

#define SET_PEER(name)                                                                             \
    (!s->has_##name || db_exec(s->db, NULL, err, "UPDATE sessions SET " #name " = ? WHERE id = ?", \
                               TEXT(values->name), TEXT(id))) &&

typedef struct Peer {
#define X(name) Str name;
    PEER_COLUMNS(X)
#undef X
} Peer;

enum {
    N_PEER_COLUMNS = 0
#define X(name) +1
    PEER_COLUMNS(X)
#undef X
};

static bool set_peer(SessionDb *s, Str id, const Peer *values, Err *err)
{
    return PEER_COLUMNS(SET_PEER) true;
}

static Peer peer_of(const ChatAddress *p, Str key, Str json)
{
    return (Peer){ .source = p->platform,
                   .user_id = p->user_id,
                   .session_key = key,
                   .chat_id = p->chat_id,
                   .chat_type = p->chat_type,
                   .thread_id = p->thread_id,
                   .display_name = p->chat_name,
                   .origin_json = json };
}

/* The session itself and what compression cut off before it, the newest first. */
static bool lineage(SessionDb *s, Arena *a, Str id, Str **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Str *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(s->db, &rows, err,
                  "WITH RECURSIVE up(id, parent, depth) AS (SELECT id, parent_session_id, 0 FROM "
                  "sessions WHERE id = ?1 UNION SELECT p.id, p.parent_session_id, depth + 1 FROM "
                  "sessions p JOIN up ON p.id = up.parent WHERE p.end_reason = 'compression' AND "
                  "depth < ?2) SELECT id FROM up ORDER BY depth",
                  TEXT(id), INT(LIMIT_LINEAGE_PARTS)))
        return false;
    while (db_next(rows, &ok, err)) {
        ARENA_PUSH(a, all, n, cap, str_dup(a, row_text(rows, 0)));
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return n > 0 || err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(id));
}

static bool set_peers(SessionDb *s, Arena *a, Str id, const Peer *values, Err *err)
{
    Str *parts;
    size_t n;

    if (!lineage(s, a, id, &parts, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!set_peer(s, parts[i], values, err))
            return false;
    return true;
}

static bool reopen(SessionDb *s, Str id, Err *err)
{
    int64_t n;

    return db_exec(s->db, &n, err,
                   "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?", TEXT(id));
}

/* Only one that lives, or that ended by accident: what its user ended stays as it is. */
static bool put_aside(SessionDb *s, Arena *a, Str id, Err *err)
{
    int64_t n;

    return db_exec(s->db, &n, err,
                   "UPDATE sessions SET ended_at = CAST(?1 AS REAL), end_reason = 'session_switch' "
                   "WHERE id = ?2 AND (ended_at IS NULL OR end_reason IN ('agent_close', "
                   "'ws_orphan_reap'))",
                   TEXT(str_printf(a, "%.6f", clock_wall())), TEXT(id));
}

bool routing_needs_table(const SessionDb *s, Str home, Err *err)
{
    return s->routing ||
           err_set(err, ERR_REFUSED,
                   "the database of '%.*s' has no table gateway_routing: it is of an older Hermes; "
                   "update Hermes and start it once",
                   STR_FMT(home));
}

bool routing_leads_to(SessionDb *s, Arena *a, Str scope, Str key, Str *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    *ret = STR("");
    if (!s->routing || !key.n)
        return true;
    if (!db_query(s->db, &rows, err,
                  "SELECT entry_json FROM gateway_routing WHERE scope = ? AND session_key = ?",
                  TEXT(scope), TEXT(key)) ||
        !db_row(rows, &row, err))
        return false;
    if (row)
        *ret = routing_id_in(a, str_dup(a, row_text(rows, 0)));
    return true;
}

/* -- what was before -- */

static Str item(const PyValue *list, uint32_t at)
{
    return at < list->n && list->items[at].type == PY_STR ? list->items[at].text : STR_NONE;
}

static Peer peer_in(const PyValue *list)
{
    Peer peer;
    uint32_t at = 0;

#define X(name) peer.name = item(list, at++);
    PEER_COLUMNS(X)
#undef X
    return peer;
}

/* The columns of the session's row, and the key that leads to it: its own, unless that one has gone
 * on to another. */
typedef struct Before {
    Peer peer;
    Str led;
} Before;

static bool remember(SessionDb *s, Arena *a, Str id, Str scope, Str *ret, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_PLACE_BYTES), sql = BUF(LIMIT_PLACE_BYTES);
    AUTO(DbRows) *rows = NULL;
    PyValue list = { .type = PY_LIST };
    Str key, led;
    bool row;

    buf_addz(&sql, "SELECT ");
#define X(name) buf_addz(&sql, s->has_##name ? #name ", " : "NULL, ");
    PEER_COLUMNS(X)
#undef X
    buf_addz(&sql, "1 FROM sessions WHERE id = ?");
    if (!db_query_once(s->db, &rows, err, sql.p, TEXT(id)) || !db_row(rows, &row, err))
        return false;
    if (!row)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(id));
    list.items = ARENA_ARRAY(a, PyValue, 16);
#define X(name)                                                                                    \
    list.items[list.n] = row_text(rows, (int)list.n).p                                             \
                             ? (PyValue){ .type = PY_STR, .text = row_text(rows, (int)list.n) }    \
                             : (PyValue){ .type = PY_NULL };                                       \
    list.n++;
    PEER_COLUMNS(X)
#undef X
    key = peer_in(&list).session_key;
    if (!routing_leads_to(s, a, scope, key, &led, err))
        return false;
    list.items[list.n++] =
        str_eq(led, id) ? (PyValue){ .type = PY_STR, .text = key } : (PyValue){ .type = PY_NULL };
    pyjson_write(&out, &list);
    *ret = str_dup(a, buf_str(&out));
    return true;
}

bool routing_remember(OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Str id;

    if (!own_store_begin(own, err))
        return false;
    if (!own_store_end(
            own,
            sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) &&
                routing_needs_table(&s, h->home, err) &&
                remember(&s, a, h->session_id, routing_scope(a, h->home), &h->before_json, err) &&
                sessiondb_commit(&s, err),
            err) ||
        !routing_find(own, a, h->home, h->dest_key, &id, err))
        return false;
    h->prev_session_id = str_eq(id, h->session_id) ? STR("") : id;
    return true;
}

static bool recall_before(Arena *a, const Handoff *h, Before *ret, Err *err)
{
    PyValue list;

    if (!pyjson_read(a, h->before_json, &list) || list.type != PY_LIST)
        return err_set(err, ERR_CORRUPT, "handoff '%.*s' does not know what was before",
                       STR_FMT(h->id));
    *ret = (Before){ .peer = peer_in(&list), .led = item(&list, N_PEER_COLUMNS) };
    return true;
}

/* Where it was before its first journey: that is what a release gives back. */
static Str source_before(Arena *a, const Handoff *h)
{
    Before before;
    Err none;

    return recall_before(a, h, &before, &none) ? before.peer.source : STR_NONE;
}

/* -- binding -- */

static bool still_wanted(SessionDb *s, Arena *a, const Handoff *h, Err *err)
{
    ShownState shown;

    if (!h->mirrored)
        return true;
    if (!shown_get(s, a, h->session_id, &shown, err))
        return false;
    return shown_is(&shown, "running", h->platform) ||
           err_set(err, ERR_REFUSED, "the request was taken back");
}

bool routing_bind_session(SessionDb *s, Arena *a, Handoff *h, Str scope, Change *c, Err *err)
{
    ChatAddress place;
    Str prev;
    Peer peer;

    if (!address_parse(a, h->dest_source_json, &place, err) ||
        !routing_clear(s, a, scope, h->dest_key, h->session_id, &prev, &c->gone, &c->n_gone, err))
        return false;
    peer = peer_of(&place, h->dest_key, h->dest_source_json);
    c->key = h->dest_key;
    c->entry = routing_entry(a, h->dest_key, h->session_id, &place, clock_wall());
    if (prev.n && !str_eq(prev, h->session_id)) {
        h->prev_session_id = prev;
        if (!put_aside(s, a, prev, err))
            return false;
    }
    return routing_put(s, a, scope, h->dest_key, c->entry, err) && reopen(s, h->session_id, err) &&
           set_peers(s, a, h->session_id, &peer, err);
}

/* It may have gone elsewhere since that was remembered. Where its key leads here already, a worker
 * died after the home's commit: what was remembered before that counts. */
static bool remember_again(SessionDb *s, Arena *a, Handoff *h, Str scope, Err *err)
{
    Str now;

    return routing_leads_to(s, a, scope, h->dest_key, &now, err) &&
           (str_eq(now, h->session_id) ||
            remember(s, a, h->session_id, scope, &h->before_json, err));
}

static bool bind_rows(OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Str scope = routing_scope(a, h->home);
    Change change = { 0 };

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
        !still_wanted(&s, a, h, err) || !routing_is_there(own, a, h->dest_source_json, err) ||
        !routing_is_idle(&s, h->session_id, err) || !routing_needs_table(&s, h->home, err) ||
        !remember_again(&s, a, h, scope, err) ||
        !routing_bind_session(&s, a, h, scope, &change, err) ||
        !handoff_move(own, h, HANDOFF_BOUND, err) ||
        !owner_set(own, h->home, h->session_id, h->platform, source_before(a, h), err) ||
        !sessiondb_commit(&s, err))
        return false;
    routing_follow(a, &s, h->home, &change);
    return true;
}

static bool keep(OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    return handoff_get(own, a, h->id, h, err);
}

bool routing_bind(OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    Handoff next = *h;

    if (!own_store_begin(own, err) || !own_store_end(own, bind_rows(own, a, &next, err), err))
        return false;
    return keep(own, a, h, err);
}

/* -- undoing -- */

/* The key leads to what it led to before. */
static bool give_back(SessionDb *s, Arena *a, const Handoff *h, Str scope, Change *c, Err *err)
{
    int64_t n;
    ChatAddress place;

    c->gone = ARENA_ARRAY(a, Str, 1);
    c->gone[c->n_gone++] = h->dest_key;
    if (!h->prev_session_id.n)
        return routing_drop(s, scope, h->dest_key, err);
    if (!address_parse(a, h->dest_source_json, &place, err))
        return false;
    c->key = h->dest_key;
    c->entry = routing_entry(a, h->dest_key, h->prev_session_id, &place, clock_wall());
    return routing_put(s, a, scope, h->dest_key, c->entry, err) &&
           db_exec(s->db, &n, err,
                   "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ? AND "
                   "end_reason = 'session_switch'",
                   TEXT(h->prev_session_id));
}

/* What a session's row says once it is in no chat any more. */
static Peer peer_at_home(const SessionOwner *owner)
{
    return (Peer){ .source = owner->source.n ? owner->source : STR("cli") };
}

/* The session lives where it lived, unless somebody else does by now. *ret_surface: whose it is. */
static bool go_home(SessionDb *s, Arena *a, const Handoff *h, const SessionOwner *owner, Str scope,
                    Change *c, Str *ret_surface, Err *err)
{
    Before before;
    ChatAddress place;
    Str now;
    Err none;

    if (!recall_before(a, h, &before, err) || !routing_leads_to(s, a, scope, before.led, &now, err))
        return false;
    if (before.led.n && !now.n && address_parse(a, before.peer.origin_json, &place, &none)) {
        *ret_surface = before.peer.source;
        c->key = before.led;
        c->entry = routing_entry(a, before.led, h->session_id, &place, clock_wall());
        if (!routing_put(s, a, scope, c->key, c->entry, err))
            return false;
    } else if (before.led.n) {
        before.peer = peer_at_home(owner);
    }
    return set_peers(s, a, h->session_id, &before.peer, err);
}

static bool undo_rows(OwnStore *own, Arena *a, Handoff *h, HandoffState how, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Str scope = routing_scope(a, h->home), surface = STR("cli"), now;
    Change there = { 0 }, home = { 0 };
    SessionOwner owner;
    bool bound, won;

    /* The home's database counts: a worker may have died between that and the journal. */
    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
        !owner_get(own, a, h->home, h->session_id, &owner, err) ||
        !routing_leads_to(&s, a, scope, h->dest_key, &now, err))
        return false;
    bound = str_eq(now, h->session_id);
    if ((bound && (!give_back(&s, a, h, scope, &there, err) ||
                   !go_home(&s, a, h, &owner, scope, &home, &surface, err))) ||
        (h->mirrored &&
         !shown_fail(&s, h->session_id, h->platform, h->error_text, false, &won, err)) ||
        !handoff_move(own, h, how, err) ||
        ((bound || h->state >= HANDOFF_BOUND) &&
         !owner_set(own, h->home, h->session_id, surface, STR_NONE, err)) ||
        !sessiondb_commit(&s, err))
        return false;
    routing_follow(a, &s, h->home, &there);
    routing_follow(a, &s, h->home, &home);
    return true;
}

bool routing_undo(OwnStore *own, Arena *a, Handoff *h, HandoffState how, const char *code, Str why,
                  Err *err)
{
    bool ok;

    ASSERT(how == HANDOFF_FAILED || how == HANDOFF_CANCELLED);
    if (!own_store_begin(own, err))
        return false;
    ok = handoff_refresh(own, a, h, err);
    h->error_code = str_of(code);
    h->error_text = why;
    if (!own_store_end(own, ok && undo_rows(own, a, h, how, err), err))
        return false;
    return keep(own, a, h, err);
}

/* In our own home a session remembers in which chat it lived: /resume there finds it. Elsewhere a
 * gateway of others might take such a row for one that is still there. */
static bool leave_place(SessionDb *s, Arena *a, Str id, const SessionOwner *owner, Err *err)
{
    Peer peer = peer_at_home(owner);
    size_t n_parts;
    Str *parts;
    int64_t n;

    if (!s->ours)
        return set_peers(s, a, id, &peer, err);
    if (!lineage(s, a, id, &parts, &n_parts, err))
        return false;
    for (size_t i = 0; i < n_parts; i++)
        if (!db_exec(s->db, &n, err,
                     "UPDATE sessions SET source = ?, session_key = NULL WHERE id = ?",
                     TEXT(peer.source), TEXT(parts[i])))
            return false;
    return true;
}

static bool release_rows(OwnStore *own, Arena *a, Str home, Str session_id, bool must_rest,
                         bool *noted, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Change change = { 0 };
    SessionOwner owner;
    Str prev;

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), home, &s, err) ||
        (must_rest && !routing_is_idle(&s, session_id, err)) ||
        !owner_get(own, a, home, session_id, &owner, err) ||
        !routing_note(own, a, &s, session_id, &owner, noted, err))
        return false;
    if ((s.routing && !routing_clear(&s, a, routing_scope(a, home), STR(""), session_id, &prev,
                                     &change.gone, &change.n_gone, err)) ||
        !leave_place(&s, a, session_id, &owner, err) || !reopen(&s, session_id, err) ||
        !owner_set(own, home, session_id, STR("cli"), STR_NONE, err) || !sessiondb_commit(&s, err))
        return false;
    routing_follow(a, &s, home, &change);
    return true;
}

/* wished: by the place itself. */
static bool release_all(OwnStore *own, Arena *a, Str home, Str session_id, bool wished, Err *err)
{
    bool noted = wished;
    Str next;

    return release_rows(own, a, home, session_id, !wished, &noted, err) &&
           routing_goes_on_in(own, a, home, session_id, &next, err) &&
           (!next.n || release_rows(own, a, own_store_data(own), next, !wished, &noted, err));
}

bool routing_release(OwnStore *own, Str home, Str session_id, Err *err)
{
    AUTO(Arena) *a = arena_new();

    return own_store_begin(own, err) &&
           own_store_end(own, release_all(own, a, home, session_id, false, err), err);
}

bool routing_forget(OwnStore *own, Str home, Str session_id, Err *err)
{
    AUTO(Arena) *a = arena_new();

    return own_store_begin(own, err) &&
           own_store_end(own, release_all(own, a, home, session_id, true, err), err);
}

/* -- looking up -- */

bool routing_has_table(Str home, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Db) *db = db_open_read(str_z(a, str_join_path(a, home, STR("state.db"))), err);
    SessionDb s = { .db = db };

    return db && sessiondb_columns(&s, err) && routing_needs_table(&s, home, err);
}

bool routing_find(OwnStore *own, Arena *a, Str home, Str key, Str *ret_id, Err *err)
{
    AUTO(Db) *foreign = NULL;
    AUTO(DbRows) *rows = NULL;
    Db *db = own_store_db(own);
    bool row;

    if (!str_eq(home, own_store_data(own))) {
        foreign = db_open_read(str_z(a, str_join_path(a, home, STR("state.db"))), err);
        db = foreign;
    }
    if (!db || !db_query(db, &rows, err,
                         "SELECT entry_json FROM gateway_routing WHERE scope = ? AND session_key "
                         "= ?",
                         TEXT(routing_scope(a, home)), TEXT(key)))
        return false;
    if (!db_row(rows, &row, err))
        return false;
    *ret_id = row ? routing_id_in(a, str_dup(a, row_text(rows, 0))) : STR("");
    return true;
}
