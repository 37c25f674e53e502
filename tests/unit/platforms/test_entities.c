/* Markdown as text and entities: what each construct becomes, and where in UTF-16 units. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "platforms/telegram/entities.h"

/* Entities as "kind:at+n[=extra]", separated by spaces. */
static const struct {
    const char *markdown, *text, *entities;
} rows[] = {
    { "plain", "plain", "" },
    { "**b** *i* ~~s~~", "b i s", "bold:0+1 italic:2+1 strikethrough:4+1" },
    { "***both***", "both", "italic:0+4 bold:0+4" },
    { "\xf0\x9f\x98\x80 **\xf0\x9f\x98\x80**", "\xf0\x9f\x98\x80 \xf0\x9f\x98\x80", "bold:3+2" },
    { "`a*b*`", "a*b*", "code:0+4" },
    { "**x `y` z**", "x y z", "bold:0+5" },
    { "```c\nint x;\n\ny\n```", "int x;\n\ny", "pre:0+9=c" },
    { "```\na\n```\nb", "a\n\nb", "pre:0+1" },
    { "[t](https://e.org/)", "t", "text_link:0+1=https://e.org/" },
    { "[t](src/a.c)", "t (src/a.c)", "" },
    { "[t](javascript:x)", "t (javascript:x)", "" },
    { "![alt](https://e.org/i.png)", "alt", "text_link:0+3=https://e.org/i.png" },
    { "# Head\ntext", "Head\n\ntext", "bold:0+4" },
    { "> q\n> > r\n\nt", "q\n\nr\n\nt", "blockquote:0+4" },
    { "> `c`", "c", "blockquote:0+1 code:0+1" },
    { "- a\n- b\n  - c\n\nd", "\xe2\x80\xa2 a\n\xe2\x80\xa2 b\n  \xe2\x80\xa2 c\n\nd", "" },
    { "3. a\n4. **b**", "3. a\n4. b", "bold:8+1" },
    { "a\n\n---\n\nb", "a\n\n\xe2\x80\x94\xe2\x80\x94\xe2\x80\x94\n\nb", "" },
    { "a\nb\n\n\n\nc", "a\nb\n\nc", "" },
    { "1 < 2 &amp; <b>x</b>", "1 < 2 & <b>x</b>", "" },
    { "<div>\nx\n</div>", "<div>\nx\n</div>", "" },
    { "snake_case_name and 2*3*4", "snake_case_name and 234", "italic:21+1" },
    { "| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |", "" },
    { "\\*no\\* **", "*no* **", "" },
    { "bad \xff byte", "bad \xef\xbf\xbd byte", "" },
    { "", "", "" },
};

static Str entities_text(Arena *a, const EntityText *t)
{
    Str all = STR("");

    for (size_t i = 0; i < t->n; i++) {
        const Entity *e = &t->all[i];

        all =
            str_printf(a, "%.*s%s%s:%zu+%zu%s%.*s", STR_FMT(all), i ? " " : "",
                       entity_name(e->kind), e->at, e->n, e->extra.n ? "=" : "", STR_FMT(e->extra));
    }
    return all;
}

static void every_construct(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(Arena) *a = arena_new();
        EntityText got;

        entities_of(a, str_of(rows[i].markdown), &got);
        assert_string_equal(str_z(a, got.text), rows[i].text);
        assert_string_equal(str_z(a, entities_text(a, &got)), rows[i].entities);
    }
}

/* The platform takes a hundred and no more; the words are all there. */
static void there_are_never_too_many(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF source = BUF(KIB(64));
    EntityText got;

    (void)state;
    for (int i = 0; i < 1000; i++)
        buf_addz(&source, "**b** ");
    for (int i = 0; i < 500; i++)
        buf_addz(&source, "> ");
    buf_addz(&source, "deep");
    entities_of(a, buf_str(&source), &got);
    assert_int_equal(got.n, LIMIT_ENTITIES);
    assert_true(got.text.n >= 2000);
    for (size_t i = 0; i < got.n; i++)
        assert_true(got.all[i].n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_construct),
        cmocka_unit_test(there_are_never_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
