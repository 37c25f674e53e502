/* A home as the catalogue reads it: every message once, in the order of ids, and what the rows of
 * sessions say. The rule of rows.c holds here too: no transaction lasts longer than a slice. */
#include "store/rows_events.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"

enum { BATCH_BYTES = 1 << 20, LOOK_EVERY = 8 };

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

static void add_column(Buf *sql, Db *db, const char *table, const char *column, const char *or_else)
{
    buf_addf(sql, ", %s", db_has_column(db, table, column) ? column : or_else);
}

/* -- statements -- */

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
    buf_addz(&sql, db_has_column(db, "conversation_message", "guest") ? ", " ROWS_OF_GUEST : ", 0");
    buf_addf(&sql, " FROM messages WHERE session_id = ?1 AND id > ?2%s ORDER BY id",
             db_has_column(db, "conversation_of", "home") ? " AND " ROWS_ONCE : "");
    return stmt_prepare(db, sql.p, ret, err);
}

static bool prepare_session(Db *db, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(4));

    buf_addz(&sql, "SELECT rowid");
#define X(kind, name) add_column(&sql, db, "sessions", #name, "NULL");
    SESSION_FIELDS(X)
#undef X
    buf_addz(&sql, " FROM sessions WHERE id = ?1");
    return stmt_prepare(db, sql.p, ret, err);
}

static bool prepare_proof(Db *db, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(1));

    buf_addz(&sql, "SELECT id");
    add_column(&sql, db, "messages", "active", "1");
    add_column(&sql, db, "messages", "compacted", "0");
    buf_addf(&sql, " FROM messages WHERE session_id = ?1 AND id <= ?2 AND id > ?3%s ORDER BY id",
             db_has_column(db, "conversation_of", "home") ? " AND " ROWS_ONCE : "");
    return stmt_prepare(db, sql.p, ret, err);
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

/* -- messages -- */

static RowEvent event_row(sqlite3_stmt *stmt)
{
    return (RowEvent){ .id = sqlite3_column_int64(stmt, 0),
                       .role = stmt_text(stmt, 1),
                       .content = stmt_text(stmt, 2),
                       .at = sqlite3_column_double(stmt, 3),
                       .tool_call_id = stmt_text(stmt, 4),
                       .tool_calls = stmt_text(stmt, 5),
                       .tool_name = stmt_text(stmt, 6),
                       .reasoning = stmt_text(stmt, 7),
                       .finish_reason = stmt_text(stmt, 8),
                       .active = sqlite3_column_int(stmt, 9) != 0,
                       .compacted = sqlite3_column_int(stmt, 10) != 0,
                       .guest = sqlite3_column_int(stmt, 11) != 0 };
}

static RowEvent event_dup(Arena *a, const RowEvent *m)
{
    RowEvent copy = *m;

    copy.role = str_dup(a, m->role);
    copy.content = str_dup(a, m->content);
    copy.tool_call_id = str_dup(a, m->tool_call_id);
    copy.tool_calls = str_dup(a, m->tool_calls);
    copy.tool_name = str_dup(a, m->tool_name);
    copy.reasoning = str_dup(a, m->reasoning);
    copy.finish_reason = str_dup(a, m->finish_reason);
    return copy;
}

typedef struct Batch {
    Arena *arena;
    RowEvent *rows;
    size_t n, cap, bytes;
} Batch;

/* One transaction: until its time is over, enough was copied, or there is no more. */
static bool read_batch(RowsInside in, int64_t *last, Batch *batch, bool *ret_more, Err *err)
{
    Stmt *stmt = (*in.events)->messages;
    int64_t end = clock_mono_ms() + in.slice_ms;
    bool row = true, ok = true;

    sqlite3_bind_int64(stmt, 2, *last);
    while (ok && row && batch->bytes < BATCH_BYTES && clock_mono_ms() < end) {
        ok = stmt_step(in.db, stmt, &row, err);
        if (ok && row) {
            RowEvent m = event_row(stmt), kept = event_dup(batch->arena, &m);

            *last = m.id;
            batch->bytes += m.content.n + m.tool_calls.n + m.reasoning.n;
            ARENA_PUSH(batch->arena, batch->rows, batch->n, batch->cap, kept);
        }
    }
    sqlite3_reset(stmt);
    *ret_more = row;
    return ok;
}

/* What is done with a message may take its time (an index is written): never inside of a
 * transaction of others. */
bool rows_events(Rows *rows, Str session, int64_t after, RowEventFn *fn, void *ctx,
                 int64_t *ret_last, Err *err)
{
    AUTO(Arena) *arena = arena_new();
    RowsInside in;
    int64_t last = after;
    bool more = true;

    if (!statements(rows, &in, err))
        return false;
    while (more) {
        Batch batch = { .arena = arena };

        arena_reset(arena);
        stmt_bind_text((*in.events)->messages, 1, session);
        if (!read_batch(in, &last, &batch, &more, err))
            return false;
        for (size_t i = 0; i < batch.n; i++)
            if (!fn(ctx, &batch.rows[i], err))
                return false;
    }
    if (last > after)
        *ret_last = last;
    return true;
}

/* -- sessions -- */

#define READ_TEXT(at)         str_dup(a, stmt_text(stmt, at))
#define READ_REAL(at)         sqlite3_column_double(stmt, at)
#define READ_REAL_OR_NULL(at) sqlite3_column_double(stmt, at)
#define READ_INT(at)          stmt_count(stmt, at)

bool rows_session(Rows *rows, Arena *a, Str id, Session *ret, Err *err)
{
    RowsInside in;
    Stmt *stmt;
    bool row = false, ok;
    int at = 0;

    if (!statements(rows, &in, err))
        return false;
    stmt = (*in.events)->session;
    stmt_bind_text(stmt, 1, id);
    ok = stmt_step(in.db, stmt, &row, err);
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

typedef struct Proof {
    uint64_t n, active, compacted;
    int64_t last;
} Proof;

/* The flags stand behind the text of a row: of a long session they take longer than a slice. */
static bool proof_slice(RowsInside in, Proof *proof, bool *ret_more, Err *err)
{
    Stmt *stmt = (*in.events)->proof;
    int64_t end = clock_mono_ms() + in.slice_ms;
    bool row = true, ok = true;

    sqlite3_bind_int64(stmt, 3, proof->last);
    for (int n = 1; ok && row && (n % LOOK_EVERY || clock_mono_ms() < end); n++) {
        ok = stmt_step(in.db, stmt, &row, err);
        if (ok && row) {
            int64_t id = sqlite3_column_int64(stmt, 0);

            proof->n++;
            proof->active += (uint64_t)(sqlite3_column_int64(stmt, 1) * (id % 65537));
            proof->compacted += (uint64_t)sqlite3_column_int64(stmt, 2) * (uint64_t)id;
            proof->last = id;
        }
    }
    sqlite3_reset(stmt);
    *ret_more = row;
    return ok;
}

bool rows_proof(Rows *rows, Str session, int64_t until, uint64_t *ret, Err *err)
{
    Proof proof = { .last = INT64_MIN };
    RowsInside in;
    bool more = true;

    if (!statements(rows, &in, err))
        return false;
    stmt_bind_text((*in.events)->proof, 1, session);
    sqlite3_bind_int64((*in.events)->proof, 2, until);
    while (more)
        if (!proof_slice(in, &proof, &more, err))
            return false;
    *ret = hash_number(hash_number(proof.n, proof.active), proof.compacted) >> 1;
    return true;
}

#define CONTINUITY                                                                                 \
    "SELECT conversation_id, runtime, handle, 0 FROM runtime_continuity UNION ALL SELECT "         \
    "conversation_id, runtime, handle, 0 FROM continuity_lost"
/* A session that is with a gateway of Hermes continues in its copy, until it comes back. */
#define LENT                                                                                       \
    " UNION ALL SELECT h.session_id, 'hermes', h.copy_id, 1 FROM handoff h JOIN session_owner o "  \
    "ON "                                                                                          \
    "o.home = h.home AND o.session_id = h.session_id WHERE h.copy_id IS NOT NULL AND h.state = "   \
    "'done' AND o.owner_surface <> 'cli'"

bool rows_continuity(Rows *rows, Arena *a, KnownAs **ret, size_t *ret_n, Err *err)
{
    Db *db = rows_inside(rows).db;
    AUTO(Stmt) *stmt = NULL;
    KnownAs *all = NULL;
    size_t n = 0, cap = 0;
    bool row = true;

    *ret = NULL;
    *ret_n = 0;
    if (!db_has_column(db, "continuity_lost", "handle"))
        return true;
    if (!stmt_prepare(db, db_has_column(db, "handoff", "copy_id") ? CONTINUITY LENT : CONTINUITY,
                      &stmt, err))
        return false;
    while (row) {
        if (!stmt_step(db, stmt, &row, err))
            return false;
        if (row) {
            KnownAs c = { str_dup(a, stmt_text(stmt, 0)), str_dup(a, stmt_text(stmt, 1)),
                          str_dup(a, stmt_text(stmt, 2)), sqlite3_column_int(stmt, 3) != 0 };

            ARENA_PUSH(a, all, n, cap, c);
        }
    }
    *ret = all;
    *ret_n = n;
    return true;
}

bool rows_any(Rows *rows, Str session, bool *ret, Err *err)
{
    Db *db = rows_inside(rows).db;
    AUTO(Stmt) *stmt = NULL;

    if (!stmt_prepare(db,
                      db_has_column(db, "conversation_of", "home")
                          ? "SELECT 1 FROM messages WHERE session_id = ?1 AND " ROWS_ONCE " LIMIT 1"
                          : "SELECT 1 FROM messages WHERE session_id = ?1 LIMIT 1",
                      &stmt, err))
        return false;
    stmt_bind_text(stmt, 1, session);
    return stmt_step(db, stmt, ret, err);
}
