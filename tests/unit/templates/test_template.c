#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "templates/template.h"

/* -- a home for each test -- */

typedef struct ChatAddress {
    Arena *arena;
    Home home;
    Homes homes;
    Str folder;
} ChatAddress;

static int set_up(void **state)
{
    ChatAddress *p = mem_alloc(sizeof *p);
    char path[] = "/tmp/talaria-test-XXXXXX";

    log_set_level(LOG_ERROR); /* the warnings are right, and many */
    p->arena = arena_new();
    p->home.path = str_dup(p->arena, str_of(mkdtemp(path)));
    p->homes = (Homes){ .all = &p->home, .n = 1, .primary = &p->home };
    p->folder = str_join_path(p->arena, p->home.path, STR("session-templates"));
    *state = p;
    return 0;
}

static char *in_folder(ChatAddress *p, const char *name)
{
    return str_z(p->arena, str_join_path(p->arena, p->folder, str_of(name)));
}

static int tear_down(void **state)
{
    ChatAddress *p = *state;
    FileEntry *entries;
    size_t n = 0;
    Err err;

    chmod(str_z(p->arena, p->folder), 0700);
    if (folder_list(p->arena, str_z(p->arena, p->folder), 100, &entries, &n, &err))
        for (size_t i = 0; i < n; i++)
            (void)remove(in_folder(p, str_z(p->arena, entries[i].name)));
    (void)remove(str_z(p->arena, p->folder));
    (void)remove(str_z(p->arena, p->home.path));
    arena_free(p->arena);
    mem_free(p);
    return 0;
}

static void put_file(ChatAddress *p, const char *name, const char *text)
{
    Err err;

    assert_true(folder_make(str_z(p->arena, p->folder), &err));
    assert_true(file_write_atomic(in_folder(p, name), str_of(text), &err));
}

static Template sample(ChatAddress *p, const char *name)
{
    Template t = { .name = str_of(name),
                   .type = TASK_CODE,
                   .description = STR("Template with 1 examples"),
                   .created_at = 1700000000.25,
                   .source_session_id = STR("s1"),
                   .n_examples = 1 };

    t.examples = ARENA_NEW(p->arena, TemplateExample);
    *t.examples =
        (TemplateExample){ .tool = STR("execute_code"),
                           .arguments = STR("{\"code\": \"print(1)\", \"timeout\": 60.5}"),
                           .result = STR("结果 \"1\"\n"),
                           .success = true };
    return t;
}

/* -- names -- */

static void names_are_plain(void **state)
{
    static const char *const good[] = { "a", "A1", "release-2.0_x", "0" };
    static const char *const bad[] = {
        "", ".hidden", "-x", "a/b", "../x", "a b", "ä", "_x", "a\n"
    };
    char longest[129];
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(template_name_check(str_of(good[i]), &err));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(template_name_check(str_of(bad[i]), &err));
        assert_int_equal(err.kind, ERR_USAGE);
    }
    memset(longest, 'x', sizeof longest);
    assert_true(template_name_check((Str){ longest, 128 }, &err));
    assert_false(template_name_check((Str){ longest, 129 }, &err));
}

static void the_default_name_is_the_title(void **state)
{
    static const struct {
        const char *title, *session, *name;
    } cases[] = {
        { "Fix coupon rounding", "0123456789", "fix-coupon-rounding" },
        { "  Don't retry: 3 times, (really)!", "x", "dont-retry-3-times-really" },
        { "../../etc/passwd", "x", "etc-passwd" },
        { "a title that is far too long for a name of a file and goes on", "x",
          "a-title-that-is-far-too-long-for-a-name-of-a" },
        { "日本", "0123456789", "code-01234567" },
        { "", "a/b", "code-a-b" },
        { "", "", "code-" },
    };
    ChatAddress *p = *state;
    Err err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Template t = { .type = TASK_CODE,
                       .title = str_of(cases[i].title),
                       .source_session_id = str_of(cases[i].session) };
        Str name = template_name_default(p->arena, &t);

        assert_str(name, str_of(cases[i].name));
        assert_true(template_name_check(name, &err));
    }
}

/* -- one file -- */

static void the_file_is_written_as_promised(void **state)
{
    static const char expect[] = "{\n"
                                 "  \"name\": \"x\",\n"
                                 "  \"task_type\": \"code\",\n"
                                 "  \"examples\": [\n"
                                 "    {\n"
                                 "      \"tool_name\": \"execute_code\",\n"
                                 "      \"arguments\": {\n"
                                 "        \"code\": \"print(1)\",\n"
                                 "        \"timeout\": 60.5\n"
                                 "      },\n"
                                 "      \"result\": \"结果 \\\"1\\\"\\n\",\n"
                                 "      \"success\": true\n"
                                 "    }\n"
                                 "  ],\n"
                                 "  \"description\": \"Template with 1 examples\",\n"
                                 "  \"created_at\": 1700000000.25,\n"
                                 "  \"usage_count\": 0,\n"
                                 "  \"source_session_id\": \"s1\"\n"
                                 "}\n";
    Template t = sample(*state, "x");
    AUTO_BUF out = BUF(KIB(64));

    template_write(&t, &out);
    assert_str(buf_str(&out), str_of(expect));
}

static void what_is_missing_takes_its_default(void **state)
{
    ChatAddress *p = *state;
    Template t;
    Err err;

    assert_true(template_parse(p->arena, STR("{\"name\": \"x\", \"task_type\": \"mixed\"}"),
                               STR("x"), 42, &t, &err));
    assert_int_equal(t.n_examples, 0);
    assert_str(t.description, STR(""));
    assert_true(t.created_at == 42);
    assert_int_equal(t.usage_count, 0);
    assert_null(t.source_session_id.p);
    assert_true(template_parse(p->arena,
                               STR("{\"name\": \"x\", \"task_type\": \"file\", \"created_at\": 0, "
                                   "\"examples\": [{\"tool_name\": \"patch\"}], \"new\": 1}"),
                               STR("y"), 43, &t, &err));
    assert_true(t.created_at == 43);
    assert_str(t.name, STR("y"));
    assert_str(t.name_in_file, STR("x"));
    assert_str(t.examples[0].arguments, STR("{}"));
    assert_true(t.examples[0].success);
}

static const struct {
    Str file;
    const char *says; /* part of the reason */
} broken[] = {
    { STR_INIT(""), "line 1" },
    { STR_INIT("{\"name\": \"x\""), "line 1" },
    { STR_INIT("[]"), "an object, not an array" },
    { STR_INIT("{\"task_type\": \"code\"}"), "'name' is missing" },
    { STR_INIT("{\"name\": 5, \"task_type\": \"code\"}"), "'name' must be a string" },
    { STR_INIT("{\"name\": \"x\"}"), "'task_type' is missing" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"poem\"}"), "unknown task_type 'poem'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"examples\": {}}"),
      "'examples' must be" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"examples\": [1]}"), "'examples[0]'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"examples\": [{}]}"),
      "'examples[0].tool_name' is missing" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"description\": \"\xff\"}"), "line 1" },
    { STR_INIT("\xef\xbb\xbf{\"name\": \"x\", \"task_type\": \"code\"}"), "line 1" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"examples\": "
               "[{\"tool_name\": \"a\", \"arguments\": nan}]}"),
      "line 1" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"examples\": "
               "[{\"tool_name\": \"a\", \"success\": 1}]}"),
      "'examples[0].success'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"description\": null}"),
      "'description'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"created_at\": \"now\"}"),
      "'created_at' must be a number" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"usage_count\": 1.5}"),
      "'usage_count'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"usage_count\": -1}"),
      "'usage_count'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"usage_count\": NaN}"),
      "'usage_count'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"usage_count\": 1e300}"),
      "'usage_count'" },
    { STR_INIT("{\"name\": \"x\", \"task_type\": \"code\", \"source_session_id\": 7}"),
      "'source_session_id'" },
};

static void a_broken_file_is_told_by_its_key(void **state)
{
    ChatAddress *p = *state;
    Template t;
    Err err;

    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        assert_false(template_parse(p->arena, broken[i].file, STR("x"), 1, &t, &err));
        if (!strstr(err.text, broken[i].says))
            fail_msg("%.*s: got \"%s\"", STR_FMT(broken[i].file), err.text);
    }
}

/* What Python's json writes and reads, and strict readers refuse. */
static const char *const python_values[] = {
    "NaN",
    "Infinity",
    "-Infinity",
    "1000000000000000000000000000000",
    "-123456789012345678901234567890",
    "\"\\ud800\"",
    "\"a\\udfffb\"",
    "[1, 2]",
    "[]",
    "null",
    "\"text\"",
    "7",
    "1.5",
    "true",
    "{\"a\": [NaN, {\"\\udc00\": 1e+30}], \"b\": -0.0}",
    "{}",
};

static void values_of_python_are_kept(void **state)
{
    ChatAddress *p = *state;
    Err err;

    for (size_t i = 0; i < ARRAY_LEN(python_values); i++) {
        AUTO_BUF file = BUF(KIB(4)), wrote = BUF(KIB(4)), strict = BUF(KIB(4));
        AUTO(JsonDoc) *doc = NULL;
        JsonWriter w = JSON_WRITER(&strict, 0);
        Template t, again;

        buf_addf(&file,
                 "{\"name\": \"x\", \"task_type\": \"code\", \"created_at\": 5, \"examples\": "
                 "[{\"tool_name\": \"a\", \"arguments\": %s, \"result\": \"r\\udc01\"}]}",
                 python_values[i]);
        if (!template_parse(p->arena, buf_str(&file), STR("x"), 1, &t, &err))
            fail_msg("%s: %s", python_values[i], err.text);
        assert_str(t.examples[0].arguments, str_of(python_values[i]));
        template_write(&t, &wrote);
        assert_non_null(strstr(wrote.p, "\"r\\udc01\""));
        assert_true(template_parse(p->arena, buf_str(&wrote), STR("x"), 1, &again, &err));
        assert_str(again.examples[0].arguments, str_of(python_values[i]));
        assert_str(again.examples[0].result, t.examples[0].result);
        /* What goes to others than that file is strict. */
        template_put(&w, &t);
        doc = json_parse(buf_str(&strict), &err);
        if (!doc &&
            !strstr(err.text, "out of range")) /* the size of numbers is the reader's matter */
            fail_msg("%s: %s", strict.p, err.text);
    }
}

static void counting_a_use_leaves_the_rest_as_it_was(void **state)
{
    static const char odd[] = "{\n"
                              "  \"name\": \"odd\",\n"
                              "  \"task_type\": \"code\",\n"
                              "  \"examples\": [\n"
                              "    {\n"
                              "      \"tool_name\": \"a\",\n"
                              "      \"arguments\": [\n"
                              "        NaN,\n"
                              "        1000000000000000000000000000000,\n"
                              "        \"\\ud800\"\n"
                              "      ],\n"
                              "      \"result\": \"\",\n"
                              "      \"success\": true\n"
                              "    }\n"
                              "  ],\n"
                              "  \"description\": \"\",\n"
                              "  \"created_at\": 100.5,\n"
                              "  \"usage_count\": %d,\n"
                              "  \"source_session_id\": null\n"
                              "}\n";
    ChatAddress *p = *state;
    char before[sizeof odd], after[sizeof odd];
    Template t;
    Str bytes;
    Err err;

    snprintf(before, sizeof before, odd, 3);
    snprintf(after, sizeof after, odd, 4);
    put_file(p, "odd.json", before);
    assert_true(template_find(p->arena, &p->homes, STR("odd"), &t, &err));
    assert_true(template_count_use(p->arena, &t, &err));
    assert_true(file_read(p->arena, in_folder(p, "odd.json"), KIB(64), &bytes, &err));
    assert_str(bytes, str_of(after));
}

/* -- the folder -- */

static void one_bad_file_does_not_hide_the_others(void **state)
{
    ChatAddress *p = *state;
    Template *all;
    size_t n;
    Err err;

    put_file(p, "old.json", "{\"name\": \"old\", \"task_type\": \"code\", \"created_at\": 100}");
    put_file(p, "new.json", "{\"name\": \"new\", \"task_type\": \"file\", \"created_at\": 200}");
    put_file(p, "odd name.json", "{\"name\": \"x\", \"task_type\": \"file\", \"created_at\": 150}");
    put_file(p, "bad.json", "{");
    put_file(p, "poem.json", "{\"name\": \"poem\", \"task_type\": \"poem\"}");
    put_file(p, "notes.txt", "not a template");
    put_file(p, ".hidden.json", "{\"name\": \".hidden\", \"task_type\": \"code\"}");
    assert_int_equal(symlink("/etc/hostname", in_folder(p, "link.json")), 0);
    assert_int_equal(mkfifo(in_folder(p, "pipe.json"), 0600), 0);
    assert_true(templates_load(p->arena, &p->homes, &all, &n, &err));
    assert_int_equal(n, 3);
    assert_str(all[0].name, STR("new"));
    assert_str(all[1].name, STR("odd name"));
    assert_str(all[2].name, STR("old"));
}

static void no_folder_is_no_templates(void **state)
{
    ChatAddress *p = *state;
    Template *all;
    Template t;
    size_t n;
    Err err;

    assert_true(templates_load(p->arena, &p->homes, &all, &n, &err));
    assert_int_equal(n, 0);
    assert_false(template_find(p->arena, &p->homes, STR("x"), &t, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    assert_string_equal(err.text, "Template not found: x");
}

static void a_file_in_the_folders_place_is_left_alone(void **state)
{
    ChatAddress *p = *state;
    Template t = sample(p, "x"), *all;
    struct stat st;
    size_t n;
    Err err;

    assert_true(file_write_atomic(str_z(p->arena, p->folder), STR("mine"), &err));
    assert_false(template_save(p->arena, &p->homes, &t, false, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_non_null(strstr(err.text, "is a file, not a folder"));
    assert_false(template_save_unnamed(p->arena, &p->homes, &t, &err));
    assert_false(templates_load(p->arena, &p->homes, &all, &n, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_int_equal(stat(str_z(p->arena, p->folder), &st), 0);
    assert_int_equal(st.st_size, 4);
}

static void saved_is_found_again_and_not_overwritten(void **state)
{
    ChatAddress *p = *state;
    Template t = sample(p, "x"), found;
    Err err;

    assert_true(template_save(p->arena, &p->homes, &t, false, &err));
    assert_true(template_find(p->arena, &p->homes, STR("x"), &found, &err));
    assert_str(found.examples[0].arguments, t.examples[0].arguments);
    assert_str(found.examples[0].result, t.examples[0].result);
    assert_false(template_save(p->arena, &p->homes, &t, false, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    t.description = STR("again");
    assert_true(template_save(p->arena, &p->homes, &t, true, &err));
    assert_true(template_save_unnamed(p->arena, &p->homes, &t, &err));
    assert_str(t.name, STR("x-2"));
    assert_true(template_delete(p->arena, &p->homes, STR("x"), true, &err));
    assert_true(template_delete(p->arena, &p->homes, STR("x"), false, &err));
    assert_false(template_delete(p->arena, &p->homes, STR("x"), false, &err));
    assert_string_equal(err.text, "Template not found: x");
}

static void a_name_never_leaves_the_folder(void **state)
{
    static const char *const names[] = { "../secret", "/etc/passwd", "..", ".", "", "a/../../b" };
    ChatAddress *p = *state;
    Template t;
    Err err;

    put_file(p, "x.json", "{\"name\": \"x\", \"task_type\": \"code\"}");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_false(template_find(p->arena, &p->homes, str_of(names[i]), &t, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        assert_false(template_delete(p->arena, &p->homes, str_of(names[i]), false, &err));
    }
}

static void a_broken_file_can_be_deleted(void **state)
{
    ChatAddress *p = *state;
    Template t;
    Err err;

    put_file(p, "bad.json", "{");
    assert_false(template_find(p->arena, &p->homes, STR("bad"), &t, &err));
    assert_int_equal(err.kind, ERR_INVALID);
    assert_true(template_delete(p->arena, &p->homes, STR("bad"), false, &err));
}

static void counting_drops_what_is_not_in_the_table(void **state)
{
    ChatAddress *p = *state;
    Template t;
    Str bytes;
    Err err;

    put_file(p, "x.json",
             "{\"name\": \"y\", \"task_type\": \"code\", \"colour\": \"red\", "
             "\"created_at\": 7, \"usage_count\": 3}");
    assert_true(template_find(p->arena, &p->homes, STR("x"), &t, &err));
    assert_true(template_count_use(p->arena, &t, &err));
    assert_true(file_read(p->arena, in_folder(p, "x.json"), KIB(64), &bytes, &err));
    assert_str(bytes,
               STR("{\n  \"name\": \"x\",\n  \"task_type\": \"code\",\n  \"examples\": [],\n"
                   "  \"description\": \"\",\n  \"created_at\": 7.0,\n  \"usage_count\": 4,\n"
                   "  \"source_session_id\": null\n}\n"));
}

static void every_use_is_counted_whoever_counts(void **state)
{
    enum { PROCESSES = 6, USES = 20 };
    ChatAddress *p = *state;
    Template t = sample(p, "x"), found;
    int status;
    Err err;

    assert_true(template_save(p->arena, &p->homes, &t, false, &err));
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            bool ok = true;

            for (int u = 0; u < USES; u++)
                ok = ok && template_count_use(p->arena, &t, &err);
            _exit(ok ? 0 : 1);
        }
    for (int i = 0; i < PROCESSES; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_true(template_find(p->arena, &p->homes, STR("x"), &found, &err));
    assert_int_equal(found.usage_count, PROCESSES * USES);
}

static void the_first_home_with_a_name_wins(void **state)
{
    ChatAddress *p = *state;
    Home both[2] = { { .path = str_join_path(p->arena, p->home.path, STR("none")) }, p->home };
    Homes homes = { .all = both, .n = 2, .primary = both };
    Template t;
    Err err;

    put_file(p, "x.json", "{\"name\": \"x\", \"task_type\": \"code\"}");
    assert_true(template_find(p->arena, &homes, STR("x"), &t, &err));
    homes.all[0] = p->home;
    homes.all[1].path = STR("/nowhere");
    assert_true(template_find(p->arena, &homes, STR("x"), &t, &err));
}

int main(void)
{
#define IN_A_HOME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_plain),
        IN_A_HOME(the_default_name_is_the_title),
        IN_A_HOME(the_file_is_written_as_promised),
        IN_A_HOME(what_is_missing_takes_its_default),
        IN_A_HOME(a_broken_file_is_told_by_its_key),
        IN_A_HOME(values_of_python_are_kept),
        IN_A_HOME(counting_a_use_leaves_the_rest_as_it_was),
        IN_A_HOME(one_bad_file_does_not_hide_the_others),
        IN_A_HOME(no_folder_is_no_templates),
        IN_A_HOME(a_file_in_the_folders_place_is_left_alone),
        IN_A_HOME(saved_is_found_again_and_not_overwritten),
        IN_A_HOME(a_name_never_leaves_the_folder),
        IN_A_HOME(a_broken_file_can_be_deleted),
        IN_A_HOME(counting_drops_what_is_not_in_the_table),
        IN_A_HOME(every_use_is_counted_whoever_counts),
        IN_A_HOME(the_first_home_with_a_name_wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
