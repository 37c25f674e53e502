/* Limits of YAML: what is refused before libyaml reads it as a document, and in which words. */
#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "recall/skills.h"
#include "text/yml.h"

static const struct {
    const char *head, *each;
    size_t n;
    const char *tail, *error; /* NULL: it is read */
} rows[] = {
    { "a: 1\n", "", 0, "", NULL },
    { "", "", 0, "", NULL },
    { "a: ", "[", 32, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", NULL },
    { "a:\n  ", "[", 33, "", "line 2: more than 32 levels of [ and {" },
    { "a: ", "[", 200000, "", "line 1: more than 32 levels of [ and {" },
    { "a: ", "{a: ", 100000, "", "line 1: more than 32 levels of [ and {" },
    { "", "- ", 60, "x", NULL },
    { "", "- ", 100000, "x", "line 1: more than 64 levels of nesting" },
    { "# [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\na: '", "[", 5000, "'", NULL },
    { "a: |\n  ", "[{", 5000, "\n", NULL },
    { "", "- &a x\n", 1001, "", "line 1001: more than 1000 anchors" },
    { "a: &a [1]\n", "*a : x\n", 3, "", NULL },
    { "a: &a [*a]\n", "", 0, "", "line 1: '*a' stands inside of itself" },
    { "x: &x [", "1,", 400,
      "]\nb: &b [*x,*x,*x,*x,*x,*x,*x,*x]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
      "line 3: more than 50000 values, counting those that aliases repeat" },
    { "", "- a\n", 49999, "", NULL },
    { "", "- a\n", 50000, "",
      "line 50000: more than 50000 values, counting those that aliases repeat" },
    { "", "%A b\n", 100, "---\na: 1\n", "line 65: more than 64 lines that begin with %" },
    { "", "# a comment\n", 100000, "", "more than 1048576 bytes of YAML" },
};

static void text_of(Buf *b, size_t i)
{
    buf_addz(b, rows[i].head);
    for (size_t k = 0; k < rows[i].n; k++)
        buf_addz(b, rows[i].each);
    buf_addz(b, rows[i].tail);
}

static void limits_hold_and_say_which(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF text = BUF(MIB(4));
        yaml_document_t doc;
        Err err;
        bool ok;

        text_of(&text, i);
        ok = yml_load(buf_str(&text), 1, &doc, &err);
        if (ok)
            yaml_document_delete(&doc);
        else if (!rows[i].error)
            fail_msg("row %zu: %s", i, err.text);
        else
            assert_string_equal(err.text, rows[i].error);
        assert_int_equal(ok, rows[i].error == NULL);
    }
}

/* The name and the description are still found, line by line. */
static void front_matter_over_the_limit_is_named(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF text = BUF(MIB(1));
    Skill skill;

    (void)state;
    buf_addz(&text, "---\nname: deep\ndescription: words\nx: ");
    for (int i = 0; i < 30000; i++)
        buf_addz(&text, "[");
    buf_addz(&text, "\n---\nbody\n");
    skill_parse(a, STR("folder"), buf_str(&text), &skill);
    assert_str(skill.warning, STR("front matter, line 4: more than 32 levels of [ and {"));
    assert_str(skill.name, STR("deep"));
    buf_clear(&text);
    buf_addz(&text, "---\nname: long\ndescription: words\n");
    for (int i = 0; i < 10000; i++)
        buf_addz(&text, "# a comment\n");
    buf_addz(&text, "---\nbody\n");
    skill_parse(a, STR("folder"), buf_str(&text), &skill);
    assert_str(skill.warning, STR("front matter, more than 65536 bytes"));
    assert_str(skill.name, STR("long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold_and_say_which),
        cmocka_unit_test(front_matter_over_the_limit_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
