/* Who may send a row is said by its time: taking it moves that time on, so a sender that died is
 * followed by the next one when it has come. A row keeps those behind it waiting as long as it
 * waits itself, so whoever takes one looks in the same statement whether it is the first of its
 * place. */
#include "chat/outbox.h"

#include "base/clock.h"
#include "base/limits.h"
#include "chat/topics.h"
#include "store/db.h"

static const char *const states[] = {
#define X(id, name) name,
    OUTBOX_STATES(X)
#undef X
};

/* -- rows -- */

#define ROW                                                                                        \
    "SELECT id, platform, place_json, text, first_ref, error, state, sending, sent, pieces, "      \
    "attempt, not_before_ms, created_ms, place, post_as, expires_ms FROM outbox "

#define NEXT_SEQ "(SELECT coalesce(max(seq), 0) + 1 FROM outbox)"

/* No row of the same place waits before it. */
#define IS_FIRST                                                                                   \
    "NOT EXISTS(SELECT 1 FROM outbox AS before WHERE before.state = 'waiting' AND before.place = " \
    "outbox.place AND (before.seq, before.id) < (outbox.seq, outbox.id))"

static Outgoing read_row(Arena *a, DbRows *rows)
{
    Outgoing o = { .id = str_dup(a, row_text(rows, 0)),
                   .platform = str_dup(a, row_text(rows, 1)),
                   .address_json = str_dup(a, row_text(rows, 2)),
                   .text = str_dup(a, row_text(rows, 3)),
                   .first_ref = str_dup(a, row_text(rows, 4)),
                   .error = str_dup(a, row_text(rows, 5)),
                   .sending = row_int(rows, 7),
                   .sent = row_int(rows, 8),
                   .pieces = row_int(rows, 9),
                   .attempt = row_int(rows, 10),
                   .not_before_ms = row_int(rows, 11),
                   .created_ms = row_int(rows, 12),
                   .place = str_dup(a, row_text(rows, 13)),
                   .post_as = str_dup(a, row_text(rows, 14)),
                   .expires_ms = row_int(rows, 15) };

    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (str_eqz(row_text(rows, 6), states[i]))
            o.state = (OutboxState)i;
    return o;
}

static bool read_all(Arena *a, DbRows *rows, Outgoing **ret, size_t *ret_n, Err *err)
{
    Outgoing *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    while (db_next(rows, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, rows));
    *ret = all;
    *ret_n = n;
    return ok;
}

/* Everyone in a thread of a chat reads the same, whoever is meant. */
static Str line_of(Arena *a, const ChatAddress *p)
{
    return str_printf(a, "%.*s %.*s %.*s", STR_FMT(p->platform), STR_FMT(p->chat_id),
                      STR_FMT(p->thread_id));
}

/* Where those words go, and in which line they stand. */
static bool find_place(OwnStore *own, Arena *a, Str json, Str *ret_json, Str *ret_line, Err *err)
{
    Str thread;
    ChatAddress p;
    Err ignored;

    *ret_json = *ret_line = json;
    if (!address_parse(a, json, &p, &ignored))
        return true;
    thread = p.thread_id;
    if (!topic_now(own, a, &p, err))
        return false;
    if (!str_eq(p.thread_id, thread))
        *ret_json = address_json(a, &p);
    *ret_line = line_of(a, &p);
    return true;
}

static bool insert(OwnStore *own, Arena *a, const Outgoing *o, Err *err)
{
    Str json, line;

    if (!find_place(own, a, o->address_json, &json, &line, err))
        return false;
    return db_exec(
        own_store_db(own), NULL, err,
        "INSERT OR IGNORE INTO outbox(id, platform, place_json, text, state, "
        "not_before_ms, created_ms, updated_ms, place, expires_ms, seq) VALUES(?1, ?2, "
        "?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, CASE ?5 WHEN 'waiting' THEN " NEXT_SEQ " ELSE 0 END)",
        TEXT(o->id), TEXT(o->platform), TEXT(json), TEXT(o->text.p ? o->text : STR("")),
        TEXT(str_of(states[o->state])), INT(o->not_before_ms),
        INT(o->created_ms ? o->created_ms : clock_wall_ms()), TEXT(line), INT(o->expires_ms));
}

bool outbox_get(OwnStore *own, Arena *a, Str id, Outgoing *ret, bool *ret_found, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err, ROW "WHERE id = ?", TEXT(id)) ||
        !db_row(rows, ret_found, err))
        return false;
    if (*ret_found)
        *ret = read_row(a, rows);
    return true;
}

bool outbox_put(OwnStore *own, Arena *a, const Outgoing *o, Outgoing *ret, Err *err)
{
    bool found;

    if (!insert(own, a, o, err) || !outbox_get(own, a, o->id, ret, &found, err))
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "no words '%.*s'", STR_FMT(o->id));
}

bool outbox_mark(OwnStore *own, const Outgoing *o, Err *err)
{
    return db_exec(
        own_store_db(own), NULL, err,
        "UPDATE outbox SET sending = ?, sent = ?, pieces = ?, first_ref = ?, error = "
        "?, state = ?, attempt = ?, not_before_ms = ?, updated_ms = ?, post_as = ? WHERE "
        "id = ? AND state <> 'sent'",
        INT(o->sending), INT(o->sent), INT(o->pieces),
        TEXT(o->first_ref.n ? o->first_ref : STR_NONE), TEXT(o->error.n ? o->error : STR("")),
        TEXT(str_of(states[o->state])), INT(o->attempt), INT(o->not_before_ms),
        INT(clock_wall_ms()), TEXT(o->post_as.n ? o->post_as : STR("")), TEXT(o->id));
}

bool outbox_follow(OwnStore *own, Arena *a, const ChatAddress *from, const ChatAddress *to,
                   Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE outbox SET place_json = ?, place = ?, updated_ms = ? WHERE place = ? "
                   "AND state IN ('waiting', 'open')",
                   TEXT(address_json(a, to)), TEXT(line_of(a, to)), INT(clock_wall_ms()),
                   TEXT(line_of(a, from)));
}

bool outbox_finish(OwnStore *own, Str id, Str text, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE outbox SET text = ?1, state = CASE WHEN ?1 = '' THEN 'sent' ELSE "
                   "'waiting' END, not_before_ms = 0, updated_ms = ?2, seq = " NEXT_SEQ
                   " WHERE id = ?3 AND state = 'open'",
                   TEXT(text.p ? text : STR("")), INT(clock_wall_ms()), TEXT(id));
}

/* -- words that are told in parts -- */

static bool put_part(OwnStore *own, Str id, Str part_id, Str text, bool *ret_new, Err *err)
{
    int64_t n_changed;

    if (!db_exec(own_store_db(own), &n_changed, err,
                 "INSERT OR IGNORE INTO outbox(id, platform, place_json, text, state, sending, "
                 "sent, first_ref, created_ms, updated_ms, place, post_as, seq) SELECT ?1, "
                 "platform, place_json, ?2, 'waiting', sending, sent, first_ref, ?3, ?3, place, "
                 "CASE post_as WHEN '' THEN id ELSE post_as END, " NEXT_SEQ " FROM outbox WHERE "
                 "id = ?4 AND state = 'open'",
                 TEXT(part_id), TEXT(text), INT(clock_wall_ms()), TEXT(id)))
        return false;
    *ret_new = n_changed == 1;
    return true;
}

static bool begin_anew(OwnStore *own, const Outgoing *o, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE outbox SET first_ref = NULL, sending = 0, sent = 0, post_as = ? WHERE "
                   "id = ?",
                   TEXT(o->post_as), TEXT(o->id));
}

bool outbox_part(OwnStore *own, Arena *a, Outgoing *o, Str part_id, Str text, Err *err)
{
    Outgoing rest = *o;
    bool is_new = false;

    rest.first_ref = STR("");
    rest.sending = rest.sent = 0;
    rest.post_as = str_printf(a, "%.*s+", STR_FMT(part_id));
    if (!own_store_begin(own, err) ||
        !own_store_end(own,
                       put_part(own, o->id, part_id, text, &is_new, err) &&
                           (!is_new || begin_anew(own, &rest, err)),
                       err))
        return false;
    if (is_new)
        *o = rest;
    return true;
}

bool outbox_take_back(OwnStore *own, Str prefix, Str why, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE outbox SET state = 'sent', error = ?, updated_ms = ? WHERE state = "
                   "'waiting' AND substr(id, 1, ?) = ?",
                   TEXT(why), INT(clock_wall_ms()), INT(prefix.n), TEXT(prefix));
}

/* -- who sends it -- */

static bool next_time(OwnStore *own, Str platform, int64_t *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT max(1, min(not_before_ms)) FROM outbox WHERE state = 'waiting' AND "
                  "platform = ? AND " IS_FIRST,
                  TEXT(platform)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = row_int(rows, 0); /* NULL, so 0, where there is none */
    return true;
}

/* A time further ahead than anybody ever waits is of a clock that was wrong. */
#define IS_DUE "(not_before_ms <= ?1 OR not_before_ms > ?2)"

#define NOW_VALUES(now) INT(now), INT((now) + LIMIT_LONGEST_WAIT_MS)

bool outbox_due(OwnStore *own, Arena *a, Str platform, size_t max, Outgoing **ret, size_t *ret_n,
                int64_t *ret_next_ms, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    int64_t now = clock_wall_ms();

    return next_time(own, platform, ret_next_ms, err) &&
           db_query(own_store_db(own), &rows, err,
                    ROW "WHERE state = 'waiting' AND " IS_DUE " AND platform = ?3 "
                        "AND " IS_FIRST " ORDER BY not_before_ms, seq, id LIMIT ?4",
                    NOW_VALUES(now), TEXT(platform), INT((int64_t)max)) &&
           read_all(a, rows, ret, ret_n, err);
}

bool outbox_due_at(OwnStore *own, Arena *a, Str place, Str *ret_id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    int64_t now = clock_wall_ms();
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT CASE WHEN " IS_DUE " AND (expires_ms = 0 OR expires_ms > ?1) "
                  "THEN id ELSE '' END FROM outbox WHERE state = 'waiting' AND place = ?3 ORDER "
                  "BY seq, id LIMIT 1",
                  NOW_VALUES(now), TEXT(place)) ||
        !db_row(rows, &row, err))
        return false;
    *ret_id = row ? row_dup(a, rows, 0) : STR("");
    return true;
}

bool outbox_waits(OwnStore *own, Str place, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM outbox WHERE state = 'waiting' AND place = ? LIMIT 1",
                    TEXT(place)) &&
           db_row(rows, ret, err);
}

bool outbox_take(OwnStore *own, Str id, int64_t until_ms, bool *ret, Err *err)
{
    int64_t now = clock_wall_ms(), n;

    if (!db_exec(
            own_store_db(own), &n, err,
            "UPDATE outbox SET not_before_ms = ?3 WHERE id = ?4 AND state = 'waiting' AND " IS_DUE
            " AND (expires_ms = 0 OR expires_ms > ?1) AND " IS_FIRST,
            NOW_VALUES(now), INT(until_ms), TEXT(id)))
        return false;
    *ret = n == 1;
    return true;
}

/* Looked first: a statement that may write takes the lock of all who do. */
bool outbox_expire(OwnStore *own, Err *err)
{
    int64_t first;

    if (!db_get_int(own_store_db(own), 0, &first, err,
                    "SELECT coalesce(min(expires_ms), 0) FROM outbox WHERE state = 'waiting' AND "
                    "expires_ms > 0"))
        return false;
    if (!first || first > clock_wall_ms())
        return true;
    return db_exec(own_store_db(own), NULL, err,
                   "UPDATE outbox SET state = 'dead', updated_ms = ?1, error = 'expired: it could "
                   "not be said in time' || CASE error WHEN '' THEN '' ELSE '; ' || error END "
                   "WHERE state = 'waiting' AND expires_ms > 0 AND expires_ms <= ?1",
                   INT(clock_wall_ms()));
}

bool outbox_open(OwnStore *own, Arena *a, Str prefix, Outgoing **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  ROW "WHERE state = 'open' AND substr(id, 1, ?1) = ?2 ORDER BY created_ms",
                  INT(prefix.n), TEXT(prefix)))
        return false;
    return read_all(a, rows, ret, ret_n, err);
}

/* -- for people -- */

bool outbox_dead(OwnStore *own, Arena *a, size_t max, Outgoing **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  ROW "WHERE state = 'dead' ORDER BY created_ms DESC, id DESC LIMIT ?", INT(max)))
        return false;
    return read_all(a, rows, ret, ret_n, err);
}

bool outbox_retry(OwnStore *own, Str id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "UPDATE outbox SET state = 'waiting', attempt = 0, not_before_ms = 0, "
                  "expires_ms = 0, updated_ms = ? WHERE id = ? AND state = 'dead' RETURNING id",
                  INT(clock_wall_ms()), TEXT(id)) ||
        !db_row(rows, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no dead letter '%.*s'", STR_FMT(id));
}

bool outbox_prune(OwnStore *own, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "DELETE FROM outbox WHERE state = 'sent' AND updated_ms < ? AND NOT "
                   "EXISTS(SELECT 1 FROM inbox WHERE inbox.state = 'parked' AND instr(outbox.id, "
                   "'reply:' || inbox.platform || ':' || inbox.id) = 1)",
                   INT(clock_wall_ms() - (int64_t)LIMIT_INBOX_KEEP_DAYS * 24 * 3600 * 1000));
}
