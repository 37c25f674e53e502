/* recall/terms: what the index makes of text. */
#include "unit.h"

#include "recall/terms.h"

static Str terms_of(Arena *a, Str text)
{
    AUTO_BUF b = BUF(1 << 16);

    (void)terms_write(&b, text);
    return str_trim(str_dup(a, buf_str(&b)));
}

static void test_terms(void **state)
{
    static const struct {
        const char *text, *terms;
    } cases[] = {
        { "", "" },
        { "Hello, World!", "hello world" },
        { "running tests, tested", "run test test" },
        { "src/main.c:42", "src main c 42" },
        { "snake_case camelCase", "snake case camelcas" },
        { "Z\xc3\xbcrich na\xc3\xafve \xc5\x81\xc3\xb3"
          "d\xc5\xba",
          "zurich naiv lodz" },
        { "e\xcc\x81t\xc3\xa9", "et" }, /* a mark by itself; the ending goes */
        { "\xd0\x9c\xd0\xb8\xd1\x80", "\xd0\xbc\xd0\xb8\xd1\x80" }, /* Cyrillic */
        { "\xe6\x95\xb0\xe6\x8d\xae\xe5\xba\x93",                   /* three Han: two pairs, */
          "\xe6\x95\xb0\xe6\x8d\xae \xe6\x8d\xae\xe5\xba\x93 \xe5\xba\x93" }, /* and the last */
        { "a\xe6\x95\xb0"
          "b",
          "a \xe6\x95\xb0 b" },
        { "\xef\xbc\xa1\xef\xbc\xa2\xef\xbc\x91", "ab1" }, /* wide forms */
        { "x\xff\xfe y", "x y" },                          /* no UTF-8 */
        { "3f2a9c 2026-11-15", "3f2a9c 2026 11 15" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(terms_of(a, str_of(cases[i].text)), str_of(cases[i].terms));
}

static void test_blobs_are_passed_over(void **state)
{
    AUTO(Arena) *a = arena_new();
    char text[700];

    (void)state;
    memset(text, 'A', sizeof text);
    memcpy(text, "before ", 7);
    memcpy(text + sizeof text - 6, " after", 6);
    assert_str(terms_of(a, (Str){ text, sizeof text }), STR("befor after"));
}

static void test_stems(void **state)
{
    /* From the paper's own examples. */
    static const char *const pairs[][2] = {
        { "caresses", "caress" },
        { "ponies", "poni" },
        { "cats", "cat" },
        { "agreed", "agre" },
        { "plastered", "plaster" },
        { "motoring", "motor" },
        { "conflated", "conflat" },
        { "hopping", "hop" },
        { "falling", "fall" },
        { "filing", "file" },
        { "happy", "happi" },
        { "relational", "relat" },
        { "rational", "ration" },
        { "digitizer", "digit" },
        { "operator", "oper" },
        { "feudalism", "feudal" },
        { "hopefulness", "hope" },
        { "formaliti", "formal" },
        { "triplicate", "triplic" },
        { "electrical", "electr" },
        { "revival", "reviv" },
        { "adjustment", "adjust" },
        { "adoption", "adopt" },
        { "controll", "control" },
        { "rate", "rate" },
        { "cease", "ceas" },
        { "is", "is" },
        { "s", "s" },
    };

    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        assert_str(terms_of(a, str_of(pairs[i][0])), str_of(pairs[i][1]));
}

static void test_places(void **state)
{
    Str text = STR("The Tests\xe2\x80\x94ran");
    TermIter it = TERMS(text);
    Term t;

    (void)state;
    assert_true(term_next(&it, &t) && term_next(&it, &t));
    assert_str(t.place, STR("Tests"));
    assert_true(term_next(&it, &t));
    assert_str(t.place, STR("ran"));
    assert_false(term_next(&it, &t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_blobs_are_passed_over),
        cmocka_unit_test(test_stems),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
