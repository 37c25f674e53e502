#include "chat/topics.h"

#include "base/clock.h"
#include "store/db.h"

#define OF_THREAD  "WHERE platform = ?1 AND chat_id = ?2 AND thread_id = ?3"
#define ADDRESS(p) TEXT((p)->platform), SOME((p)->chat_id), SOME((p)->thread_id)

/* -- threads that are gone -- */

bool topic_is_gone(OwnStore *own, const ChatAddress *p, Str now_thread, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT OR REPLACE INTO gone_thread(platform, chat_id, thread_id, now_thread, "
                   "since_ms) VALUES(?1, ?2, ?3, ?4, ?5)",
                   ADDRESS(p), SOME(now_thread), INT(clock_wall_ms()));
}

/* *ret_since: 0 where it is not gone. */
static bool look_up(OwnStore *own, Arena *a, const ChatAddress *p, Str *ret_now, int64_t *ret_since,
                    Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    *ret_since = 0;
    if (!p->thread_id.n)
        return true;
    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT now_thread, since_ms FROM gone_thread " OF_THREAD, ADDRESS(p)) ||
        !db_row(rows, &row, err))
        return false;
    if (row) {
        *ret_now = str_dup(a, row_text(rows, 0));
        *ret_since = row_int(rows, 1);
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
        return db_exec(own_store_db(own), NULL, err, "DELETE FROM gone_thread " OF_THREAD,
                       ADDRESS(p));
    if (since)
        leave(p, now);
    return true;
}

/* -- anchors -- */

bool anchor_keep(OwnStore *own, const ChatAddress *p, Str message_id, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT INTO thread_anchor(platform, chat_id, thread_id, message_id) VALUES(?1, "
                   "?2, ?3, ?4) ON CONFLICT DO UPDATE SET message_id = ?4 WHERE message_id <> ?4",
                   ADDRESS(p), SOME(message_id));
}

bool anchor_get(OwnStore *own, Arena *a, const ChatAddress *p, TopicAnchor *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT message_id, needed FROM thread_anchor " OF_THREAD, ADDRESS(p)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = (TopicAnchor){ .message_id = row ? str_dup(a, row_text(rows, 0)) : STR(""),
                          .needed = row && row_bool(rows, 1) };
    return true;
}

bool anchor_needed(OwnStore *own, const ChatAddress *p, Err *err)
{
    return db_exec(own_store_db(own), NULL, err, "UPDATE thread_anchor SET needed = 1 " OF_THREAD,
                   ADDRESS(p));
}
