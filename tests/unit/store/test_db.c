/* Databases of our own: who may read them. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "store/db.h"

enum { OPENERS = 4, EACH = 25 };

static char folder[64];
static atomic_bool over;
static atomic_int changes;

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/talaria-unit-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    AUTO(Arena) *a = arena_new();
    FileEntry *all;
    size_t n;
    Err err;

    (void)state;
    if (!folder_list(a, folder, 1000, &all, &n, &err))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!file_remove(str_join_path(a, str_of(folder), all[i].name).p, &err))
            return -1;
    return rmdir(folder);
}

/* What a program that is started just now would get. */
static bool mask_is(const char *line)
{
    AUTO(Arena) *a = arena_new();
    Str status;
    Err err;

    assert_true(file_read_any(a, "/proc/self/status", KIB(64), &status, &err));
    return str_find(status, str_of(line)) < status.n;
}

static void *look(void *ctx)
{
    (void)ctx;
    while (!over)
        if (!mask_is("Umask:\t0022\n"))
            changes++;
    return NULL;
}

static void *open_many(void *ctx)
{
    AUTO(Arena) *a = arena_new();

    for (int i = 0; i < EACH; i++) {
        const char *path = str_printf(a, "%s/%d-%d.db", folder, *(int *)ctx, i).p;
        Err err;
        AUTO(Db) *db = db_open_own(path, false, &err);

        if (!db || !db_script(db, "CREATE TABLE t(x)", &err))
            print_error("%s\n", err.text);
    }
    return NULL;
}

static void is_ours_alone(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* The umask is the whole process's: one thread that changes it would decide what files and programs
 * of all others are. */
static void databases_of_many_threads_are_ours_alone(void **state)
{
    AUTO(Arena) *a = arena_new();
    pthread_t looker, openers[OPENERS];
    int numbers[OPENERS];

    (void)state;
    umask(0022);
    over = false;
    assert_int_equal(pthread_create(&looker, NULL, look, NULL), 0);
    for (int i = 0; i < OPENERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&openers[i], NULL, open_many, &numbers[i]), 0);
    }
    for (int i = 0; i < OPENERS; i++)
        pthread_join(openers[i], NULL);
    over = true;
    pthread_join(looker, NULL);
    assert_int_equal(changes, 0);
    for (int i = 0; i < OPENERS; i++)
        for (int k = 0; k < EACH; k++)
            is_ours_alone(str_printf(a, "%s/%d-%d.db", folder, i, k).p);
}

static void its_log_is_ours_alone_too(void **state)
{
    AUTO(Arena) *a = arena_new();
    const char *path = str_printf(a, "%s/log.db", folder).p;
    Err err;
    AUTO(Db) *db = db_open_own(path, false, &err);

    (void)state;
    assert_non_null(db);
    assert_true(db_script(db, "CREATE TABLE t(x)", &err));
    is_ours_alone(path);
    is_ours_alone(str_printf(a, "%s-wal", path).p);
    is_ours_alone(str_printf(a, "%s-shm", path).p);
}

static void one_in_memory_leaves_no_file(void **state)
{
    Err err;
    AUTO(Db) *db = NULL;

    (void)state;
    assert_int_equal(chdir(folder), 0);
    db = db_open_own(":memory:", false, &err);
    assert_non_null(db);
    assert_true(db_script(db, "CREATE TABLE t(x)", &err));
    assert_int_not_equal(access(":memory:", F_OK), 0);
}

/* Where both are freed at the end of a scope, the order of their declarations decides. */
static void rows_may_outlive_their_handle(void **state)
{
    Err err;
    AUTO(DbRows) *kept = NULL, *once = NULL;
    AUTO(Db) *db = db_open_own(":memory:", false, &err);
    bool row;

    (void)state;
    assert_true(db_query(db, &kept, &err, "SELECT 1 UNION SELECT 2") && db_row(kept, &row, &err));
    assert_true(db_query_once(db, &once, &err, "SELECT 3") && db_row(once, &row, &err));
    db = db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_may_outlive_their_handle),
        cmocka_unit_test(databases_of_many_threads_are_ours_alone),
        cmocka_unit_test(its_log_is_ours_alone_too),
        cmocka_unit_test(one_in_memory_leaves_no_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
