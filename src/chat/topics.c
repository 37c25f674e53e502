#include "chat/topics.h"

#include "base/clock.h"
#include "store/db.h"

static void bind_thread(Stmt *stmt, const ChatAddress *p)
{
    db_bind_str(stmt, 1, p->platform);
    db_bind_str(stmt, 2, p->chat_id.n ? p->chat_id : STR(""));
    db_bind_str(stmt, 3, p->thread_id.n ? p->thread_id : STR(""));
}

#define OF_THREAD "WHERE platform = ?1 AND chat_id = ?2 AND thread_id = ?3"

static bool change(OwnStore *own, const char *sql, const ChatAddress *p, Str text, int64_t number,
                   Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own), sql, &stmt, err))
        return false;
    bind_thread(stmt, p);
    if (sqlite3_bind_parameter_count(stmt) > 3)
        db_bind_str(stmt, 4, text.p ? text : STR(""));
    if (sqlite3_bind_parameter_count(stmt) > 4)
        sqlite3_bind_int64(stmt, 5, number);
    return db_step(own_store_db(own), stmt, &row, err);
}

/* -- threads that are gone ------------------------------------------------------------------------------- */

bool topic_is_gone(OwnStore *own, const ChatAddress *p, Str now_thread, Err *err)
{
    return change(own,
                  "INSERT OR REPLACE INTO gone_thread(platform, chat_id, thread_id, now_thread, "
                  "since_ms) VALUES(?1, ?2, ?3, ?4, ?5)",
                  p, now_thread, clock_wall_ms(), err);
}

/* *ret_since: 0 where it is not gone. */
static bool look_up(OwnStore *own, Arena *a, const ChatAddress *p, Str *ret_now, int64_t *ret_since,
                    Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    *ret_since = 0;
    if (!p->thread_id.n)
        return true;
    if (!db_prepare(own_store_db(own), "SELECT now_thread, since_ms FROM gone_thread " OF_THREAD,
                    &stmt, err))
        return false;
    bind_thread(stmt, p);
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    if (row) {
        *ret_now = str_dup(a, db_str(stmt, 0));
        *ret_since = sqlite3_column_int64(stmt, 1);
    }
    return true;
}

static void leave(ChatAddress *p, Str now)
{
    p->thread_id = now.n ? now : STR_NONE;
}

bool topic_now(OwnStore *own, Arena *a, ChatAddress *p, Err *err)
{
    int64_t since;
    Str now;

    if (!look_up(own, a, p, &now, &since, err))
        return false;
    if (since)
        leave(p, now);
    return true;
}

bool topic_heard(OwnStore *own, Arena *a, ChatAddress *p, int64_t at_ms, Err *err)
{
    int64_t since;
    Str now;

    if (!look_up(own, a, p, &now, &since, err))
        return false;
    if (since && at_ms > since && !str_eqz(p->chat_type, "dm"))
        return change(own, "DELETE FROM gone_thread " OF_THREAD, p, STR_NONE, 0, err);
    if (since)
        leave(p, now);
    return true;
}

/* -- anchors ----------------------------------------------------------------------------------------------- */

bool anchor_keep(OwnStore *own, const ChatAddress *p, Str message_id, Err *err)
{
    return change(own,
                  "INSERT INTO thread_anchor(platform, chat_id, thread_id, message_id) VALUES(?1, "
                  "?2, ?3, ?4) ON CONFLICT DO UPDATE SET message_id = ?4 WHERE message_id <> ?4",
                  p, message_id, 0, err);
}

bool anchor_get(OwnStore *own, Arena *a, const ChatAddress *p, TopicAnchor *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own), "SELECT message_id, needed FROM thread_anchor " OF_THREAD,
                    &stmt, err))
        return false;
    bind_thread(stmt, p);
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    *ret = (TopicAnchor){ .message_id = row ? str_dup(a, db_str(stmt, 0)) : STR(""),
                          .needed = row && sqlite3_column_int(stmt, 1) };
    return true;
}

bool anchor_needed(OwnStore *own, const ChatAddress *p, Err *err)
{
    return change(own, "UPDATE thread_anchor SET needed = 1 " OF_THREAD, p, STR_NONE, 0, err);
}
