#include "chat/connections.h"

#include "base/clock.h"
#include "store/db.h"

#define COLUMN(name)    #name ", "
#define PARAMETER(name) "?, "
#define ASSIGN(name)    #name " = excluded." #name ", "

static const char put_sql[] = "INSERT INTO platform_state(" LINK_TEXTS(COLUMN)
    LINK_TIMES(COLUMN) "updated_ms) VALUES(" LINK_TEXTS(PARAMETER)
        LINK_TIMES(PARAMETER) "?) ON CONFLICT DO UPDATE SET " LINK_TEXTS(ASSIGN)
            LINK_TIMES(ASSIGN) "updated_ms = excluded.updated_ms";

static bool put_one(Db *db, Stmt *stmt, const Link *l, Err *err)
{
    bool row;
    int i = 1;

    sqlite3_reset(stmt);
#define X(name) db_bind_str(stmt, i++, l->name.n ? l->name : STR(""));
    LINK_TEXTS(X)
#undef X
#define X(name) sqlite3_bind_int64(stmt, i++, l->name);
    LINK_TIMES(X)
#undef X
    sqlite3_bind_int64(stmt, i, (int64_t)(clock_wall() * 1000));
    return db_step(db, stmt, &row, err);
}

static bool put_all(Journal *j, const Link *all, size_t n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(journal_db(j), put_sql, &stmt, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!put_one(journal_db(j), stmt, &all[i], err))
            return false;
    return true;
}

bool links_put(Journal *j, const Link *all, size_t n, Err *err)
{
    return journal_begin(j, err) && journal_end(j, put_all(j, all, n, err), err);
}

static Link read_row(Arena *a, Stmt *stmt)
{
    Link l = { 0 };
    int i = 0;

#define X(name) l.name = str_dup(a, db_str(stmt, i++));
    LINK_TEXTS(X)
#undef X
#define X(name) l.name = sqlite3_column_int64(stmt, i++);
    LINK_TIMES(X)
#undef X
    l.updated_ms = sqlite3_column_int64(stmt, i);
    return l;
}

bool links_list(Journal *j, Arena *a, Link **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Link *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_prepare(journal_db(j),
                    "SELECT " LINK_TEXTS(COLUMN) LINK_TIMES(
                        COLUMN) "updated_ms FROM platform_state WHERE link <> '' ORDER BY platform",
                    &stmt, err))
        return false;
    while (db_next(journal_db(j), stmt, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, stmt));
    *ret = all;
    *ret_n = n;
    return ok;
}

bool links_queues(Journal *j, Str platform, LinkQueues *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(journal_db(j),
                    "SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting' AND platform = "
                    "?1), (SELECT count(*) FROM outbox WHERE state = 'dead' AND platform = ?1), "
                    "(SELECT count(*) FROM inbox WHERE state = 'parked' AND platform = ?1)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    if (!db_step(journal_db(j), stmt, &row, err))
        return false;
    *ret = (LinkQueues){ .outgoing = sqlite3_column_int64(stmt, 0),
                         .dead = sqlite3_column_int64(stmt, 1),
                         .parked = sqlite3_column_int64(stmt, 2) };
    return true;
}
