/* What is said of a database: sound, damaged, too large, of others, locked. */
#include "unit.h"

#include <sqlite3.h>
#include <unistd.h>

#include "store/check.h"
#include "store/holders.h"

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/talaria-check-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/state.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const files[] = { "", "-wal", "-shm", "-journal" };
    char name[160];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        snprintf(name, sizeof name, "%s%s", path, files[i]);
        (void)unlink(name);
    }
    return rmdir(folder);
}

static sqlite3 *make(const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

#define SCHEMA                                                                                     \
    "CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, started_at REAL, galaxy TEXT);"       \
    "CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, "     \
    "timestamp REAL);"                                                                             \
    "CREATE VIRTUAL TABLE messages_fts USING fts5(content, content='messages', "                   \
    "content_rowid='id');"                                                                         \
    "INSERT INTO messages(role, content) VALUES('user', 'please mend the harbour gate today');"    \
    "INSERT INTO messages_fts(messages_fts) VALUES('rebuild');"

static void columns_and_tables_are_told(void **state)
{
    AUTO(Arena) *a = arena_new();
    CheckOptions options = { .sessions = true };
    DbReport r;

    (void)state;
    sqlite3_close(make(SCHEMA));
    check_database(a, path, &options, &r);
    assert_true(r.readable);
    assert_str(str_of(r.journal), STR("delete"));
    assert_true(str_find(r.missing, STR("sessions.title")) < r.missing.n);
    assert_str(r.unknown, STR("sessions.galaxy, messages.id"));
    assert_true(r.n_tables >= 2);
    for (size_t i = 0; i < r.n_tables; i++)
        assert_int_equal(r.tables[i].verdict, VERDICT_OK);
    assert_int_equal(r.n_searches, 1);
    assert_int_equal(r.searches[0].verdict, VERDICT_OK);
}

static void an_index_that_forgot_is_damaged(void **state)
{
    AUTO(Arena) *a = arena_new();
    CheckOptions options = { .whole = true };
    DbReport r;

    (void)state;
    sqlite3_close(make(SCHEMA "INSERT INTO messages_fts(messages_fts) VALUES('delete-all');"));
    check_database(a, path, &options, &r);
    assert_int_equal(r.n_tables, 1);
    assert_int_equal(r.tables[0].verdict, VERDICT_OK);
    assert_int_equal(r.searches[0].verdict, VERDICT_BROKEN);
    assert_true(str_find(r.searches[0].why, STR("does not find")) < r.searches[0].why.n);
}

static void a_lock_is_told_and_waited_for_a_second_at_most(void **state)
{
    AUTO(Arena) *a = arena_new();
    CheckOptions options = { 0 };
    sqlite3 *db = make(SCHEMA "BEGIN EXCLUSIVE;");
    Holders holders;
    DbReport r;

    (void)state;
    check_database(a, path, &options, &r);
    assert_false(r.readable);
    assert_int_equal(r.trouble.kind, ERR_BUSY);
    holders_find(a, str_of(path), &holders);
    assert_int_equal(holders.n, 0); /* we ourselves are nobody else */
    sqlite3_close(db);
}

static void what_is_no_database_is_told(void **state)
{
    AUTO(Arena) *a = arena_new();
    CheckOptions options = { 0 };
    FILE *f = fopen(path, "we");
    DbReport r;

    (void)state;
    assert_non_null(f);
    for (int i = 0; i < 1000; i++)
        fputs("no database", f);
    fclose(f);
    check_database(a, path, &options, &r);
    assert_false(r.readable);
    assert_int_equal(r.trouble.kind, ERR_CORRUPT);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        T(columns_and_tables_are_told),
        T(an_index_that_forgot_is_damaged),
        T(a_lock_is_told_and_waited_for_a_second_at_most),
        T(what_is_no_database_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
