#include "store/rows.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/db.h"
#include "text/utf8.h"

enum { SLICE_WAL_MS = 50, SLICE_ROLLBACK_MS = 10, LOOK_EVERY = 8 };

struct Rows {
    Db *db;
    int slice_ms;
    bool has_active, has_archived, has_usage;
    RowsQuery query;
    Stmt *messages, *newest, *first, *models;
};

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
    buf_addf(&sql, "%s, %s, ", column(r, "messages", "tool_name"), r->has_active ? "active" : "1");
    buf_addf(&sql, "%s FROM messages WHERE session_id = ?1 AND id > ?2%s ORDER BY id",
             column(r, "messages", "tool_call_id"),
             !r->has_active       ? ""
             : r->query.compacted ? " AND (active = 1 OR compacted = 1)"
                                  : " AND active = 1");
    if (r->query.all_models && r->has_usage &&
        !db_prepare(r->db,
                    "SELECT DISTINCT model FROM session_model_usage WHERE session_id = ? ORDER BY "
                    "model",
                    &r->models, err))
        return false;
    return db_prepare(r->db, sql.p, &r->messages, err) &&
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
    if (!r->db || !is_wal(r, &wal, err))
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
        stmt_free(r->messages);
        stmt_free(r->newest);
        stmt_free(r->first);
        stmt_free(r->models);
        db_close(r->db);
        mem_free(r);
    }
    return NULL;
}

bool rows_want_one_reader(const Rows *rows)
{
    return rows->slice_ms == SLICE_ROLLBACK_MS;
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

static uint64_t mark_of(const SessionRow *s, sqlite3_stmt *stmt, int from)
{
    uint64_t hash = mix(0xcbf29ce484222325u, s->title.p, s->title.n);

    hash = mix(hash, s->model.p, s->model.n);
    hash = mix(hash, s->source.p, s->source.n);
    hash = mix(hash, &s->started_at, sizeof s->started_at);
    hash = mix(hash, &s->last_activity_at, sizeof s->last_activity_at);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        double value = sqlite3_column_double(stmt, from + (int)i);

        hash = mix(hash, &value, sizeof value);
    }
    /* Kept in 63 bits: the packed form has no sign. */
    return hash >> 1;
}

static SessionRow session_row(Arena *a, sqlite3_stmt *stmt)
{
    SessionRow s = { .rowid = sqlite3_column_int64(stmt, 0),
                     .id = str_dup(a, db_str(stmt, 1)),
                     .source = str_dup(a, db_str(stmt, 2)),
                     .model = str_dup(a, db_str(stmt, 3)),
                     .title = str_dup(a, db_str(stmt, 4)),
                     .started_at = sqlite3_column_double(stmt, 5),
                     .last_activity_at = sqlite3_column_double(stmt, 6) };

    s.mark = mark_of(&s, stmt, 7);
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

static bool sessions_statement(Rows *r, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));

    buf_addf(&sql, "SELECT rowid, id, source, %s, ", column(r, "sessions", "model"));
    buf_addf(&sql, "%s, started_at, ", column(r, "sessions", "title"));
    buf_addz(&sql, column(r, "sessions", "last_activity_at"));
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        buf_addf(&sql, ", %s", column(r, "sessions", marks[i]));
    buf_addf(&sql, " FROM sessions WHERE rowid > ?1%s ORDER BY rowid",
             r->has_archived && !r->query.archived ? " AND archived = 0" : "");
    return db_prepare(r->db, sql.p, ret, err);
}

static int newest_first(const void *left, const void *right)
{
    const SessionRow *a = left, *b = right;

    if (a->started_at != b->started_at)
        return a->started_at > b->started_at ? -1 : 1;
    return a->rowid < b->rowid ? -1 : a->rowid > b->rowid;
}

/* Sessions are mostly written in the order in which they begin: turned round they are sorted. */
static void sort_newest_first(SessionRow *all, size_t n)
{
    bool sorted = true;

    for (size_t i = 0; i < n / 2; i++) {
        SessionRow swap = all[i];

        all[i] = all[n - 1 - i];
        all[n - 1 - i] = swap;
    }
    for (size_t i = 1; i < n && sorted; i++)
        sorted = newest_first(&all[i - 1], &all[i]) < 0;
    if (!sorted)
        qsort(all, n, sizeof *all, newest_first);
}

bool rows_sessions(Rows *r, Arena *a, SessionRow **ret, size_t *ret_n, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    SessionRow *all = NULL;
    size_t n = 0, cap = 0;
    int64_t last = INT64_MIN;
    bool row = true;

    if (!sessions_statement(r, &stmt, err))
        return false;
    while (row) {
        int64_t end = clock_mono_ms() + r->slice_ms;

        sqlite3_bind_int64(stmt, 1, last);
        do {
            if (!db_step(r->db, stmt, &row, err))
                return false;
            if (row) {
                SessionRow s = session_row(a, stmt);

                if (r->models && !add_models(r, a, &s, err))
                    return false;
                last = s.rowid;
                ARENA_PUSH(a, all, n, cap, s);
            }
        } while (row && (n % LOOK_EVERY || clock_mono_ms() < end));
        sqlite3_reset(stmt);
    }
    sort_newest_first(all, n);
    *ret = all;
    *ret_n = n;
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

    if (!db_int(r->db, "SELECT max(id) FROM messages", 0, &last, err) ||
        !db_prepare(r->db,
                    "SELECT DISTINCT session_id FROM messages WHERE id > ?1 AND id <= ?2 LIMIT "
                    "100000",
                    &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, after);
    sqlite3_bind_int64(stmt, 2, last);
    while (after > 0 && row) {
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

bool rows_describe(Rows *r, Arena *a, Str id, double *ret_newest, Str *ret_preview, Err *err)
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

static RowMessage message_row(sqlite3_stmt *stmt)
{
    return (RowMessage){ .role = db_str(stmt, 1),
                         .content_is_blob = sqlite3_column_type(stmt, 2) == SQLITE_BLOB,
                         .content = db_str(stmt, 2),
                         .tool_calls = db_str(stmt, 3),
                         .tool_name = db_str(stmt, 4) };
}

bool rows_messages(Rows *r, Str id, RowMessageFn *fn, void *ctx, int64_t *ret_n, Err *err)
{
    AUTO(Arena) *a = r->query.compacted ? arena_new() : NULL;
    Stmt *stmt = r->messages;
    int64_t n = 0, last = INT64_MIN;
    bool row = true;
    Seen seen = { 0 };

    db_bind_str(stmt, 1, id);
    while (row) {
        int64_t end = clock_mono_ms() + r->slice_ms;

        sqlite3_bind_int64(stmt, 2, last);
        do {
            RowMessage m;

            if (!db_step(r->db, stmt, &row, err)) {
                sqlite3_reset(stmt);
                return false;
            }
            if (!row)
                break;
            m = message_row(stmt);
            last = sqlite3_column_int64(stmt, 0);
            n++;
            if (!a || !comes_back(a, &seen, sqlite3_column_int(stmt, 5) == 1, &m, db_str(stmt, 6)))
                fn(ctx, &m);
        } while (n % LOOK_EVERY || clock_mono_ms() < end);
        sqlite3_reset(stmt);
    }
    *ret_n += n;
    return true;
}
