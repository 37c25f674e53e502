/* A home as the catalogue reads it: every message once, in the order of ids, and what the rows of
 * sessions say. The rule of rows.c holds here too: no transaction lasts longer than a slice. */
#include "store/rows_events.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"

enum { LOOK_EVERY = 8 };

struct RowsEvents {
    Stmt *messages, *session, *proof;
};

RowsEvents *rows_events_free(RowsEvents *e)
{
    if (e) {
        stmt_free(e->messages);
        stmt_free(e->session);
        stmt_free(e->proof);
        mem_free(e);
    }
    return NULL;
}

static bool has(Db *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db->handle, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static void add_column(Buf *sql, Db *db, const char *table, const char *column, const char *or_else)
{
    buf_addf(sql, ", %s", has(db, table, column) ? column : or_else);
}

/* -- statements ------------------------------------------------------------------------------------- */

static bool prepare_messages(Db *db, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));

    buf_addz(&sql, "SELECT id, role, content, timestamp");
    add_column(&sql, db, "messages", "tool_call_id", "NULL");
    add_column(&sql, db, "messages", "tool_calls", "NULL");
    add_column(&sql, db, "messages", "tool_name", "NULL");
    add_column(&sql, db, "messages", "reasoning", "NULL");
    add_column(&sql, db, "messages", "finish_reason", "NULL");
    add_column(&sql, db, "messages", "active", "1");
    add_column(&sql, db, "messages", "compacted", "0");
    buf_addz(&sql, " FROM messages WHERE session_id = ?1 AND id > ?2 ORDER BY id");
    return db_prepare(db, sql.p, ret, err);
}

static bool prepare_session(Db *db, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(4));

    buf_addz(&sql, "SELECT rowid");
#define X(kind, name) add_column(&sql, db, "sessions", #name, "NULL");
    SESSION_FIELDS(X)
#undef X
    buf_addz(&sql, " FROM sessions WHERE id = ?1");
    return db_prepare(db, sql.p, ret, err);
}

static bool prepare_proof(Db *db, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(1));

    buf_addz(&sql, "SELECT count(*)");
    buf_addf(&sql, ", total(%s)", has(db, "messages", "active") ? "active * (id % 65537)" : "0");
    buf_addf(&sql, ", total(%s)", has(db, "messages", "compacted") ? "compacted * id" : "0");
    buf_addz(&sql, " FROM messages WHERE session_id = ?1 AND id <= ?2");
    return db_prepare(db, sql.p, ret, err);
}

static bool statements(Rows *rows, RowsInside *ret, Err *err)
{
    RowsInside in = rows_inside(rows);
    RowsEvents *e;

    if (!*in.events) {
        e = *in.events = mem_alloc(sizeof *e);
        if (!prepare_messages(in.db, &e->messages, err) ||
            !prepare_session(in.db, &e->session, err) || !prepare_proof(in.db, &e->proof, err)) {
            *in.events = rows_events_free(e);
            return false;
        }
    }
    *ret = in;
    return true;
}

/* -- messages --------------------------------------------------------------------------------------- */

static RowEvent event_row(sqlite3_stmt *stmt)
{
    return (RowEvent){ .id = sqlite3_column_int64(stmt, 0),
                       .role = db_str(stmt, 1),
                       .content = db_str(stmt, 2),
                       .at = sqlite3_column_double(stmt, 3),
                       .tool_call_id = db_str(stmt, 4),
                       .tool_calls = db_str(stmt, 5),
                       .tool_name = db_str(stmt, 6),
                       .reasoning = db_str(stmt, 7),
                       .finish_reason = db_str(stmt, 8),
                       .active = sqlite3_column_int(stmt, 9) != 0,
                       .compacted = sqlite3_column_int(stmt, 10) != 0 };
}

/* One transaction: until its time is over or there is no more. */
static bool events_slice(RowsInside in, int64_t *last, bool *ret_more, RowEventFn *fn, void *ctx,
                         Err *err)
{
    Stmt *stmt = (*in.events)->messages;
    int64_t end = clock_mono_ms() + in.slice_ms;
    bool row = true, ok = true;

    sqlite3_bind_int64(stmt, 2, *last);
    for (int n = 1; ok && row && (n % LOOK_EVERY || clock_mono_ms() < end); n++) {
        ok = db_step(in.db, stmt, &row, err);
        if (ok && row) {
            RowEvent m = event_row(stmt);

            *last = m.id;
            ok = fn(ctx, &m, err);
        }
    }
    sqlite3_reset(stmt);
    *ret_more = row;
    return ok;
}

bool rows_events(Rows *rows, Str session, int64_t after, RowEventFn *fn, void *ctx,
                 int64_t *ret_last, Err *err)
{
    RowsInside in;
    int64_t last = after;
    bool more = true;

    if (!statements(rows, &in, err))
        return false;
    db_bind_str((*in.events)->messages, 1, session);
    while (more)
        if (!events_slice(in, &last, &more, fn, ctx, err))
            return false;
    if (last > after)
        *ret_last = last;
    return true;
}

/* -- sessions --------------------------------------------------------------------------------------- */

#define READ_TEXT(at)         str_dup(a, db_str(stmt, at))
#define READ_REAL(at)         sqlite3_column_double(stmt, at)
#define READ_REAL_OR_NULL(at) sqlite3_column_double(stmt, at)
#define READ_INT(at)          sqlite3_column_int64(stmt, at)

bool rows_session(Rows *rows, Arena *a, Str id, Session *ret, Err *err)
{
    RowsInside in;
    Stmt *stmt;
    bool row = false, ok;
    int at = 0;

    if (!statements(rows, &in, err))
        return false;
    stmt = (*in.events)->session;
    db_bind_str(stmt, 1, id);
    ok = db_step(in.db, stmt, &row, err);
    if (ok && row) {
        Session s = { .rowid = sqlite3_column_int64(stmt, at) };

#define X(kind, name) s.name = READ_##kind(++at);
        SESSION_FIELDS(X)
#undef X
        *ret = s;
    }
    sqlite3_reset(stmt);
    if (ok && !row)
        return err_set(err, ERR_NOT_FOUND, "no session '%.*s'", STR_FMT(id));
    return ok;
}

bool rows_proof(Rows *rows, Str session, int64_t until, uint64_t *ret, Err *err)
{
    RowsInside in;
    Stmt *stmt;
    bool row = false, ok;

    if (!statements(rows, &in, err))
        return false;
    stmt = (*in.events)->proof;
    db_bind_str(stmt, 1, session);
    sqlite3_bind_int64(stmt, 2, until);
    ok = db_step(in.db, stmt, &row, err);
    if (ok && row) {
        uint64_t n = (uint64_t)sqlite3_column_int64(stmt, 0);
        uint64_t active = (uint64_t)sqlite3_column_int64(stmt, 1);
        uint64_t compacted = (uint64_t)sqlite3_column_int64(stmt, 2);

        *ret = (n * 0x9e3779b97f4a7c15u ^ active * 0xc2b2ae3d27d4eb4fu ^ compacted) >> 1;
    }
    sqlite3_reset(stmt);
    return ok;
}

bool rows_continuity(Rows *rows, Arena *a, Continuity **ret, size_t *ret_n, Err *err)
{
    Db *db = rows_inside(rows).db;
    AUTO(Stmt) *stmt = NULL;
    Continuity *all = NULL;
    size_t n = 0, cap = 0;
    bool row = true;

    *ret = NULL;
    *ret_n = 0;
    if (!has(db, "runtime_continuity", "handle"))
        return true;
    if (!db_prepare(db, "SELECT conversation_id, runtime, handle FROM runtime_continuity", &stmt,
                    err))
        return false;
    while (row) {
        if (!db_step(db, stmt, &row, err))
            return false;
        if (row) {
            Continuity c = { str_dup(a, db_str(stmt, 0)), str_dup(a, db_str(stmt, 1)),
                             str_dup(a, db_str(stmt, 2)) };

            ARENA_PUSH(a, all, n, cap, c);
        }
    }
    *ret = all;
    *ret_n = n;
    return true;
}
