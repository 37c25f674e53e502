#include "chat/connections.h"

#include "base/clock.h"
#include "store/db.h"

#define COLUMN(name)    #name ", "
#define PARAMETER(name) "?, "
#define ASSIGN(name)    #name " = excluded." #name ", "

static const char put_sql[] = "INSERT INTO platform_state(" CONNECTION_TEXTS(COLUMN)
    CONNECTION_TIMES(COLUMN) "updated_ms) VALUES(" CONNECTION_TEXTS(PARAMETER)
        CONNECTION_TIMES(PARAMETER) "?) ON CONFLICT DO UPDATE SET " CONNECTION_TEXTS(ASSIGN)
            CONNECTION_TIMES(ASSIGN) "updated_ms = excluded.updated_ms";

static bool put_one(Db *db, Stmt *stmt, const ConnectionStatus *l, Err *err)
{
    bool row;
    int i = 1;

    sqlite3_reset(stmt);
#define X(name) db_bind_str(stmt, i++, l->name.n ? l->name : STR(""));
    CONNECTION_TEXTS(X)
#undef X
#define X(name) sqlite3_bind_int64(stmt, i++, l->name);
    CONNECTION_TIMES(X)
#undef X
    sqlite3_bind_int64(stmt, i, clock_wall_ms());
    return db_step(db, stmt, &row, err);
}

static bool put_all(OwnStore *own, const ConnectionStatus *all, size_t n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;

    if (!db_prepare(own_store_db(own), put_sql, &stmt, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!put_one(own_store_db(own), stmt, &all[i], err))
            return false;
    return true;
}

bool connections_put(OwnStore *own, const ConnectionStatus *all, size_t n, Err *err)
{
    return own_store_begin(own, err) && own_store_end(own, put_all(own, all, n, err), err);
}

static ConnectionStatus read_row(Arena *a, Stmt *stmt)
{
    ConnectionStatus l = { 0 };
    int i = 0;

#define X(name) l.name = str_dup(a, db_str(stmt, i++));
    CONNECTION_TEXTS(X)
#undef X
#define X(name) l.name = sqlite3_column_int64(stmt, i++);
    CONNECTION_TIMES(X)
#undef X
    l.updated_ms = sqlite3_column_int64(stmt, i);
    return l;
}

bool connections_list(OwnStore *own, Arena *a, ConnectionStatus **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    ConnectionStatus *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_prepare(own_store_db(own),
                    "SELECT " CONNECTION_TEXTS(COLUMN) CONNECTION_TIMES(
                        COLUMN) "updated_ms FROM platform_state WHERE link <> '' ORDER BY platform",
                    &stmt, err))
        return false;
    while (db_next(own_store_db(own), stmt, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, stmt));
    *ret = all;
    *ret_n = n;
    return ok;
}

bool connections_queues(OwnStore *own, Str platform, ConnectionQueues *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row;

    if (!db_prepare(own_store_db(own),
                    "SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting' AND platform = "
                    "?1), (SELECT count(*) FROM outbox WHERE state = 'dead' AND platform = ?1), "
                    "(SELECT count(*) FROM inbox WHERE state = 'parked' AND platform = ?1)",
                    &stmt, err))
        return false;
    db_bind_str(stmt, 1, platform);
    if (!db_step(own_store_db(own), stmt, &row, err))
        return false;
    *ret = (ConnectionQueues){ .outgoing = sqlite3_column_int64(stmt, 0),
                               .dead = sqlite3_column_int64(stmt, 1),
                               .parked = sqlite3_column_int64(stmt, 2) };
    return true;
}
