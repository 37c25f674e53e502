/* agent/memory: Hermes' two files, read and changed. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/memory.h"
#include "base/file.h"

typedef struct ChatAddress {
    char folder[64];
    Arena *arena;
    Home home;
    Homes homes;
} ChatAddress;

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);

    snprintf(p->folder, sizeof p->folder, "/tmp/talaria-memory-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    p->arena = arena_new();
    p->home = (Home){ .kind = HOME_HERMES, .path = str_of(p->folder) };
    p->homes = (Homes){ .all = &p->home, .n = 1, .primary = &p->home, .data = str_of(p->folder) };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = { "memories/USER.md", "memories/USER.md.lock",
                                         "memories/MEMORY.md", "memories/MEMORY.md.lock",
                                         "memories" };
    ChatAddress *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *path = str_z(p->arena, str_join_path(p->arena, str_of(p->folder), str_of(names[i])));

        if (unlink(path) != 0)
            (void)rmdir(path);
    }
    (void)rmdir(p->folder);
    arena_free(p->arena);
    mem_free(p);
    return 0;
}

static char *path_of(ChatAddress *p, const char *name)
{
    return str_z(p->arena, str_join_path(p->arena, str_of(p->folder), str_of(name)));
}

static void put_file(ChatAddress *p, const char *name, Str text)
{
    Err err;

    assert_true(folder_make(path_of(p, "memories"), &err));
    assert_true(file_write_atomic(path_of(p, name), text, &err));
}

static Str get_file(ChatAddress *p, const char *name)
{
    Str text = STR("");
    Err err;

    assert_true(file_read(p->arena, path_of(p, name), 65536, &text, &err));
    return text;
}

static bool edit(ChatAddress *p, MemoryAction action, const char *old_text, const char *content,
                 Err *err)
{
    MemoryEdit e = { action, str_of(old_text), str_of(content) };
    MemoryFile f;

    return memory_change(p->arena, &p->homes, MEMORY_USER, &e, 1, &f, err);
}

static void test_reading(void **state)
{
    static const struct {
        const char *text;
        size_t entries, chars;
    } cases[] = {
        { "", 0, 0 },
        { "one", 1, 3 },
        { "one\n§\ntwo", 2, 9 },
        { "one\n§\ntwo\n", 2, 9 },
        { "one\r\n§\r\ntwo\r\n", 2, 9 },
        { "one\n§\none\n§\ntwo", 2, 9 },
        { "one\n§\n§\ntwo", 2, 9 },
        { "costs 5 § a piece", 1, 17 },
        { "喜欢茶\n§\ntea", 2, 9 },
    };
    ChatAddress *p = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        MemoryFile f;

        memory_parse(p->arena, MEMORY_USER, str_of(cases[i].text), &f);
        assert_int_equal(f.n, cases[i].entries);
        assert_int_equal(f.chars, cases[i].chars);
    }
}

static void test_changing(void **state)
{
    ChatAddress *p = *state;
    Err err;

    assert_true(edit(p, MEMORY_ADD, NULL, " likes tea ", &err));
    assert_true(edit(p, MEMORY_ADD, NULL, "lives in Ghent", &err));
    assert_true(edit(p, MEMORY_ADD, NULL, "likes tea", &err));
    assert_str(get_file(p, "memories/USER.md"), STR("likes tea\n§\nlives in Ghent"));
    assert_true(edit(p, MEMORY_REPLACE, "tea", "likes coffee", &err));
    assert_true(edit(p, MEMORY_REMOVE, "Ghent", NULL, &err));
    assert_str(get_file(p, "memories/USER.md"), STR("likes coffee"));
}

static void test_refusals(void **state)
{
    ChatAddress *p = *state;
    char long_text[1500];
    Err err;

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    put_file(p, "memories/USER.md", STR("likes tea\n§\nlikes cake"));
    assert_false(edit(p, MEMORY_REMOVE, "likes", NULL, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_false(edit(p, MEMORY_REPLACE, "beer", "wine", &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_false(edit(p, MEMORY_ADD, NULL, " ", &err));
    assert_false(edit(p, MEMORY_ADD, NULL, "a\n§\nb", &err));
    assert_false(edit(p, MEMORY_ADD, NULL, long_text, &err));
    assert_int_equal(err.kind, ERR_TOO_LARGE);
    assert_non_null(strstr(err.text, "22 are in use"));
    assert_str(get_file(p, "memories/USER.md"), STR("likes tea\n§\nlikes cake"));
}

/* What somebody wrote into it by hand is not lost to a rewrite. */
static void test_drift(void **state)
{
    ChatAddress *p = *state;
    char text[2000];
    Err err;

    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    put_file(p, "memories/USER.md", STR("a\n§\n §\nb"));
    assert_false(edit(p, MEMORY_ADD, NULL, "short", &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    put_file(p, "memories/USER.md", str_of(text));
    assert_false(edit(p, MEMORY_ADD, NULL, "short", &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_str(get_file(p, "memories/USER.md"), str_of(text));
}

static void test_tool(void **state)
{
    ChatAddress *p = *state;
    Str answer = STR("");
    Err err;

    assert_true(
        memory_tool_run(p->arena, &p->homes,
                        STR("{\"target\":\"memory\",\"operations\":[{\"action\":\"add\","
                            "\"content\":\"use tabs\"},{\"action\":\"add\",\"content\":\"b\"}]}"),
                        &answer, &err));
    assert_true(str_starts(answer, STR("{\"success\": true")));
    assert_str(get_file(p, "memories/MEMORY.md"), STR("use tabs\n§\nb"));
    assert_true(memory_tool_run(
        p->arena, &p->homes,
        STR("{\"target\":\"memory\",\"action\":\"remove\",\"old_text\":\"zzz\"}"), &answer, &err));
    assert_true(str_starts(answer, STR("{\"success\": false")));
    assert_true(str_find(answer, STR("use tabs")) < answer.n);
    /* One bad edit among good ones: none is made. */
    assert_true(
        memory_tool_run(p->arena, &p->homes,
                        STR("{\"target\":\"memory\",\"operations\":[{\"action\":\"add\","
                            "\"content\":\"c\"},{\"action\":\"remove\",\"old_text\":\"q\"}]}"),
                        &answer, &err));
    assert_str(get_file(p, "memories/MEMORY.md"), STR("use tabs\n§\nb"));
    assert_false(memory_tool_run(p->arena, &p->homes, STR("[]"), &answer, &err));
}

static void test_snapshot(void **state)
{
    ChatAddress *p = *state;
    MemorySnapshot s, again;
    Err err;

    assert_true(edit(p, MEMORY_ADD, NULL, "likes \"tea\"", &err));
    assert_true(memory_snapshot(p->arena, &p->homes, &s, &err));
    assert_true(memory_snapshot_read(p->arena, memory_snapshot_json(p->arena, &s), &again, &err));
    assert_int_equal(again.files[MEMORY_USER].n, 1);
    assert_str(again.files[MEMORY_USER].entries[0], STR("likes \"tea\""));
    assert_int_equal(again.files[MEMORY_NOTES].n, 0);
}

/* Eight writers at once: every entry is there afterwards. */
static void test_writers_at_once(void **state)
{
    ChatAddress *p = *state;
    MemoryFile f;
    Err err;

    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            char text[32];

            snprintf(text, sizeof text, "entry %d", i);
            _exit(edit(p, MEMORY_ADD, NULL, text, &err) ? 0 : 1);
        }
    for (int i = 0; i < 8; i++) {
        int status;

        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_true(memory_load(p->arena, &p->homes, MEMORY_USER, &f, &err));
    assert_int_equal(f.n, 8);
}

int main(void)
{
#define IN_PLACE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_reading),         IN_PLACE(test_changing), IN_PLACE(test_refusals),
        IN_PLACE(test_drift),           IN_PLACE(test_tool),     IN_PLACE(test_snapshot),
        IN_PLACE(test_writers_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
