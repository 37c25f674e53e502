/* The rows of the inbox. Ids are unique by an index, so a platform that repeats itself changes
 * nothing; what is open lies in a partial index, so that taking the next one costs the same whether
 * ten or a million lie behind it. */
#include "chat/inbox.h"

#include "base/clock.h"
#include "base/limits.h"
#include "store/db.h"
#include "text/utf8.h"

enum { FORGET_EVERY = 256 };

static const char *const names[] = {
#define X(id, name) [id] = name,
    INBOX_STATES(X)
#undef X
};

const char *inbox_state_name(InboxState s)
{
    return names[s];
}

/* -- putting -- */

/* The distance between the oldest open row and the newest one is a bound of how many are open, and
 * costs two looks at an index; they are counted only where it does not settle the matter. */
static bool check_room(Db *db, size_t n, Err *err)
{
    int64_t span, open;

    if (!db_get_int(
            db, 0, &span, err,
            "SELECT (SELECT max(seq) FROM inbox) - (SELECT min(seq) FROM inbox WHERE state IN "
            "('new', 'taken'))"))
        return false;
    if (span + (int64_t)n < LIMIT_INBOX)
        return true;
    if (!db_get_int(db, 0, &open, err,
                    "SELECT count(*) FROM inbox WHERE state IN ('new', 'taken')"))
        return false;
    return open + (int64_t)n <= LIMIT_INBOX ||
           err_set(err, ERR_BUSY, "%lld updates wait in the inbox", (long long)open);
}

/* Why nobody can read it; NULL: it may be read. */
static const char *unreadable(const InboxUpdate *u)
{
    if (u->json.n > LIMIT_UPDATE_BYTES)
        return "too long";
    return utf8_valid_prefix(u->json) < u->json.n ? "not UTF-8" : NULL;
}

static bool insert(Db *db, Str platform, const InboxUpdate *u, size_t *new, Err *err)
{
    const char *why = unreadable(u);
    int64_t n;

    if (!db_exec(db, &n, err,
                 "INSERT OR IGNORE INTO inbox(platform, id, update_json, state, reason, "
                 "received_ms, updated_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                 TEXT(platform), SOME(u->id), SOME(why ? STR("") : u->json),
                 TEXT(str_of(names[why ? INBOX_IGNORED : INBOX_NEW])), TEXT(str_of(why)),
                 INT(clock_wall_ms())))
        return false;
    *new += (size_t)n;
    return true;
}

static bool put_all(OwnStore *own, Str platform, const InboxUpdate *all, size_t n, Str cursor,
                    size_t *new, Err *err)
{
    Db *db = own_store_db(own);

    if (!check_room(db, n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!insert(db, platform, &all[i], new, err))
            return false;
    return !cursor.n || db_exec(db, NULL, err,
                                "INSERT INTO platform_state(platform, cursor) VALUES(?1, ?2) ON "
                                "CONFLICT DO UPDATE SET cursor = ?2",
                                TEXT(platform), TEXT(cursor));
}

bool inbox_put(OwnStore *own, Str platform, const InboxUpdate *all, size_t n, Str cursor,
               size_t *ret_new, Err *err)
{
    size_t new = 0;

    if (!own_store_begin(own, err) ||
        !own_store_end(own, put_all(own, platform, all, n, cursor, &new, err), err))
        return false;
    *ret_new = new;
    return true;
}

bool inbox_cursor(OwnStore *own, Arena *a, Str platform, Str *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT cursor FROM platform_state WHERE platform = ?", TEXT(platform)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = row ? str_dup(a, row_text(rows, 0)) : STR("");
    return true;
}

/* -- reading -- */

#define COLUMNS                                                                                    \
    "seq, attempt, received_ms, state, platform, id, update_json, coalesce(run_id, ''), "          \
    "coalesce(reason, ''), retried"

static InboxRow read_row(Arena *a, DbRows *rows)
{
    InboxRow r = { .seq = row_int(rows, 0),
                   .attempt = row_int(rows, 1),
                   .received_ms = row_int(rows, 2),
                   .platform = str_dup(a, row_text(rows, 4)),
                   .id = str_dup(a, row_text(rows, 5)),
                   .json = str_dup(a, row_text(rows, 6)),
                   .run_id = str_dup(a, row_text(rows, 7)),
                   .reason = str_dup(a, row_text(rows, 8)),
                   .retried = row_int(rows, 9) };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(row_text(rows, 3), names[i]))
            r.state = (InboxState)i;
    return r;
}

static bool read_all(Arena *a, DbRows *rows, InboxRow **ret, size_t *ret_n, Err *err)
{
    InboxRow *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    while (db_next(rows, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, rows));
    *ret = all;
    *ret_n = n;
    return ok;
}

bool inbox_new_after(OwnStore *own, Arena *a, int64_t after, size_t max, InboxRow **ret,
                     size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT " COLUMNS " FROM inbox WHERE state IN ('new', 'taken') AND state = "
                  "'new' AND seq > ? ORDER BY seq LIMIT ?",
                  INT(after), INT(max)))
        return false;
    return read_all(a, rows, ret, ret_n, err);
}

bool inbox_new(OwnStore *own, Arena *a, size_t max, InboxRow **ret, size_t *ret_n, Err *err)
{
    return inbox_new_after(own, a, 0, max, ret, ret_n, err);
}

bool inbox_list(OwnStore *own, Arena *a, InboxState state, size_t max, InboxRow **ret,
                size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT " COLUMNS " FROM inbox WHERE state = ? ORDER BY seq DESC LIMIT ?",
                  TEXT(str_of(names[state])), INT(max)))
        return false;
    return read_all(a, rows, ret, ret_n, err);
}

bool inbox_waiting(OwnStore *own, Str platform, size_t *ret, int64_t *ret_oldest_ms, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT count(*), coalesce(min(received_ms), 0) FROM inbox WHERE state IN "
                  "('new', 'taken') AND ?1 IN ('', platform)",
                  TEXT(platform.n ? platform : STR(""))) ||
        !db_row(rows, &row, err))
        return false;
    *ret = (size_t)row_int(rows, 0);
    *ret_oldest_ms = row_int(rows, 1);
    return true;
}

/* -- moving -- */

/* sql: ?1 now, ?2 a number, ?3 a text. *ret: how many rows it changed. */
static bool change(OwnStore *own, const char *sql, int64_t number, Str text, size_t *ret, Err *err)
{
    int64_t n;

    if (!db_exec_once(own_store_db(own), &n, err, sql, INT(clock_wall_ms()), INT(number),
                      TEXT(text)))
        return false;
    *ret = (size_t)n;
    return true;
}

static bool change_one(OwnStore *own, const char *sql, int64_t seq, Str text, const char *wanted,
                       Err *err)
{
    size_t n;

    if (!change(own, sql, seq, text, &n, err))
        return false;
    return n == 1 || err_set(err, ERR_CONFLICT, "update %lld is not %s", (long long)seq, wanted);
}

bool inbox_take(OwnStore *own, int64_t seq, Err *err)
{
    return change_one(own,
                      "UPDATE inbox SET state = 'taken', attempt = attempt + 1, updated_ms = ?1 "
                      "WHERE seq = ?2 AND state = 'new'",
                      seq, STR_NONE, names[INBOX_NEW], err);
}

bool inbox_put_back(OwnStore *own, int64_t seq, Err *err)
{
    return change_one(own,
                      "UPDATE inbox SET state = 'new', attempt = attempt - 1, updated_ms = ?1 "
                      "WHERE seq = ?2 AND state = 'taken'",
                      seq, STR_NONE, names[INBOX_TAKEN], err);
}

bool inbox_began(OwnStore *own, int64_t seq, Str run_id, Err *err)
{
    return change_one(own,
                      "UPDATE inbox SET run_id = ?3, updated_ms = ?1 WHERE seq = ?2 AND state = "
                      "'taken'",
                      seq, run_id, names[INBOX_TAKEN], err);
}

static const char *end_sql(InboxState how)
{
    switch (how) {
    case INBOX_DONE:
        return "UPDATE inbox SET state = 'done', reason = nullif(?3, ''), updated_ms = ?1 WHERE "
               "seq = ?2 AND state IN ('new', 'taken')";
    case INBOX_IGNORED:
        return "UPDATE inbox SET state = 'ignored', update_json = '', reason = ?3, updated_ms = ?1 "
               "WHERE seq = ?2 AND state IN ('new', 'taken')";
    default:
        return "UPDATE inbox SET state = 'parked', reason = ?3, updated_ms = ?1 WHERE seq = ?2 "
               "AND state IN ('new', 'taken')";
    }
}

/* What was not for us is remembered by its id alone, and not for ever: who writes it is a
 * stranger. */
static bool forget_ignored(OwnStore *own, Err *err)
{
    size_t gone;

    return change(own,
                  "DELETE FROM inbox WHERE state = 'ignored' AND seq <= (SELECT seq FROM inbox "
                  "WHERE state = 'ignored' AND ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)",
                  LIMIT_INBOX_IGNORED, STR_NONE, &gone, err);
}

bool inbox_end(OwnStore *own, int64_t seq, InboxState how, Str reason, Err *err)
{
    ASSERT(how == INBOX_DONE || how == INBOX_IGNORED || how == INBOX_PARKED);
    if (!change_one(own, end_sql(how), seq, reason.n ? reason : STR(""), "open", err))
        return false;
    return how != INBOX_IGNORED || seq % FORGET_EVERY != 0 || forget_ignored(own, err);
}

bool inbox_retry(OwnStore *own, int64_t seq, Err *err)
{
    return change_one(
        own,
        "UPDATE inbox SET state = 'new', attempt = 0, retried = retried + 1, reason = "
        "NULL, updated_ms = ?1 WHERE seq = ?2 AND state = 'parked'",
        seq, STR_NONE, names[INBOX_PARKED], err);
}

/* -- keeping house -- */

static bool recover(OwnStore *own, size_t *again, size_t *parked, Err *err)
{
    return change(own,
                  "UPDATE inbox SET state = 'parked', updated_ms = ?1, reason = 'the gateway '"
                  "|| 'ended ' || attempt || ' times while it was at it' WHERE state IN ('new', "
                  "'taken') AND state = 'taken' AND attempt >= ?2",
                  INBOX_TRIES, STR_NONE, parked, err) &&
           change(own,
                  "UPDATE inbox SET state = 'new', updated_ms = ?1 WHERE state IN ('new', "
                  "'taken') AND state = 'taken'",
                  0, STR_NONE, again, err);
}

bool inbox_recover(OwnStore *own, size_t *ret_again, size_t *ret_parked, Err *err)
{
    size_t again = 0, parked = 0;

    if (!own_store_begin(own, err) || !own_store_end(own, recover(own, &again, &parked, err), err))
        return false;
    *ret_again = again;
    *ret_parked = parked;
    return true;
}

bool inbox_prune(OwnStore *own, Err *err)
{
    size_t gone;

    return change(own,
                  "DELETE FROM inbox WHERE state IN ('done', 'ignored') AND updated_ms < ?1 - ?2",
                  (int64_t)LIMIT_INBOX_KEEP_DAYS * 24 * 3600 * 1000, STR_NONE, &gone, err) &&
           /* Earlier versions kept their text. */
           change(own,
                  "UPDATE inbox SET update_json = '' WHERE state = 'ignored' AND update_json <> '' "
                  "AND ?1",
                  0, STR_NONE, &gone, err) &&
           forget_ignored(own, err);
}
