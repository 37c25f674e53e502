/* Requests that other programs wrote into a session's own row, and what other gateways make of
 * ours. The row has one state and one platform, and whoever wrote last is right: what the journal
 * has queued for an older request is over. */
#include "base/clock.h"
#include "base/limits.h"
#include "handoff/copy.h"
#include "handoff/handoff.h"
#include "handoff/routing.h"
#include "handoff/session_db.h"

/* -- what others made of it -- */

/* A gateway of Hermes has it, or nobody has yet. */
static bool is_open(const Handoff *h, const ShownState *shown)
{
    return shown_is(shown, "pending", h->platform) || shown_is(shown, "running", h->platform);
}

bool handoff_settle(OwnStore *own, Arena *a, Handoff *h, const ShownState *shown, Err *err)
{
    bool same = str_eq(shown->platform, h->platform);

    if (is_open(h, shown))
        return true;
    h->error_code = h->error_text = STR_NONE;
    if (shown_is(shown, "completed", h->platform))
        return handoff_move(own, h, HANDOFF_DONE, err);
    /* A gateway of Hermes may fail after it has bound the session: then that chat continues it. */
    if (shown_is(shown, "failed", h->platform) && shown->key.n &&
        str_eq(shown->source, h->platform)) {
        h->error_code = STR(HANDOFF_LATE);
        h->error_text = shown->error.n ? shown->error : STR("the gateway gave up");
        return handoff_move(own, h, HANDOFF_FAILED, err) &&
               owner_set(own, h->home, h->session_id, h->platform, STR("cli"), err);
    }
    h->error_code = STR("withdrawn");
    h->error_text = same && shown->error.n ? shown->error
                    : same || !shown->platform.n
                        ? STR("the request was taken back")
                        : str_printf(a, "replaced by a request for %.*s", STR_FMT(shown->platform));
    return handoff_move(own, h, HANDOFF_FAILED, err);
}

static bool is_followed(const Handoff *h)
{
    return h->copy_id.n ? !handoff_is_over(h->state) : h->mirrored && h->state == HANDOFF_QUEUED;
}

bool handoff_make_way(OwnStore *own, Arena *a, Str home, Str session_id, const ShownState *shown,
                      Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Handoff h;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT id FROM handoff WHERE home = ? AND session_id = ? AND state = 'queued'",
                  TEXT(home), TEXT(session_id)) ||
        !db_row(rows, &row, err))
        return false;
    return !row || (handoff_get(own, a, str_dup(a, row_text(rows, 0)), &h, err) &&
                    (h.copy_id.n || !is_followed(&h) || handoff_settle(own, a, &h, shown, err)));
}

static bool look(OwnStore *own, Arena *a, const Handoff *h, ShownState *ret, Err *err)
{
    return shown_look(own_store_db(own), own_store_data(own), a, h->home, h->session_id, ret, err);
}

/* Under our lock: nothing of ours is under way there meanwhile. */
static bool follow(OwnStore *own, Arena *a, Str id, Err *err)
{
    ShownState shown;
    Handoff h;

    if (!handoff_get(own, a, id, &h, err))
        return false;
    if (!is_followed(&h))
        return true;
    if (h.copy_id.n)
        return copy_follow(own, a, &h, err);
    return look(own, a, &h, &shown, err) && handoff_settle(own, a, &h, &shown, err);
}

bool handoff_look(OwnStore *own, Arena *a, Str id, Handoff *ret, Err *err)
{
    ShownState shown;
    bool late;
    Handoff h;

    if (!handoff_get(own, a, id, &h, err))
        return false;
    late = clock_wall_ms() > h.deadline_ms;
    if (is_followed(&h)) {
        if (!h.copy_id.n && !late) {
            if (!look(own, a, &h, &shown, err))
                return false;
            if (is_open(&h, &shown)) {
                *ret = h;
                return true;
            }
        }
        if (!own_store_begin(own, err) || !own_store_end(own, follow(own, a, id, err), err) ||
            !handoff_get(own, a, id, &h, err))
            return false;
    }
    if (late && is_followed(&h) && !h.copy_id.n &&
        !handoff_fail(own, &h, HANDOFF_FAILED, "timeout", STR("no gateway finished it in time"),
                      err))
        return false;
    *ret = h;
    return true;
}

/* -- requests of others -- */

typedef struct Request {
    Str session_id, platform;
} Request;

static bool is_served(Str platform, const Str *served, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(served[i], platform))
            return true;
    return false;
}

/* One of ours is open for the same platform: then it is this request, or comes before it. */
static bool is_known(OwnStore *own, Str home, const Request *r, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM handoff WHERE home = ? AND session_id = ? AND platform = ? AND "
                    "state NOT IN ('done', 'failed', 'cancelled')",
                    TEXT(home), TEXT(r->session_id), TEXT(r->platform)) &&
           db_row(rows, ret, err);
}

static bool find_requests(OwnStore *own, Arena *a, Db *db, Str home, const Str *served,
                          size_t n_served, Request **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    size_t cap = 0;
    bool ok;

    if (!db_query(db, &rows, err,
                  "SELECT id, handoff_platform FROM sessions WHERE handoff_state = 'pending' "
                  "ORDER BY started_at LIMIT 1000"))
        return false;
    while (db_next(rows, &ok, err)) {
        Request r = { row_text(rows, 0), row_text(rows, 1) };
        bool known;

        if (!is_served(r.platform, served, n_served))
            continue;
        if (!is_known(own, home, &r, &known, err))
            return false;
        if (known)
            continue;
        r = (Request){ str_dup(a, r.session_id), str_dup(a, r.platform) };
        ARENA_PUSH(a, *ret, *ret_n, cap, r);
    }
    return ok;
}

/* INSERT OR IGNORE: where a handoff of the session is open already, this request has to wait for
 * its end. */
static bool insert_request(OwnStore *own, Str home, const Request *r, Err *err)
{
    char id[ULID_CHARS];
    int64_t now = clock_wall_ms();

    ulid_make(now, id);
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT OR IGNORE INTO handoff(id, home, session_id, platform, target, "
                   "mirrored, state, step, requested_ms, deadline_ms, updated_ms) "
                   "VALUES(?1, ?2, ?3, ?4, 'home', 1, 'queued', 'claim', ?5, ?6, ?5)",
                   TEXT(str_of(id)), TEXT(home), TEXT(r->session_id), TEXT(r->platform), INT(now),
                   INT(now + LIMIT_HANDOFF_MS));
}

/* Looked at again under our lock: while we waited for it, a worker of ours may have brought that
 * very request to its end, or its waiter may have asked for another platform. */
static bool adopt_one(OwnStore *own, Arena *a, SessionDb *s, Str home, const Request *r, Err *err)
{
    ShownState shown;

    if (!shown_get(s, a, r->session_id, &shown, err))
        return false;
    return !shown_is(&shown, "pending", r->platform) ||
           (handoff_make_way(own, a, home, r->session_id, &shown, err) &&
            insert_request(own, home, r, err));
}

static bool adopt_all(OwnStore *own, Arena *a, SessionDb *s, Str home, const Request *all, size_t n,
                      Err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!adopt_one(own, a, s, home, &all[i], err))
            return false;
    return true;
}

bool handoff_adopt(OwnStore *own, Str home, const Str *served, size_t n_served, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Db) *db = db_open_read(str_z(a, str_join_path(a, home, STR("state.db"))), err);
    SessionDb s = { .db = db };
    Request *all = NULL;
    size_t n = 0;

    if (!db || !sessiondb_columns(&s, err))
        return false;
    if (!s.handoff)
        return true;
    if (!find_requests(own, a, db, home, served, n_served, &all, &n, err))
        return false;
    return n == 0 || (own_store_begin(own, err) &&
                      own_store_end(own, adopt_all(own, a, &s, home, all, n, err), err));
}
