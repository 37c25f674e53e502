#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/talaria-unit-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(Arena *a, const char *name)
{
    return str_join_path(a, str_of(folder), str_of(name)).p;
}

static void a_file_is_replaced_as_a_whole(void **state)
{
    AUTO(Arena) *a = arena_new();
    const char *path = in_folder(a, "file");
    FileEntry *entries;
    struct stat st;
    size_t n;
    Str bytes;
    Err err;

    (void)state;
    assert_true(file_write_atomic(path, STR("one"), &err));
    assert_true(file_write_atomic(path, STR("two"), &err));
    assert_true(file_read(a, path, 100, &bytes, &err));
    assert_str(bytes, STR("two"));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(folder_list(a, folder, 100, &entries, &n, &err));
    assert_int_equal(n, 1); /* no temporary file is left */
    assert_false(file_read(a, path, 2, &bytes, &err));
    assert_int_equal(err.kind, ERR_TOO_LARGE);
    assert_true(file_remove(path, &err));
    assert_false(file_read(a, path, 100, &bytes, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
}

/* A child that writes two contents in turn for ever is killed at random: one of them is there. */
static void a_killed_writer_leaves_old_or_new_bytes(void **state)
{
    AUTO(Arena) *a = arena_new();
    const char *path = in_folder(a, "killed");
    Str contents[2] = { str_printf(a, "%0100000d", 1), str_printf(a, "%050000d", 2) };
    Err err;

    (void)state;
    assert_true(file_write_atomic(path, contents[0], &err));
    for (unsigned i = 0; i < 50; i++) {
        pid_t child = fork();
        int status;
        Str bytes;

        if (child == 0)
            for (size_t turn = 0;; turn++)
                if (!file_write_atomic(path, contents[turn % 2], &err))
                    _exit(1);
        usleep(500 + i * 97 % 3000);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(file_read(a, path, 1 << 20, &bytes, &err));
        assert_true(str_eq(bytes, contents[0]) || str_eq(bytes, contents[1]));
    }
}

static const struct {
    const char *name;
    bool opens;
} names[] = {
    { "inside", true },           { "sub/inside", true },
    { "../outside", false },      { "sub/../../outside", false },
    { "/etc/passwd", false },     { "link", false },
    { "sub/link/passwd", false }, { "missing", false },
};

static void a_name_from_outside_stays_beneath_its_folder(void **state)
{
    AUTO(Arena) *a = arena_new();
    int at;
    Err err;

    (void)state;
    assert_true(folder_make(in_folder(a, "root/sub"), &err));
    assert_true(file_write_atomic(in_folder(a, "root/inside"), STR("x"), &err));
    assert_true(file_write_atomic(in_folder(a, "root/sub/inside"), STR("x"), &err));
    assert_true(file_write_atomic(in_folder(a, "outside"), STR("x"), &err));
    assert_int_equal(symlink("/etc/passwd", in_folder(a, "root/link")), 0);
    assert_int_equal(symlink("/etc", in_folder(a, "root/sub/link")), 0);
    at = open(in_folder(a, "root"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(at >= 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int fd = file_open_beneath(at, names[i].name, O_RDONLY, &err);

        if ((fd >= 0) != names[i].opens)
            fail_msg("%s", names[i].name);
        if (fd >= 0)
            close(fd);
    }
    close(at);
}

static void a_folder_in_the_way_of_a_file_is_told(void **state)
{
    AUTO(Arena) *a = arena_new();
    Err err;

    (void)state;
    assert_true(file_write_atomic(in_folder(a, "plain"), STR("x"), &err));
    assert_false(folder_make(in_folder(a, "plain"), &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_non_null(strstr(err.text, "is a file, not a folder"));
    assert_false(folder_make(in_folder(a, "plain/below"), &err));
}

static void a_lock_dies_with_its_holder(void **state)
{
    AUTO(Arena) *a = arena_new();
    const char *path = in_folder(a, "lock");
    int ready[2], status;
    FileLock *lock;
    pid_t child;
    char byte;
    Err err;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        if (!lock_take(path, 1000, &err) || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_null(lock_take(path, 20, &err));
    assert_int_equal(err.kind, ERR_BUSY);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    lock = lock_take(path, 1000, &err);
    assert_non_null(lock);
    lock_release(lock);
    close(ready[0]);
    close(ready[1]);
}

static void the_wall_clock_can_be_fixed(void **state)
{
    (void)state;
    clock_fix_wall(12.5);
    assert_true(clock_wall() == 12.5);
    clock_set_wall(NULL, NULL);
    assert_true(clock_wall() > 1.7e9);
    assert_true(clock_mono_ns() <= clock_mono_ns());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_as_a_whole),
        cmocka_unit_test(a_killed_writer_leaves_old_or_new_bytes),
        cmocka_unit_test(a_name_from_outside_stays_beneath_its_folder),
        cmocka_unit_test(a_folder_in_the_way_of_a_file_is_told),
        cmocka_unit_test(a_lock_dies_with_its_holder),
        cmocka_unit_test(the_wall_clock_can_be_fixed),
    };

    return cmocka_run_group_tests(tests, make_folder, NULL);
}
