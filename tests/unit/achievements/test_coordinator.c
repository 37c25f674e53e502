/* The coordinator with many callers at once, and the rows it stands on. Run under ThreadSanitizer
 * too. */
#include "unit.h"

#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "achievements/coordinator.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/db_sqlite.h"
#include "store/rows.h"
#include "text/json.h"

typedef struct ChatAddress {
    Arena *a;
    Str dir;
    const char *home, *data, *file;
} ChatAddress;

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void sql(const ChatAddress *p, const char *text)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(p->file, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 20000);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void open_place(ChatAddress *p, const char *journal)
{
    char dir[] = "/tmp/talaria-test-XXXXXX";

    assert_non_null(mkdtemp(dir));
    *p = (ChatAddress){ .a = arena_new() };
    p->dir = str_dup(p->a, str_of(dir));
    p->home = str_z(p->a, p->dir);
    p->data = str_join_path(p->a, p->dir, STR("data")).p;
    p->file = str_join_path(p->a, p->dir, STR("state.db")).p;
    sql(p, str_printf(p->a, "PRAGMA journal_mode=%s", journal).p);
    sql(p, "CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, model TEXT, title TEXT,"
           " started_at REAL, archived INTEGER NOT NULL DEFAULT 0);"
           "CREATE TABLE messages(id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT,"
           " tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER NOT NULL DEFAULT 1);"
           "CREATE INDEX by_session ON messages(session_id, id);"
           "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
           "INSERT INTO sessions(id, source, model, started_at)"
           " SELECT 's' || i, 'cli', 'm' || (i % 3), 1700000000 + i FROM n;"
           "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)"
           "INSERT INTO messages(session_id, role, content, timestamp)"
           " SELECT 's' || (1 + i % 400), 'user', 'error: a traceback in the logs', 1.7e9 + i FROM "
           "n;");
}

static void close_place(ChatAddress *p)
{
    nftw(p->home, drop, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(p->a);
}

static Coordinator *open_at(const ChatAddress *p)
{
    HomesQuery where = { .home = p->home, .data = p->data };
    Settings settings;
    Coordinator *c;
    Err err;

    settings_defaults(&settings);
    c = coordinator_open(&where, &settings, &(CoordinatorOptions){ 0 }, &err);
    if (!c)
        fail_msg("%s", err.text);
    return c;
}

static int64_t number(const Buf *answer, const char *outer, const char *name)
{
    AUTO(JsonDoc) *doc = NULL;
    int64_t n = -1;
    Json at;
    Err err;

    doc = json_parse(buf_str(answer), &err);
    assert_non_null(doc);
    at = json_root(doc);
    if (outer)
        at = json_get(at, str_of(outer));
    assert_true(json_int(json_get(at, str_of(name)), &n));
    return n;
}

/* -- many at once -- */

typedef struct Crowd {
    const ChatAddress *place;
    Coordinator *c;
    atomic_int told, answers, resets;
} Crowd;

static void hear(void *ctx, const char *event, Str data)
{
    Crowd *crowd = ctx;

    assert_true(*event && data.n && data.p[0] == '{');
    atomic_fetch_add(&crowd->told, 1);
}

static void *ask(void *ctx)
{
    Crowd *crowd = ctx;

    for (int i = 0; i < 12; i++) {
        AUTO_BUF out = BUF(MIB(16));
        Err err;
        /* A reset in the middle of a rescan is told so: an answer too. */
        bool ok = i % 3 == 0   ? coordinator_achievements(crowd->c, 5000, NULL, &out, &err)
                  : i % 3 == 1 ? coordinator_badges(crowd->c, STR("s7"), &out, &err)
                               : coordinator_recent(crowd->c, &out, &err);

        assert_true(ok && out.n);
        buf_clear(&out);
        coordinator_status_json(crowd->c, &out);
        assert_true(out.n);
        (void)coordinator_version(crowd->c);
        atomic_fetch_add(&crowd->answers, 1);
    }
    return NULL;
}

static void *rescan(void *ctx)
{
    Crowd *crowd = ctx;

    for (int i = 0; i < 6; i++) {
        AUTO_BUF out = BUF(MIB(16));
        Err err;

        if (!coordinator_rescan(crowd->c, clock_mono_ms(), &out, &err))
            assert_non_null(strstr(err.text, "reset"));
    }
    return NULL;
}

static void *write_more(void *ctx)
{
    Crowd *crowd = ctx;

    for (int i = 0; i < 10; i++)
        sql(crowd->place, "INSERT INTO messages(session_id, role, content, timestamp)"
                          " VALUES('s5', 'user', 'another error', 1.8e9)");
    return NULL;
}

static void *reset(void *ctx)
{
    Crowd *crowd = ctx;

    for (int i = 0; i < 3; i++) {
        AUTO_BUF out = BUF(KIB(1));
        Err err;

        assert_true(coordinator_reset(crowd->c, &out, &err));
    }
    return NULL;
}

static void many_at_once(const char *journal, bool resets)
{
    void *(*const parts[])(void *) = { ask, ask, ask, rescan, rescan, write_more, reset };
    size_t n = ARRAY_LEN(parts) - !resets;
    pthread_t threads[ARRAY_LEN(parts)];
    AUTO_BUF out = BUF(MIB(16));
    Crowd crowd = { 0 };
    ScanStatus status;
    ChatAddress place;
    Err err;

    open_place(&place, journal);
    crowd.place = &place;
    crowd.c = open_at(&place);
    coordinator_listen(crowd.c, hear, &crowd);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, parts[i], &crowd), 0);
    for (size_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    assert_true(coordinator_rescan(crowd.c, clock_mono_ms(), &out, &err));
    status = coordinator_status(crowd.c);
    assert_int_equal(status.state, SCAN_IDLE);
    assert_int_equal(status.sessions_total, 400);
    assert_true(status.run_count > 0 && atomic_load(&crowd.answers) == 36);
    assert_true(atomic_load(&crowd.told) > 0);
    assert_int_equal(number(&out, "aggregate", "session_count"), 400);
    assert_int_equal(number(&out, "aggregate", "total_errors"), 8010);
    coordinator_free(crowd.c);
    close_place(&place);
}

static void callers_share_scans_and_nothing_is_lost(void **state)
{
    (void)state;
    many_at_once("delete", false);
    many_at_once("wal", false);
}

static void a_reset_may_come_at_any_time(void **state)
{
    (void)state;
    many_at_once("delete", true);
}

/* -- a home that went away -- */

static void a_failed_refresh_keeps_the_answer(void **state)
{
    AUTO_BUF out = BUF(MIB(16));
    Coordinator *c;
    ChatAddress place;
    Err err;

    (void)state;
    open_place(&place, "delete");
    c = open_at(&place);
    assert_true(coordinator_rescan(c, clock_mono_ms(), &out, &err));
    sql(&place, "DROP TABLE messages");
    buf_clear(&out);
    assert_true(coordinator_rescan(c, clock_mono_ms(), &out, &err));
    assert_int_equal(coordinator_status(c).state, SCAN_FAILED);
    assert_non_null(strstr(out.p, "\"ok\": false"));
    assert_non_null(strstr(out.p, "\"is_stale\": true"));
    assert_non_null(strstr(out.p, coordinator_status(c).last_error));
    buf_clear(&out);
    assert_true(coordinator_achievements(c, 0, NULL, &out, &err));
    assert_non_null(strstr(out.p, "\"is_stale\": true"));
    coordinator_free(c);
    close_place(&place);
}

static double told_time(void *ctx)
{
    return *(double *)ctx;
}

/* The database is as it was, so only the failure itself can say that another scan is due. */
static void the_error_goes_with_its_cause(void **state)
{
    AUTO_BUF out = BUF(MIB(16));
    double now = 1.8e9;
    sqlite3 *db;
    Coordinator *c;
    ChatAddress place;
    Err err;

    (void)state;
    clock_set_wall(told_time, &now);
    open_place(&place, "delete");
    c = open_at(&place);
    assert_true(coordinator_rescan(c, clock_mono_ms(), &out, &err));
    assert_int_equal(sqlite3_open(place.file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    buf_clear(&out);
    assert_true(coordinator_rescan(c, clock_mono_ms(), &out, &err));
    assert_int_equal(coordinator_status(c).state, SCAN_FAILED);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    now += 10;
    buf_clear(&out);
    assert_true(coordinator_achievements(c, 0, NULL, &out, &err)); /* begins a scan */
    for (int i = 0; coordinator_status(c).state != SCAN_IDLE && i < 6000; i++)
        usleep(5000);
    assert_int_equal(coordinator_status(c).state, SCAN_IDLE);
    buf_clear(&out);
    assert_true(coordinator_achievements(c, 0, NULL, &out, &err));
    assert_non_null(strstr(out.p, "\"is_stale\": false"));
    assert_non_null(strstr(out.p, "\"error\": null"));
    coordinator_free(c);
    clock_set_wall(NULL, NULL);
    close_place(&place);
}

/* -- rows -- */

static void count_one(void *ctx, const RowMessage *m)
{
    *(int64_t *)ctx += m->content.n > 0;
}

/* Between two sessions the read stays open; what others do must work all the same. */
static void a_read_between_sessions_holds_nobody_up(void **state)
{
    Home home = { .present = true };
    AUTO(Rows) *rows = NULL, *other = NULL;
    int64_t n = 0;
    RowsSeen seen;
    ChatAddress place;
    Err err;

    (void)state;
    open_place(&place, "delete");
    home.database = str_of(place.file);
    rows = rows_open(&home, &(RowsQuery){ 0 }, &err);
    other = rows_open(&home, &(RowsQuery){ 0 }, &err);
    assert_true(rows && other);
    sql(&place, "UPDATE messages SET active = 0 WHERE id = 8000; INSERT INTO messages(session_id, "
                "role, content, timestamp, active) VALUES('s1', 'user', 'x', 1.9e9, 0)");
    assert_true(rows_messages(rows, STR("s1"), count_one, &n, &seen, &err));
    assert_int_equal(n, 19);
    assert_int_equal(seen.n, 19);
    assert_true(seen.newest == 1.9e9); /* of a row that does not count */
    rows_rest(rows);
    assert_true(rows_messages(other, STR("s2"), count_one, &n, &seen, &err));
    rows_rest(other);
    sql(&place, "UPDATE messages SET timestamp = 'later' WHERE id = 1");
    assert_true(rows_messages(rows, STR("s2"), count_one, &n, &seen, &err));
    assert_true(seen.newest == 0); /* as SQLite has it: text is behind every number */
    assert_true(rows_messages(rows, STR("none"), count_one, &n, &seen, &err));
    assert_true(seen.n == 0 && seen.newest == 0);
    rows_rest(rows);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_share_scans_and_nothing_is_lost),
        cmocka_unit_test(a_reset_may_come_at_any_time),
        cmocka_unit_test(a_failed_refresh_keeps_the_answer),
        cmocka_unit_test(the_error_goes_with_its_cause),
        cmocka_unit_test(a_read_between_sessions_holds_nobody_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
