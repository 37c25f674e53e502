/* Adoption and undo: all or nothing, only what was pinned, and always the way back. */
#include "sleep_night.h"

typedef struct Pair {
    World w;
    Str night;
} Pair;

/* Two skills that were there and one that sleep keeps itself, which was not. */
static Pair two_skills(void)
{
    Pair pair = { .w = world_new() };
    World *w = &pair.w;
    StageProposal p[2];

    write_text(w, skill_path(w, "pdf"), "old pdf\n");
    write_text(w, skill_path(w, "xls"), "old xls\n");
    p[0] = proposal(w, ITEM_SKILL, "pdf", skill_path(w, "pdf"), "new pdf\n");
    p[1] = proposal(w, ITEM_SKILL, "xls", skill_path(w, "xls"), "new xls\n");
    pair.night = stage_night(w, p, 2);
    return pair;
}

static bool take(World *w, Selection s, Err *err)
{
    Adopted done;

    return adopt(w->a, &w->home, &s, false, &done, err);
}

static bool give_back(World *w, Selection s, Err *err)
{
    Adopted done;

    return undo(w->a, &w->home, &s, false, &done, err);
}

static void adopt_undo_adopt(void **state)
{
    Pair p = two_skills();
    World *w = &p.w;
    Receipts receipts;
    struct stat st;
    Err err;

    (void)state;
    assert_int_equal(chmod(str_z(w->a, skill_path(w, "pdf")), 0644), 0);
    for (int round = 0; round < 3; round++) {
        assert_true(take(w, (Selection){ .all_skills = true }, &err));
        assert_str(read_text(w, skill_path(w, "pdf")), STR("new pdf\n"));
        assert_str(read_text(w, skill_path(w, "xls")), STR("new xls\n"));
        assert_int_equal(stat(str_z(w->a, skill_path(w, "pdf")), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0644);
        assert_false(take(w, (Selection){ .all_skills = true }, &err));
        assert_int_equal(err.kind, ERR_CONFLICT);
        assert_true(give_back(w, (Selection){ 0 }, &err));
        assert_str(read_text(w, skill_path(w, "pdf")), STR("old pdf\n"));
        assert_str(read_text(w, skill_path(w, "xls")), STR("old xls\n"));
        assert_false(give_back(w, (Selection){ 0 }, &err));
        assert_int_equal(err.kind, ERR_NOT_FOUND);
    }
    assert_true(
        receipts_read(w->a, night_folder(w->a, &w->home, p.night), p.night, &receipts, &err));
    assert_int_equal(receipts.n, 12);
    (void)arena_free(w->a);
}

static void a_choice_must_be_clear(void **state)
{
    Pair p = two_skills();
    Str pdf = STR("pdf"), none = STR("none");
    static const struct {
        bool all, legacy, pdf, none;
    } wrong[] = { { 0 },
                  { .all = true, .legacy = true },
                  { .all = true, .pdf = true },
                  { .none = true },
                  { .legacy = true } };
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        Selection s = { .all_skills = wrong[i].all,
                        .legacy = wrong[i].legacy,
                        .skills = wrong[i].none ? &none : &pdf,
                        .n_skills = wrong[i].pdf || wrong[i].none };

        assert_false(take(&p.w, s, &err));
        assert_int_equal(err.kind, ERR_USAGE);
    }
    assert_true(take(&p.w, (Selection){ .skills = &pdf, .n_skills = 1 }, &err));
    assert_str(read_text(&p.w, skill_path(&p.w, "pdf")), STR("new pdf\n"));
    assert_str(read_text(&p.w, skill_path(&p.w, "xls")), STR("old xls\n"));
    (void)arena_free(p.w.a);
}

static void a_new_skill_comes_and_goes(void **state)
{
    World w = world_new();
    Str path = str_printf(w.a, "%s/agent/skills/learned/SKILL.md", w.root);
    StageProposal p = proposal(&w, ITEM_MANAGED, "", path, "---\nname: learned\n---\n- rule\n");
    Err err;

    (void)state;
    (void)stage_night(&w, &p, 1);
    assert_true(take(&w, (Selection){ 0 }, &err));
    assert_str(read_text(&w, path), p.proposed);
    assert_true(give_back(&w, (Selection){ 0 }, &err));
    assert_int_not_equal(access(str_z(w.a, path), F_OK), 0);
    /* The folders that the adoption made are gone, the one above stays. */
    assert_int_not_equal(access(str_z(w.a, str_printf(w.a, "%s/agent", w.root)), F_OK), 0);
    assert_int_equal(access(w.root, F_OK), 0);
    assert_true(take(&w, (Selection){ 0 }, &err));
    assert_str(read_text(&w, path), p.proposed);
    (void)arena_free(w.a);
}

static void what_the_user_wrote_stays(void **state)
{
    Pair p = two_skills();
    World *w = &p.w;
    Err err;

    (void)state;
    write_text(w, skill_path(w, "pdf"), "mine\n");
    assert_false(take(w, (Selection){ .all_skills = true }, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_str(read_text(w, skill_path(w, "xls")), STR("old xls\n"));
    write_text(w, skill_path(w, "pdf"), "old pdf\n");
    assert_true(take(w, (Selection){ .all_skills = true }, &err));
    write_text(w, skill_path(w, "xls"), "mine too\n");
    assert_false(give_back(w, (Selection){ 0 }, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_str(read_text(w, skill_path(w, "pdf")), STR("new pdf\n"));
    assert_str(read_text(w, skill_path(w, "xls")), STR("mine too\n"));
    (void)arena_free(w->a);
}

static void what_was_tampered_with_is_refused(void **state)
{
    static const struct {
        const char *file, *text;
    } rows[] = {
        { "proposed_SKILL.xls.md", "evil\n" }, /* not even the chosen one */
        { "proposed_SKILL.pdf.md", "" },
    };
    Str pdf = STR("pdf");
    Err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Pair p = two_skills();
        Str folder = night_folder(p.w.a, &p.w.home, p.night);

        write_text(&p.w, str_join_path(p.w.a, folder, str_of(rows[i].file)), rows[i].text);
        assert_false(take(&p.w, (Selection){ .skills = &pdf, .n_skills = 1 }, &err));
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_str(read_text(&p.w, skill_path(&p.w, "pdf")), STR("old pdf\n"));
        (void)arena_free(p.w.a);
    }
}

static void links_are_refused(void **state)
{
    Pair p = two_skills();
    World *w = &p.w;
    char *folder = str_z(w->a, str_printf(w->a, "%.*s/pdf", STR_FMT(w->skills)));
    char *moved = str_z(w->a, str_printf(w->a, "%s/moved", w->root));
    Str pdf = STR("pdf");
    Selection s = { .skills = &pdf, .n_skills = 1 };
    Err err;

    (void)state;
    /* The same bytes, now behind a link: another place. */
    assert_int_equal(rename(folder, moved), 0);
    assert_int_equal(symlink(moved, folder), 0);
    assert_false(take(w, s, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(unlink(folder), 0);
    assert_int_equal(rename(moved, folder), 0);
    /* A second name would keep the old bytes, or share the new ones. */
    assert_int_equal(link(str_z(w->a, skill_path(w, "pdf")), moved), 0);
    assert_false(take(w, s, &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(unlink(moved), 0);
    assert_true(take(w, s, &err));
    (void)arena_free(w->a);
}

static void undo_goes_back_night_by_night(void **state)
{
    World w = world_new();
    Str path = skill_path(&w, "pdf"), pdf = STR("pdf"), first;
    Selection s = { .skills = &pdf, .n_skills = 1 };
    StageProposal p;
    Err err;

    (void)state;
    write_text(&w, path, "one\n");
    p = proposal(&w, ITEM_SKILL, "pdf", path, "two\n");
    first = stage_night(&w, &p, 1);
    assert_true(take(&w, s, &err));
    p = proposal(&w, ITEM_SKILL, "pdf", path, "three\n");
    (void)stage_night(&w, &p, 1);
    assert_true(take(&w, s, &err));
    assert_str(read_text(&w, path), STR("three\n"));
    /* The first is below the second: it cannot go alone. */
    assert_false(give_back(&w, (Selection){ .night = first }, &err));
    assert_int_equal(err.kind, ERR_CONFLICT);
    assert_true(give_back(&w, (Selection){ 0 }, &err));
    assert_str(read_text(&w, path), STR("two\n"));
    assert_true(give_back(&w, (Selection){ 0 }, &err));
    assert_str(read_text(&w, path), STR("one\n"));
    (void)arena_free(w.a);
}

/* A dry run checks and changes nothing; a night that proposes nothing hides none before it. */
static void looking_changes_nothing(void **state)
{
    Pair p = two_skills();
    World *w = &p.w;
    Selection s = { .all_skills = true };
    Adopted done;
    Err err;

    (void)state;
    (void)stage_night(w, NULL, 0);
    assert_true(adopt(w->a, &w->home, &s, true, &done, &err));
    assert_str(done.night, p.night);
    assert_int_equal(done.receipts.n, 2);
    assert_str(read_text(w, skill_path(w, "pdf")), STR("old pdf\n"));
    assert_int_not_equal(access(str_z(w->a, str_join_path(w->a, done.folder, STR("backup"))), F_OK),
                         0);
    (void)arena_free(w->a);
}

/* One that died in the middle, and somebody who wrote since: that stays, and stands in no way. */
static void a_foreign_change_survives_recovery(void **state)
{
    Pair p = two_skills();
    World *w = &p.w;
    Str folder = night_folder(w->a, &w->home, p.night);
    LiveDoc *pdf = live_of(w, skill_path(w, "pdf")), *xls = live_of(w, skill_path(w, "xls"));
    Change changes[] = {
        { .kind = ITEM_SKILL,
          .name = STR("pdf"),
          .live = *pdf,
          .to_exist = true,
          .to = STR("new pdf\n"),
          .backup = STR("") },
        { .kind = ITEM_SKILL,
          .name = STR("xls"),
          .live = *xls,
          .to_exist = true,
          .to = STR("new xls\n"),
          .backup = STR("") },
    };
    Transaction t = { .folder = folder,
                      .action = STR("adopt"),
                      .changes = changes,
                      .n = 2,
                      .receipts_file = STR("adopted_skills.json"),
                      .receipts = STR("[]\n") };
    Recovery recovery = { 0 };
    Err err;

    (void)state;
    /* The second document is not what the transaction expects, so it fails and rolls the first
     * back. */
    write_text(w, skill_path(w, "xls"), "somebody else's\n");
    assert_false(journal_run(w->a, &t, &err));
    assert_str(read_text(w, skill_path(w, "pdf")), STR("old pdf\n"));
    assert_str(read_text(w, skill_path(w, "xls")), STR("somebody else's\n"));
    assert_true(adopt_recover(w->a, &w->home, &recovery, &err));
    assert_int_equal(recovery.found, 0);
    write_text(w, skill_path(w, "xls"), "old xls\n");
    assert_true(take(w, (Selection){ .all_skills = true }, &err));
    (void)arena_free(w->a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adopt_undo_adopt),
        cmocka_unit_test(a_choice_must_be_clear),
        cmocka_unit_test(a_new_skill_comes_and_goes),
        cmocka_unit_test(what_the_user_wrote_stays),
        cmocka_unit_test(what_was_tampered_with_is_refused),
        cmocka_unit_test(links_are_refused),
        cmocka_unit_test(undo_goes_back_night_by_night),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(a_foreign_change_survives_recovery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
