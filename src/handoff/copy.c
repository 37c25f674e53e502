/* The life of a copy. It is looked at by reading handles: a question is not to hold up the gateway
 * that is to answer it. Writing one is copy_write.c's. */
#include "handoff/copy.h"

#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "handoff/routing.h"
#include "handoff/routing_inside.h"
#include "handoff/session_db.h"

/* -- asking -- */

/* As Hermes' terminals name theirs. */
static Str new_name(Arena *a)
{
    time_t now = (time_t)clock_wall();
    uint8_t random[3];
    struct tm tm;

    ASSERT(getrandom(random, sizeof random, 0) == sizeof random);
    localtime_r(&now, &tm);
    return str_printf(a, "%04d%02d%02d_%02d%02d%02d_%02x%02x%02x", tm.tm_year + 1900, tm.tm_mon + 1,
                      tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, random[0], random[1],
                      random[2]);
}

static bool is_here(OwnStore *own, Arena *a, const HandoffRequest *request, Err *err)
{
    SessionOwner owner;

    if (!owner_get(own, a, request->home, request->session_id, &owner, err))
        return false;
    return !owner.surface.n || str_eqz(owner.surface, "cli") ||
           err_set(err, ERR_CONFLICT,
                   "session '%.*s' continues in the %.*s chat; run 'talaria handoff back --session "
                   "%.*s' to bring it back",
                   STR_FMT(request->session_id), STR_FMT(owner.surface),
                   STR_FMT(request->session_id));
}

bool copy_request(OwnStore *own, Arena *a, const HandoffRequest *request, const char *id, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Str source;

    ASSERT(str_eq(request->home, own_store_data(own)));
    return sessiondb_begin(own_store_db(own), own_store_data(own), request->home, &s, err) &&
           routing_source(&s, a, request->session_id, &source, err) &&
           handoff_insert(own, request, true, id, new_name(a), err) &&
           is_here(own, a, request, err) && routing_is_idle(&s, request->session_id, err) &&
           owner_set(own, request->home, request->session_id, request->platform, source, err);
}

bool copy_find(OwnStore *own, Arena *a, Str home, Str session_id, Handoff *ret, bool *ret_lent,
               Err *err)
{
    SessionOwner owner;
    Handoff *all;
    size_t n;

    if (!handoff_list(own, a, home, session_id, 1, &all, &n, err) ||
        !owner_get(own, a, home, session_id, &owner, err))
        return false;
    *ret_lent = n && all->copy_id.n && owner.surface.n && !str_eqz(owner.surface, "cli") &&
                (all->state == HANDOFF_DONE || !handoff_is_over(all->state));
    if (*ret_lent)
        *ret = *all;
    return true;
}

bool copy_stays(OwnStore *own, const Handoff *h, Err *err)
{
    return owner_set(own, h->home, h->session_id, STR("cli"), STR_NONE, err);
}

/* -- looking -- */

typedef struct Seen {
    ShownState shown;
    Str key; /* that leads to it; empty: none does */
} Seen;

static bool look(SessionDb *s, Arena *a, Str id, Seen *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row = false;

    ret->key = STR("");
    if (!shown_get(s, a, id, &ret->shown, err))
        return false;
    if (!s->has_session_key)
        return true;
    if (!db_query(s->db, &rows, err, "SELECT session_key FROM sessions WHERE id = ?", TEXT(id)) ||
        !db_row(rows, &row, err))
        return false;
    if (row && row_text(rows, 0).n)
        ret->key = str_dup(a, row_text(rows, 0));
    return true;
}

/* A database that is gone has no copy. */
static bool look_only(const Handoff *h, Arena *a, Seen *ret, Err *err)
{
    AUTO(Db) *db = db_open_read(str_z(a, str_join_path(a, h->copy_home, STR("state.db"))), err);
    SessionDb s = { .db = db };

    *ret = (Seen){ .key = STR("") };
    if (!db)
        return err->kind == ERR_NOT_FOUND;
    return sessiondb_columns(&s, err) && look(&s, a, h->copy_id, ret, err);
}

/* -- taking it out again -- */

static bool take_out(SessionDb *s, const Handoff *h, Err *err)
{
    int64_t n;

    return db_exec(s->db, &n, err, "DELETE FROM messages WHERE session_id = ?", TEXT(h->copy_id)) &&
           db_exec(s->db, &n, err, "DELETE FROM sessions WHERE id = ?", TEXT(h->copy_id));
}

/* Under Hermes' lock: a gateway may have been faster than the look before. */
static bool withdraw(OwnStore *own, Arena *a, const Handoff *h, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Seen seen;

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->copy_home, &s, err) ||
        !look(&s, a, h->copy_id, &seen, err))
        return false;
    if (!seen.shown.exists)
        return true;
    if (str_eqz(seen.shown.state, "running") || str_eqz(seen.shown.state, "completed"))
        return err_set(err, ERR_CONFLICT, "a gateway has taken it already");
    /* Where a chat leads to it, it stays: somebody may have spoken there. */
    return seen.key.n || (take_out(&s, h, err) && sessiondb_commit(&s, err));
}

bool copy_withdraw(OwnStore *own, const Handoff *h, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Seen seen;

    return look_only(h, a, &seen, err) && (!seen.shown.exists || withdraw(own, a, h, err));
}

/* -- following -- */

static bool end_here(OwnStore *own, Handoff *h, const char *code, Str why, Err *err)
{
    h->error_code = str_of(code);
    h->error_text = why;
    return handoff_move(own, h, HANDOFF_FAILED, err) && copy_withdraw(own, h, err) &&
           copy_stays(own, h, err);
}

/* A gateway that has it and does not come to an end: what it may still do to its copy is its own
 * affair. */
static bool give_up(OwnStore *own, Handoff *h, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    bool won;

    h->error_code = STR("timeout");
    h->error_text = STR("no gateway finished it in time");
    return sessiondb_begin(own_store_db(own), own_store_data(own), h->copy_home, &s, err) &&
           shown_fail(&s, h->copy_id, h->platform, h->error_text, false, &won, err) &&
           handoff_move(own, h, HANDOFF_FAILED, err) && copy_stays(own, h, err) &&
           sessiondb_commit(&s, err);
}

static bool follow_absent(OwnStore *own, Handoff *h, Err *err)
{
    if (clock_wall_ms() < h->requested_ms + LIMIT_HANDOFF_COPY_MS)
        return true;
    return end_here(own, h, "withdrawn", STR("its copy in Hermes' database is not there"), err);
}

/* The conversation counts once: from now on as Hermes' session, until it comes back. Whether its
 * user had put ours aside stands in before_json. */
static bool arrived(OwnStore *own, Handoff *h, Str key, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    AUTO(DbRows) *rows = NULL;
    bool row;

    h->error_code = h->error_text = STR_NONE;
    h->dest_key = key;
    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
        !db_query(s.db, &rows, err, "SELECT archived FROM sessions WHERE id = ?",
                  TEXT(h->session_id)))
        return false;
    if (!db_row(rows, &row, err))
        return false;
    h->before_json = row && row_bool(rows, 0) ? STR(COPY_OF_ARCHIVED) : STR("{}");
    return db_exec(s.db, NULL, err, "UPDATE sessions SET archived = 1 WHERE id = ?",
                   TEXT(h->session_id)) &&
           handoff_move(own, h, HANDOFF_DONE, err) && sessiondb_commit(&s, err);
}

bool copy_follow(OwnStore *own, Arena *a, Handoff *h, Err *err)
{
    bool late = clock_wall_ms() > h->deadline_ms;
    Seen seen;

    if (!look_only(h, a, &seen, err))
        return false;
    if (!seen.shown.exists)
        return follow_absent(own, h, err);
    if (str_eqz(seen.shown.state, "completed"))
        return arrived(own, h, seen.key, err);
    if (str_eqz(seen.shown.state, "running") && late)
        return give_up(own, h, err);
    if (str_eqz(seen.shown.state, "running"))
        return h->state != HANDOFF_QUEUED || handoff_move(own, h, HANDOFF_CLAIMED, err);
    if (str_eqz(seen.shown.state, "pending"))
        return !late || end_here(own, h, "timeout", STR("no gateway claimed it in time"), err);
    return end_here(own, h, seen.key.n ? HANDOFF_COPY_STAYS : "withdrawn",
                    seen.shown.error.n ? seen.shown.error : STR("the request was taken back"), err);
}

/* -- coming back -- */

static bool put_aside(SessionDb *s, Arena *a, Str id, Err *err)
{
    bool archived = db_has_column(s->db, "sessions", "archived");
    int64_t n;

    return (!archived ||
            db_exec(s->db, &n, err, "UPDATE sessions SET archived = 1 WHERE id = ?", TEXT(id))) &&
           db_exec(s->db, &n, err,
                   "UPDATE sessions SET ended_at = CAST(?1 AS REAL), end_reason = 'session_switch' "
                   "WHERE id = ?2 AND ended_at IS NULL",
                   TEXT(str_printf(a, "%.6f", clock_wall())), TEXT(id));
}

/* A gateway of Hermes goes by the table in its memory, and by the session's own row: one that was
 * ended for a new one is not spoken to again. */
bool copy_end(OwnStore *own, Arena *a, const Handoff *h, const Str *parts, size_t n, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    Str scope = routing_scope(a, h->copy_home), prev;
    Change *changes = ARENA_ARRAY(a, Change, n + 1);

    if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->copy_home, &s, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!put_aside(&s, a, parts[i], err) ||
            (s.routing && !routing_clear(&s, a, scope, STR(""), parts[i], &prev, &changes[i].gone,
                                         &changes[i].n_gone, err)))
            return false;
    if (!sessiondb_commit(&s, err))
        return false;
    for (size_t i = 0; i < n; i++)
        routing_follow(a, &s, h->copy_home, &changes[i]);
    return true;
}
