/* Learned rules in a document, and that nothing else in it ever moves. */
#include "sleep_vectors.h"

#include "sleep/learning/edits.h"

/* -- the recorded edits -- */

static Str with_banner(Arena *a, Str s)
{
    AUTO_BUF out = BUF(MIB(1));
    size_t at;

    while ((at = str_find(s, STR("$BANNER"))) < s.n) {
        buf_add(&out, str_head(s, at));
        buf_addz(&out, document_banner);
        s = str_skip(s, at + 7);
    }
    buf_add(&out, s);
    return str_dup(a, buf_str(&out));
}

typedef enum Defect {
    NONE,
    EMPTY_BLOCK, /* recorded: an edit that changes nothing still writes a block */
    MOVED_BLOCK, /* recorded: the block goes to the end, user text is squeezed */
    UNCLOSED,    /* recorded: a marker without its end swallows the rest of the document */
    WIDE_ANCHOR, /* recorded: a short anchor changes every rule that holds it */
    LOST_LINES   /* recorded: further lines stand outside of the bullet and are lost */
} Defect;

static bool two_lines(const EditRecords *edits)
{
    return edits->items[0].content.n &&
           memchr(edits->items[0].content.p, '\n', edits->items[0].content.n);
}

static Defect defect_of(Arena *a, Str doc, const EditRecords *edits, Json v)
{
    size_t rules = json_count(json_get(v, STR("lines")));
    bool wide = str_eq(edits->items[0].op, STR("delete")) &&
                str_eq(edits->items[0].anchor, STR("rule")) && rules == 1;

    (void)a;
    if (str_find(doc, STR("no end marker")) < doc.n)
        return UNCLOSED;
    if (wide && str_find(doc, STR("rule one")) < doc.n)
        return WIDE_ANCHOR;
    if (two_lines(edits))
        return LOST_LINES;
    if (str_starts(doc, STR("head")))
        return MOVED_BLOCK;
    if (number_of(json_get(v, STR("n_applied"))) == 0 || (!rules && !doc.n) ||
        (!rules && str_starts(doc, STR("# My"))))
        return EMPTY_BLOCK;
    return NONE;
}

static void check_lines(Arena *a, Str text, Json lines)
{
    Document d;
    Err err;

    assert_true(document_parse(a, text, &d, &err));
    assert_int_equal(document_rules(&d), json_count(lines));
    for (size_t i = 0; i < json_count(lines); i++)
        assert_str(document_rule(&d, i)->text, json_str(json_at(lines, i)));
}

static void check_right(Arena *a, Defect defect, Str doc, const EditsApplied *done, Json v)
{
    Document d;
    Err err;

    switch (defect) {
    case NONE:
        assert_str(done->text, with_banner(a, json_str(json_get(v, STR("result")))));
        check_lines(a, done->text, json_get(v, STR("lines")));
        break;
    case EMPTY_BLOCK:
        if (!done->applied.n)
            assert_str(done->text, doc);
        check_lines(a, done->text, json_get(v, STR("lines")));
        break;
    case MOVED_BLOCK:
        assert_true(str_starts(done->text, STR("head\n<!--")));
        assert_true(str_ends(done->text, STR("-->\ntail\n")));
        check_lines(a, done->text, json_get(v, STR("lines")));
        break;
    case WIDE_ANCHOR:
        assert_str(done->text, doc);
        assert_str(done->why.items[0], STR("the anchor fits more than one rule"));
        break;
    case LOST_LINES:
        assert_true(document_parse(a, done->text, &d, &err));
        assert_str(document_rule(&d, document_rules(&d) - 1)->text, STR("line a\nline b"));
        break;
    case UNCLOSED:
        break;
    }
}

static void recorded(void **state)
{
    EACH_VECTOR("vec_edits")
    {
        Str doc = with_banner(a, json_str(json_get(v, STR("doc"))));
        EditRecords edits;
        EditsApplied done;
        Defect defect;
        Err err;

        assert_true(edits_read(a, json_get(v, STR("edits")), &edits, &err));
        defect = defect_of(a, doc, &edits, v);
        if (defect == UNCLOSED) {
            assert_false(edits_apply(a, doc, &edits, NULL, &done, &err));
            assert_string_equal(err.text, "line 2: a start marker without an end");
            continue;
        }
        assert_true(edits_apply(a, doc, &edits, NULL, &done, &err));
        if (defect != WIDE_ANCHOR &&
            ((double)done.applied.n != number_of(json_get(v, STR("n_applied"))) ||
             (double)done.unmatched.n != number_of(json_get(v, STR("n_unmatched")))))
            fail_msg("%.*s: %zu applied, %zu not", STR_FMT(json_text(a, v)), done.applied.n,
                     done.unmatched.n);
        check_right(a, defect, doc, &done, v);
    }
}

/* The slow field of the recorded vectors is written by no night and squeezes the user's text: here
 * such a block is user text like any other. */
static void slow_field_is_user_text(void **state)
{
    EACH_VECTOR("vec_slow_field")
    {
        Str doc = json_str(json_get(v, STR("doc")));
        EditRecord edit;
        EditRecords edits = { .items = &edit, .n = 1, .cap = 1 };
        EditsApplied done;
        Err err;

        edit_init(&edit);
        edit.content = STR("a rule");
        assert_true(edits_apply(a, doc, &edits, NULL, &done, &err));
        assert_true(str_starts(done.text, doc));
        edit.content = STR("<!-- SLOW_UPDATE_START -->");
        assert_true(edits_apply(a, doc, &edits, NULL, &done, &err));
        assert_str(done.text, doc);
        assert_str(done.why.items[0], STR("the text holds a marker or a comment"));
    }
}

/* -- markers -- */

#define START "<!-- SKILLOPT-SLEEP:LEARNED START -->"
#define END   "<!-- SKILLOPT-SLEEP:LEARNED END -->"

static const struct {
    const char *why, *doc, *expect; /* NULL: refused */
    const char *error;
} markers[] = {
    { "in prose", "say " START " here\n", "say " START " here\n\n" START, NULL },
    { "in fenced code", "```\n" START "\n" END "\n```\n", "```\n" START "\n" END "\n```\n\n" START,
      NULL },
    { "in a longer fence", "~~~~\n~~~\n" START "\n~~~~\n", "~~~~\n~~~\n" START "\n~~~~\n\n" START,
      NULL },
    { "twice", START "\n" START "\n" END "\n", NULL, "line 2: a second start marker" },
    { "two blocks", START "\n" END "\nx\n" START "\n" END "\n", NULL,
      "line 4: a second start marker" },
    { "end alone", "x\n" END "\n", NULL, "line 2: an end marker without its start" },
    { "code that never ends", "a\n```\nb\n", NULL, "line 2: fenced code that never ends" },
    { "code in one line", "``` x ```\ny", "``` x ```\ny\n\n" START, NULL },
    { "windows line ends", "a\r\n" START "\r\n- b\r\n" END "\r\nc\r\n",
      "a\r\n" START "\r\n- b\r\n- a rule\r\n" END "\r\nc\r\n", NULL },
};

static void markers_are_lines(void **state)
{
    AUTO(Arena) *a = arena_new();
    EditRecord edit;
    EditRecords edits = { .items = &edit, .n = 1, .cap = 1 };

    (void)state;
    edit_init(&edit);
    edit.content = STR("a rule");
    for (size_t i = 0; i < ARRAY_LEN(markers); i++) {
        EditsApplied done;
        Err err;
        bool ok = edits_apply(a, str_of(markers[i].doc), &edits, NULL, &done, &err);

        if (ok != !markers[i].error)
            fail_msg("%s", markers[i].why);
        if (ok && !str_starts(done.text, str_of(markers[i].expect)))
            fail_msg("%s: %.*s", markers[i].why, STR_FMT(done.text));
        if (!ok && !str_starts(str_of(err.text), str_of(markers[i].error)))
            fail_msg("%s: %s", markers[i].why, err.text);
    }
}

/* -- notes -- */

static void notes_travel_with_their_rule(void **state)
{
    AUTO(Arena) *a = arena_new();
    RuleNote note = { .night = 3, .until = 33, .helpful = 2, .evidence = STR("val 0.3 -> --> 1") };
    EditRecord edit;
    EditRecords edits = { .items = &edit, .n = 1, .cap = 1 };
    EditsApplied done;
    Document d;
    Rule *rule;
    Err err;

    (void)state;
    LIST_PUSH(a, &note.sessions, STR("s1"));
    LIST_PUSH(a, &note.sessions, STR("s 2-->x"));
    edit_init(&edit);
    edit.content = STR("first\n\n    code\nlast");
    assert_true(edits_apply(a, STR("# S\n"), &edits, &note, &done, &err));
    assert_true(document_parse(a, done.text, &d, &err));
    rule = document_rule(&d, 0);
    assert_str(rule->text, edit.content);
    assert_int_equal(rule->note.night, 3);
    assert_int_equal(rule->note.until, 33);
    assert_int_equal(rule->note.helpful, 2);
    assert_int_equal(rule->note.sessions.n, 2);
    assert_str(rule->note.evidence, STR("val 0.3 - - 1"));
    assert_true(str_find(document_bare(a, done.text), STR("rule id=")) ==
                document_bare(a, done.text).n);
    edit.op = STR("delete");
    edit.content = rule->note.id;
    assert_true(edits_apply(a, done.text, &edits, &note, &done, &err));
    assert_int_equal(done.applied.n, 1);
}

/* -- a property: whatever the document and the edits, the rest stays byte for byte -- */

static uint64_t seed = 7;

static size_t random_below(size_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % n;
}

static const char *const pieces[] = {
    "# Title\n",      "text ",      "- bullet\n",   "\n",
    "  indented\n",   "```\n",      "~~~\n",        "äöü 日本 ",
    "say " START " ", START "\n",   END "\n",       "\r\n",
    "- use x\n",      "- use y\n",  "<!-- c -->\n", " " START " \n",
    "---\n",          "- a\n  b\n",
};

static Str random_text(Arena *a, size_t max)
{
    AUTO_BUF out = BUF(KIB(64));

    for (size_t n = random_below(max); n > 0; n--)
        buf_addz(&out, pieces[random_below(ARRAY_LEN(pieces))]);
    return str_dup(a, buf_str(&out));
}

static EditRecords random_edits(Arena *a)
{
    static const char *const op_names[] = { "add", "delete", "replace", "", "move" };
    EditRecords edits = { 0 };

    for (size_t n = 1 + random_below(4); n > 0; n--) {
        EditRecord e;

        edit_init(&e);
        e.op = str_of(op_names[random_below(ARRAY_LEN(op_names))]);
        e.content = random_text(a, 4);
        e.anchor = random_below(2) ? STR("use") : random_text(a, 3);
        LIST_PUSH(a, &edits, e);
    }
    return edits;
}

static void user_text_never_changes(void **state)
{
    AUTO(Arena) *a = arena_new();
    size_t parsed = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        Str doc;
        EditRecords edits;
        EditsApplied done, again;
        Document was, is;
        Err err;

        arena_reset(a);
        doc = random_text(a, 12);
        edits = random_edits(a);
        if (!edits_apply(a, doc, &edits, NULL, &done, &err))
            continue;
        parsed++;
        assert_true(document_parse(a, doc, &was, &err));
        assert_true(document_parse(a, done.text, &is, &err));
        assert_true(str_starts(is.before, was.before));
        assert_str(is.after, was.after);
        if (was.start.n)
            assert_str(is.before, was.before);
        assert_true(edits_apply(a, done.text, &(EditRecords){ 0 }, NULL, &again, &err));
        assert_str(again.text, done.text);
        assert_str(document_write(a, &is), done.text);
    }
    assert_true(parsed > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded),
        cmocka_unit_test(slow_field_is_user_text),
        cmocka_unit_test(markers_are_lines),
        cmocka_unit_test(notes_travel_with_their_rule),
        cmocka_unit_test(user_text_never_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
