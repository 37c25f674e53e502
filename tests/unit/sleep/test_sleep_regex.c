/* Patterns mean what Python's `re` means by them, and none of them can hang the program. */
#include "unit.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "sleep/task/regex.h"
#include "sleep/trial/sample.h"

static const struct {
    const char *pattern, *text;
    RegexAnswer expect;
} cases[] = {
    /* what both say alike */
    { "a|b", "xb", REGEX_YES },
    { "^b$", "a\nb", REGEX_NO },
    { "(?m)^b$", "a\nb", REGEX_YES },
    { "b$", "b\n", REGEX_YES },
    { "\\w+", "日本", REGEX_YES },
    { "^\\d$", "٣", REGEX_YES },
    { "(?i)STRASSE", "strasse", REGEX_YES },
    { "a(?=b)", "ab", REGEX_YES },
    { "(?<!a)b", "ab", REGEX_NO },
    { "(?P<q>['\"]).*?(?P=q)", "say 'x'", REGEX_YES },
    { "(a)?(?(1)b|c)", "c", REGEX_YES },
    { "a*+b", "aab", REGEX_YES },
    { "(?#note)a", "a", REGEX_YES },
    /* what is spelled differently */
    { "b\\Z", "b\n", REGEX_NO },
    { "b\\Z", "ab", REGEX_YES },
    { "\\v", "\x0b", REGEX_YES },
    { "\\v", "\n", REGEX_NO },
    { "^a{,2}$", "aa", REGEX_YES },
    { "^a{,2}$", "aaa", REGEX_NO },
    { "a{x", "a{x", REGEX_YES },
    { "\\u00e9", "é", REGEX_YES },
    { "\\U0001F600", "😀", REGEX_YES },
    { "[[:alpha:]]", ":]", REGEX_YES },
    { "[]a]", "]", REGEX_YES },
    { "(a)\\1", "aa", REGEX_YES },
    { "\\101", "A", REGEX_YES },
    { "(?a)^\\w+$", "é", REGEX_NO },
    /* what only PCRE2 knows is an error in Python */
    { "\\Qa\\E", "a", REGEX_MALFORMED },
    { "(?R)", "a", REGEX_MALFORMED },
    { "(*UTF)a", "a", REGEX_MALFORMED },
    { "(?<n>a)", "a", REGEX_MALFORMED },
    { "\\Ka", "a", REGEX_MALFORMED },
    { "\\pL", "a", REGEX_MALFORMED },
    { "(?(DEFINE)a)", "a", REGEX_MALFORMED },
    { "(?|a)", "a", REGEX_MALFORMED },
    { "\\h", " ", REGEX_MALFORMED },
    /* errors in both */
    { "(", "", REGEX_MALFORMED },
    { "a**", "a", REGEX_MALFORMED },
    { "*a", "a", REGEX_MALFORMED },
    { "a{2}{3}", "a", REGEX_MALFORMED },
    { "[a", "a", REGEX_MALFORMED },
    { "a\\", "a", REGEX_MALFORMED },
    { "\\xg", "a", REGEX_MALFORMED },
    { "\\8", "a", REGEX_MALFORMED },
    { "a(?i)b", "ab", REGEX_MALFORMED },
    /* what cannot be said */
    { "\\N{BULLET}", "•", REGEX_MALFORMED },
    { "(?a:x)", "x", REGEX_MALFORMED },
};

static void patterns_are_pythons(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Err err = { 0 };
        RegexAnswer answer = regex_search(str_of(cases[i].pattern), str_of(cases[i].text), &err);

        if (answer != cases[i].expect)
            fail_msg("%s on \"%s\": %d %s", cases[i].pattern, cases[i].text, answer, err.text);
        assert_int_equal(regex_check(str_of(cases[i].pattern), &err),
                         cases[i].expect != REGEX_MALFORMED);
    }
}

static void nothing_hangs(void **state)
{
    static const char *const runaways[] = { "(a+)+$", "(a|aa)+$", "(.*a){20}$", "(?:a?){30}a{30}b",
                                            "((((a*)*)*)*)b" };
    AUTO_BUF text = BUF(KIB(64));
    int64_t start = clock_mono_ms();

    (void)state;
    buf_pad(&text, 'a', KIB(32));
    buf_addc(&text, '!');
    for (size_t i = 0; i < ARRAY_LEN(runaways); i++) {
        Err err;
        RegexAnswer answer = regex_search(str_of(runaways[i]), buf_str(&text), &err);

        assert_true(answer == REGEX_COSTLY || answer == REGEX_NO);
    }
    assert_true(clock_mono_ms() - start < 20000);
}

static void long_patterns_are_refused(void **state)
{
    AUTO_BUF pattern = BUF(MIB(1));
    Err err;

    (void)state;
    buf_pad(&pattern, 'a', LIMIT_SLEEP_PATTERN + 1);
    assert_false(regex_check(buf_str(&pattern), &err));
    assert_false(regex_check((Str){ "a\0b", 3 }, &err));
    assert_false(regex_check(STR("\xff"), &err));
}

static void quoted_text_finds_itself(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str text = STR("a.b*[c](d)\\e{2} 日本 #x-y");
    Err err;

    (void)state;
    assert_int_equal(regex_search(regex_quote(a, text), text, &err), REGEX_YES);
    assert_int_equal(regex_search(regex_quote(a, STR("a.b")), STR("axb"), &err), REGEX_NO);
}

static void samples_match(void **state)
{
    static const char *const patterns[] = {
        "^(feat|fix)(\\([a-z]+\\))?!?: .{10,}",
        "\\b\\d{4}-\\d{2}-\\d{2}\\b",
        "[A-Z]{2,5}-\\d+",
        "^[^\\n]{1,72}$",
        "(?i)closes #\\d+",
        "arXiv:\\d{4}\\.\\d{4,5}(v\\d+)?",
        "^\\{.*\\}$",
        "https?://[\\w.-]+/\\S+",
        "(?m)^## Summary$",
        "✓ \\d+ passed",
    };
    AUTO(Arena) *a = arena_new();
    Str sample;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (!sample_of(a, str_of(patterns[i]), &sample))
            fail_msg("no text for %s", patterns[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_pythons),
        cmocka_unit_test(nothing_hangs),
        cmocka_unit_test(long_patterns_are_refused),
        cmocka_unit_test(quoted_text_finds_itself),
        cmocka_unit_test(samples_match),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
