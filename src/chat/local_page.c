/* The local chat as its user sees it: what there is to read, and what they write.
 *
 * The user's words are a message and an update of the inbox at once. Were they two transactions, a
 * crash between them would leave words that one sees and nobody ever answers, or an answer to words
 * that one does not see. */
#include "base/clock.h"
#include "base/limits.h"
#include "chat/inbox.h"
#include "chat/local.h"
#include "store/db.h"
#include "text/json.h"

static Str text_or_empty(Str s)
{
    return s.n ? s : STR("");
}

/* -- rooms -- */

static bool read_rooms(Arena *a, DbRows *rows, LocalRoom **ret, size_t *ret_n, Err *err)
{
    LocalRoom *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    while (db_next(rows, &ok, err)) {
        LocalRoom room;

        room = (LocalRoom){ .id = str_dup(a, row_text(rows, 0)),
                            .title = str_dup(a, row_text(rows, 1)),
                            .channel = str_dup(a, row_text(rows, 2)),
                            .messages = row_int(rows, 3),
                            .last_ms = row_int(rows, 4) };
        ARENA_PUSH(a, all, n, cap, room);
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

bool local_channels(OwnStore *own, Arena *a, LocalRoom **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT c.id, c.name, c.id, count(m.id), ifnull(max(m.created_ms), 0) FROM "
                    "local_channel c LEFT JOIN local_message m ON m.channel = c.id AND "
                    "m.thread = '' GROUP BY c.id ORDER BY c.name, c.id") &&
           read_rooms(a, rows, ret, ret_n, err);
}

bool local_threads(OwnStore *own, Arena *a, Str channel, size_t max, LocalRoom **ret, size_t *ret_n,
                   Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT t.id, t.title, t.channel, count(m.id), ifnull(max(m.created_ms), "
                  "t.created_ms) AS last FROM local_thread t LEFT JOIN local_message m ON "
                  "m.channel = t.channel AND m.thread = t.id WHERE ?1 = '' OR t.channel = ?1 "
                  "GROUP BY t.id ORDER BY last DESC, t.id DESC LIMIT ?2",
                  TEXT(text_or_empty(channel)), INT(max)))
        return false;
    return read_rooms(a, rows, ret, ret_n, err);
}

/* -- messages -- */

static bool prepare_page(OwnStore *own, const LocalQuery *q, DbRows **ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT id, created_ms, edited_ms, author, text FROM local_message WHERE "
                  "channel = ?1 AND thread = ?2 AND id > ?3 AND id < ?4 AND "
                  "max(created_ms, edited_ms) >= ?5 ORDER BY id DESC LIMIT ?6",
                  TEXT(q->channel), TEXT(text_or_empty(q->thread)), INT(q->after),
                  INT(q->before ? q->before : INT64_MAX), INT(q->since_ms), INT(q->max + 1)))
        return false;
    *ret = TAKE(rows);
    return true;
}

bool local_page(OwnStore *own, Arena *a, const LocalQuery *q, LocalMessage **ret, size_t *ret_n,
                bool *ret_more, Err *err)
{
    LocalMessage *all = ARENA_ARRAY(a, LocalMessage, q->max);
    AUTO(DbRows) *rows = NULL;
    bool row, more = false;
    size_t n = 0;

    if (!prepare_page(own, q, &rows, err))
        return false;
    for (;;) {
        if (!db_row(rows, &row, err))
            return false;
        more = row && n == q->max;
        if (!row || more)
            break;
        /* The newest comes first and stands last. */
        all[q->max - ++n] = (LocalMessage){ .id = row_int(rows, 0),
                                            .created_ms = row_int(rows, 1),
                                            .edited_ms = row_int(rows, 2),
                                            .channel = q->channel,
                                            .thread = q->thread,
                                            .author = str_dup(a, row_text(rows, 3)),
                                            .text = str_dup(a, row_text(rows, 4)) };
    }
    *ret = all + (q->max - n);
    *ret_n = n;
    *ret_more = more;
    return true;
}

/* -- what the user writes -- */

static bool check_room(OwnStore *own, Arena *a, const LocalMessage *m, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    Str name;
    bool row;

    if (!local_channel_name(own, a, m->channel, &name, err))
        return false;
    if (!m->thread.n)
        return true;
    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT 1 FROM local_thread WHERE id = ? AND channel = ?", TEXT(m->thread),
                  TEXT(m->channel)) ||
        !db_row(rows, &row, err))
        return false;
    return row || err_set(err, ERR_NOT_FOUND, "no thread '%.*s' in '%.*s'", STR_FMT(m->thread),
                          STR_FMT(m->channel));
}

static bool check_queue(OwnStore *own, Err *err)
{
    int64_t oldest;
    size_t waiting;

    if (!inbox_waiting(own, STR(""), &waiting, &oldest, err))
        return false;
    return waiting < LIMIT_INBOX ||
           err_set(err, ERR_BUSY, "too many messages wait for a gateway; is one running?");
}

/* A key that came before must represent the same words. */
static bool check_same(OwnStore *own, const LocalMessage *m, int64_t id, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT 1 FROM local_message WHERE id = ? AND channel = ? AND thread = ? AND "
                  "text = ?",
                  INT(id), TEXT(m->channel), TEXT(text_or_empty(m->thread)), TEXT(m->text)) ||
        !db_row(rows, &row, err))
        return false;
    return row || err_set(err, ERR_CONFLICT, "the key stands for another message");
}

/* As shape_local reads it. */
static Str update_of(Arena *a, const LocalMessage *m, int64_t id)
{
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_begin(&w, '{');
    json_field_str(&w, "channel", m->channel);
    json_field_str(&w, "thread", text_or_empty(m->thread));
    json_field_str(&w, "user", m->author);
    json_field_str(&w, "text", m->text);
    json_field_int(&w, "id", id);
    json_end(&w, '}');
    return buf_full(&out) ? STR_NONE : str_dup(a, buf_str(&out));
}

static bool put_update(OwnStore *own, Arena *a, const LocalMessage *m, int64_t id, Err *err)
{
    Str name = str_printf(a, "%lld", (long long)id), json = update_of(a, m, id);

    if (!json.p)
        return err_set(err, ERR_TOO_LARGE, "the message is too long");
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT OR IGNORE INTO inbox(platform, id, update_json, state, received_ms, "
                   "updated_ms) VALUES('local', ?1, ?2, 'new', ?3, ?3)",
                   TEXT(name), TEXT(json), INT(clock_wall_ms()));
}

bool local_user_says(OwnStore *own, Arena *a, const LocalMessage *m, int64_t *ret_id, Err *err)
{
    int64_t id = 0;
    bool ok;

    if (!own_store_begin(own, err))
        return false;
    ok = check_room(own, a, m, err) && check_queue(own, err) && local_say(own, m, &id, err) &&
         check_same(own, m, id, err) && put_update(own, a, m, id, err);
    if (!own_store_end(own, ok, err))
        return false;
    *ret_id = id;
    return true;
}

/* -- typing -- */

bool local_types(OwnStore *own, Str channel, Str thread, int64_t until_ms, Err *err)
{
    if (!until_ms)
        return db_exec(own_store_db(own), NULL, err,
                       "DELETE FROM local_typing WHERE channel = ? AND thread = ?", TEXT(channel),
                       SOME(thread));
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT OR REPLACE INTO local_typing VALUES(?, ?, ?)", TEXT(channel),
                   SOME(thread), INT(until_ms));
}

bool local_typing(OwnStore *own, Str channel, Str thread, int64_t *ret_until_ms, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT until_ms FROM local_typing WHERE channel = ? AND thread = ?",
                  TEXT(channel), TEXT(text_or_empty(thread))) ||
        !db_row(rows, &row, err))
        return false;
    *ret_until_ms = row ? row_int(rows, 0) : 0;
    return true;
}
