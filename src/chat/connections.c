#include "chat/connections.h"

#include "base/clock.h"
#include "store/db.h"

#define COLUMN(name)    #name ", "
#define PARAMETER(name) "?, "
#define ASSIGN(name)    #name " = excluded." #name ", "

static bool put_one(OwnStore *own, const ConnectionStatus *l, Err *err)
{
#define TEXT_VALUE(name) SOME(l->name),
#define TIME_VALUE(name) INT(l->name),
    return db_exec(
        own_store_db(own), NULL, err,
        "INSERT INTO platform_state(" CONNECTION_TEXTS(COLUMN)
            CONNECTION_TIMES(COLUMN) "updated_ms) VALUES(" CONNECTION_TEXTS(PARAMETER)
                CONNECTION_TIMES(PARAMETER) "?) ON CONFLICT DO UPDATE SET " CONNECTION_TEXTS(ASSIGN)
                    CONNECTION_TIMES(ASSIGN) "updated_ms = excluded.updated_ms",
        CONNECTION_TEXTS(TEXT_VALUE) CONNECTION_TIMES(TIME_VALUE) INT(clock_wall_ms()));
}

static bool put_all(OwnStore *own, const ConnectionStatus *all, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!put_one(own, &all[i], err))
            return false;
    return true;
}

bool connections_put(OwnStore *own, const ConnectionStatus *all, size_t n, Err *err)
{
    return own_store_begin(own, err) && own_store_end(own, put_all(own, all, n, err), err);
}

static ConnectionStatus read_row(Arena *a, DbRows *rows)
{
    ConnectionStatus l = { 0 };
    int i = 0;

#define X(name) l.name = str_dup(a, row_text(rows, i++));
    CONNECTION_TEXTS(X)
#undef X
#define X(name) l.name = row_int(rows, i++);
    CONNECTION_TIMES(X)
#undef X
    l.updated_ms = row_int(rows, i);
    return l;
}

bool connections_list(OwnStore *own, Arena *a, ConnectionStatus **ret, size_t *ret_n, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    ConnectionStatus *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT " CONNECTION_TEXTS(COLUMN) CONNECTION_TIMES(
                      COLUMN) "updated_ms FROM platform_state WHERE link <> '' ORDER BY platform"))
        return false;
    while (db_next(rows, &ok, err))
        ARENA_PUSH(a, all, n, cap, read_row(a, rows));
    *ret = all;
    *ret_n = n;
    return ok;
}

bool connections_queues(OwnStore *own, Str platform, ConnectionQueues *ret, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool row;

    if (!db_query(own_store_db(own), &rows, err,
                  "SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting' AND platform = "
                  "?1), (SELECT count(*) FROM outbox WHERE state = 'dead' AND platform = ?1), "
                  "(SELECT count(*) FROM inbox WHERE state = 'parked' AND platform = ?1)",
                  TEXT(platform)) ||
        !db_row(rows, &row, err))
        return false;
    *ret = (ConnectionQueues){ .outgoing = row_int(rows, 0),
                               .dead = row_int(rows, 1),
                               .parked = row_int(rows, 2) };
    return true;
}
