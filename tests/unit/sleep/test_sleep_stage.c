/* Staging: what is published, what is refused, and that nothing is half there. */
#include "sleep_night.h"

static void a_night_is_published_by_its_manifest(void **state)
{
    World w = world_new();
    StageProposal p;
    Manifest m, read;
    Str night, folder, *nights, latest;
    struct stat st;
    size_t n;
    Err err;

    (void)state;
    write_text(&w, skill_path(&w, "pdf"), "old\n");
    p = proposal(&w, ITEM_SKILL, "pdf", skill_path(&w, "pdf"), "new\n");
    assert_true(try_stage(&w, &p, 1, &night, &m, &err));
    assert_true(night_name_ok(night));
    folder = night_folder(w.a, &w.home, night);
    assert_true(manifest_read(w.a, folder, &read, &err));
    assert_int_equal(read.n, 1);
    assert_str(read.items[0].name, STR("pdf"));
    assert_str(read.items[0].proposed_file, STR("proposed_SKILL.pdf.md"));
    assert_str(read_text(&w, str_join_path(w.a, folder, STR("proposed_SKILL.pdf.md"))),
               STR("new\n"));
    assert_str(read_text(&w, skill_path(&w, "pdf")), STR("old\n"));
    assert_int_equal(stat(str_z(w.a, folder), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(str_z(w.a, str_join_path(w.a, folder, STR("manifest.json"))), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(stage_nights(w.a, &w.home, &nights, &n, &err));
    assert_int_equal(n, 1);
    assert_true(stage_latest(w.a, &w.home, &latest, &err));
    assert_str(latest, night);
    (void)arena_free(w.a);
}

static void what_is_empty_or_unchanged_is_not_proposed(void **state)
{
    World w = world_new();
    StageProposal p[3];
    Manifest m;
    Str night, memory = str_printf(w.a, "%s/project/CLAUDE.md", w.root);
    Err err;

    (void)state;
    write_text(&w, skill_path(&w, "same"), "text\n");
    p[0] = proposal(&w, ITEM_SKILL, "same", skill_path(&w, "same"), "text\n");
    p[1] = proposal(&w, ITEM_MEMORY, "", memory, "");
    p[2] = proposal(&w, ITEM_MANAGED, "", skill_path(&w, "learned"), " \n\n");
    assert_true(try_stage(&w, p, 3, &night, &m, &err));
    assert_int_equal(m.n, 0);
    (void)arena_free(w.a);
}

static void what_changed_since_it_was_read_is_refused(void **state)
{
    World w = world_new();
    StageProposal p;
    Manifest m;
    Str night, *nights;
    size_t n;
    Err err;

    (void)state;
    write_text(&w, skill_path(&w, "pdf"), "old\n");
    p = proposal(&w, ITEM_SKILL, "pdf", skill_path(&w, "pdf"), "new\n");
    write_text(&w, skill_path(&w, "pdf"), "edited in the meantime\n");
    assert_false(try_stage(&w, &p, 1, &night, &m, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_true(stage_nights(w.a, &w.home, &nights, &n, &err));
    assert_int_equal(n, 0);
    assert_str(read_text(&w, str_join_path(w.a, night_folder(w.a, &w.home, night),
                                           STR("proposed_SKILL.pdf.md"))),
               STR(""));
    assert_true(stage_discard(w.a, &w.home, night, &err));
    assert_int_not_equal(access(str_z(w.a, night_folder(w.a, &w.home, night)), F_OK), 0);
    (void)arena_free(w.a);
}

static void names_that_collide_are_refused(void **state)
{
    World w = world_new();
    StageProposal p[2];
    Manifest m;
    Str night;
    Err err;

    (void)state;
    write_text(&w, skill_path(&w, "PDF"), "a\n");
    write_text(&w, skill_path(&w, "pdf"), "b\n");
    p[0] = proposal(&w, ITEM_SKILL, "PDF", skill_path(&w, "PDF"), "A\n");
    p[1] = proposal(&w, ITEM_SKILL, "pdf", skill_path(&w, "pdf"), "B\n");
    assert_false(try_stage(&w, p, 2, &night, &m, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    (void)arena_free(w.a);
}

static void places_that_are_refused(void **state)
{
    World w = world_new();
    Str linked = skill_path(&w, "linked"), hard = skill_path(&w, "hard"), outside;
    StageProposal p;
    LiveDoc doc;
    Manifest m;
    Str night;
    Err err;

    (void)state;
    write_text(&w, skill_path(&w, "pdf"), "a\n");
    write_text(&w, str_printf(w.a, "%.*s/linked/x.md", STR_FMT(w.skills)), "a\n");
    assert_int_equal(symlink("x.md", str_z(w.a, linked)), 0);
    assert_false(live_read(w.a, linked, &doc, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(mkdir(str_z(w.a, str_printf(w.a, "%.*s/hard", STR_FMT(w.skills))), 0700), 0);
    assert_int_equal(link(str_z(w.a, skill_path(&w, "pdf")), str_z(w.a, hard)), 0);
    assert_false(live_read(w.a, hard, &doc, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_false(live_read(w.a, STR("relative/SKILL.md"), &doc, &err));
    assert_false(live_read(w.a, STR("/tmp/../etc/SKILL.md"), &doc, &err));
    assert_false(live_read(w.a, STR("/etc/passwd"), &doc, &err));
    /* A skill outside of the folders that the night looked in. */
    outside = str_printf(w.a, "%s/other/pdf/SKILL.md", w.root);
    write_text(&w, outside, "a\n");
    p = proposal(&w, ITEM_SKILL, "pdf", outside, "b\n");
    assert_false(try_stage(&w, &p, 1, &night, &m, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    (void)arena_free(w.a);
}

static void a_linked_staging_folder_is_refused(void **state)
{
    World w = world_new();
    char *elsewhere = str_z(w.a, str_printf(w.a, "%s/elsewhere", w.root));
    Str night;
    Err err;

    (void)state;
    assert_true(folder_make(str_z(w.a, w.home.folder), &err));
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, str_z(w.a, w.home.staging)), 0);
    assert_false(stage_reserve(w.a, &w.home, w.now, &night, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    (void)arena_free(w.a);
}

static void nights_of_one_second_are_counted(void **state)
{
    World w = world_new();
    Str one, two, three;
    Err err;

    (void)state;
    assert_true(stage_reserve(w.a, &w.home, w.now, &one, &err));
    assert_true(stage_reserve(w.a, &w.home, w.now, &two, &err));
    assert_true(stage_reserve(w.a, &w.home, w.now, &three, &err));
    assert_str(two, str_printf(w.a, "%.*s-2", STR_FMT(one)));
    assert_str(three, str_printf(w.a, "%.*s-3", STR_FMT(one)));
    assert_true(night_name_ok(two));
    assert_false(night_name_ok(STR("20261115-031700-")));
    assert_false(night_name_ok(STR("../20261115-031700")));
    (void)arena_free(w.a);
}

static void manifests_that_are_refused(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"schema\":\"skillopt-sleep-staging\",\"schema_version\":3}",
        "{\"schema\":\"skillopt-sleep-staging\",\"schema_version\":2,\"skills\":[{\"skill_name\":"
        "\"x\",\"proposed_file\":\"proposed_SKILL.x.md\",\"live_skill_path\":\"/s/x/SKILL.md\"}]}",
        "{\"schema\":\"skillopt-sleep-staging\",\"schema_version\":2,\"legacy\":{\"skill\":{"
        "\"proposed_file\":\"../../evil\",\"live_path\":\"/s/x/SKILL.md\",\"live_realpath\":"
        "\"/s/x/SKILL.md\",\"live_sha256\":\"\",\"sha256\":"
        "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}}",
        "not json",
    };
    AUTO(Arena) *a = arena_new();
    Manifest m;
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(manifest_parse(a, str_of(texts[i]), &m, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_night_is_published_by_its_manifest),
        cmocka_unit_test(what_is_empty_or_unchanged_is_not_proposed),
        cmocka_unit_test(what_changed_since_it_was_read_is_refused),
        cmocka_unit_test(names_that_collide_are_refused),
        cmocka_unit_test(places_that_are_refused),
        cmocka_unit_test(a_linked_staging_folder_is_refused),
        cmocka_unit_test(nights_of_one_second_are_counted),
        cmocka_unit_test(manifests_that_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
