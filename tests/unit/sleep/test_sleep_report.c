/* Reports, evidence, and nights as they are listed. */
#include "sleep_night.h"

#include "base/limits.h"
#include "sleep/adoption/evidence.h"
#include "sleep/adoption/nights.h"
#include "sleep/adoption/report.h"

static NightReport report_of(Arena *a)
{
    NightReport r;
    EditRecord e;
    EditShare share = { .skill = STR(""), .share = 0.25 };
    TaskPair task = { .id = STR("task_1"),
                      .intent = STR("say yes"),
                      .split = STR("val"),
                      .reference_kind = STR("rule"),
                      .before = ARENA_NEW(a, ReplayResult),
                      .after = ARENA_NEW(a, ReplayResult) };

    report_init(&r);
    r.report.night = 7;
    r.report.project = STR("/p");
    r.report.gate_action = STR("accept_new_best");
    r.report.accepted = true;
    r.report.baseline_score = 0.5;
    r.report.candidate_score = 0.75;
    r.backend = STR("mock");
    r.cost_usd = 0.125;
    LIST_PUSH(a, &r.interval, 0.1);
    LIST_PUSH(a, &r.interval, 0.4);
    edit_init(&e);
    e.content = STR("| <b>bold</b> [x](http://evil)\n# heading");
    LIST_PUSH(a, &r.report.edits, e);
    LIST_PUSH(a, &share.moved_tasks, STR("task_1"));
    LIST_PUSH(a, &r.shares, share);
    replay_result_init(task.before);
    replay_result_init(task.after);
    task.before->id = task.after->id = task.id;
    task.before->response = STR("no");
    task.after->response = STR("yes");
    LIST_PUSH(a, &r.tasks, task);
    LIST_PUSH(a, &r.report.notes, STR("a note\x1b[31m\nin two lines"));
    return r;
}

static void a_report_reads_back(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(1 << 20), again = BUF(1 << 20);
    NightReport r = report_of(a), back;
    Err err;

    (void)state;
    report_json(&text, &r);
    assert_true(report_parse(a, buf_str(&text), &back, &err));
    report_json(&again, &back);
    assert_str(buf_str(&again), buf_str(&text));
    assert_str(back.tasks.items[0].after->response, STR("yes"));
    assert_int_equal(back.interval.n, 2);
    assert_true(back.shares.items[0].share == 0.25);
}

static void markdown_shows_and_never_acts(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "plain words", "plain words" },
        { "a\nb\r\n# c", "a b \\# c" },
        { "| x |", "\\| x \\|" },
        { "<script>", "\\<script\\>" },
        { "\x1b[31mred", "\\[31mred" },
        { "a\xe2\x80\xae"
          "b",
          "a b" },
        { "0123456789012345678901234567890123456789xyz",
          "0123456789012345678901234567890123456789…" },
    };
    AUTO(Arena) *a = arena_new();
    AUTO_BUF md = BUF(1 << 16);
    NightReport r = report_of(a);
    Str rest, line;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF out = BUF(1 << 12);

        md_text(&out, str_of(rows[i].text), 40);
        assert_str(buf_str(&out), str_of(rows[i].shown));
    }
    report_md(&md, &r);
    rest = buf_str(&md);
    while (str_split(&rest, '\n', &line))
        assert_false(str_starts(line, STR("# heading")));
    assert_true(str_find(buf_str(&md), STR("\x1b")) == md.n);
    assert_true(str_find(buf_str(&md), STR("(25 % of the gain)")) < md.n);
}

static Str last_line(Str text)
{
    Str line, last = STR("");

    while (str_split(&text, '\n', &line))
        if (line.n)
            last = line;
    return last;
}

static void evidence_is_redacted_then_cut(void **state)
{
    World w = world_new();
    char *path = str_z(w.a, str_printf(w.a, "%s/evidence.jsonl", w.root));
    AUTO(JsonDoc) *doc = NULL;
    struct stat st;
    Evidence *e;
    Str text, secret;
    int64_t seq;
    Err err;

    (void)state;
    /* The key lies across the cut: cut first, half of it would stay. */
    secret = str_printf(w.a, "%0190d sk-abcdefghijklmnopqrstuvwxyz0123456789 %0400d", 0, 0);
    e = evidence_open(path, (EvidenceOptions){ .max_chars = 1 }, &err);
    assert_non_null(e);
    evidence_begin(e, "cycle", "start");
    evidence_str(e, "text", secret);
    evidence_json(e, "deep", STR("{\"password\":\"hunter22\",\"list\":[\"sk-abcdefghijklmnop\"]}"));
    evidence_real(e, "nan", 0.0 / 0.0);
    evidence_end(e);
    assert_true(evidence_close(e));
    text = read_text(&w, str_of(path));
    assert_true(str_find(text, STR("sk-abc")) == text.n);
    assert_true(str_find(text, STR("hunter22")) == text.n);
    assert_true(str_find(text, STR("characters left out")) < text.n);
    assert_true(str_find(text, STR("\"nan\":null")) < text.n ||
                str_find(text, STR("\"nan\": null")) < text.n);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    /* A torn line is cut off, and the numbers go on. */
    text = str_printf(w.a, "%.*s{\"ts\": \"to", STR_FMT(text));
    write_text(&w, str_of(path), text.p);
    e = evidence_open(path, (EvidenceOptions){ 0 }, &err);
    evidence_begin(e, "cycle", "end");
    evidence_end(e);
    assert_true(evidence_close(e));
    doc = json_parse(last_line(read_text(&w, str_of(path))), &err);
    assert_non_null(doc);
    assert_true(json_int(json_get(json_root(doc), STR("seq")), &seq));
    assert_int_equal(seq, 1);
    evidence_begin(NULL, "cycle", "end"); /* no evidence wanted: nothing happens */
    evidence_end(NULL);
    (void)arena_free(w.a);
}

/* A file that is full takes no more, and can still be gone on with. */
static void evidence_has_an_end(void **state)
{
    enum { ROOM = 400 }; /* for one short line */
    World w = world_new();
    char *path = str_z(w.a, str_printf(w.a, "%s/evidence.jsonl", w.root));
    char *text = arena_bytes(w.a, LIMIT_SLEEP_EVIDENCE_BYTES - ROOM);
    struct stat st;
    Err err;

    (void)state;
    memset(text, 'x', LIMIT_SLEEP_EVIDENCE_BYTES - ROOM);
    text[LIMIT_SLEEP_EVIDENCE_BYTES - ROOM - 1] = '\n';
    assert_true(file_write_atomic(path, (Str){ text, LIMIT_SLEEP_EVIDENCE_BYTES - ROOM }, &err));
    for (int run = 0; run < 2; run++) {
        Evidence *e = evidence_open(path, (EvidenceOptions){ 0 }, &err);

        assert_non_null(e);
        for (int i = 0; i < 20; i++) {
            evidence_begin(e, "replay", "result");
            evidence_str(e, "response", STR("it ran at two"));
            evidence_end(e);
        }
        assert_false(evidence_close(e)); /* it says that something is missing */
        assert_int_equal(stat(path, &st), 0);
        assert_true(st.st_size > LIMIT_SLEEP_EVIDENCE_BYTES - ROOM);
        assert_true(st.st_size <= LIMIT_SLEEP_EVIDENCE_BYTES);
    }
    assert_int_equal(unlink(path), 0);
    (void)arena_free(w.a);
}

static void nights_are_listed_and_loaded(void **state)
{
    World w = world_new();
    NightReport r = report_of(w.a);
    AUTO_BUF json = BUF(1 << 20), shown = BUF(1 << 20);
    StageFile files[1];
    StageProposal p;
    StageRequest request = { .accepted = true,
                             .proposals = &p,
                             .n_proposals = 1,
                             .files = files,
                             .n_files = 1,
                             .skill_roots = { .items = &w.skills, .n = 1 } };
    Selection all = { .all_skills = true };
    JsonWriter writer = JSON_WRITER(&shown, 0);
    AUTO(JsonDoc) *doc = NULL;
    NightSummary *list;
    Adopted done;
    Manifest m;
    Night night;
    size_t n;
    Err err;

    (void)state;
    write_text(&w, skill_path(&w, "pdf"), "one\ntwo\n");
    p = proposal(&w, ITEM_SKILL, "pdf", skill_path(&w, "pdf"), "one\nTWO\n");
    report_json(&json, &r);
    files[0] = (StageFile){ STR("report.json"), buf_str(&json) };
    assert_true(stage_reserve(w.a, &w.home, w.now, &request.night, &err));
    assert_true(stage_publish(w.a, &w.home, &request, &m, &err));
    assert_true(nights_list(w.a, &w.home, STR(""), &list, &n, &err));
    assert_int_equal(n, 1);
    assert_false(list[0].adopted);
    assert_true(nights_list(w.a, &w.home, STR("/another"), &list, &n, &err));
    assert_int_equal(n, 0);
    assert_true(night_load(w.a, &w.home, request.night, &night, &err));
    assert_int_equal(night.skills.items[0].live, LIVE_AS_BEFORE);
    assert_true(str_find(night.skills.items[0].diff, STR("-two\n+TWO\n")) <
                night.skills.items[0].diff.n);
    night_put(&writer, &night);
    doc = json_parse(buf_str(&shown), &err);
    assert_non_null(doc);
    assert_str(
        json_str(json_get(json_at(json_get(json_root(doc), STR("skills")), 0), STR("after"))),
        STR("one\nTWO\n"));
    assert_int_equal(json_count(json_get(json_root(doc), STR("tasks"))), 1);

    assert_true(adopt(w.a, &w.home, &all, false, &done, &err));
    assert_true(night_load(w.a, &w.home, request.night, &night, &err));
    assert_true(night.summary.adopted && night.skills.items[0].adopted);
    assert_int_equal(night.skills.items[0].live, LIVE_ADOPTED);
    assert_str(night.skills.items[0].before, STR("one\ntwo\n")); /* from the backup */
    assert_true(undo(w.a, &w.home, &(Selection){ 0 }, false, &done, &err));
    assert_true(nights_list(w.a, &w.home, STR("/p"), &list, &n, &err));
    assert_true(list[0].undone && !list[0].adopted);
    (void)arena_free(w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_reads_back),
        cmocka_unit_test(markdown_shows_and_never_acts),
        cmocka_unit_test(evidence_is_redacted_then_cut),
        cmocka_unit_test(evidence_has_an_end),
        cmocka_unit_test(nights_are_listed_and_loaded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
