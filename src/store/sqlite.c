/* The SQLite engine on a Hermes-shaped database of any age.
 *
 * Columns are looked up when the database is opened and statements are put together from those that
 * are there: an older schema lacks active, archived and more, a newer one has what we do not know.
 *
 * A read holds up a writer: in WAL mode it keeps the log from being reset, in rollback mode it
 * blocks the commit itself. So every read is cut into batches by rows, bytes and time, ended,
 * and taken up again behind the last key. */
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/continues.h"
#include "store/sqlite_inside.h"

enum { BATCH_ROWS = 512, BATCH_BYTES = 1 << 20 };

/* -- opening -- */

static const char *const session_fields[] = {
#define X(kind, name) #name,
    SESSION_FIELDS(X)
#undef X
};
static const char *const message_fields[] = {
#define X(kind, name) #name,
    MESSAGE_FIELDS(X)
#undef X
};

/* "sessions.id, sessions.source, NULL, ..." in the order of the table of fields. */
static char *columns_that_exist(Conn *c, const char *table, const char *const *fields, size_t n)
{
    AUTO_BUF list = BUF(KIB(8));

    for (size_t i = 0; i < n; i++) {
        buf_addz(&list, i ? ", " : "");
        if (db_has_column(c->db, table, fields[i]))
            buf_addf(&list, "%s.%s", table, fields[i]);
        else
            buf_addz(&list, strcmp(fields[i], "active") == 0 ? "1" : "NULL");
    }
    return mem_strdup(buf_str(&list));
}

static bool check_tables(Conn *c, Err *err)
{
    static const char *const needed[][2] = {
        { "sessions", "id" },      { "sessions", "source" },     { "sessions", "started_at" },
        { "messages", "id" },      { "messages", "session_id" }, { "messages", "role" },
        { "messages", "content" }, { "messages", "timestamp" }
    };

    /* Before metadata is asked for, so that a file that is no database says so. */
    if (!db_script(c->db, "SELECT 1 FROM sqlite_schema LIMIT 1", err))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!db_has_column(c->db, needed[i][0], needed[i][1]))
            return err_set(err, ERR_INVALID,
                           "'%s' holds no session history: table '%s' with column '%s' is missing",
                           c->db->path, needed[i][0], needed[i][1]);
    return true;
}

static bool read_journal_mode(Conn *c, char ret[16], Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;
    Str mode;

    if (!stmt_prepare(c->db, "PRAGMA journal_mode", &stmt, err) ||
        !stmt_step(c->db, stmt, &row, err))
        return false;
    mode = row ? stmt_text(stmt, 0) : STR_NONE;
    snprintf(ret, 16, "%.*s", STR_FMT(mode));
    return true;
}

static Conn *conn_close(Conn *c)
{
    if (!c)
        return NULL;
    stmt_free(c->get);
    stmt_free(c->at);
    stmt_free(c->continuation);
    stmt_free(c->first_words);
    stmt_free(c->newest);
    stmt_free(c->newest_at);
    stmt_free(c->mark);
    stmt_free(c->message_key);
    stmt_free(c->session_key);
    stmt_free(c->session_cells);
    stmt_free(c->message_cells);
    stmt_free(c->prompt);
    for (size_t i = 0; i < 2 * KEY_KINDS; i++)
        stmt_free(c->messages[i / KEY_KINDS][i % KEY_KINDS]);
    db_close(c->db);
    mem_free(c->session_columns);
    mem_free(c->message_columns);
    mem_free(c);
    return NULL;
}
AUTO_FREE(Conn, conn_close)

static Conn *conn_open(const Home *home, Err *err)
{
    AUTO(Arena) *a = arena_new();
    AUTO(Conn) *c = mem_alloc(sizeof *c);
    char journal[16];

    c->db = db_open_read(str_z(a, home->database), err);
    if (!c->db || !check_tables(c, err) || !read_journal_mode(c, journal, err))
        return NULL;
    c->wal = strcmp(journal, "wal") == 0;
    c->has_active = db_has_column(c->db, "messages", "active");
    c->has_archived = db_has_column(c->db, "sessions", "archived");
    c->has_model_config = db_has_column(c->db, "sessions", "model_config");
    c->has_last_activity = db_has_column(c->db, "sessions", "last_activity_at");
    c->has_message_count = db_has_column(c->db, "sessions", "message_count");
    c->session_columns =
        columns_that_exist(c, "sessions", session_fields, ARRAY_LEN(session_fields));
    c->message_columns =
        columns_that_exist(c, "messages", message_fields, ARRAY_LEN(message_fields));
    return TAKE(c);
}

/* -- rows -- */

int64_t conn_slice_end(const Conn *c)
{
    return clock_mono_ms() + (c->wal ? SLICE_WAL_MS : SLICE_ROLLBACK_MS);
}

static Str take_TEXT(Arena *a, sqlite3_stmt *stmt, int at)
{
    Str s = stmt_text(stmt, at);

    return s.p ? str_dup(a, s) : s;
}

static double take_REAL(Arena *a, sqlite3_stmt *stmt, int at)
{
    (void)a;
    return sqlite3_column_double(stmt, at);
}

static double take_REAL_OR_NULL(Arena *a, sqlite3_stmt *stmt, int at)
{
    return take_REAL(a, stmt, at);
}

static int64_t take_INT(Arena *a, sqlite3_stmt *stmt, int at)
{
    (void)a;
    return stmt_count(stmt, at);
}

static Session session_row(Arena *a, sqlite3_stmt *stmt)
{
    Session s = { 0 };
    int at = 0;

#define X(kind, name) s.name = take_##kind(a, stmt, at++);
    SESSION_FIELDS(X)
#undef X
    s.rowid = sqlite3_column_int64(stmt, at);
    return s;
}

static Message message_row(Arena *a, sqlite3_stmt *stmt)
{
    Message m = { 0 };
    int at = 0;

#define X(kind, name) m.name = take_##kind(a, stmt, at++);
    MESSAGE_FIELDS(X)
#undef X
    m.id = sqlite3_column_int64(stmt, at);
    return m;
}

bool conn_prepared(Conn *c, Stmt **slot, const char *sql, Err *err)
{
    if (*slot) {
        sqlite3_reset(*slot);
        return true;
    }
    return stmt_prepare(c->db, sql, slot, err);
}

/* At most one session, and the statement is done with. */
static bool one_session(Conn *c, Arena *a, sqlite3_stmt *stmt, Session *ret, bool *ret_found,
                        Err *err)
{
    bool ok = stmt_step(c->db, stmt, ret_found, err);

    if (ok && *ret_found)
        *ret = session_row(a, stmt);
    sqlite3_reset(stmt);
    return ok;
}

/* -- keys -- */

typedef struct Key {
    KeyKind kind;
    sqlite3_value *value; /* of KEY_VALUE; NULL: `at` */
    double at;
} Key;

static void key_done(Key *key)
{
    sqlite3_value_free(key->value);
}
#define AUTO_KEY __attribute__((cleanup(key_done))) Key

/* The time of the row as it is stored. Of a row that is gone the number that was read represents
 * it. */
static bool find_key(Conn *c, Stmt **slot, const char *sql, int64_t row_id, double at, Key *ret,
                     Err *err)
{
    bool row = false, ok;

    if (!conn_prepared(c, slot, sql, err))
        return false;
    sqlite3_bind_int64(*slot, 1, row_id);
    ok = stmt_step(c->db, *slot, &row, err);
    *ret = (Key){ .kind = KEY_VALUE, .at = at };
    if (ok && row && sqlite3_column_type(*slot, 0) == SQLITE_NULL)
        ret->kind = KEY_NULL;
    else if (ok && row)
        ret->value = sqlite3_value_dup(sqlite3_column_value(*slot, 0));
    sqlite3_reset(*slot);
    return ok;
}

static void bind_key(Stmt *stmt, int at, const Key *key)
{
    if (key->value)
        sqlite3_bind_value(stmt, at, key->value);
    else
        sqlite3_bind_double(stmt, at, key->at);
}

/* -- sessions -- */

typedef struct SessionPage {
    Arena *arena;
    const SessionQuery *query;
    Session *all;
    size_t n, cap, max;
    int64_t end; /* by when it has to be ready */
} SessionPage;

static bool list_statement(Conn *c, const SessionPage *p, KeyKind key, Stmt **ret, Err *err)
{
    /* Two halves of a key, so that the index on started_at is used for the larger one. */
    static const char *const behind[] = {
        [KEY_NONE] = "",
        [KEY_NULL] = " AND started_at IS NULL AND rowid > ?4",
        [KEY_VALUE] = " AND started_at <= ?3 AND (started_at < ?3 OR rowid > ?4)",
    };
    AUTO_BUF sql = BUF(KIB(16));

    buf_addf(&sql, "SELECT %s, rowid FROM sessions WHERE id <> ''", c->session_columns);
    if (c->has_archived && !p->query->archived)
        buf_addz(&sql, " AND archived = 0");
    buf_addz(&sql, p->query->source.n ? " AND source = ?1" : NO_ONE_SHOTS);
    if (p->query->since > 0)
        buf_addz(&sql, " AND started_at >= ?2");
    buf_addf(&sql, "%s ORDER BY started_at DESC, rowid LIMIT %zu", behind[key], p->max - p->n);
    return stmt_prepare(c->db, sql.p, ret, err);
}

/* *ret_all: there is nothing behind it, not only no more time or room. */
static bool list_from(Conn *c, SessionPage *p, const Key *key, int64_t rowid, bool *ret_all,
                      Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;

    if (!list_statement(c, p, key->kind, &stmt, err))
        return false;
    if (p->query->source.n)
        stmt_bind_text(stmt, 1, p->query->source);
    if (p->query->since > 0)
        sqlite3_bind_double(stmt, 2, p->query->since);
    if (key->kind == KEY_VALUE)
        bind_key(stmt, 3, key);
    if (key->kind != KEY_NONE)
        sqlite3_bind_int64(stmt, 4, rowid);
    do {
        if (!stmt_step(c->db, stmt, &row, err))
            return false;
        if (row) {
            Session s = session_row(p->arena, stmt);

            ARENA_PUSH(p->arena, p->all, p->n, p->cap, s);
        }
    } while (row && (p->n % 16 || clock_mono_ms() < p->end));
    *ret_all = !row && p->n < p->max;
    return true;
}

static bool conn_list(Conn *c, Arena *a, const SessionQuery *query, const Session *after,
                      size_t max, Session **ret, size_t *ret_n, Err *err)
{
    SessionPage p = { .arena = a, .query = query, .max = max, .end = conn_slice_end(c) };
    AUTO_KEY key = { .kind = KEY_NONE };
    bool all;

    if (after && !find_key(c, &c->session_key, "SELECT started_at FROM sessions WHERE rowid = ?",
                           after->rowid, after->started_at, &key, err))
        return false;
    if (!list_from(c, &p, &key, after ? after->rowid : 0, &all, err))
        return false;
    /* Sessions without a time come last, where no comparison reaches them. */
    if (all && key.kind == KEY_VALUE &&
        !list_from(c, &p, &(Key){ .kind = KEY_NULL }, INT64_MIN, &all, err))
        return false;
    *ret = p.all;
    *ret_n = p.n;
    return true;
}

static bool has_lineages(Conn *c)
{
    return db_has_column(c->db, "sessions", "parent_session_id") &&
           db_has_column(c->db, "sessions", "end_reason") &&
           db_has_column(c->db, "sessions", "ended_at");
}

static bool conn_continuation(Conn *c, Arena *a, const Session *s, Session *ret, bool *ret_found,
                              Err *err)
{
    AUTO_BUF sql = BUF(KIB(16));

    *ret_found = false;
    if (!str_eqz(s->end_reason, "compression") || !has_lineages(c))
        return true;
    buf_addf(&sql,
             "SELECT %s, sessions.rowid FROM sessions WHERE sessions.rowid = (SELECT child.rowid "
             "FROM sessions AS parent, sessions AS child WHERE parent.id = ? AND " CONTINUES "%s "
             "ORDER BY child.started_at DESC, child.rowid DESC LIMIT 1)",
             c->session_columns, c->has_model_config ? NO_BRANCH : "");
    if (!conn_prepared(c, &c->continuation, sql.p, err))
        return false;
    stmt_bind_text(c->continuation, 1, s->id);
    return one_session(c, a, c->continuation, ret, ret_found, err);
}

static bool conn_at(Conn *c, Arena *a, int64_t rowid, Session *ret, bool *ret_found, Err *err)
{
    AUTO_BUF sql = BUF(KIB(8));

    buf_addf(&sql, "SELECT %s, rowid FROM sessions WHERE rowid = ?", c->session_columns);
    if (!conn_prepared(c, &c->at, sql.p, err))
        return false;
    sqlite3_bind_int64(c->at, 1, rowid);
    return one_session(c, a, c->at, ret, ret_found, err);
}

static bool conn_highest(Conn *c, int64_t *ret, Err *err)
{
    return db_get_int(c->db, 0, ret, err, "SELECT max(rowid) FROM sessions");
}

static bool conn_count(Conn *c, int64_t *ret, Err *err)
{
    return db_get_int(c->db, 0, ret, err, "SELECT count(*) FROM sessions WHERE true" NO_ONE_SHOTS);
}

static bool conn_get(Conn *c, Arena *a, Str id, Session *ret, bool *ret_found, Err *err)
{
    AUTO_BUF sql = BUF(KIB(8));

    buf_addf(&sql, "SELECT %s, rowid FROM sessions WHERE id = ?", c->session_columns);
    if (!conn_prepared(c, &c->get, sql.p, err))
        return false;
    stmt_bind_text(c->get, 1, id);
    return one_session(c, a, c->get, ret, ret_found, err);
}

static bool conn_begins(Conn *c, Arena *a, Str prefix, size_t max, Session **ret, size_t *ret_n,
                        Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    AUTO_BUF sql = BUF(KIB(8));
    Session *all = NULL;
    size_t n = 0, cap = 0;
    bool row = true;

    buf_addf(&sql,
             "SELECT %s, rowid FROM sessions WHERE id >= ?1 AND id < ?1 || x'f48fbfbf' LIMIT %zu",
             c->session_columns, max);
    if (!stmt_prepare(c->db, sql.p, &stmt, err))
        return false;
    stmt_bind_text(stmt, 1, prefix);
    while (row) {
        if (!stmt_step(c->db, stmt, &row, err))
            return false;
        if (row) {
            Session s = session_row(a, stmt);

            ARENA_PUSH(a, all, n, cap, s);
        }
    }
    *ret = all;
    *ret_n = n;
    return true;
}

static bool conn_first_words(Conn *c, Arena *a, Str id, Str *ret, Err *err)
{
    bool row = false, ok;

    if (!conn_prepared(
            c, &c->first_words,
            "SELECT substr(replace(replace(content, char(10), ' '), char(13), ' '), 1, 63) "
            "FROM messages WHERE session_id = ? AND role = 'user' AND content IS NOT NULL "
            "ORDER BY timestamp, id LIMIT 1",
            err))
        return false;
    stmt_bind_text(c->first_words, 1, id);
    ok = stmt_step(c->db, c->first_words, &row, err);
    if (ok)
        *ret = row ? str_trim(take_TEXT(a, c->first_words, 0)) : STR("");
    sqlite3_reset(c->first_words);
    return ok;
}

/* One number of the newest, by the index on time. */
static bool conn_newest(Conn *c, Str id, double *ret, Err *err)
{
    bool row = false, ok;

    if (!conn_prepared(c, &c->newest, "SELECT max(timestamp) FROM messages WHERE session_id = ?",
                       err))
        return false;
    stmt_bind_text(c->newest, 1, id);
    ok = stmt_step(c->db, c->newest, &row, err);
    if (ok)
        *ret = sqlite3_column_double(c->newest, 0);
    sqlite3_reset(c->newest);
    return ok;
}

/* Rewinding and compacting change no row's number, only `active`: so it is part of the mark. */
static bool conn_mark(Conn *c, Arena *a, Str id, Str *ret, Err *err)
{
    AUTO_BUF sql = BUF(KIB(1));
    bool row = false, ok;

    buf_addf(&sql,
             "SELECT count(*), max(id), %s, max(timestamp) FROM messages WHERE session_id = ?",
             c->has_active ? "sum(active)" : "0");
    if (!conn_prepared(c, &c->mark, sql.p, err))
        return false;
    stmt_bind_text(c->mark, 1, id);
    ok = stmt_step(c->db, c->mark, &row, err);
    if (ok)
        *ret = str_printf(a, "%lld:%lld:%lld:%.6f", (long long)sqlite3_column_int64(c->mark, 0),
                          (long long)sqlite3_column_int64(c->mark, 1),
                          (long long)sqlite3_column_int64(c->mark, 2),
                          sqlite3_column_double(c->mark, 3));
    sqlite3_reset(c->mark);
    return ok;
}

/* -- messages -- */

static bool messages_statement(Conn *c, bool inactive, KeyKind key, Stmt **ret, Err *err)
{
    static const char *const behind[] = {
        [KEY_NONE] = "",
        [KEY_NULL] = " AND (timestamp IS NOT NULL OR id > ?3)",
        [KEY_VALUE] = " AND timestamp >= ?2 AND (timestamp > ?2 OR id > ?3)",
    };
    AUTO_BUF sql = BUF(KIB(8));
    Stmt **slot = &c->messages[inactive][key];

    *ret = *slot;
    if (*slot)
        return true;
    buf_addf(&sql, "SELECT %s, id FROM messages WHERE session_id = ?1", c->message_columns);
    if (c->has_active && !inactive)
        buf_addz(&sql, " AND active = 1");
    buf_addf(&sql, "%s ORDER BY timestamp, id LIMIT %d", behind[key], BATCH_ROWS);
    if (!stmt_prepare(c->db, sql.p, slot, err))
        return false;
    *ret = *slot;
    return true;
}

static bool conn_messages(Conn *c, Arena *a, Str id, const MessageQuery *query,
                          const Message *after, Message **ret, size_t *ret_n, Err *err)
{
    AUTO_KEY key = { .kind = KEY_NONE };
    Message *all = NULL;
    size_t n = 0, cap = 0, bytes = 0;
    int64_t end = conn_slice_end(c);
    bool row = true, ok;
    Stmt *stmt;

    if (after && !find_key(c, &c->message_key, "SELECT timestamp FROM messages WHERE id = ?",
                           after->id, after->timestamp, &key, err))
        return false;
    if (!messages_statement(c, query->inactive, key.kind, &stmt, err))
        return false;
    stmt_bind_text(stmt, 1, id);
    if (after) {
        bind_key(stmt, 2, &key);
        sqlite3_bind_int64(stmt, 3, after->id);
    }
    do {
        ok = stmt_step(c->db, stmt, &row, err);
        if (ok && row) {
            Message m = message_row(a, stmt);

            bytes += m.content.n + m.tool_calls.n + m.reasoning.n;
            ARENA_PUSH(a, all, n, cap, m);
        }
    } while (ok && row && bytes < BATCH_BYTES && (n % 16 || clock_mono_ms() < end));
    sqlite3_reset(stmt);
    *ret = all;
    *ret_n = n;
    return ok;
}

/* -- columns without a field of ours -- */

static bool is_field(const char *name, const char *const *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, fields[i]) == 0)
            return true;
    return strcmp(name, "id") == 0 || strcmp(name, "messages") == 0;
}

static StoredCell read_cell(Arena *a, sqlite3_stmt *stmt, int at, Str name)
{
    StoredCell cell = { .name = str_dup(a, name) };

    switch (sqlite3_column_type(stmt, at)) {
    case SQLITE_INTEGER:
        cell.kind = CELL_INT;
        cell.n = sqlite3_column_int64(stmt, at);
        break;
    case SQLITE_FLOAT:
        cell.kind = CELL_REAL;
        cell.x = sqlite3_column_double(stmt, at);
        break;
    case SQLITE_TEXT:
        cell.kind = CELL_TEXT;
        cell.text = take_TEXT(a, stmt, at);
        break;
    default:
        break;
    }
    return cell;
}

/* A Hermes of schema 25 keeps equal system prompts once, in a table of their own, and exports them
 * as if they stood in the session's row. */
static bool read_prompt(Conn *c, Arena *a, int64_t rowid, StoredCell *cell, Err *err)
{
    bool row, ok;

    if (cell->kind != CELL_NULL || !str_eqz(cell->name, "system_prompt") ||
        !db_has_column(c->db, "sessions", "system_prompt_hash") ||
        !db_has_column(c->db, "system_prompts", "prompt"))
        return true;
    if (!conn_prepared(c, &c->prompt,
                       "SELECT prompt FROM system_prompts WHERE hash = "
                       "(SELECT system_prompt_hash FROM sessions WHERE rowid = ?)",
                       err))
        return false;
    sqlite3_bind_int64(c->prompt, 1, rowid);
    ok = stmt_step(c->db, c->prompt, &row, err);
    if (ok && row)
        *cell = read_cell(a, c->prompt, 0, cell->name);
    sqlite3_reset(c->prompt);
    return ok;
}

static bool conn_cells(Conn *c, Arena *a, const Session *s, const Message *m, StoredCell **ret,
                       size_t *ret_n, Err *err)
{
    Stmt **slot = m ? &c->message_cells : &c->session_cells;
    size_t cap = 0;
    bool row, ok;

    *ret = NULL;
    *ret_n = 0;
    if (!conn_prepared(c, slot,
                       m ? "SELECT * FROM messages WHERE id = ?"
                         : "SELECT * FROM sessions WHERE rowid = ?",
                       err))
        return false;
    sqlite3_bind_int64(*slot, 1, m ? m->id : s->rowid);
    ok = stmt_step(c->db, *slot, &row, err);
    for (int i = 0; ok && row && i < sqlite3_column_count(*slot); i++) {
        const char *name = sqlite3_column_name(*slot, i);

        if (name && !(m ? is_field(name, message_fields, ARRAY_LEN(message_fields))
                        : is_field(name, session_fields, ARRAY_LEN(session_fields))))
            ARENA_PUSH(a, *ret, *ret_n, cap, read_cell(a, *slot, i, str_of(name)));
    }
    sqlite3_reset(*slot);
    for (size_t i = 0; ok && !m && i < *ret_n; i++)
        ok = read_prompt(c, a, s->rowid, &(*ret)[i], err);
    return ok;
}

/* -- facts -- */

static bool count_messages(Conn *c, HomeFacts *facts, Err *err)
{
    bool ok;

    db_end_by(c->db, conn_slice_end(c));
    ok = db_get_int(c->db, 0, &facts->messages, err, "SELECT count(*) FROM messages");
    db_end_by(c->db, 0);
    if (ok || err->kind != ERR_INTERRUPTED || !c->has_message_count)
        return ok;
    /* Too many to count in one short read: as the sessions say. */
    facts->messages_are_about = true;
    db_end_by(c->db, conn_slice_end(c));
    ok = db_get_int(c->db, 0, &facts->messages, err, "SELECT sum(message_count) FROM sessions");
    db_end_by(c->db, 0);
    return ok;
}

static bool newest_activity(Conn *c, double *ret, Err *err)
{
    AUTO(Stmt) *stmt = NULL;
    bool row = false;

    /* The last row written and the last session begun: both by an index, no walk through all. */
    if (!stmt_prepare(
            c->db,
            "SELECT max(coalesce((SELECT timestamp FROM messages ORDER BY id DESC LIMIT 1), "
            "0), coalesce((SELECT max(started_at) FROM sessions), 0))",
            &stmt, err) ||
        !stmt_step(c->db, stmt, &row, err))
        return false;
    *ret = row ? sqlite3_column_double(stmt, 0) : 0;
    return true;
}

static void counts_sql(Conn *c, Buf *sql)
{
    bool chains = has_lineages(c), active = db_has_column(c->db, "sessions", "last_activity_at");

    buf_addz(sql, "SELECT source, ");
    if (chains)
        buf_addf(
            sql,
            "id IN (SELECT parent.id FROM sessions AS child CROSS JOIN sessions AS parent WHERE "
            "child.parent_session_id IS NOT NULL AND " CONTINUES "%s)",
            c->has_model_config ? NO_BRANCH : "");
    else
        buf_addz(sql, "0");
    buf_addf(sql,
             ", %s, count(*), max(%s) FROM sessions WHERE id <> ''" NO_ONE_SHOTS
             " GROUP BY 1, 2, 3",
             c->has_archived ? "archived <> 0" : "0",
             active ? "max(coalesce(last_activity_at, 0), started_at)" : "started_at");
}

static bool count_alike(Conn *c, Arena *a, HomeFacts *facts, Err *err)
{
    AUTO_BUF sql = BUF(KIB(4));
    AUTO(Stmt) *stmt = NULL;
    size_t cap = 0;
    bool row = true;

    counts_sql(c, &sql);
    if (!stmt_prepare(c->db, sql.p, &stmt, err))
        return false;
    while (row) {
        if (!stmt_step(c->db, stmt, &row, err))
            return false;
        if (row) {
            HomeCount one = { .source = str_dup(a, stmt_text(stmt, 0)),
                              .part = sqlite3_column_int(stmt, 1) != 0,
                              .archived = sqlite3_column_int(stmt, 2) != 0,
                              .n = sqlite3_column_int64(stmt, 3),
                              .newest = sqlite3_column_double(stmt, 4) };

            ARENA_PUSH(a, facts->counts, facts->n_counts, cap, one);
        }
    }
    return true;
}

static bool conn_facts(Conn *c, Arena *a, HomeFacts *facts, Err *err)
{
    struct stat st;

    if (!read_journal_mode(c, facts->journal, err))
        return false;
    if (db_has_column(c->db, "schema_version", "version") &&
        !db_get_int(c->db, 0, &facts->schema_version, err,
                    "SELECT max(version) FROM schema_version"))
        return false;
    if (facts->home->kind == HOME_OURS &&
        !db_get_int(c->db, 0, &facts->schema_version, err, "PRAGMA user_version"))
        return false;
    if (stat(c->db->path, &st) == 0)
        facts->bytes = st.st_size;
    return conn_count(c, &facts->sessions, err) && count_alike(c, a, facts, err) &&
           count_messages(c, facts, err) && newest_activity(c, &facts->newest, err);
}

const Engine engine_sqlite = {
    .version = sqlite3_libversion,
    .open = conn_open,
    .close = conn_close,
    .facts = conn_facts,
    .list = conn_list,
    .count = conn_count,
    .get = conn_get,
    .activity = conn_activity,
    .highest = conn_highest,
    .at = conn_at,
    .begins = conn_begins,
    .continuation = conn_continuation,
    .first_words = conn_first_words,
    .newest = conn_newest,
    .mark = conn_mark,
    .messages = conn_messages,
    .cells = conn_cells,
};
