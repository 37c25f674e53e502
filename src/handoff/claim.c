/* Who does it: what can be claimed, claiming, cancelling. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "handoff/copy.h"
#include "handoff/handoff.h"
#include "handoff/session_db.h"

/* A worker that died is followed by the next one so soon after its lease. */
enum { FOLLOWED_MS = 5000 };

static bool is_served(Str platform, const Str *served, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(served[i], platform))
            return true;
    return false;
}

/* -- claiming -- */

/* A time further ahead than anybody ever waits is of a clock that was wrong. */
static bool is_past(int64_t at, int64_t now)
{
    return at <= now || at > now + LIMIT_LONGEST_WAIT_MS;
}

static bool may_claim(const Handoff *h, int64_t now)
{
    if (handoff_is_over(h->state) || !is_past(h->not_before_ms, now) || h->copy_id.n)
        return false;
    return h->state == HANDOFF_QUEUED || is_past(h->lease_ms, now);
}

/* It ends now, not long ago: words that come in meanwhile still wait for the session
 * (handoff_is_coming). */
bool handoff_recover(OwnStore *own, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE handoff SET lease_ms = ?1 WHERE lease_ms > ?1 AND copy_id IS NULL AND "
                   "state IN ('claimed', 'prepared', 'bound', 'announced')",
                   INT(clock_wall_ms()));
}

static bool take(OwnStore *own, const Handoff *h, Str owner, int64_t until, Err *err)
{
    HandoffState to = h->state == HANDOFF_QUEUED ? HANDOFF_CLAIMED : h->state;
    int64_t n_changed;

    if (!db_exec(own_store_db(own), &n_changed, err,
                 "UPDATE handoff SET owner = ?, lease_ms = ?, fence = fence + 1, attempt = "
                 "attempt + 1, step = CASE state WHEN 'queued' THEN 'prepare' ELSE step END, "
                 "state = ?, updated_ms = ? WHERE id = ? AND state = ? AND fence = ?",
                 TEXT(owner), INT(until), TEXT(str_of(handoff_state_name(to))),
                 INT(clock_wall_ms()), TEXT(h->id), TEXT(str_of(handoff_state_name(h->state))),
                 INT(h->fence)))
        return false;
    return n_changed == 1 ||
           err_set(err, ERR_CONFLICT, "handoff '%.*s' is no longer ours", STR_FMT(h->id));
}

/* The claim that other gateways see comes first. Where it is lost, what they made of it counts at
 * once. A look comes before it: to ask for the write lock in vain would hold up whoever has the
 * session. */
static bool claim_rows(OwnStore *own, Arena *a, Handoff *h, Str owner, int64_t until, bool *ret_won,
                       Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    ShownState shown;

    *ret_won = true;
    if (h->mirrored && h->state == HANDOFF_QUEUED) {
        if (!shown_look(own_store_db(own), own_store_data(own), a, h->home, h->session_id, &shown,
                        err))
            return false;
        *ret_won = shown_is(&shown, "pending", h->platform);
        if (*ret_won &&
            (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
             !shown_claim(&s, h->session_id, h->platform, ret_won, err) ||
             (!*ret_won && !shown_get(&s, a, h->session_id, &shown, err))))
            return false;
        if (!*ret_won)
            return handoff_settle(own, a, h, &shown, err);
    }
    return take(own, h, owner, until, err) && sessiondb_commit(&s, err);
}

bool handoff_claim(OwnStore *own, Arena *a, Str id, Str owner, int64_t lease_ms, Handoff *ret,
                   bool *ret_won, Err *err)
{
    int64_t now = clock_wall_ms();
    bool ok, won = false;
    Handoff h;

    if (!own_store_begin(own, err))
        return false;
    ok = handoff_get(own, a, id, &h, err);
    if (ok && may_claim(&h, now))
        ok = claim_rows(own, a, &h, owner, now + lease_ms, &won, err);
    if (!own_store_end(own, ok, err) || (won && !handoff_get(own, a, id, &h, err)))
        return false;
    if (won)
        *ret = h;
    *ret_won = won;
    return true;
}

/* -- what is to be done -- */

static bool expire(OwnStore *own, Handoff *h, Err *err)
{
    return handoff_fail(own, h, HANDOFF_FAILED, "timeout", STR("no gateway claimed it in time"),
                        err);
}

bool handoff_pending(OwnStore *own, Arena *a, const Str *served, size_t n_served, Handoff **ret,
                     size_t *ret_n, Err *err)
{
    int64_t now = clock_wall_ms();
    size_t cap = 0, n = 0;
    Handoff *all = NULL;
    AUTO(DbRows) *rows = NULL;
    bool ok;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT id FROM handoff WHERE state IN ('queued', 'claimed', 'prepared', "
                  "'bound', 'announced') ORDER BY requested_ms, id"))
        return false;
    while (db_next(rows, &ok, err)) {
        Handoff h;

        if (!handoff_get(own, a, str_dup(a, row_text(rows, 0)), &h, err))
            return false;
        ARENA_PUSH(a, all, n, cap, h);
    }
    if (!ok)
        return false;
    *ret_n = 0;
    for (size_t i = 0; i < n; i++) {
        Err why;

        if (all[i].state == HANDOFF_QUEUED && is_past(all[i].deadline_ms, now)) {
            if (!expire(own, &all[i], &why))
                log_debug("handoff '%.*s': %s", STR_FMT(all[i].id), why.text);
        } else if (may_claim(&all[i], now) && is_served(all[i].platform, served, n_served)) {
            all[(*ret_n)++] = all[i];
        }
    }
    *ret = all;
    return true;
}

bool handoff_is_coming(OwnStore *own, Str platform, Str key, Str thread, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM handoff WHERE state IN ('claimed', 'prepared') AND platform = "
                    "?1 AND (dest_key = ?2 OR (?3 <> '' AND (thread_ref = ?3 OR (thread_ref IS "
                    "NULL AND lease_ms > ?4)))) LIMIT 1",
                    TEXT(platform), TEXT(key), TEXT(thread.n ? thread : STR("")),
                    INT(clock_wall_ms() - FOLLOWED_MS)) &&
           db_row(rows, ret, err);
}

bool handoff_open_count(OwnStore *own, size_t *ret, Err *err)
{
    int64_t n;

    if (!db_get_int(own_store_db(own), 0, &n, err,
                    "SELECT count(*) FROM handoff WHERE state IN ('queued', 'claimed', 'prepared', "
                    "'bound', 'announced')"))
        return false;
    *ret = (size_t)n;
    return true;
}

/* -- cancelling -- */

static bool ask_to_leave(OwnStore *own, const Handoff *h, Err *err)
{
    if (h->state > HANDOFF_PREPARED)
        return err_set(err, ERR_CONFLICT,
                       "the session has moved to %.*s; 'handoff back' brings it back",
                       STR_FMT(h->platform));
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE handoff SET cancel = 1 WHERE id = ? AND state = ?", TEXT(h->id),
                   TEXT(str_of(handoff_state_name(h->state))));
}

static bool cancel_rows(OwnStore *own, Handoff *h, bool *ret_over, Err *err)
{
    AUTO_SESSIONDB s = { 0 };
    bool won = true;

    *ret_over = false;
    if (h->state != HANDOFF_QUEUED && !h->copy_id.n)
        return ask_to_leave(own, h, err);
    h->error_code = STR("cancelled");
    h->error_text = STR("cancelled before a gateway took it");
    if (h->copy_id.n) {
        if (!copy_withdraw(own, h, err) || !copy_stays(own, h, err))
            return false;
    } else if (h->mirrored) {
        if (!sessiondb_begin(own_store_db(own), own_store_data(own), h->home, &s, err) ||
            !shown_fail(&s, h->session_id, h->platform, h->error_text, true, &won, err))
            return false;
        if (!won)
            return err_set(err, ERR_CONFLICT, "a gateway has taken it already");
    }
    *ret_over = true;
    return handoff_move(own, h, HANDOFF_CANCELLED, err) && sessiondb_commit(&s, err);
}

bool handoff_cancel(OwnStore *own, Str id, bool *ret_over, Err *err)
{
    AUTO(Arena) *a = arena_new();
    bool ok, over = false;
    Handoff h;

    if (!own_store_begin(own, err))
        return false;
    ok = handoff_get(own, a, id, &h, err);
    if (ok && handoff_is_over(h.state))
        ok = err_set(err, ERR_CONFLICT, "handoff '%.*s' is over: %s", STR_FMT(id),
                     handoff_state_name(h.state));
    ok = ok && cancel_rows(own, &h, &over, err);
    if (!own_store_end(own, ok, err))
        return false;
    *ret_over = over;
    return true;
}
