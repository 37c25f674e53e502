#include "store/continued.h"

#include <math.h>
#include <stdlib.h>

#include "store/db.h"
#include "store/session.h"
#include "text/json.h"

Str continuation_session(Arena *a, Str handle)
{
    static const char *const names[] = { "session_id", "thread_id", "sessionId", "id" };
    AUTO(JsonDoc) *doc = NULL;
    Err ignored;

    handle = str_trim(handle);
    if (!handle.n || handle.p[0] != '{')
        return handle;
    doc = json_parse(handle, &ignored);
    for (size_t i = 0; doc && i < ARRAY_LEN(names); i++) {
        Str id = json_str(json_get(json_root(doc), str_of(names[i])));

        if (id.n)
            return str_dup(a, id);
    }
    return STR_NONE;
}

typedef struct Reading {
    Db *db;
    Arena *arena;
    Continuation *all;
    size_t n, cap;
} Reading;

typedef Continuation RowFn(Arena *a, DbRows *rows);

static Continuation adopted(Arena *a, DbRows *rows)
{
    return (Continuation){ .home = str_dup(a, row_text(rows, 0)),
                           .session_id = str_dup(a, row_text(rows, 1)),
                           .fingerprint = str_dup(a, row_text(rows, 2)),
                           .conversation_id = str_dup(a, row_text(rows, 3)),
                           .archived = row_bool(rows, 4) };
}

static Continuation kept_by_runtime(Arena *a, DbRows *rows)
{
    return (Continuation){ .home = str_dup(a, row_text(rows, 0)),
                           .session_id = continuation_session(a, str_dup(a, row_text(rows, 1))),
                           .conversation_id = str_dup(a, row_text(rows, 2)),
                           .archived = row_bool(rows, 3),
                           .until = row_is_null(rows, 4) ? INFINITY : row_real(rows, 4),
                           .one_shot = str_eqz(row_text(rows, 5), SOURCE_ASK),
                           .by_runtime = true };
}

static bool read_rows(Reading *r, const char *sql, RowFn *fn, Err *err)
{
    AUTO(DbRows) *rows = NULL;
    bool ok;

    if (!db_query_once(r->db, &rows, err, sql))
        return false;
    while (db_next(rows, &ok, err)) {
        ARENA_PUSH(r->arena, r->all, r->n, r->cap, fn(r->arena, rows));
    }
    return ok;
}

/* A turn that is under way has no end yet. A runtime that lost its session went on in another
 * one. */
#define UNTIL                                                                                      \
    "CASE WHEN EXISTS (SELECT 1 FROM run WHERE conversation_id = s.id AND ended_ms IS NULL) THEN " \
    "NULL ELSE max(c.at, coalesce((SELECT max(ended_ms) FROM run WHERE conversation_id = s.id), "  \
    "0)) / 1000.0 END"

static bool read_all(Reading *r, Err *err)
{
    return read_rows(r,
                     "SELECT o.home, o.session_id, o.fingerprint, o.conversation_id, s.archived "
                     "FROM conversation_of o JOIN sessions s ON s.id = o.conversation_id",
                     adopted, err) &&
           read_rows(
               r,
               "SELECT c.runtime, c.handle, s.id, s.archived, " UNTIL
               ", s.source FROM (SELECT conversation_id, runtime, handle, updated_ms AS at FROM "
               "runtime_continuity UNION ALL SELECT conversation_id, runtime, handle, "
               "lost_ms FROM continuity_lost) c JOIN sessions s ON s.id = c.conversation_id "
               "WHERE c.runtime IN ('claude', 'codex', 'hermes')",
               kept_by_runtime, err);
}

static int by_session(const void *left, const void *right)
{
    const Continuation *a = left, *b = right;
    int order = str_cmp(a->session_id, b->session_id);

    return order ? order : str_cmp(a->conversation_id, b->conversation_id);
}

bool guests_load(Str data, Arena *a, Str **ret, size_t *ret_n, Err *err)
{
    AUTO(Db) *db = NULL;
    AUTO(DbRows) *rows = NULL;
    Str *all = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    *ret = NULL;
    *ret_n = 0;
    db = db_open_read(str_z(a, str_join_path(a, data, STR("talaria.db"))), err);
    if (!db)
        return err->kind == ERR_NOT_FOUND;
    if (!db_has_column(db, "conversation_message", "guest"))
        return true;
    if (!db_query(db, &rows, err,
                  "SELECT DISTINCT conversation_id FROM conversation_message WHERE guest ORDER "
                  "BY 1"))
        return false;
    while (db_next(rows, &ok, err)) {
        ARENA_PUSH(a, all, n, cap, str_dup(a, row_text(rows, 0)));
    }
    if (!ok)
        return false;
    *ret = all;
    *ret_n = n;
    return true;
}

/* A database of an older Talaria has no such table, until something is written to it. */
bool continuations_load(Str data, Arena *a, Continuation **ret, size_t *ret_n, Err *err)
{
    AUTO(Db) *db = NULL;
    Reading r = { .arena = a };

    *ret = NULL;
    *ret_n = 0;
    r.db = db = db_open_read(str_z(a, str_join_path(a, data, STR("talaria.db"))), err);
    if (!db)
        return err->kind == ERR_NOT_FOUND;
    if (!db_has_column(db, "conversation_of", "home"))
        return true;
    if (!read_all(&r, err))
        return false;
    if (r.n)
        qsort(r.all, r.n, sizeof *r.all, by_session);
    *ret = r.all;
    *ret_n = r.n;
    return true;
}
