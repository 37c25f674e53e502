#include "chat/home_channels.h"

#include "base/clock.h"
#include "store/db.h"

/* X(name): the texts of a HomeChannel that are columns too. */
#define HOME_TEXTS(X)                                                                              \
    X(chat_id)                                                                                     \
    X(name)                                                                                        \
    X(chat_type)                                                                                   \
    X(scope_id)                                                                                    \
    X(owner_id)                                                                                    \
    X(thread_id)

static bool read_home(OwnStore *own, Arena *a, Str platform, HomeChannel *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    int i = 1;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT topics, chat_id, name, chat_type, scope_id, owner_id, thread_id FROM "
                  "home_channel WHERE platform = ?",
                  TEXT(platform)) ||
        !db_row(rows, &row, err))
        return false;
    if (!row)
        return err_set(
            err, ERR_NOT_FOUND,
            "%.*s has no home channel: type /sethome in a chat there, or 'talaria gateway "
            "sethome %.*s CHAT'",
            STR_FMT(platform), STR_FMT(platform));
    *ret = (HomeChannel){ .topics = row_int(rows, 0) != 0 };
#define X(name) ret->name = str_dup(a, row_text(rows, i++));
    HOME_TEXTS(X)
#undef X
    return true;
}

/* Also where the chat has another number since it was configured. */
static bool is_configured(OwnStore *own, Arena *a, Str platform, Str configured, Str chat, Err *err)
{
    Str before;

    if (!configured.n || str_eq(configured, chat))
        return true;
    return chat_before(own, a, platform, chat, &before, err) &&
           (str_eq(before, configured) ||
            err_set(err, ERR_NOT_FOUND, "the configuration names another chat, '%.*s'",
                    STR_FMT(configured)));
}

bool home_get(OwnStore *own, Arena *a, Str platform, Str configured, HomeChannel *ret, Err *err)
{
    HomeChannel home;

    if (!read_home(own, a, platform, &home, err) ||
        !is_configured(own, a, platform, configured, home.chat_id, err))
        return false;
    *ret = home;
    return true;
}

bool home_may_be(Str platform, Str configured, Str chat, Err *err)
{
    return !configured.n || str_eq(configured, chat) ||
           err_set(err, ERR_REFUSED,
                   "the configuration names '%.*s' as the home channel of %.*s; change it there "
                   "(platforms.%.*s.home_channel, or the environment)",
                   STR_FMT(configured), STR_FMT(platform), STR_FMT(platform));
}

bool home_set(OwnStore *own, Str platform, const HomeChannel *home, Err *err)
{
#define VALUE(name) , SOME(home->name)
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT OR REPLACE INTO home_channel(platform, topics, verified_ms, chat_id, "
                   "name, chat_type, scope_id, owner_id, thread_id) VALUES(?, ?, ?, ?, ?, ?, ?, "
                   "?, ?)",
                   TEXT(platform), INT(home->topics), INT(clock_wall_ms()) HOME_TEXTS(VALUE));
#undef VALUE
}

bool topic_is_ours(OwnStore *own, const ChatAddress *p, bool *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;

    return db_query(own_store_db(own), &rows, err,
                    "SELECT 1 FROM our_thread WHERE platform = ? AND chat_id = ? AND thread_id = ?",
                    TEXT(p->platform), SOME(p->chat_id), SOME(p->thread_id)) &&
           db_row(rows, ret, err);
}

bool topic_keep(OwnStore *own, const ChatAddress *p, Err *err)
{
    return db_exec(own_store_db(own), NULL, err,
                   "INSERT OR IGNORE INTO our_thread(platform, chat_id, thread_id, since_ms) "
                   "VALUES(?, ?, ?, ?)",
                   TEXT(p->platform), SOME(p->chat_id), SOME(p->thread_id), INT(clock_wall_ms()));
}

/* -- chats that move -- */

static bool move_rows(OwnStore *own, Str platform, Str before, Str now, Err *err)
{
    static const char *const steps[] = {
        "INSERT OR REPLACE INTO moved_chat(platform, before_id, chat_id, since_ms) "
        "VALUES(?1, ?2, ?3, ?4)",
        "UPDATE home_channel SET chat_id = ?3, verified_ms = ?4 "
        "WHERE platform = ?1 AND chat_id = ?2",
        "UPDATE OR REPLACE our_thread SET chat_id = ?3, since_ms = ?4 "
        "WHERE platform = ?1 AND chat_id = ?2",
    };
    bool row;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(DbRows) *rows = NULL;

        if (!db_query_once(own_store_db(own), &rows, err, steps[i], TEXT(platform), TEXT(before),
                           TEXT(now), INT(clock_wall_ms())) ||
            !db_row(rows, &row, err))
            return false;
    }
    return true;
}

bool chat_moved(OwnStore *own, Str platform, Str before, Str now, Err *err)
{
    return own_store_begin(own, err) &&
           own_store_end(own, move_rows(own, platform, before, now, err), err);
}

bool chat_before(OwnStore *own, Arena *a, Str platform, Str now, Str *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT before_id FROM moved_chat WHERE platform = ? AND chat_id = ?",
                  TEXT(platform), TEXT(now)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = row ? str_dup(a, row_text(rows, 0)) : STR("");
    return true;
}
