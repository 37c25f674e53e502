/* The pure parts of the terminal: commands, keys, rows, how events are shown, what was typed. */
#include "unit.h"

#include <locale.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "terminal/keys.h"
#include "terminal/render.h"
#include "terminal/rows.h"
#include "terminal/slash.h"
#include "terminal/typed.h"

/* -- commands -- */

static const struct {
    const char *line;
    SlashKind kind;
    SlashId id;
    const char *rest; /* of a wrong one: what is said */
} lines[] = {
    { "hello /quit", SLASH_MESSAGE, 0, "hello /quit" },
    { "  hello \n", SLASH_MESSAGE, 0, "  hello" },
    { " \n", SLASH_MESSAGE, 0, "" },
    { "/quit", SLASH_COMMAND, SLASH_quit, "" },
    { " /QUIT ", SLASH_COMMAND, SLASH_quit, "" },
    { "/resume", SLASH_COMMAND, SLASH_resume, "" },
    { "/resume\tc12 ", SLASH_COMMAND, SLASH_resume, "c12" },
    { "/file a b.md", SLASH_COMMAND, SLASH_file, "a b.md" },
    { "/title\nTwo lines", SLASH_COMMAND, SLASH_title, "Two lines" },
    { "/", SLASH_MESSAGE, 0, "/" },
    { "/ new", SLASH_MESSAGE, 0, "/ new" },
    { "//new", SLASH_MESSAGE, 0, "/new" },
    { "/etc/hosts", SLASH_MESSAGE, 0, "/etc/hosts" },
    { "/2", SLASH_MESSAGE, 0, "/2" },
    { "/file", SLASH_WRONG, 0, "/file needs PATH" },
    { "/stop now", SLASH_WRONG, 0, "/stop takes no argument" },
    { "/sesions", SLASH_WRONG, 0, "did you mean /sessions?" },
    { "/temp", SLASH_WRONG, 0, "did you mean /template?" },
    { "/xyzzy", SLASH_WRONG, 0, "/help shows them" },
};

static void lines_are_commands_or_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        SlashId id = 0;
        Err err = { 0 };
        Str rest;
        SlashKind kind = slash_parse(str_of(lines[i].line), &id, &rest, &err);

        if (kind != lines[i].kind)
            fail_msg("'%s' is %d", lines[i].line, (int)kind);
        assert_int_equal(id, lines[i].id);
        if (kind == SLASH_WRONG)
            assert_non_null(strstr(err.text, lines[i].rest));
        else
            assert_str(rest, str_of(lines[i].rest));
    }
}

/* -- keys -- */

static void add_keys(Keys *k, bool enough, Buf *out)
{
    KeyKind kind;
    uint32_t c;

    while ((kind = keys_next(k, enough, &c)) != KEY_NONE) {
        if (kind == KEY_PASTE)
            buf_addf(out, "<%.*s>", STR_FMT(buf_str(&k->paste)));
        else
            buf_addf(out, "%x ", (unsigned)c);
    }
}

static const struct {
    Str bytes;
    const char *keys;
} keys_cases[] = {
    { STR_INIT("ab"), "61 62 " },
    { STR_INIT("\xc3\xbc\xe4\xbd\xa0"), "fc 4f60 " },
    { STR_INIT("\xff\xc3("), "fffd fffd 28 " },
    { STR_INIT("\033[A"), "1b 5b 41 " },
    { STR_INIT("\033"), "1b " },
    { STR_INIT("\033[20"), "1b 5b 32 30 " },
    { STR_INIT("x\033[200~a\rb\r\nc\nd\033[201~y"), "78 <a\nb\nc\nd>79 " },
    { STR_INIT("\033[200~\033[31m\007\033[201~\033[200~2\033[201~"), "<[31m><2>" },
    { STR_INIT("\033[200~\033[201~\r"), "<>d " },
    { STR_INIT("\033[200~no end"), "" },
};

static void keys_are_the_same_however_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys_cases); i++) {
        for (size_t piece = 1; piece <= keys_cases[i].bytes.n; piece++) {
            AUTO_BUF out = BUF(4096);
            Keys k;

            keys_init(&k);
            for (size_t at = 0; at < keys_cases[i].bytes.n; at += piece) {
                keys_feed(&k, str_head(str_skip(keys_cases[i].bytes, at), piece));
                add_keys(&k, false, &out);
            }
            while (k.waits) /* as after a pause */
                add_keys(&k, true, &out);
            assert_str(buf_str(&out), str_of(keys_cases[i].keys));
            keys_done(&k);
        }
    }
}

static void a_paste_without_end_is_given_up(void **state)
{
    AUTO_BUF out = BUF(4096);
    Keys k;

    (void)state;
    keys_init(&k);
    keys_feed(&k, STR("\033[200~never"));
    add_keys(&k, false, &out);
    keys_abort(&k);
    keys_feed(&k, STR("a"));
    add_keys(&k, false, &out);
    assert_str(buf_str(&out), STR("61 "));
    keys_done(&k);
}

/* -- rows -- */

static const struct {
    const char *text;
    size_t row, col;
} places[] = {
    { "", 0, 3 },
    { "abc", 0, 6 },
    { "1234567", 0, 10 },
    { "12345678", 1, 1 },
    { "123456\xe4\xbd\xa0", 1, 2 },
    { "a\n", 1, 0 },
    { "\t", 0, 8 },
    { "\t\t", 0, 9 },
    { "1234567\nx", 1, 1 },
    { "e\xcc\x81x", 0, 5 },
};

static void words_end_where_a_terminal_ends_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        CursorPosition p = position_after((CursorPosition){ 0, 3 }, str_of(places[i].text), 10);

        assert_int_equal(p.row, places[i].row);
        assert_int_equal(p.col, places[i].col);
    }
}

static void the_line_stands_on_as_many_rows(void **state)
{
    static const struct {
        const wchar_t *line;
        size_t rows;
    } cases[] = { { L"", 0 },         { L"1234567", 0 },    { L"12345678", 1 }, { L"a\nb\n", 2 },
                  { L"123456你", 1 }, { L"123456\x01", 1 }, { L"\t\t", 1 } };

    (void)state;
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(rows_of(L"> ", cases[i].line, wcslen(cases[i].line), 10), cases[i].rows);
}

/* -- events -- */

static void feed(Render *r, FrameEvent event, const char *json, Buf *out)
{
    Err err = { 0 };
    AUTO(JsonDoc) *doc = json_parse(str_of(json), &err);

    if (!doc)
        fail_msg("%s: %s", json, err.text);
    render_frame(r, event, json_root(doc));
    buf_add(out, buf_str(&r->quiet));
    buf_add(out, buf_str(&r->words));
}

static const struct {
    FrameEvent event;
    const char *json, *shown;
} frames_cases[] = {
    { FRAME_METADATA, "{\"context\":{\"tokens\":9},\"skills\":[],\"graph\":{\"nodes\":1}}", "" },
    { FRAME_METADATA,
      "{\"context\":{\"recalled\":3,\"brain\":2},\"skills\":[{\"name\":\"a\"},{\"name\":\"b\\u001b["
      "m\"}],"
      "\"graph\":{\"nodes\":2,\"decision\":\"parallel\"}}",
      "context: 3 recalled, 2 notes · skills: a, b␛[m · parallel 2\n" },
    { FRAME_METADATA, "{\"graph\":{\"nodes\":4,\"decision\":\"serial\"}}", "steps 4\n" },
    { FRAME_PROGRESS, "{\"stage\":\"context\",\"status\":\"completed\"}", "" },
    { FRAME_PROGRESS, "{\"stage\":\"context\",\"status\":\"degraded\",\"detail\":\"no index\"}",
      "  context degraded: no index\n" },
    { FRAME_PROGRESS, "{\"stage\":\"thinking\",\"text\":\"let me\"}", "" },
    { FRAME_PROGRESS, "{\"stage\":\"thinking\",\"text\":\" see\\nnow\"}", "" },
    { FRAME_CHUNK, "{\"text\":\"a\\r\\nb\\u001b]0;x\\u0007\"}",
      "  thought: let me see now (14 characters)\na\nb␛]0;x␇" },
    { FRAME_PROGRESS,
      "{\"stage\":\"tool\",\"status\":\"started\",\"tool\":\"read\",\"call_id\":\"1\",\"ts\":1000,"
      "\"args_preview\":\"{\\\"limit\\\":3,\\\"path\\\":\\\"x\\\\ny.md\\\"}\"}",
      "" },
    { FRAME_PROGRESS,
      "{\"stage\":\"tool\",\"status\":\"started\",\"tool\":\"search\",\"call_id\":\"2\",\"ts\":"
      "1000,"
      "\"args_preview\":\"{\\\"cut\\\":\\\"of\"}",
      "" },
    { FRAME_PROGRESS, "{\"stage\":\"tool\",\"status\":\"running\",\"call_id\":\"1\"}", "" },
    { FRAME_PROGRESS, "{\"stage\":\"tool\",\"status\":\"completed\",\"call_id\":\"1\",\"ts\":1040}",
      "  tool: read x y.md · ok · 40 ms\n" },
    { FRAME_PROGRESS,
      "{\"stage\":\"tool\",\"status\":\"failed\",\"call_id\":\"2\",\"ts\":1,\"duration_ms\":2500}",
      "  tool: search {\"cut\":\"of · failed · 2.5 s\n" },
    { FRAME_PROGRESS, "{\"stage\":\"tool\",\"status\":\"completed\",\"call_id\":\"9\"}",
      "  tool: ? · ok\n" },
    { FRAME_PROGRESS, "{\"stage\":\"retry\",\"status\":\"running\",\"detail\":\"503\"}",
      "  retry: 503\n" },
    { FRAME_ERROR, "{\"code\":\"rate_limited\",\"message\":\"slow\\u001b[2J\",\"partial\":true}",
      "error: too many requests (slow␛[2J)\n  the partial answer is kept; wait a moment, then "
      "/retry\n" },
    { FRAME_ERROR, "{\"code\":\"internal\",\"message\":\"\",\"partial\":false}",
      "error: no reason was given\n  /retry sends it again, /runtime lists the alternatives\n" },
    { FRAME_DONE,
      "{\"status\":\"completed\",\"usage\":{\"input\":1200,\"output\":34,\"estimated\":true},"
      "\"elapsed_ms\":1540}",
      "-- completed · about 1,200 tokens in, 34 out · 1.5 s\n" },
    { FRAME_DONE, "{\"status\":\"cancelled\",\"elapsed_ms\":5}",
      "-- cancelled; the partial answer is kept · 5 ms\n" },
};

static void events_are_shown(void **state)
{
    AUTO(Render) *r = render_new(false, 0, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(frames_cases); i++) {
        AUTO_BUF out = BUF(65536);

        feed(r, frames_cases[i].event, frames_cases[i].json, &out);
        assert_str(buf_str(&out), str_of(frames_cases[i].shown));
    }
}

static void an_approval_is_asked_for_and_answered(void **state)
{
    AUTO(Render) *r = render_new(true, 0, NULL);
    AUTO_BUF out = BUF(65536);

    (void)state;
    feed(r, FRAME_PROGRESS,
         "{\"stage\":\"approval\",\"status\":\"waiting\",\"approval\":{\"id\":\"a1\",\"choices\":"
         "[\"once\",\"deny\"],\"command\":\"rm \\u001b[8m-r\"}}",
         &out);
    assert_str(r->approval.id, STR("a1"));
    assert_int_equal(r->approval.n, 2);
    assert_str(r->approval.choices[1], STR("deny"));
    assert_str(buf_str(&out), STR("\033[33mapproval needed: rm ␛[8m-r\033[0m\n"));
    feed(r, FRAME_PROGRESS, "{\"stage\":\"approval\",\"status\":\"completed\"}", &out);
    assert_int_equal(r->approval.id.n, 0);
}

/* -- what was typed -- */

static void what_was_typed_comes_back(void **state)
{
    AUTO(Arena) *a = arena_new();
    char folder[] = "/tmp/talaria-typed-XXXXXX";
    Err err = { 0 };
    struct stat info;
    Str *all, path;
    size_t n = 7;

    (void)state;
    assert_non_null(mkdtemp(folder));
    path = str_join_path(a, str_of(folder), STR("chat-history"));
    assert_true(typed_load(a, str_of(folder), &all, &n, &err));
    assert_int_equal(n, 0);
    for (int i = 0; i < LIMIT_CHAT_HISTORY * 2; i++)
        assert_true(typed_append(a, str_of(folder), str_printf(a, "%d\n\"ü\"", i), &err));
    assert_true(typed_append(a, str_of(folder), (Str){ str_z(a, STR("")), 0 }, &err));
    assert_int_equal(stat(str_z(a, path), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_true(typed_load(a, str_of(folder), &all, &n, &err));
    assert_int_equal(n, LIMIT_CHAT_HISTORY);
    assert_str(all[n - 1], str_printf(a, "%d\n\"ü\"", LIMIT_CHAT_HISTORY * 2 - 1));
    /* It was written anew, and is no longer than it has to be. */
    assert_true(typed_load(a, str_of(folder), &all, &n, &err));
    assert_str(all[0], str_printf(a, "%d\n\"ü\"", LIMIT_CHAT_HISTORY));
    assert_int_equal(unlink(str_z(a, path)), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_commands_or_messages),
        cmocka_unit_test(keys_are_the_same_however_cut),
        cmocka_unit_test(a_paste_without_end_is_given_up),
        cmocka_unit_test(words_end_where_a_terminal_ends_them),
        cmocka_unit_test(the_line_stands_on_as_many_rows),
        cmocka_unit_test(events_are_shown),
        cmocka_unit_test(an_approval_is_asked_for_and_answered),
        cmocka_unit_test(what_was_typed_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
