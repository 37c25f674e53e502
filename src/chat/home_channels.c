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
    AUTO(Stmt) *stmt = NULL;
    int i = 1;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "SELECT topics, chat_id, name, chat_type, scope_id, owner_id, thread_id FROM "
                    "home_channel WHERE platform = ?",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    if (!row)
        return err_set(
            err, ERR_NOT_FOUND,
            "%.*s has no home channel: type /sethome in a chat there, or 'talaria gateway "
            "sethome %.*s CHAT'",
            STR_FMT(platform), STR_FMT(platform));
    *ret = (HomeChannel){ .topics = sqlite3_column_int64(stmt, 0) != 0 };
#define X(name) ret->name = str_dup(a, db_str(stmt, i++));
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
    AUTO(Stmt) *stmt = NULL;
    int i = 4;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "INSERT OR REPLACE INTO home_channel(platform, topics, verified_ms, chat_id, "
                    "name, chat_type, scope_id, owner_id, thread_id) VALUES(?, ?, ?, ?, ?, ?, ?, "
                    "?, ?)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    sqlite3_bind_int64(stmt, 2, home->topics);
    sqlite3_bind_int64(stmt, 3, clock_wall_ms());
#define X(name) db_bind_str(stmt, i++, home->name.n ? home->name : STR(""));
    HOME_TEXTS(X)
#undef X
    return db_step(own_store_db(own), stmt, &row, err);
}

static void bind_thread(Stmt *stmt, const ChatAddress *p)
{
    db_bind_str(stmt, 1, p->platform);
    db_bind_str(stmt, 2, p->chat_id.n ? p->chat_id : STR(""));
    db_bind_str(stmt, 3, p->thread_id.n ? p->thread_id : STR(""));
}

bool topic_is_ours(OwnStore *own, const ChatAddress *p, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(own_store_db(own),
                    "SELECT 1 FROM our_thread WHERE platform = ? AND chat_id = ? AND thread_id = ?",
                    &stmt, err))
        return false;
    bind_thread(stmt, p);
    return db_step(own_store_db(own), stmt, ret, err);
}

bool topic_keep(OwnStore *own, const ChatAddress *p, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "INSERT OR IGNORE INTO our_thread(platform, chat_id, thread_id, since_ms) "
                    "VALUES(?, ?, ?, ?)",
                    &stmt, err))
        return false;
    bind_thread(stmt, p);
    sqlite3_bind_int64(stmt, 4, clock_wall_ms());
    return db_step(own_store_db(own), stmt, &row, err);
}

/* -- chats that move --------------------------------------------------------------------------------------- */

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
        AUTO(Stmt) *stmt = NULL;

        if (!db_prepare(own_store_db(own), steps[i], &stmt, err))
            return false;
        db_bind_str(stmt, 1, platform);
        db_bind_str(stmt, 2, before);
        db_bind_str(stmt, 3, now);
        sqlite3_bind_int64(stmt, 4, clock_wall_ms());
        if (!db_step(own_store_db(own), stmt, &row, err))
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
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "SELECT before_id FROM moved_chat WHERE platform = ? AND chat_id = ?", &stmt,
                    err))
        return false;
    db_bind_str(stmt, 1, platform);
    db_bind_str(stmt, 2, now);
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    *ret = row ? str_dup(a, db_str(stmt, 0)) : STR("");
    return true;
}
