/* A database that somebody else wrote: the bytes choose the kind of each table, the storage class
 * of every cell and the parents. It is listed, loaded, exported and studied. Nothing is given
 * twice, nothing takes more time or memory than its rows allow, whatever they hold. */
#include <malloc.h>
#include <sqlite3.h>
#include <unistd.h>

#include "sanitized.h"

#include "base/clock.h"
#include "base/limits.h"
#include "store/session_json.h"
#include "store/store.h"
#include "templates/study.h"

enum {
    SESSIONS = 24,
    MESSAGES = 48,
    ROWS_MORE = 600, /* of one session, in one go: more than a batch */
    MEMORY = MIB(64),
    NS_AT_ALL = 2000000000,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Bytes {
    const uint8_t *p;
    size_t n;
} Bytes;

typedef struct Made {
    size_t sessions, messages;
} Made;

static char folder[64], file[80];

static void tidy_up(void)
{
    (void)unlink(file);
    (void)rmdir(folder);
}

static uint8_t take(Bytes *b)
{
    if (!b->n)
        return 0;
    b->n--;
    return *b->p++;
}

/* -- a database -- */

static const char *const session_columns[] = {
    "id",         "source",   "started_at",        "ended_at",
    "end_reason", "title",    "parent_session_id", "message_count",
    "model",      "archived", "model_config"
};
static const char *const message_columns[] = { "id",         "session_id", "role",
                                               "content",    "timestamp",  "tool_call_id",
                                               "tool_name",  "tool_calls", "active",
                                               "token_count" };

static void define(sqlite3 *db, const char *name, const char *const *columns, size_t n,
                   uint8_t kind)
{
    static const char *const types[] = { "", " TEXT", " REAL", " INTEGER", " BLOB" };
    char sql[2000];
    size_t at = 0;
    bool other = kind % 8 >= 6;

    at += (size_t)snprintf(sql, sizeof sql, "CREATE TABLE %s%s (", other ? "real_" : "", name);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(sql + at, sizeof sql - at, "%s%s%s", i ? ", " : "", columns[i],
                               i == 0 && name[0] == 'm' && kind % 3 ? " INTEGER PRIMARY KEY"
                               : i == 0 && name[0] == 's'           ? " TEXT PRIMARY KEY"
                                                          : types[(kind + i) % ARRAY_LEN(types)]);
    (void)snprintf(sql + at, sizeof sql - at, ")");
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (kind % 8 == 6)
        (void)snprintf(sql, sizeof sql, "CREATE VIEW %s AS SELECT * FROM real_%s", name, name);
    else if (kind % 8 == 7 && kind & 8)
        (void)snprintf(sql, sizeof sql,
                       "CREATE VIEW %s AS WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + "
                       "1 FROM r) SELECT "
                       "id, 's' AS session_id, 'user' AS role, 'x' AS content, id AS timestamp, "
                       "'cli' AS source, "
                       "id AS started_at FROM r",
                       name);
    else if (kind % 8 == 7)
        (void)snprintf(sql, sizeof sql,
                       "CREATE VIRTUAL TABLE %s USING fts5(id, session_id, role, content, "
                       "timestamp, source, started_at)",
                       name);
    if (other)
        (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* A cell: mostly what belongs there, else anything. */
static void bind(sqlite3_stmt *stmt, int at, Bytes *b, const char *text, double number)
{
    static const char odd[] = "\xff\xfe[{\"a\":\"2026-11-01T10:00:00";
    uint8_t kind = take(b);

    switch (kind % 12) {
    case 0:
        sqlite3_bind_null(stmt, at);
        break;
    case 1:
        sqlite3_bind_int64(stmt, at, (int8_t)take(b));
        break;
    case 2:
        sqlite3_bind_int64(stmt, at, kind & 64 ? INT64_MIN : INT64_MAX);
        break;
    case 3:
        sqlite3_bind_double(stmt, at, kind & 64 ? -1e308 : kind & 32 ? 1e308 : (double)take(b) / 3);
        break;
    case 4:
        sqlite3_bind_text(stmt, at, odd + kind % sizeof odd, -1, SQLITE_STATIC);
        break;
    case 5:
        sqlite3_bind_blob(stmt, at, odd, kind % (int)sizeof odd, SQLITE_STATIC);
        break;
    default:
        if (text)
            sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_double(stmt, at, number);
    }
}

static sqlite3_stmt *insert(sqlite3 *db, const char *table, size_t n)
{
    sqlite3_stmt *stmt = NULL;
    char sql[300];
    size_t at = (size_t)snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO %s VALUES (", table);

    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(sql + at, sizeof sql - at, i ? ",?" : "?");
    (void)snprintf(sql + at, sizeof sql - at, ")");
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return NULL;
    return stmt;
}

static void add(sqlite3 *db, sqlite3_stmt *stmt, size_t *count)
{
    if (sqlite3_step(stmt) == SQLITE_DONE)
        *count += (size_t)sqlite3_changes(db);
    sqlite3_reset(stmt);
}

static void add_sessions(sqlite3 *db, const char *table, Bytes *b, Made *made)
{
    sqlite3_stmt *stmt = insert(db, table, ARRAY_LEN(session_columns));
    size_t n = take(b) % SESSIONS;
    char id[32], parent[32];

    for (size_t i = 0; stmt && i < n; i++) {
        uint8_t of = take(b);

        (void)snprintf(id, sizeof id, "session%zu", of & 128 ? i / 2 : i);
        (void)snprintf(parent, sizeof parent, "session%u", of % SESSIONS);
        bind(stmt, 1, b, id, 0);
        bind(stmt, 2, b, "cli", 0);
        bind(stmt, 3, b, NULL, 1790000000 + of);
        bind(stmt, 4, b, NULL, 1790000100);
        bind(stmt, 5, b, of & 64 ? "compression" : "done", 0);
        bind(stmt, 6, b, "a title", 0);
        bind(stmt, 7, b, of & 64 ? parent : "", 0);
        for (int k = 8; k <= (int)ARRAY_LEN(session_columns); k++)
            bind(stmt, k, b, NULL, 0);
        add(db, stmt, &made->sessions);
    }
    sqlite3_finalize(stmt);
}

static void add_message(sqlite3 *db, sqlite3_stmt *stmt, Bytes *b, size_t of, double at, Made *made)
{
    char id[32];

    (void)snprintf(id, sizeof id, "session%zu", of % SESSIONS);
    sqlite3_bind_null(stmt, 1);
    sqlite3_bind_text(stmt, 2, id, -1, SQLITE_TRANSIENT);
    bind(stmt, 3, b, of % 2 ? "user" : "assistant", 0);
    bind(stmt, 4, b, "some words", 0);
    bind(stmt, 5, b, NULL, at);
    bind(stmt, 6, b, "call", 0);
    bind(stmt, 7, b, "terminal", 0);
    bind(stmt, 8, b, "[{\"id\":\"call\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]", 0);
    bind(stmt, 9, b, NULL, 1);
    bind(stmt, 10, b, NULL, 3);
    add(db, stmt, &made->messages);
}

static void add_messages(sqlite3 *db, const char *table, Bytes *b, Made *made)
{
    sqlite3_stmt *stmt = insert(db, table, ARRAY_LEN(message_columns));
    size_t n = take(b) % MESSAGES, many = take(b) % 4 == 3 ? ROWS_MORE : 0, of = take(b);
    Bytes same = *b;

    for (size_t i = 0; stmt && i < n; i++)
        add_message(db, stmt, b, take(b), 1790000000 + (double)i, made);
    for (size_t i = 0; stmt && i < many; i++) {
        Bytes again = same; /* all alike, or by turns */

        again.p += again.n ? i % again.n : 0;
        again.n -= again.n ? i % again.n : 0;
        add_message(db, stmt, &again, of, 1790000000 + (double)(of & 64 ? 0 : i), made);
    }
    sqlite3_finalize(stmt);
}

static bool make(Bytes *b, Made *made)
{
    uint8_t s = take(b), m = take(b);
    sqlite3 *db;

    if (!folder[0]) {
        (void)snprintf(folder, sizeof folder, "/tmp/fuzz_rows.XXXXXX");
        ASSERT(mkdtemp(folder));
        (void)snprintf(file, sizeof file, "%s/state.db", folder);
        (void)atexit(tidy_up);
    }
    (void)unlink(file);
    if (sqlite3_open(file, &db) != SQLITE_OK)
        return false;
    (void)sqlite3_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN", NULL, NULL,
                       NULL);
    define(db, "sessions", session_columns, ARRAY_LEN(session_columns), s);
    define(db, "messages", message_columns, ARRAY_LEN(message_columns), m);
    add_sessions(db, s % 8 >= 6 ? "real_sessions" : "sessions", b, made);
    add_messages(db, m % 8 >= 6 ? "real_messages" : "messages", b, made);
    (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return sqlite3_close(db) == SQLITE_OK;
}

/* -- reading it -- */

typedef struct Reading {
    Made made;
    size_t tips;
    int64_t start;
    size_t memory;
} Reading;

static size_t memory_used(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static void check(const Reading *r)
{
    ASSERT(r->tips <= r->made.sessions);
    ASSERT(clock_thread_ns() - r->start < (int64_t)SLOWER * NS_AT_ALL);
    ASSERT(memory_used() < r->memory + MEMORY);
}

static void read_part(Reading *r, Store *store, const Session *session)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);
    MessageQuery all = { .inactive = true };
    Message *messages;
    size_t n;
    Err err;

    if (!messages_load(store, a, session, &all, &messages, &n, &err)) {
        ASSERT(err.text[0]);
        return;
    }
    ASSERT(n <= r->made.messages);
    for (size_t i = 0; i < n; i++) {
        json_begin(&w, '{');
        message_put(&w, &messages[i], messages[i].content);
        json_end(&w, '}');
    }
    ASSERT(out.n <= MEMORY);
    (void)study_facts(a, messages, n);
    check(r);
}

static void read_all(Reading *r, Store *store)
{
    AUTO(Arena) *a = arena_new();
    SessionQuery query = { .archived = true };
    AUTO(SessionList) *list = NULL;
    bool more = true;
    Lineage l;
    Err err;

    list = sessions_open(store, &query, &err);
    if (!list) {
        ASSERT(err.text[0]);
        return;
    }
    while (sessions_next(list, a, &l, &more, &err) && more) {
        r->tips++;
        ASSERT(l.n_parts <= r->made.sessions);
        check(r);
        for (size_t i = 0; i < l.n_parts; i++)
            read_part(r, store, &l.parts[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Home home = { .kind = HOME_GIVEN, .name = STR("fuzz"), .present = true };
    Homes homes = { .all = &home, .n = 1, .primary = &home };
    AUTO(Store) *store = NULL;
    Bytes b = { data, size };
    Reading r = { 0 };
    Err err;

    if (!make(&b, &r.made))
        return 0;
    home.path = homes.data = str_of(folder);
    home.database = str_of(file);
    r.start = clock_thread_ns();
    r.memory = memory_used();
    store = store_open(&homes, &err);
    if (store)
        read_all(&r, store);
    else
        ASSERT(err.text[0]);
    return 0;
}
