/* A call on the disk fails, once: it is said, the same thing done again works, and nothing is lost
 * or there by half. A few calls of each kind of failure; every one up to 2,000 with
 * TALARIA_LONG=1. */
#include "unit.h"

#include <ftw.h>
#include <unistd.h>

#include "base/file.h"
#include "store/db_sqlite.h"
#include "store/own.h"
#include "watched_vfs.h"

enum { TRANSACTIONS = 12, MESSAGES = 3, FEW = 25, MANY = 2000, TRIES = 4 };

/* -- which call fails -- */

static const struct {
    const char *name;
    unsigned kinds; /* of calls, as bits */
    int code;
} failures[] = {
    { "a read error", 1u << READ, SQLITE_IOERR_READ },
    { "a write error", 1u << WRITE, SQLITE_IOERR_WRITE },
    { "a full disk", 1u << WRITE, SQLITE_FULL },
    { "a sync error", 1u << SYNC, SQLITE_IOERR_FSYNC },
    { "a truncation error", 1u << TRUNCATE | 1u << DELETE, SQLITE_IOERR_TRUNCATE },
    { "no memory", 1u << READ | 1u << WRITE, SQLITE_IOERR_NOMEM },
};

static struct {
    size_t failure, n, at; /* at 0: they are only counted */
} now;

static int fail_when_due(DiskOp op)
{
    if (!(failures[now.failure].kinds & 1u << op.kind) || ++now.n != now.at)
        return SQLITE_OK;
    return failures[now.failure].code;
}

/* -- what is written -- */

static bool keep(OwnStore *own, Arena *a, int i, Err *err)
{
    Session s = { .id = str_printf(a, "s%03d", i), .source = STR("cli"), .started_at = i + 1 };
    Message m = { .session_id = s.id, .role = STR("user"), .active = 1 };

    if (!own_store_begin(own, err) || !own_add_session(own, &s, err))
        return false;
    for (int k = 0; k < MESSAGES; k++) {
        m.content = str_printf(a, "%0*d", 3000 + 500 * i, k);
        m.timestamp = i + k + 1;
        if (!own_add_message(own, &m, err))
            return false;
    }
    return own_store_end(own, true, err);
}

static int64_t number(OwnStore *own, const char *sql)
{
    int64_t n = -1;
    Err err;

    if (!db_get_int_once(own_store_db(own), -1, &n, &err, sql))
        fail_msg("%s", err.text);
    return n;
}

/* Whether the session is there is looked up as a person would: a commit whose answer was an error
 * may have been done. */
static bool is_there(OwnStore *own, Arena *a, int i)
{
    return number(own, str_printf(a, "SELECT count(*) FROM sessions WHERE id = 's%03d'", i).p) > 0;
}

static OwnStore *open_patiently(Str folder, size_t *failed)
{
    OwnStore *own;
    Err err = { 0 };

    for (int try = 0; try < TRIES; try++) {
        own = own_store_open(folder, &err);
        if (own)
            return own;
        assert_true(strlen(err.text) > 0);
        ++*failed;
    }
    fail_msg("%s, call %zu: cannot be opened any more: %s", failures[now.failure].name, now.at,
             err.text);
    return NULL;
}

/* Returns how often something failed. */
static size_t write_all(Arena *a, Str folder)
{
    size_t failed = 0;
    OwnStore *own = open_patiently(folder, &failed);

    sqlite3_wal_autocheckpoint(own_store_db(own)->handle, 20);
    for (int i = 0; i < TRANSACTIONS; i++) {
        Err err = { 0 };
        int try = 0;

        while (!keep(own, a, i, &err)) {
            assert_true(strlen(err.text) > 0 && ++try < TRIES);
            failed++;
            db_rollback(own_store_db(own));
            if (is_there(own, a, i))
                break;
        }
    }
    own_store_close(own);
    return failed;
}

/* -- the whole -- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static size_t run_failing_at(size_t at)
{
    char path[] = "/tmp/talaria-unit-XXXXXX";
    AUTO(Arena) *a = arena_new();
    size_t failed, calls;
    OwnStore *own;

    now.n = 0;
    now.at = at;
    disk_hook = fail_when_due;
    failed = write_all(a, str_of(mkdtemp(path)));
    calls = now.n;
    disk_hook = NULL;
    assert_true(failed <= 2);
    own = open_patiently(str_of(path), &failed);
    assert_int_equal(number(own, "SELECT count(*) FROM pragma_integrity_check WHERE "
                                 "integrity_check <> 'ok'"),
                     0);
    assert_int_equal(number(own, "SELECT count(*) FROM sessions"), TRANSACTIONS);
    assert_int_equal(number(own, "SELECT count(*) FROM messages"), TRANSACTIONS * MESSAGES);
    own_store_close(own);
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return calls;
}

static void nothing_is_lost_and_the_next_try_works(void **state)
{
    size_t most = getenv("TALARIA_LONG") ? MANY : FEW;

    (void)state;
    for (now.failure = 0; now.failure < ARRAY_LEN(failures); now.failure++) {
        size_t calls = run_failing_at(0), n = calls < most ? calls : most;

        assert_true(calls > 0);
        for (size_t i = 0; i < n; i++)
            (void)run_failing_at(1 + i * calls / n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_and_the_next_try_works),
    };

    return cmocka_run_group_tests(tests, watch_disk, NULL);
}
