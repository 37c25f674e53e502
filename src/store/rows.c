#include "store/rows.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "store/rows_inside.h"

enum { SLICE_WAL_MS = 20, SLICE_ROLLBACK_MS = 10 };
enum { GO_ON_SHARE = 4 }; /* of a slice: within that a read continues to the next session */

/* -- reading for a while -- */

/* Handles of one process share its lock on the file, so reads of two threads that overlap are one
 * long read to everyone else. So all walks of the process end together: who comes after the time of
 * those that read waits until the last of them has let go. */
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

/* A session is small, a transaction costs as much as reading one: so a read stays open behind a
 * session, for a part of its slice. */
bool rows_go_on(Rows *r, Err *err)
{
    bool row;

    if (r->reading && clock_mono_ms() < r->until - r->slice_ms + r->slice_ms / GO_ON_SHARE)
        return true;
    rows_rest(r);
    r->until = begin_read(r);
    r->reading = true;
    return stmt_step(r->db, r->begin, &row, err);
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

/* -- columns -- */

const char *rows_column(Rows *r, const char *table, const char *name)
{
    return db_has_column(r->db, table, name) ? name : "NULL";
}

/* -- sessions -- */

/* What a session's row says of how far it has gone. Columns that are missing read as NULL. */
static const char *const marks[] = { "message_count", "tool_call_count", "rewind_count",
                                     "output_tokens", "ended_at",        "api_call_count" };

/* A guest spoke in it, and nobody else. */
#define GUESTS_ONLY                                                                                \
    "EXISTS (SELECT 1 FROM conversation_message g WHERE g.conversation_id = sessions.id AND "      \
    "g.guest) AND NOT EXISTS (SELECT 1 FROM conversation_message g WHERE g.conversation_id = "     \
    "sessions.id AND NOT g.guest)"

/* What the function that sees a row is given. */
enum { SEE_ROWID, SEE_ID, SEE_SOURCE, SEE_MODEL, SEE_TITLE, SEE_STARTED, SEE_ACTIVE, SEE_MARKS };

static uint64_t mark_of(const SessionRow *s, sqlite3_value **row)
{
    uint64_t hash = hash_text(HASH_START, s->id);
    double values[2 + ARRAY_LEN(marks)] = { s->started_at, s->last_activity_at };

    hash = hash_text(hash, s->title);
    hash = hash_text(hash, s->model);
    hash = hash_text(hash, s->source);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        values[2 + i] = sqlite3_value_double(row[SEE_MARKS + i]);
    /* Kept in 63 bits: the packed form has no sign. */
    return hash_bytes(hash, values, sizeof values) >> 1;
}

static SessionRow session_row(sqlite3_value **row)
{
    SessionRow s = { .rowid = sqlite3_value_int64(row[SEE_ROWID]),
                     .id = rows_text(row[SEE_ID]),
                     .source = rows_text(row[SEE_SOURCE]),
                     .model = rows_text(row[SEE_MODEL]),
                     .title = rows_text(row[SEE_TITLE]),
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
    stmt_bind_text(r->models, 1, s->id);
    while (row) {
        if (!stmt_step(r->db, r->models, &row, err))
            return false;
        if (row && !str_eq(stmt_text(r->models, 0), s->model) && stmt_text(r->models, 0).n) {
            buf_addz(&all, all.n ? "\n" : "");
            buf_add(&all, stmt_text(r->models, 0));
        }
    }
    sqlite3_reset(r->models);
    s->model = str_dup(a, buf_str(&all));
    s->mark = hash_text(s->mark, s->model) >> 1;
    return true;
}

/* -- turns that are kept elsewhere -- */

/* The first that is not before it. */
static size_t first_kept(const Rows *r, Str session)
{
    size_t low = 0, high = r->n_kept;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_cmp(r->kept[middle].session, session) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* kept_elsewhere(session, runtime): by that runtime; NULL: by any. */
static void kept_elsewhere(sqlite3_context *context, int n, sqlite3_value **values)
{
    const Rows *r = sqlite3_user_data(context);
    Str session = rows_text(values[0]), runtime = rows_text(values[1]);
    bool any = sqlite3_value_type(values[1]) == SQLITE_NULL, found = false;

    (void)n;
    for (size_t i = first_kept(r, session);
         i < r->n_kept && !found && str_eq(r->kept[i].session, session); i++)
        found = any || str_eq(r->kept[i].runtime, runtime);
    sqlite3_result_int(context, found);
}

void rows_skip(Rows *r, const KnownAs *kept, size_t n)
{
    r->kept = kept;
    r->n_kept = n;
}

/* Another set of turns to read is another session. */
static void mark_kept(const Rows *r, SessionRow *s)
{
    for (size_t i = first_kept(r, s->id); i < r->n_kept && str_eq(r->kept[i].session, s->id); i++)
        s->mark = hash_text(s->mark, r->kept[i].runtime) >> 1;
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

/* Rows are looked at where SQLite has them: handing out each with all its columns took twice as
 * long. True ends the stretch. */
static void see_session(sqlite3_context *context, int n, sqlite3_value **row)
{
    SessionWalk *w = ((const Rows *)sqlite3_user_data(context))->sessions_walk;
    SessionRow s = session_row(row);

    (void)n;
    w->failed = w->rows->models && !add_models(w->rows, w->arena, &s, w->err);
    w->last = s.rowid;
    mark_kept(w->rows, &s);
    if (!w->failed)
        w->fn(w->ctx, &s);
    sqlite3_result_int(context,
                       w->failed || (++w->n % ROWS_LOOK_EVERY == 0 && clock_mono_ms() >= w->end));
}

static bool prepare_see_session(Rows *r, Err *err)
{
    return sqlite3_create_function_v2(
               r->db->handle, "see_session", SEE_MARKS + (int)ARRAY_LEN(marks),
               SQLITE_UTF8 | SQLITE_DIRECTONLY, r, see_session, NULL, NULL, NULL) == SQLITE_OK ||
           db_error(r->db, err);
}

static bool prepare_kept(Rows *r, Err *err)
{
    return sqlite3_create_function_v2(r->db->handle, "kept_elsewhere", 2,
                                      SQLITE_UTF8 | SQLITE_DIRECTONLY, r, kept_elsewhere, NULL,
                                      NULL, NULL) == SQLITE_OK ||
           db_error(r->db, err);
}

static bool sessions_statement(Rows *r, Stmt **ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(2));
    bool all = !r->has_archived || r->query.archived;

    buf_addf(&sql, "SELECT 1 FROM sessions WHERE rowid > ?1 AND CASE WHEN %s%s%s THEN see_session(",
             all ? "1" : "archived = 0", r->is_ours ? " AND source IS NOT '" SOURCE_ASK "'" : "",
             r->query.no_guests ? " AND NOT (" GUESTS_ONLY ")" : "");
    buf_addf(&sql, "rowid, id, source, %s, ", rows_column(r, "sessions", "model"));
    buf_addf(&sql, "%s, started_at, ", rows_column(r, "sessions", "title"));
    buf_addz(&sql, rows_column(r, "sessions", "last_activity_at"));
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        buf_addf(&sql, ", %s", rows_column(r, "sessions", marks[i]));
    buf_addz(&sql, ") END ORDER BY rowid");
    return stmt_prepare(r->db, sql.p, ret, err);
}

/* One stretch, as long as a transaction may last. */
static bool walk_on(SessionWalk *w, Stmt *stmt, bool *ret_more)
{
    bool ok;

    w->end = begin_read(w->rows);
    sqlite3_bind_int64(stmt, 1, w->last);
    ok = stmt_step(w->rows->db, stmt, ret_more, w->err);
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
    r->sessions_walk = &w;
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
    if (!db_get_int(r->db, 0, &last, err, "SELECT max(id) FROM messages") ||
        !stmt_prepare(r->db,
                      "SELECT DISTINCT session_id FROM messages WHERE id > ?1 AND id <= ?2 LIMIT "
                      "100000",
                      &stmt, err))
        return false;
    sqlite3_bind_int64(stmt, 1, after);
    sqlite3_bind_int64(stmt, 2, last);
    while (after >= 0 && row) {
        if (!stmt_step(r->db, stmt, &row, err))
            return false;
        if (row) {
            Str id = str_dup(a, stmt_text(stmt, 0));

            ARENA_PUSH(a, all, n, cap, id);
        }
    }
    *ret = all;
    *ret_n = n;
    *ret_last = last;
    return true;
}

/* -- life -- */

static bool is_wal(Rows *r, bool *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;

    if (!stmt_prepare(r->db, "PRAGMA journal_mode", &stmt, err) ||
        !stmt_step(r->db, stmt, &row, err))
        return false;
    *ret = row && str_eqz(stmt_text(stmt, 0), "wal");
    return true;
}

static bool prepare(Rows *r, Err *err)
{
    if (r->query.all_models && r->has_usage &&
        !stmt_prepare(
            r->db,
            "SELECT DISTINCT model FROM session_model_usage WHERE session_id = ? ORDER BY "
            "model",
            &r->models, err))
        return false;
    return stmt_prepare(r->db, "BEGIN", &r->begin, err) &&
           stmt_prepare(r->db, "COMMIT", &r->commit, err) && prepare_see_session(r, err) &&
           prepare_kept(r, err) && rows_prepare_messages(r, err);
}

Rows *rows_open(const Home *home, const RowsQuery *query, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Rows) *r = mem_alloc(sizeof *r);
    bool wal = false;

    r->db = db_open_read(str_z(a, home->database), err);
    /* Every page is read once: few of them, so that they stay in the processor's cache. */
    if (!r->db || !db_script(r->db, "PRAGMA cache_size=-200", err) || !is_wal(r, &wal, err))
        return NULL;
    r->slice_ms = wal ? SLICE_WAL_MS : SLICE_ROLLBACK_MS;
    r->has_active = db_has_column(r->db, "messages", "active");
    r->has_archived = db_has_column(r->db, "sessions", "archived");
    r->has_usage = db_has_column(r->db, "session_model_usage", "model");
    r->is_ours = db_has_column(r->db, "conversation_of", "home");
    r->query = *query;
    r->query.no_guests = query->no_guests && db_has_column(r->db, "conversation_message", "guest");
    r->query.compacted = query->compacted && db_has_column(r->db, "messages", "compacted");
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
