#include "store/rows.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/db.h"
#include "store/rows_events.h"
#include "text/utf8.h"

enum { SLICE_WAL_MS = 20, SLICE_ROLLBACK_MS = 10, LOOK_EVERY = 8 };
enum { GO_ON_SHARE = 4 }; /* of a slice: within that a read goes on to the next session */

struct Rows {
    Db *db;
    int slice_ms;
    bool has_active, has_archived, has_usage;
    RowsQuery query;
    Stmt *messages, *newest, *first, *models, *begin, *commit;
    RowsEvents *events;
    bool reading;  /* a read is open between two sessions */
    int64_t until; /* when that one has to end */
};

/* -- reading for a while ------------------------------------------------------------------------ */

/* Handles of one process share its lock on the file, so reads of two threads that overlap are one long
 * read to everyone else. So all walks of the process end together: who comes after the time of those
 * that read waits until the last of them has let go. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t free;
    size_t reading;
    int64_t begun;
} gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

/* Returns when the read has to end. */
static int64_t begin_read(const Rows *r)
{
    int64_t now = clock_mono_ms(), end;

    pthread_mutex_lock(&gate.lock);
    while (gate.reading && now >= gate.begun + r->slice_ms) {
        pthread_cond_wait(&gate.free, &gate.lock);
        now = clock_mono_ms();
    }
    if (gate.reading++ == 0)
        gate.begun = now;
    end = gate.begun + r->slice_ms;
    pthread_mutex_unlock(&gate.lock);
    return end;
}

/* After the statement was reset. */
static void end_read(void)
{
    pthread_mutex_lock(&gate.lock);
    if (--gate.reading == 0)
        pthread_cond_broadcast(&gate.free);
    pthread_mutex_unlock(&gate.lock);
}

/* A session is small, a transaction costs as much as reading one: so a read stays open behind a session,
 * for a part of its slice. */
static bool go_on(Rows *r, Err *err)
{
    bool row;

    if (r->reading && clock_mono_ms() < r->until - r->slice_ms + r->slice_ms / GO_ON_SHARE)
        return true;
    rows_rest(r);
    r->until = begin_read(r);
    r->reading = true;
    return db_step(r->db, r->begin, &row, err);
}

void rows_rest(Rows *r)
{
    if (!r->reading)
        return;
    /* Of a transaction that only reads this ends it, whatever it returns. */
    (void)sqlite3_step(r->commit);
    sqlite3_reset(r->commit);
    sqlite3_reset(r->begin);
    r->reading = false;
    end_read();
}

/* -- opening ------------------------------------------------------------------------------------- */

static bool has_column(Rows *r, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(r->db->handle, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* The column where there is one, else NULL. */
static const char *column(Rows *r, const char *table, const char *name)
{
    return has_column(r, table, name) ? name : "NULL";
}

static bool is_wal(Rows *r, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;

    if (!db_prepare(r->db, "PRAGMA journal_mode", &stmt, err) || !db_step(r->db, stmt, &row, err))
        return false;
    *ret = row && str_eqz(db_str(stmt, 0), "wal");
    return true;
}

static bool prepare(Rows *r, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));

    buf_addf(&sql, "SELECT id, role, content, %s, ", column(r, "messages", "tool_calls"));
    buf_addz(&sql, column(r, "messages", "tool_name"));
    if (r->query.compacted)
        buf_addf(&sql, ", %s, %s", r->has_active ? "active" : "1",
                 column(r, "messages", "tool_call_id"));
    buf_addf(&sql, " FROM messages WHERE session_id = ?1 AND id > ?2%s ORDER BY id",
             !r->has_active       ? ""
             : r->query.compacted ? " AND (active = 1 OR compacted = 1)"
                                  : " AND active = 1");
    if (r->query.all_models && r->has_usage &&
        !db_prepare(r->db,
                    "SELECT DISTINCT model FROM session_model_usage WHERE session_id = ? ORDER BY "
                    "model",
                    &r->models, err))
        return false;
    return db_prepare(r->db, "BEGIN", &r->begin, err) &&
           db_prepare(r->db, "COMMIT", &r->commit, err) &&
           db_prepare(r->db, sql.p, &r->messages, err) &&
           db_prepare(r->db, "SELECT max(timestamp) FROM messages WHERE session_id = ?", &r->newest,
                      err) &&
           db_prepare(r->db,
                      "SELECT substr(replace(replace(content, char(10), ' '), char(13), ' '), 1, "
                      "63) FROM messages WHERE session_id = ? AND role = 'user' AND content IS NOT "
                      "NULL ORDER BY timestamp, id LIMIT 1",
                      &r->first, err);
}

Rows *rows_open(const Home *home, const RowsQuery *query, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Rows) *r = mem_alloc(sizeof *r);
    bool wal = false;

    r->db = db_open_read(str_z(a, home->database), err);
    /* Every page is read once: few of them, so that they stay in the processor's cache. */
    if (!r->db || !db_exec(r->db, "PRAGMA cache_size=-200", err) || !is_wal(r, &wal, err))
        return NULL;
    r->slice_ms = wal ? SLICE_WAL_MS : SLICE_ROLLBACK_MS;
    r->has_active = has_column(r, "messages", "active");
    r->has_archived = has_column(r, "sessions", "archived");
    r->has_usage = has_column(r, "session_model_usage", "model");
    r->query = *query;
    r->query.compacted = query->compacted && has_column(r, "messages", "compacted");
    return prepare(r, err) ? TAKE(r) : NULL;
}

Rows *rows_close(Rows *r)
{
    if (r) {
        rows_rest(r);
        stmt_free(r->begin);
        stmt_free(r->commit);
        stmt_free(r->messages);
        stmt_free(r->newest);
        stmt_free(r->first);
        stmt_free(r->models);
        rows_events_free(r->events);
        db_close(r->db);
        mem_free(r);
    }
    return NULL;
}

bool rows_want_one_reader(const Rows *rows)
{
    return rows->slice_ms == SLICE_ROLLBACK_MS;
}

RowsInside rows_inside(Rows *rows)
{
    rows_rest(rows);
    return (RowsInside){ rows->db, &rows->events, rows->slice_ms };
}

/* -- sessions -------------------------------------------------------------------------------------- */

/* Eight bytes at a time; only equality matters. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const char *p = bytes;
    uint64_t word;

    for (; n >= sizeof word; p += sizeof word, n -= sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    word = n;
    if (n)
        memcpy(&word, p, n);
    hash = (hash ^ word ^ n << 56) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* What a session's row says of how far it has gone. Columns that are missing read as NULL. */
static const char *const marks[] = { "message_count", "tool_call_count", "rewind_count",
                                     "output_tokens", "ended_at",        "api_call_count" };

/* What the function that sees a row is given. */
enum { SEE_ROWID, SEE_ID, SEE_SOURCE, SEE_MODEL, SEE_TITLE, SEE_STARTED, SEE_ACTIVE, SEE_MARKS };

static uint64_t mark_of(const SessionRow *s, sqlite3_value **row)
{
    uint64_t hash = mix(0xcbf29ce484222325u, s->id.p, s->id.n);
    double values[2 + ARRAY_LEN(marks)] = { s->started_at, s->last_activity_at };

    hash = mix(hash, s->title.p, s->title.n);
    hash = mix(hash, s->model.p, s->model.n);
    hash = mix(hash, s->source.p, s->source.n);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        values[2 + i] = sqlite3_value_double(row[SEE_MARKS + i]);
    /* Kept in 63 bits: the packed form has no sign. */
    return mix(hash, values, sizeof values) >> 1;
}

/* Lent until the next step. */
static Str text_of(sqlite3_value *value)
{
    const char *p = sqlite3_value_blob(value);

    if (!p)
        return sqlite3_value_type(value) == SQLITE_NULL ? STR_NONE : STR("");
    return (Str){ p, (size_t)sqlite3_value_bytes(value) };
}

static SessionRow session_row(sqlite3_value **row)
{
    SessionRow s = { .rowid = sqlite3_value_int64(row[SEE_ROWID]),
                     .id = text_of(row[SEE_ID]),
                     .source = text_of(row[SEE_SOURCE]),
                     .model = text_of(row[SEE_MODEL]),
                     .title = text_of(row[SEE_TITLE]),
                     .started_at = sqlite3_value_double(row[SEE_STARTED]),
                     .last_activity_at = sqlite3_value_double(row[SEE_ACTIVE]) };

    s.mark = mark_of(&s, row);
    return s;
}

/* "last model\nanother\n..." */
static bool add_models(Rows *r, Arena *a, SessionRow *s, Err *err)
{
    AUTO_BUF all = BUF(KIB(64));
    bool row = true;

    buf_add(&all, s->model);
    db_bind_str(r->models, 1, s->id);
    while (row) {
        if (!db_step(r->db, r->models, &row, err))
            return false;
        if (row && !str_eq(db_str(r->models, 0), s->model) && db_str(r->models, 0).n) {
            buf_addz(&all, all.n ? "\n" : "");
            buf_add(&all, db_str(r->models, 0));
        }
    }
    sqlite3_reset(r->models);
    s->model = str_dup(a, buf_str(&all));
    s->mark = mix(s->mark, s->model.p, s->model.n) >> 1;
    return true;
}

typedef struct SessionWalk {
    Rows *rows;
    Arena *arena;
    SessionRowFn *fn;
    void *ctx;
    int64_t end, last; /* of the stretch; the rowid it came to */
    size_t n;
    bool failed;
    Err *err;
} SessionWalk;

/* Rows are looked at where SQLite has them: handing out each with all its columns took twice as long.
 * True ends the stretch. */
static void see_session(sqlite3_context *context, int n, sqlite3_value **row)
{
    SessionWalk *w = sqlite3_user_data(context);
    SessionRow s = session_row(row);

    (void)n;
    w->failed = w->rows->models && !add_models(w->rows, w->arena, &s, w->err);
    w->last = s.rowid;
    if (!w->failed)
        w->fn(w->ctx, &s);
    sqlite3_result_int(context,
                       w->failed || (++w->n % LOOK_EVERY == 0 && clock_mono_ms() >= w->end));
}

static bool sessions_statement(Rows *r, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));
    bool all = !r->has_archived || r->query.archived;

    buf_addf(&sql, "SELECT 1 FROM sessions WHERE rowid > ?1 AND CASE WHEN %s THEN see_session(",
             all ? "1" : "archived = 0");
    buf_addf(&sql, "rowid, id, source, %s, ", column(r, "sessions", "model"));
    buf_addf(&sql, "%s, started_at, ", column(r, "sessions", "title"));
    buf_addz(&sql, column(r, "sessions", "last_activity_at"));
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        buf_addf(&sql, ", %s", column(r, "sessions", marks[i]));
    buf_addz(&sql, ") END ORDER BY rowid");
    return db_prepare(r->db, sql.p, ret, err);
}

/* One stretch, as long as a transaction may last. */
static bool walk_on(SessionWalk *w, Stmt *stmt, bool *ret_more)
{
    bool ok;

    w->end = begin_read(w->rows);
    sqlite3_bind_int64(stmt, 1, w->last);
    ok = db_step(w->rows->db, stmt, ret_more, w->err);
    sqlite3_reset(stmt);
    end_read();
    return ok && !w->failed;
}

bool rows_walk(Rows *r, SessionRowFn *fn, void *ctx, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Stmt) *stmt = NULL;
    SessionWalk w = { .rows = r, .arena = a, .fn = fn, .ctx = ctx, .last = INT64_MIN, .err = err };
    bool more = true;

    rows_rest(r);
    if (sqlite3_create_function_v2(r->db->handle, "see_session", SEE_MARKS + (int)ARRAY_LEN(marks),
                                   SQLITE_UTF8 | SQLITE_DIRECTONLY, &w, see_session, NULL, NULL,
                                   NULL) != SQLITE_OK)
        return db_error(r->db, err);
    if (!sessions_statement(r, &stmt, err))
        return false;
    while (more) {
        if (!walk_on(&w, stmt, &more))
            return false;
        arena_reset(a);
    }
    return true;
}

bool rows_newer(Rows *r, Arena *a, int64_t after, Str **ret, size_t *ret_n, int64_t *ret_last,
                Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    Str *all = NULL;
    size_t n = 0, cap = 0;
    int64_t last = after;
    bool row = true;

    rows_rest(r);
    if (!db_int(r->db, "SELECT max(id) FROM messages", 0, &last, err) ||
        !db_prepare(r->db,
                    "SELECT DISTINCT session_id FROM messages WHERE id > ?1 AND id <= ?2 LIMIT "
                    "100000",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, after);
    sqlite3_bind_int64(stmt, 2, last);
    while (after >= 0 && row) {
        if (!db_step(r->db, stmt, &row, err))
            return false;
        if (row) {
            Str id = str_dup(a, db_str(stmt, 0));

            ARENA_PUSH(a, all, n, cap, id);
        }
    }
    *ret = all;
    *ret_n = n;
    *ret_last = last;
    return true;
}

/* -- one session ------------------------------------------------------------------------------------ */

/* White space as Python's strip() sees it. */
static bool is_space(uint32_t c)
{
    return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

/* The first 63 characters, stripped; of more than 60, 60 and three dots. A NUL ends it. */
static Str preview_of(Arena *a, Str text)
{
    const char *nul = text.n ? memchr(text.p, 0, text.n) : NULL;
    size_t count = 0, end = 0, sixty = 0;
    Str rest;

    if (nul)
        text.n = (size_t)(nul - text.p);
    for (rest = text; rest.n; text = rest)
        if (!is_space(utf8_next(&rest)))
            break;
    for (rest = text; rest.n;) {
        bool space = is_space(utf8_next(&rest));

        count++;
        if (!space)
            end = text.n - rest.n;
        if (count == 60)
            sixty = text.n - rest.n;
    }
    count = utf8_count(str_head(text, end));
    if (count <= 60)
        return str_dup(a, str_head(text, end));
    return str_printf(a, "%.*s...", STR_FMT(str_head(text, sixty)));
}

static bool describe(Rows *r, Arena *a, Str id, double *ret_newest, Str *ret_preview, Err *err)
{
    bool row = false, ok;

    db_bind_str(r->newest, 1, id);
    ok = db_step(r->db, r->newest, &row, err);
    if (ok)
        *ret_newest = sqlite3_column_double(r->newest, 0);
    sqlite3_reset(r->newest);
    if (!ok || !ret_preview)
        return ok;
    db_bind_str(r->first, 1, id);
    ok = db_step(r->db, r->first, &row, err);
    if (ok)
        *ret_preview = row ? preview_of(a, db_str(r->first, 0)) : STR("");
    sqlite3_reset(r->first);
    return ok;
}

bool rows_describe(Rows *r, Arena *a, Str id, double *ret_newest, Str *ret_preview, Err *err)
{
    return go_on(r, err) && describe(r, a, id, ret_newest, ret_preview, err);
}

/* Compaction inserts the tail again: what was counted as compacted is passed over when it comes
 * back, as often as it was. */
typedef struct Seen {
    uint64_t *all;
    size_t n, cap;
} Seen;

static uint64_t row_hash(const RowMessage *m, Str call_id)
{
    uint64_t hash = mix(1, call_id.p, call_id.n);

    if (call_id.n)
        return hash;
    hash = mix(hash, m->role.p, m->role.n);
    hash = mix(hash, m->content.p, m->content.n);
    return mix(hash, m->tool_calls.p, m->tool_calls.n);
}

static bool comes_back(Arena *a, Seen *seen, bool active, const RowMessage *m, Str call_id)
{
    uint64_t hash = row_hash(m, call_id);

    if (!active) {
        ARENA_PUSH(a, seen->all, seen->n, seen->cap, hash);
        return false;
    }
    for (size_t i = 0; i < seen->n; i++)
        if (seen->all[i] == hash) {
            seen->all[i] = seen->all[--seen->n];
            return true;
        }
    return false;
}

/* Lent until the next step. One look at a cell, where the columns' functions would take three. */
static Str cell(sqlite3_stmt *stmt, int at)
{
    return text_of(sqlite3_column_value(stmt, at));
}

static RowMessage message_row(sqlite3_stmt *stmt)
{
    return (RowMessage){ .id = sqlite3_column_int64(stmt, 0),
                         .role = cell(stmt, 1),
                         .content_is_blob = sqlite3_column_type(stmt, 2) == SQLITE_BLOB,
                         .content = cell(stmt, 2),
                         .tool_calls = cell(stmt, 3),
                         .tool_name = cell(stmt, 4) };
}

typedef struct MessageWalk {
    Rows *rows;
    RowMessageFn *fn;
    void *ctx;
    Arena *arena; /* where rows may come back; else NULL */
    Seen seen;
    int64_t n, last;
    bool more;
} MessageWalk;

/* One stretch, as long as a transaction may last. */
static bool messages_on(MessageWalk *w, Err *err)
{
    Rows *r = w->rows;
    Stmt *stmt = r->messages;
    bool ok;

    if (!go_on(r, err))
        return false;
    sqlite3_bind_int64(stmt, 2, w->last);
    do {
        RowMessage m;

        ok = db_step(r->db, stmt, &w->more, err);
        if (!ok || !w->more)
            break;
        m = message_row(stmt);
        w->last = m.id;
        w->n++;
        if (!w->arena ||
            !comes_back(w->arena, &w->seen, sqlite3_column_int(stmt, 5) == 1, &m, db_str(stmt, 6)))
            w->fn(w->ctx, &m);
    } while (w->n % LOOK_EVERY || clock_mono_ms() < r->until);
    sqlite3_reset(stmt);
    return ok;
}

bool rows_messages(Rows *r, Str id, RowMessageFn *fn, void *ctx, int64_t *ret_n, Err *err)
{
    AUTO(Arena) *a = r->query.compacted ? arena_new() : NULL;
    MessageWalk walk = {
        .rows = r, .fn = fn, .ctx = ctx, .arena = a, .last = INT64_MIN, .more = true
    };

    db_bind_str(r->messages, 1, id);
    while (walk.more)
        if (!messages_on(&walk, err))
            return false;
    *ret_n += walk.n;
    return true;
}
