/* What is remembered from night to night. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "sleep/learning/state.h"

static char *path_in(Arena *a, const char *name)
{
    char folder[] = "/tmp/talaria-state-XXXXXX";

    assert_non_null(mkdtemp(folder));
    return str_z(a, str_printf(a, "%s/%s", folder, name));
}

static TaskRecord task_named(Arena *a, int n, const char *project)
{
    TaskRecord t;

    task_init(&t);
    t.id = str_printf(a, "task_%d", n);
    t.project = str_of(project);
    t.intent = STR("do it");
    return t;
}

static SleepState loaded(Arena *a, const char *path)
{
    SleepState s;
    Str note;
    Err err;

    assert_true(state_load(a, str_of(path), &s, &note, &err));
    assert_str(note, STR(""));
    return s;
}

static void it_comes_back_as_it_was_saved(void **state)
{
    AUTO(Arena) *a = arena_new();
    char *path = path_in(a, "state.json");
    SleepState s = loaded(a, path);
    TaskRecords tasks = { 0 };
    TaskRecord task = task_named(a, 1, "/p"), dream = task_named(a, 2, "/p");
    StateProject *p;
    struct stat st;
    Err err;

    (void)state;
    dream.origin = STR("dream");
    LIST_PUSH(a, &tasks, task);
    LIST_PUSH(a, &tasks, dream);
    s.night = 4;
    state_project(a, &s, STR("/q"))->night = 1;
    p = state_project(a, &s, STR("/p"));
    p->night = 3;
    p->last_harvest = STR("2026-11-15T03:17:00Z");
    p->pending = STR("[{\"op\": \"add\"}]");
    state_archive(a, p, &tasks);
    state_add_history(a, &s,
                      (HistoryRow){ .night = 3,
                                    .project = STR("/p"),
                                    .accepted = true,
                                    .baseline = 0.5,
                                    .candidate = 1,
                                    .n_tasks = 2,
                                    .staging = STR("20261115-031700") });
    assert_true(state_save(str_of(path), &s, &err));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    s = loaded(a, path);
    p = state_project(a, &s, STR("/p"));
    assert_int_equal(s.night, 4);
    assert_int_equal(p->night, 3);
    assert_int_equal(state_project(a, &s, STR("/q"))->night, 1);
    assert_str(p->last_harvest, STR("2026-11-15T03:17:00Z"));
    assert_str(p->pending, STR("[{\"op\": \"add\"}]"));
    assert_int_equal(p->tasks.n, 1);
    assert_str(p->tasks.items[0].id, STR("task_1"));
    assert_int_equal(s.history.n, 1);
    assert_true(s.history.items[0].accepted);
}

static void the_archive_keeps_one_of_each(void **state)
{
    AUTO(Arena) *a = arena_new();
    SleepState s = { 0 };
    StateProject *p = state_project(a, &s, STR("/p"));
    TaskRecords tasks = { 0 };

    (void)state;
    for (int i = 0; i < LIMIT_SLEEP_ARCHIVE + 20; i++)
        LIST_PUSH(a, &tasks, task_named(a, i, "/p"));
    state_archive(a, p, &tasks);
    state_archive(a, p, &tasks);
    assert_int_equal(p->tasks.n, LIMIT_SLEEP_ARCHIVE);
    for (size_t i = 0; i < p->tasks.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(p->tasks.items[i].id, p->tasks.items[k].id));
}

/* What was had long ago is not new again, though it is no longer in the archive: else the most
 * worthwhile tasks would come back for ever, and others never have their turn. */
static void what_was_had_stays_known(void **state)
{
    AUTO(Arena) *a = arena_new();
    char *path = path_in(a, "had.json");
    SleepState s = { .slow_memory = STR(""), .last_model_key = STR("") };
    StateProject *p = state_project(a, &s, STR("/p"));
    TaskRecords tasks = { 0 };
    TaskRecord other = task_named(a, 100000, "/p");
    Err err;

    (void)state;
    for (int i = 0; i < LIMIT_SLEEP_ARCHIVE + 20; i++)
        LIST_PUSH(a, &tasks, task_named(a, i, "/p"));
    state_archive(a, p, &tasks);
    assert_true(state_save(str_of(path), &s, &err));
    s = loaded(a, path);
    p = state_project(a, &s, STR("/p"));
    assert_int_equal(p->tasks.n, LIMIT_SLEEP_ARCHIVE);
    for (size_t i = 0; i < tasks.n; i++)
        assert_true(state_had(p, tasks.items[i].id));
    assert_false(state_had(p, other.id));
    assert_false(state_had(state_project(a, &s, STR("/other")), tasks.items[0].id));
}

/* Archives of many projects are more than one file takes: the nights are remembered all the
 * same. */
static void too_large_an_archive_loses_no_night(void **state)
{
    AUTO(Arena) *a = arena_new();
    char *path = path_in(a, "large.json"), *long_text = arena_bytes(a, KIB(256));
    SleepState s = { .slow_memory = STR(""), .last_model_key = STR("") };
    Err err;

    (void)state;
    memset(long_text, 'x', KIB(256));
    for (int k = 0; k < 150; k++) {
        StateProject *p = state_project(a, &s, str_printf(a, "/p%d", k));
        TaskRecord task = task_named(a, k, "/p");
        TaskRecords tasks = { .items = &task, .n = 1, .cap = 1 };

        task.intent = (Str){ long_text, KIB(256) };
        p->night = 7;
        state_archive(a, p, &tasks);
    }
    assert_true(state_save(str_of(path), &s, &err));
    s = loaded(a, path);
    assert_int_equal(state_project(a, &s, STR("/p149"))->night, 7);
    assert_true(state_had(state_project(a, &s, STR("/p149")), task_named(a, 149, "/p").id));
}

static void an_unreadable_file_is_put_aside(void **state)
{
    static const char *const texts[] = { "", "{", "[]", "{\"version\": 99}",
                                         "{\"version\": 1, \"task_archive\": [{\"id\": 7}]}" };
    AUTO(Arena) *a = arena_new();
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        char *path = path_in(a, "state.json");
        SleepState s;
        Str note, kept;

        assert_true(file_write_atomic(path, str_of(texts[i]), &err));
        assert_true(state_load(a, str_of(path), &s, &note, &err));
        assert_true(note.n > 0);
        assert_int_equal(s.night, 0);
        assert_true(
            file_read(a, str_z(a, str_printf(a, "%s.unreadable-1", path)), 1 << 20, &kept, &err));
        assert_str(kept, str_of(texts[i]));
        (void)loaded(a, path);
    }
}

/* The lock is gone with its holder, however that ended. */
static void a_lock_dies_with_its_holder(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str path = str_of(path_in(a, "state.json"));
    AUTO(FileLock) *lock = NULL;
    int ready[2], status;
    pid_t child;
    char c;
    Err err;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        FileLock *held = state_lock(a, path, 0, &err);

        (void)!write(ready[1], held ? "y" : "n", 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    assert_null(state_lock(a, path, 0, &err));
    assert_int_equal(err.kind, ERR_BUSY);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    lock = state_lock(a, path, 0, &err);
    assert_non_null(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back_as_it_was_saved),
        cmocka_unit_test(the_archive_keeps_one_of_each),
        cmocka_unit_test(what_was_had_stays_known),
        cmocka_unit_test(too_large_an_archive_loses_no_night),
        cmocka_unit_test(an_unreadable_file_is_put_aside),
        cmocka_unit_test(a_lock_dies_with_its_holder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
