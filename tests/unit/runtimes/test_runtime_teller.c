/* What every runtime says goes through the teller: one end, valid text, closed tools, clean
 * previews. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "runtimes/frames.h"
#include "runtimes/lines.h"
#include "runtimes/teller.h"
#include "runtimes/thread.h"
#include "runtimes/trace.h"

/* -- a listener that writes down -- */

typedef struct Notes {
    Buf text;   /* of TEXT, "|" where a segment began */
    Buf events; /* names */
    int segment, ends;
    RunError code;
    RuntimeStatus status;
    char preview[4096], name[1024];
    Teller teller;
} Notes;

static void note(void *ctx, const RuntimeEvent *e)
{
    Notes *n = ctx;

    assert_int_equal(n->ends, 0);
    if (e->kind == RUNTIME_TEXT) {
        if (e->segment > n->segment)
            buf_addc(&n->text, '|');
        n->segment = e->segment;
        buf_add(&n->text, e->text);
    } else {
        snprintf(n->preview, sizeof n->preview, "%.*s", STR_FMT(e->text));
        snprintf(n->name, sizeof n->name, "%.*s", STR_FMT(e->name));
    }
    buf_addf(&n->events, "%s ", runtime_event_name(e->kind));
    n->ends += e->kind == RUNTIME_FINISH || e->kind == RUNTIME_FAIL;
    n->code = e->code;
    n->status = e->status;
}

static void begin(Notes *n)
{
    *n = (Notes){ .text = BUF(1 << 20), .events = BUF(1 << 20) };
    teller_init(&n->teller, note, n);
}

static void end(Notes *n)
{
    teller_done(&n->teller);
    buf_done(&n->text);
    buf_done(&n->events);
}

/* -- text -- */

static void code_points_cut_anywhere(void **state)
{
    Str all = STR("a\xc3\xb6\xe4\xbd\xa0\xf0\x9f\x99\x82z");

    (void)state;
    for (size_t first = 0; first <= all.n; first++) {
        for (size_t second = first; second <= all.n; second++) {
            Notes n;

            begin(&n);
            teller_text(&n.teller, str_head(all, first));
            teller_text(&n.teller, str_head(str_skip(all, first), second - first));
            teller_text(&n.teller, str_skip(all, second));
            teller_finish(&n.teller, RUNTIME_COMPLETED, STR("stop"), STR(""));
            assert_str(buf_str(&n.text), all);
            end(&n);
        }
    }
}

static void bytes_that_are_no_text(void **state)
{
    static const struct {
        Str in, out;
    } rows[] = {
        { STR_INIT("a\xff"
                   "b"),
          STR_INIT("a\xef\xbf\xbd"
                   "b") },
        { STR_INIT("a\xe4\xbd"), STR_INIT("a\xef\xbf\xbd\xef\xbf\xbd") }, /* its end never comes */
        { STR_INIT("\x80"), STR_INIT("\xef\xbf\xbd") },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Notes n;

        begin(&n);
        teller_text(&n.teller, rows[i].in);
        teller_finish(&n.teller, RUNTIME_COMPLETED, STR("stop"), STR(""));
        assert_str(buf_str(&n.text), rows[i].out);
        assert_int_equal(n.teller.chars, rows[i].out.n);
        end(&n);
    }
}

/* A peer that lost its line says its message again; nobody hears it twice. */
static void messages_begun_anew(void **state)
{
    static const struct {
        const char *before, *after[3], *heard;
    } rows[] = {
        { "This is", { "Th", "is is", " it" }, "This is it" },
        { "This is", { "This is it", NULL }, "This is it" },
        { "This is", { "This", NULL }, "This is" },
        { "This is", { "Thus", " it", NULL }, "This is|\n\nThus it" },
        { "This is", { "Other", NULL }, "This is|\n\nOther" },
        { "", { "Other", NULL }, "Other" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        Notes n;

        begin(&n);
        teller_text(&n.teller, str_of(rows[i].before));
        teller_restart(&n.teller);
        for (size_t j = 0; j < 3 && rows[i].after[j]; j++)
            teller_text(&n.teller, str_of(rows[i].after[j]));
        teller_finish(&n.teller, RUNTIME_COMPLETED, STR("stop"), STR(""));
        assert_str(buf_str(&n.text), str_of(rows[i].heard));
        end(&n);
    }
}

/* -- tools and ends -- */

static void tools_are_closed(void **state)
{
    Notes n;

    (void)state;
    begin(&n);
    teller_text(&n.teller, STR("before"));
    teller_tool_begin(&n.teller, STR(""), STR("ls"), STR("{}"));
    teller_tool_begin(&n.teller, STR(""), STR("ls"), STR("{}"));
    teller_tool_begin(&n.teller, STR("id"), STR("cat"), STR("{}"));
    teller_tool_begin(&n.teller, STR("id"), STR("cat"), STR("{}")); /* once */
    teller_tool_end(&n.teller, STR(""), STR("ls"), false, STR("ok"), 5);
    teller_text(&n.teller, STR("after"));
    teller_finish(&n.teller, RUNTIME_COMPLETED, STR("stop"), STR(""));
    assert_str(buf_str(&n.text), STR("before|\n\nafter"));
    assert_str(buf_str(&n.events), STR("text tool_begin tool_begin tool_begin tool_end text "
                                       "tool_end tool_end finish "));
    end(&n);
}

/* "A|B": what is said before and after a tool. */
static void segments_stand_apart(void **state)
{
    static const struct {
        const char *before, *after[3], *expected;
    } cases[] = {
        { "One.", { "Two.", NULL }, "One.|\n\nTwo." },
        { "One. ", { "Two.", NULL }, "One. |\n\nTwo." },
        { "One.\n", { "Two.", NULL }, "One.\n|\nTwo." },
        { "One.\n\n", { "Two.", NULL }, "One.\n\n|Two." },
        { "One.\n\n\n", { "Two.", NULL }, "One.\n\n\n|Two." },
        { "One.", { "\n\n", "Two.", NULL }, "One.|\n\nTwo." },
        { "One.", { "\n\nTwo.", NULL }, "One.|\n\nTwo." },
        { "One.\n", { "\nTwo.", NULL }, "One.\n|\nTwo." },
        { "", { "Two.", NULL }, "Two." },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Notes n;

        begin(&n);
        teller_text(&n.teller, str_of(cases[i].before));
        teller_tool_begin(&n.teller, STR("1"), STR("ls"), STR("{}"));
        teller_tool_end(&n.teller, STR("1"), STR("ls"), false, STR("ok"), 5);
        for (size_t p = 0; cases[i].after[p]; p++)
            teller_text(&n.teller, str_of(cases[i].after[p]));
        assert_str(buf_str(&n.text), str_of(cases[i].expected));
        assert_int_equal(n.teller.chars, n.text.n - (*cases[i].before ? 1 : 0));
        end(&n);
    }
}

/* b and e: a beginning, an end; then the id, or "-", and the name. */
static void ends_that_are_said_twice(void **state)
{
    static const struct {
        const char *said[8];
        const char *expected;
    } cases[] = {
        { { "b- ls", "e- ls", "e- ls", NULL }, "tool_begin tool_end " },
        { { "b1 ls", "e1 ls", "e1 ls", NULL }, "tool_begin tool_end " },
        { { "b1 ls", "e- ls", "e1 ls", NULL }, "tool_begin tool_end " },
        { { "b- ls", "e1 ls", "e- ls", NULL }, "tool_begin tool_end " },
        { { "b- ls", "e- ls", "e1 ls", NULL }, "tool_begin tool_end " },
        { { "b1 ls", "b2 cat", "e1 ls", "e2 cat", "e1 ls", "e2 cat", NULL },
          "tool_begin tool_begin tool_end tool_end " },
        { { "b- ls", "e- ls", "e- ls", "b- ls", "e- ls", "e- ls", NULL },
          "tool_begin tool_end tool_begin tool_end " },
        { { "b1 ls", "e1 ls", "e2 ls", NULL }, "tool_begin tool_end tool_begin tool_end " },
        /* a peer that never says beginnings */
        { { "e- ls", "e- ls", NULL }, "tool_begin tool_end tool_begin tool_end " },
        { { "e1 ls", "e1 ls", NULL }, "tool_begin tool_end " },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Notes n;

        begin(&n);
        for (size_t k = 0; cases[i].said[k]; k++) {
            Str said = str_of(cases[i].said[k]);
            Str id = said.p[1] == '-' ? STR("") : (Str){ said.p + 1, 1 }, name = str_skip(said, 3);

            if (said.p[0] == 'b')
                teller_tool_begin(&n.teller, id, name, STR("{}"));
            else
                teller_tool_end(&n.teller, id, name, false, STR("ok"), 5);
        }
        assert_str(buf_str(&n.events), str_of(cases[i].expected));
        end(&n);
    }
}

static void one_end(void **state)
{
    Notes n;

    (void)state;
    begin(&n);
    teller_text(&n.teller, STR("x"));
    teller_fail(&n.teller, RUN_UPSTREAM_ERROR, STR("no"), 500, STR(""));
    teller_finish(&n.teller, RUNTIME_COMPLETED, STR("stop"), STR(""));
    teller_text(&n.teller, STR("more"));
    teller_tool_begin(&n.teller, STR("a"), STR("b"), STR(""));
    assert_int_equal(n.ends, 1);
    assert_int_equal(n.code, RUN_UPSTREAM_ERROR);
    end(&n);
}

static void success_has_to_be_proved(void **state)
{
    Notes n;

    (void)state;
    begin(&n);
    teller_think(&n.teller, STR("hm"));
    teller_finish(&n.teller, RUNTIME_COMPLETED, STR("end_turn"), STR(""));
    assert_str(buf_str(&n.events), STR("thinking fail "));
    assert_int_equal(n.code, RUN_EMPTY_RESPONSE);
    end(&n);
    begin(&n);
    teller_tool_begin(&n.teller, STR("a"), STR("b"), STR(""));
    teller_tool_end(&n.teller, STR("a"), STR(""), false, STR(""), -1);
    teller_finish(&n.teller, RUNTIME_COMPLETED, STR("end_turn"), STR(""));
    assert_str(buf_str(&n.events), STR("tool_begin tool_end finish "));
    end(&n);
}

static void previews(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF longer = BUF(1 << 20);
    Str cut;

    (void)state;
    assert_str(preview(a, STR("\x1b[31mred\x1b[0m\x07 \x1b]0;title\x07line\nnext")),
               STR("red line next"));
    cut = preview(a, STR("token sk-abcdefghijklmnopqrstuvwxyz012345"));
    assert_int_equal(str_find(cut, STR("abcdefghijklmnop")), cut.n);
    cut = preview(a, STR("Authorization: Bearer abcdefghijklmnop123456"));
    assert_int_equal(str_find(cut, STR("abcdefghijklmnop")), cut.n);
    for (int i = 0; i < 2000; i++)
        buf_addz(&longer, "\xc3\xb6");
    cut = preview(a, buf_str(&longer));
    assert_int_equal(cut.n, 499 * 2 + 3);
}

/* What a tool is called comes from the peer as everything else does. */
static void names_are_clean(void **state)
{
    AUTO_BUF longer = BUF(1 << 20);
    Notes n;

    (void)state;
    begin(&n);
    teller_tool_begin(&n.teller, STR(""), STR("\x1b[31mrm\x1b[0m\x07"), STR("{}"));
    assert_string_equal(n.name, "rm");
    teller_tool_end(&n.teller, STR(""), STR("\x1b[31mrm\x1b[0m\x07"), false, STR("ok"), 5);
    assert_string_equal(n.name, "rm");
    buf_pad(&longer, 'x', 100000);
    teller_tool_begin(&n.teller, STR("1"), buf_str(&longer), STR("{}"));
    assert_true(strlen(n.name) < 600);
    teller_tool_end(&n.teller, STR("1"), buf_str(&longer), false, STR("ok"), 5);
    assert_str(buf_str(&n.events), STR("tool_begin tool_end tool_begin tool_end "));
    teller_say(&n.teller, RUNTIME_SUBAGENT,
               STR("\x1b]0;x\x07"
                   "begins"),
               STR("look"));
    assert_string_equal(n.name, "begins");
    end(&n);
}

static void traces_keep_the_newest(void **state)
{
    RunTrace t;
    Str text;

    (void)state;
    run_trace_init(&t);
    run_trace_add(&t, STR("x-api-key: sk-abcdefghijklmnopqrstuvwxyz012345"));
    assert_true(str_find(run_trace_text(&t), STR("abcdefghij")) == run_trace_text(&t).n);
    for (int i = 0; i < 100000; i++) {
        char line[32];

        snprintf(line, sizeof line, "line %d", i);
        run_trace_add(&t, str_of(line));
    }
    text = run_trace_text(&t);
    assert_true(text.n <= LIMIT_RUN_TRACE && text.n > LIMIT_RUN_TRACE / 4);
    assert_true(str_ends(text, STR("line 99999\n")));
    assert_true(str_starts(text, STR("line ")));
    run_trace_done(&t);
}

/* -- outside JSON, handles -- */

static void halves_of_pairs(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *whole = json_parse_mended(a, STR("{\"t\":\"\\ud83d\\ude42\"}"));
    AUTO(JsonDoc) *half = json_parse_mended(a, STR("{\"t\":\"a\\ud83d\",\"u\":\"\\\\ud83d\"}"));
    AUTO(JsonDoc) *raw = json_parse_mended(a, STR("{\"t\":\"\xff\"}"));

    (void)state;
    assert_non_null(whole);
    assert_str(str_at(json_root(whole), "t"), STR("\xf0\x9f\x99\x82"));
    assert_non_null(half);
    assert_str(str_at(json_root(half), "t"), STR("a\xef\xbf\xbd"));
    assert_str(str_at(json_root(half), "u"), STR("\\ud83d"));
    assert_non_null(raw);
    assert_null(json_parse_mended(a, STR("no json")));
}

static void handles_are_bounded(void **state)
{
    AUTO(Arena) *a = arena_new();
    RuntimeRequest r = { .text = STR("first") };
    Str big, handle;
    Thread t;
    Err err;

    (void)state;
    assert_true(thread_open(&t, a, &r, &err));
    big = (Str){ arena_alloc(a, KIB(100)), KIB(100) };
    memset((char *)(uintptr_t)big.p, 'x', big.n);
    for (int i = 0; i < 20; i++) {
        thread_add(&t, (ModelMessage){ .role = MODEL_ASSISTANT, .text = big });
        thread_add(&t, (ModelMessage){ .role = MODEL_USER, .text = STR("next") });
    }
    handle = thread_handle(&t, a);
    assert_true(handle.n <= LIMIT_RUN_HANDLE && handle.n > LIMIT_RUN_HANDLE / 2);
    r.handle = handle;
    assert_true(thread_open(&t, a, &r, &err));
    assert_true(t.dropped > 0);
    assert_int_equal(t.messages[1].role, MODEL_USER);
    assert_true(str_find(t.messages[0].text, STR("left out")) < t.messages[0].text.n);
    r.handle = STR("{\"v\":2}");
    assert_false(thread_open(&t, a, &r, &err));
    r.handle = STR("nonsense");
    assert_false(thread_open(&t, a, &r, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_points_cut_anywhere),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(messages_begun_anew),
        cmocka_unit_test(tools_are_closed),
        cmocka_unit_test(segments_stand_apart),
        cmocka_unit_test(ends_that_are_said_twice),
        cmocka_unit_test(one_end),
        cmocka_unit_test(success_has_to_be_proved),
        cmocka_unit_test(previews),
        cmocka_unit_test(names_are_clean),
        cmocka_unit_test(traces_keep_the_newest),
        cmocka_unit_test(halves_of_pairs),
        cmocka_unit_test(handles_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
