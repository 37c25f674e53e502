/* terminal/paint: Markdown on a terminal. */
#include "unit.h"

#include <stdlib.h>

#include "terminal/paint.h"
#include "terminal/rows.h"

static Str painted(Arena *a, Str text, size_t columns, bool color)
{
    AUTO_BUF out = BUF(1 << 20);

    paint_text(&(PaintOptions){ .columns = columns, .color = color, .hyperlinks = color }, text,
               &out);
    return str_dup(a, buf_str(&out));
}

static void test_plain(void **state)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "one line", "one line\n" },
        { "a **bold** and `code` and *it*", "a bold and `code` and it\n" },
        { "2 * 3 * 4, snake_case_name, **kwargs", "2 * 3 * 4, snake_case_name, **kwargs\n" },
        { "# Head\n\ntext", "Head\n\ntext\n" },
        { "- one\n- two\n  more\n", "\xe2\x80\xa2 one\n\xe2\x80\xa2 two\n  more\n" },
        { "1. one\n\n> said\n\n2. two", "1. one\n\n\xe2\x94\x82 said\n\n2. two\n" },
        { "```sh\nls *a* `b`\n```\nend", "    ls *a* `b`\nend\n" },
        { "a [Title](/sessions/x1) b [Title](/sessions/x1)",
          "a Title [1] b Title [1]\n\n[1] talaria sessions show x1\n" },
        { "[no link] (here) and [x](a b)", "[no link] (here) and [x](a b)\n" },
        { "\\[x\\](y) &lt;b&gt;", "[x](y) <b>\n" },
        { "| a | b |\n|---|---|\n| 1 | **2** |\n\nx", "a  b\n1  2\n\nx\n" },
        { "`open\nnext", "`open\nnext\n" },
        { "--- \nx", "\xe2\x94\x80" },
        { "a\x1b[2Jb", "a\xe2\x90\x9b[2Jb\n" },
        { "one\n\n\n\ntwo", "one\n\ntwo\n" },
        { "2026\\-11\\-17T03\\:07, \\d", "2026-11-17T03:07, \\d\n" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Str got = painted(a, str_of(cases[i][0]), 80, false), want = str_of(cases[i][1]);

        if (i == 13) /* a rule: its length is the painter's */
            got = str_head(got, want.n);
        assert_str(got, want);
    }
}

static void test_wrapping(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    assert_str(painted(a, STR("- alpha beta gamma delta epsilon"), 24, false),
               STR("\xe2\x80\xa2 alpha beta gamma\n  delta epsilon\n"));
    assert_str(painted(a, STR("> alpha beta gamma delta epsilon"), 24, false),
               STR("\xe2\x94\x82 alpha beta gamma\n\xe2\x94\x82 delta epsilon\n"));
    assert_str(painted(a, STR("abcdefghijklmnopqrstuvwxyz0123456789"), 24, false),
               STR("abcdefghijklmnopqrstuvw\nxyz0123456789\n"));
    assert_str(
        painted(a, STR("| name | what it is |\n|-|-|\n| one | a long description |"), 24, false),
        STR("name: one\nwhat it is: a long\ndescription\n"));
}

static void test_color(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    assert_str(painted(a, STR("a **b** `c`"), 80, true),
               STR("a \033[1mb\033[0m \033[36mc\033[0m\n"));
    assert_str(painted(a, STR("[x](https://e.org)"), 80, true),
               STR("\033]8;;https://e.org\033\\\033[4mx\033]8;;\033\\\033[0m\033[2m [1]\033[0m\n\n"
                   "\033[2m[1] https://e.org\033[0m\n"));
}

/* What a terminal shows after all pieces: the painter's own sequences carried out. */
static Str shown(Arena *a, Str bytes)
{
    AUTO_BUF out = BUF(1 << 20);

    while (bytes.n) {
        if (str_starts(bytes, STR("\033["))) {
            size_t n = 2, left = 0;

            while (bytes.p[n] >= '0' && bytes.p[n] <= '9')
                left = left * 10 + (size_t)(bytes.p[n++] - '0');
            if (bytes.p[n] == 'D')
                out.n -= left; /* ASCII in this test */
            bytes = str_skip(bytes, n + 1);
        } else {
            buf_addc(&out, bytes.p[0]);
            bytes = str_skip(bytes, 1);
        }
    }
    return str_dup(a, buf_str(&out));
}

/* However the text is cut into pieces, the same is on the screen in the end. */
static void test_pieces(void **state)
{
    static const Str text =
        STR_INIT("# The gate\n\nWe **decided** on files for `the tiles`, see [the "
                 "talk](/sessions/x) and 2 * 3.\n"
                 "- a list item that is long enough to wrap around\n- two\n\n```\ncode line\n```\n"
                 "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted words that wrap around as well, once "
                 "or twice\n");
    AUTO(Arena) *a = arena_new();
    Str whole;

    (void)state;
    whole = painted(a, text, 30, false);
    for (size_t step = 1; step < 40; step++) {
        PaintOptions options = { .columns = 30 };
        AUTO(Paint) *p = paint_new(&options);
        AUTO_BUF out = BUF(1 << 20);

        for (size_t at = 0; at < text.n; at += step)
            paint_add(p, str_head(str_skip(text, at), step), &out);
        paint_end(p, &out);
        assert_str(shown(a, buf_str(&out)), whole);
    }
}

static void test_place(void **state)
{
    CursorPosition p =
        position_after((CursorPosition){ 0, 3 }, STR("ab\033[1mc\033[0m\033[2D\033[Kx"), 80);

    (void)state;
    assert_int_equal(p.col, 5);
    p = position_after((CursorPosition){ 0, 0 }, STR("\033]8;;https://e.org\033\\x\033]8;;\033\\y"),
                       80);
    assert_int_equal(p.col, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain), cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_color), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
