/* Names as parts of paths, plugin versions, where skills live, and the diff that shows them. */
#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "diff_apply.h"
#include "sleep/task/names.h"
#include "sleep/task/places.h"
#include "text/json.h"
#include "text/sha256.h"

static JsonDoc *fixture(Arena *a, const char *name)
{
    Str text;
    Err err;
    char *path = str_z(a, str_printf(a, "%s/sleep/%s", getenv("TALARIA_FIXTURES"), name));
    JsonDoc *doc = file_read(a, path, 1 << 20, &text, &err) ? json_parse(text, &err) : NULL;

    assert_non_null(doc);
    return doc;
}

static void names_as_recorded(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = fixture(a, "vec_names.json");
    size_t n = json_count(json_root(doc));

    (void)state;
    assert_true(n > 10);
    for (size_t i = 0; i < n; i++) {
        Json row = json_at(json_root(doc), i);
        Str name = json_str(json_get(row, STR("name")));

        assert_str(name_to_look_up(name), json_str(json_get(row, STR("resolver"))));
        assert_str(name_to_stage(name), json_str(json_get(row, STR("staging"))));
    }
}

static void versions_as_recorded(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = fixture(a, "vec_versions.json");
    size_t n = json_count(json_root(doc));

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            int order = version_cmp(json_str(json_at(json_root(doc), i)),
                                    json_str(json_at(json_root(doc), k)));

            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

static void keys_that_collide(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        { "PDF", "pdf", true },
        { "caf\xc3\xa9", "cafe\xcc\x81", true }, /* composed and decomposed */
        { "stra\xc3\x9f"
          "e",
          "STRASSE", true },
        { "a", "b", false },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(str_eq(name_key(a, str_of(rows[i].a)), name_key(a, str_of(rows[i].b))),
                         rows[i].same);
}

static void hash_as_published(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    assert_str(sha256_hex(a, STR("")),
               STR("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    assert_str(sha256_hex(a, STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
               STR("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
}

/* -- places -- */

static Str put(Arena *a, const char *root, const char *name)
{
    char *path = str_z(a, str_printf(a, "%s/%s/SKILL.md", root, name));
    Err err;

    assert_true(folder_make(str_z(a, str_printf(a, "%s/%s", root, name)), &err));
    assert_true(file_write_atomic(path, STR("x\n"), &err));
    return str_of(path);
}

static void skills_are_found_by_name(void **state)
{
    AUTO(Arena) *a = arena_new();
    char folder[] = "/tmp/talaria-names-XXXXXX";
    char *root = mkdtemp(folder);
    char *one = str_z(a, str_printf(a, "%s/one", root)),
         *two = str_z(a, str_printf(a, "%s/two", root));
    Str both[] = { str_of(one), str_of(two) }, found;
    const StrList roots = { .items = both, .n = 2 };
    Str outside = put(a, str_z(a, str_printf(a, "%s/elsewhere", root)), "evil");

    (void)state;
    put(a, one, "pdf");
    put(a, one, "both");
    put(a, two, "both");
    assert_int_equal(symlink(str_z(a, str_head(outside, outside.n - 9)),
                             str_z(a, str_printf(a, "%s/evil", one))),
                     0);
    assert_int_equal(skill_find(a, &roots, STR("pdf"), &found), SKILL_FOUND);
    assert_str(found, str_printf(a, "%s/pdf/SKILL.md", one));
    assert_int_equal(skill_find(a, &roots, STR("both"), &found), SKILL_AMBIGUOUS);
    assert_int_equal(skill_find(a, &roots, STR("none"), &found), SKILL_MISSING);
    assert_int_equal(skill_find(a, &roots, STR("../one/pdf"), &found), SKILL_REJECTED);
    assert_int_equal(skill_find(a, &roots, STR("evil"), &found), SKILL_REJECTED);
}

static void the_newest_plugin_counts(void **state)
{
    AUTO(Arena) *a = arena_new();
    char folder[] = "/tmp/talaria-names-XXXXXX";
    char *root = mkdtemp(folder);
    Homes homes = { .data = str_of(root) };
    PlaceQuery query = { .homes = &homes, .claude_home = str_of(root) };
    StrList roots;
    Err err;

    (void)state;
    put(a, str_z(a, str_printf(a, "%s/plugins/cache/m/p/1.9.0/skills", root)), "x");
    put(a, str_z(a, str_printf(a, "%s/plugins/cache/m/p/1.10.0/skills", root)), "x");
    put(a, str_z(a, str_printf(a, "%s/plugins/cache/m/old/skills", root)), "y");
    put(a, str_z(a, str_printf(a, "%s/skills", root)), "z");
    assert_true(skill_roots(a, &query, &roots, &err));
    assert_int_equal(roots.n, 3);
    assert_str(roots.items[0], str_printf(a, "%s/skills", root));
    assert_str(roots.items[1], str_printf(a, "%s/plugins/cache/m/old/skills", root));
    assert_str(roots.items[2], str_printf(a, "%s/plugins/cache/m/p/1.10.0/skills", root));
}

static void a_new_skill_has_its_place(void **state)
{
    AUTO(Arena) *a = arena_new();
    char folder[] = "/tmp/talaria-names-XXXXXX";
    char *root = mkdtemp(folder);
    Home hermes = { .kind = HOME_HERMES, .path = str_printf(a, "%s/hermes", root) };
    Homes homes = { .data = str_printf(a, "%s/data", root) };
    PlaceQuery query = { .homes = &homes, .claude_home = str_printf(a, "%s/claude", root) };
    Err err;
    Str path;

    (void)state;
    assert_true(place_of_managed(a, &query, STR("learned"), &path, &err));
    assert_str(path, str_printf(a, "%s/data/skills/learned/SKILL.md", root));
    assert_int_equal(mkdir(str_z(a, query.claude_home), 0700), 0);
    assert_true(place_of_managed(a, &query, STR("learned"), &path, &err));
    assert_str(path, str_printf(a, "%s/claude/skills/learned/SKILL.md", root));
    homes.all = &hermes;
    homes.n = 1;
    assert_int_equal(mkdir(str_z(a, hermes.path), 0700), 0);
    assert_true(place_of_managed(a, &query, STR("learned"), &path, &err));
    assert_str(path, str_printf(a, "%s/hermes/skills/learned/SKILL.md", root));
    query.target = STR("sub/SKILL.md");
    assert_false(place_of_managed(a, &query, STR("learned"), &path, &err));
    query.project = STR("/p");
    assert_true(place_of_managed(a, &query, STR("learned"), &path, &err));
    assert_str(path, STR("/p/sub/SKILL.md"));
    query.target = STR("/etc/passwd");
    assert_false(place_of_managed(a, &query, STR("learned"), &path, &err));
}

/* -- diff -- */

static void diff_as_people_know_it(void **state)
{
    static const struct {
        const char *before, *after, *diff;
    } rows[] = {
        { "a\nb\n", "a\nb\n", "" },
        { "", "a\n", "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n" },
        { "a\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n" },
        { "a\nb\nc\n", "a\nB\nc\n", "--- x\n+++ y\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n" },
        { "a", "a\n", "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n" },
        { "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
          "--- x\n+++ y\n@@ -7,3 +7,4 @@\n 7\n 8\n 9\n+10\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF out = BUF(1 << 16);

        diff_unified(&out, str_of(rows[i].before), str_of(rows[i].after), STR("x"), STR("y"));
        assert_str(buf_str(&out), str_of(rows[i].diff));
    }
}

/* Random texts over few lines: every diff leads back, and is not longer than both texts. */
static void diff_leads_back(void **state)
{
    uint32_t seed = 7;
    Err err;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        AUTO_BUF x = BUF(1 << 16), y = BUF(1 << 16), diff = BUF(1 << 18), back = BUF(1 << 16);

        for (int i = 0, n = (int)((seed = seed * 1664525 + 1013904223) >> 27); i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            if (seed >> 30)
                buf_addf(&x, "%u\n", seed >> 24 & 7);
            if (seed >> 28 & 3)
                buf_addf(&y, "%u%s", seed >> 24 & 7, i + 1 == n && (seed & 64) ? "" : "\n");
        }
        diff_unified(&diff, buf_str(&x), buf_str(&y), STR("x"), STR("y"));
        assert_true(diff_apply(&back, buf_str(&x), buf_str(&diff), &err));
        assert_str(buf_str(&back), buf_str(&y));
    }
}

static void a_diff_that_does_not_fit(void **state)
{
    AUTO_BUF out = BUF(1 << 10);
    Err err;

    (void)state;
    assert_false(diff_apply(&out, STR("other\n"), STR("@@ -1 +1 @@\n-a\n+b\n"), &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_false(diff_apply(&out, STR("a\n"), STR("@@ -9 +9 @@\n-a\n+b\n"), &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_as_recorded),         cmocka_unit_test(versions_as_recorded),
        cmocka_unit_test(keys_that_collide),         cmocka_unit_test(hash_as_published),
        cmocka_unit_test(skills_are_found_by_name),  cmocka_unit_test(the_newest_plugin_counts),
        cmocka_unit_test(a_new_skill_has_its_place), cmocka_unit_test(diff_as_people_know_it),
        cmocka_unit_test(diff_leads_back),           cmocka_unit_test(a_diff_that_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
