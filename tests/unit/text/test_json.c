#include "unit.h"

#include "base/limits.h"
#include "text/json.h"

static const struct {
    const char *text, *expect; /* NULL: it is JSON */
} documents[] = {
    { "{}", NULL },
    { " [1, 2.5, -3e2, true, false, null, \"x\"] ", NULL },
    { "3", NULL },
    { "\"\\u00e9\\ud83d\\ude00\"", NULL },
    { "18446744073709551615", NULL },
    { "", "line 1, column 1: the text ends where a value was expected" },
    { "{\"a\": 1,}", "line 1, column 9: a key in quotes was expected" },
    { "{\"a\": 1\n \"b\": 2}", "line 2, column 2: ',' or '}' was expected" },
    { "[1 2]", "line 1, column 4: ',' or ']' was expected" },
    { "[1,]", "line 1, column 4: a value was expected" },
    { "{a: 1}", "line 1, column 2: a key in quotes was expected" },
    { "{\"a\" 1}", "line 1, column 6: ':' was expected after the key" },
    { "\"abc", "line 1, column 5: the string is not closed" },
    { "\"a\\x\"", "line 1, column 4: unknown escape" },
    { "\"\\ud800\"", "line 1, column 2: half of a surrogate pair" },
    { "\"a\nb\"", "line 1, column 3: a control character in a string" },
    { "01", "line 1, column 2: more text after the value" },
    { "1.", "line 1, column 3: a digit was expected" },
    { "NaN", "line 1, column 1: a value was expected" },
    { "[1e999]", "line 1, column 2: the number is out of range" },
    { "[123456789012345678901234567890]", "line 1, column 2: the number is out of range" },
    { "{} {}", "line 1, column 4: more text after the value" },
    { "[\"\xff\"]", "line 1, column 3: not valid UTF-8" },
    { "nul", "line 1, column 1: a value was expected" },
};

static void reading_is_strict_and_says_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
        AUTO(JsonDoc) *doc = NULL;
        Err err = { 0 };

        doc = json_parse(str_of(documents[i].text), &err);
        if (!doc != (documents[i].expect != NULL))
            fail_msg("'%s'", documents[i].text);
        if (!doc && strcmp(err.text, documents[i].expect) != 0)
            fail_msg("'%s': got '%s', expected '%s'", documents[i].text, err.text,
                     documents[i].expect);
    }
}

static void nesting_has_a_limit(void **state)
{
    AUTO_BUF deep = BUF(MIB(1));
    AUTO(JsonDoc) *doc = NULL;
    Err err;

    (void)state;
    buf_pad(&deep, '[', LIMIT_JSON_DEPTH + 10);
    buf_pad(&deep, ']', LIMIT_JSON_DEPTH + 10);
    doc = json_parse(buf_str(&deep), &err);
    assert_null(doc);
    assert_non_null(strstr(err.text, "too many levels"));
}

static void asking_for_what_is_not_there_never_fails(void **state)
{
    AUTO(JsonDoc) *doc = NULL;
    int64_t whole = 7;
    double real;
    bool flag;
    Json root;
    Err err;

    (void)state;
    doc = json_parse(STR("{\"a\": {\"b\": [1, 2.0, \"s\"]}, \"a2\": 1, \"a2\": 2}"), &err);
    assert_non_null(doc);
    root = json_root(doc);
    assert_int_equal(json_type(json_get(json_get(root, STR("x")), STR("y"))), JSON_NONE);
    assert_null(json_str(json_get(root, STR("a"))).p);
    assert_false(json_int(json_get(root, STR("a")), &whole));
    assert_int_equal(whole, 7);
    assert_true(json_int(json_get(root, STR("a2")), &whole));
    assert_int_equal(whole, 2); /* the last of a repeated key */
    assert_true(json_int(json_at(json_get(json_get(root, STR("a")), STR("b")), 1), &whole));
    assert_false(json_bool(root, &flag));
    assert_false(json_double(json_at(root, 3), &real));
    assert_int_equal(json_count(json_get(json_get(root, STR("a")), STR("b"))), 3);
}

static const char *const round_trips[] = {
    "{\"a\": [1, 2.5, -300.0, true, false, null, \"x\\n\\\"\\\\\"], \"é\": {}}",
    "[18446744073709551615, -9223372036854775808, 0.1, 1e+100]",
    "\"\\u0000\\u001f\\u007f中文😀\"",
    "[]",
};

static void what_is_read_is_written_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(round_trips); i++) {
        AUTO_BUF out = BUF(MIB(1));
        JsonWriter w = JSON_WRITER(&out, 0);
        AUTO(JsonDoc) *doc = NULL;
        Err err;

        doc = json_parse(str_of(round_trips[i]), &err);
        assert_non_null(doc);
        json_put(&w, json_root(doc));
        assert_str(buf_str(&out), str_of(round_trips[i]));
    }
}

static void indented_as_other_tools_do(void **state)
{
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 2);

    (void)state;
    json_begin(&w, '{');
    json_field_str(&w, "name", STR("x"));
    json_key(&w, "list");
    json_begin(&w, '[');
    json_put_int(&w, 1);
    json_begin(&w, '{');
    json_end(&w, '}');
    json_end(&w, ']');
    json_field_str(&w, "none", STR_NONE);
    json_field_double(&w, "at", 1700000000.25);
    json_end(&w, '}');
    assert_str(buf_str(&out), STR("{\n  \"name\": \"x\",\n  \"list\": [\n    1,\n    {}\n  ],\n"
                                  "  \"none\": null,\n  \"at\": 1700000000.25\n}"));
}

static void bytes_that_are_no_utf8_become_the_replacement_character(void **state)
{
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);

    (void)state;
    json_put_str(&w, STR("a\xff\xc3z"));
    assert_str(buf_str(&out), STR("\"a\xef\xbf\xbd\xef\xbf\xbdz\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_is_strict_and_says_where),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(asking_for_what_is_not_there_never_fails),
        cmocka_unit_test(what_is_read_is_written_the_same),
        cmocka_unit_test(indented_as_other_tools_do),
        cmocka_unit_test(bytes_that_are_no_utf8_become_the_replacement_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
