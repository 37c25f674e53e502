/* What the reader and writer make of a text is what Python 3.11 makes of it: the cases below were
 * put through json.dumps(json.loads(text)). */
#include "unit.h"

#include <math.h>

#include "base/limits.h"
#include "text/pyjson.h"

static const struct {
    Str text;
    const char *expect; /* NULL: json.loads raises */
} cases[] = {
    { STR_INIT("{}"), "{}" },
    { STR_INIT(" [ ] "), "[]" },
    { STR_INIT("null"), "null" },
    { STR_INIT("true"), "true" },
    { STR_INIT("false"), "false" },
    { STR_INIT("0"), "0" },
    { STR_INIT("-0"), "0" },
    { STR_INIT("-0.0"), "-0.0" },
    { STR_INIT("12.50"), "12.5" },
    { STR_INIT("1e5"), "100000.0" },
    { STR_INIT("1E-7"), "1e-07" },
    { STR_INIT("1e16"), "1e+16" },
    { STR_INIT("1e15"), "1000000000000000.0" },
    { STR_INIT("123456789012345678"), "123456789012345678" },
    { STR_INIT("1e22"), "1e+22" },
    { STR_INIT("1e21"), "1e+21" },
    { STR_INIT("123456789012345678901234567890"), "123456789012345678901234567890" },
    { STR_INIT("-17"), "-17" },
    { STR_INIT("0.1"), "0.1" },
    { STR_INIT("0.0001"), "0.0001" },
    { STR_INIT("0.00001"), "1e-05" },
    { STR_INIT("1.7976931348623157e308"), "1.7976931348623157e+308" },
    { STR_INIT("1e999"), "Infinity" },
    { STR_INIT("-1e999"), "-Infinity" },
    { STR_INIT("5e-324"), "5e-324" },
    { STR_INIT("2.2250738585072014e-308"), "2.2250738585072014e-308" },
    { STR_INIT("2.225073858507201e-308"), "2.225073858507201e-308" },
    { STR_INIT("5.684341886080801e-14"), "5.684341886080801e-14" },
    { STR_INIT("5.684341886080802e-14"), "5.684341886080802e-14" },
    { STR_INIT("9007199254740993.0"), "9007199254740992.0" },
    { STR_INIT("1.0"), "1.0" },
    { STR_INIT("100.0"), "100.0" },
    { STR_INIT("0.3"), "0.3" },
    { STR_INIT("2.5E+3"), "2500.0" },
    { STR_INIT("NaN"), "NaN" },
    { STR_INIT("Infinity"), "Infinity" },
    { STR_INIT("-Infinity"), "-Infinity" },
    { STR_INIT("[NaN, -Infinity]"), "[NaN, -Infinity]" },
    { STR_INIT("[1,2,[3,{\"a\":null}],\"x\"]"), "[1, 2, [3, {\"a\": null}], \"x\"]" },
    { STR_INIT("{\"b\":1,\"a\":2,\"b\":3}"), "{\"b\": 3, \"a\": 2}" },
    { STR_INIT("{\"a\":{\"x\":1,\"x\":[]},\"a\":{\"y\":2}}"), "{\"a\": {\"y\": 2}}" },
    { STR_INIT("{\"k0\":0,\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,\"k7\":7,\"k8\":8,"
               "\"k9\":9,\"k3\":\"again\",\"k9\":\"last\",\"k10\":10}"),
      "{\"k0\": 0, \"k1\": 1, \"k2\": 2, \"k3\": \"again\", \"k4\": 4, \"k5\": 5, \"k6\": 6, "
      "\"k7\": 7, \"k8\": 8, \"k9\": \"last\", \"k10\": 10}" },
    { STR_INIT("\"\\u00e9\\u4E2D\""), "\"\\u00e9\\u4e2d\"" },
    { STR_INIT("\"\303\251\344\270\255\360\237\230\200\""), "\"\\u00e9\\u4e2d\\ud83d\\ude00\"" },
    { STR_INIT("\"\\ud83d\\ude00\""), "\"\\ud83d\\ude00\"" },
    { STR_INIT("\"\\ud83d\""), "\"\\ud83d\"" },
    { STR_INIT("\"\\ude00\\ud83d x\""), "\"\\ude00\\ud83d x\"" },
    { STR_INIT("\"\\ud83d\\ud83d\\ude00\""), "\"\\ud83d\\ud83d\\ude00\"" },
    { STR_INIT("\"\\ud83d\\u0041\""), "\"\\ud83dA\"" },
    { STR_INIT("\"a\\/b\\\\\\\"\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\""),
      "\"a/b\\\\\\\"\\b\\f\\n\\r\\t\\u0000\\u001f\\u007f\"" },
    { STR_INIT("\"\177\""), "\"\\u007f\"" },
    { STR_INIT("\"\342\200\250\""), "\"\\u2028\"" },
    { STR_INIT("[\"\\u0061\\u005c\\u0022\"]"), "[\"a\\\\\\\"\"]" },
    { STR_INIT("{\"\":{\"\":[]}}"), "{\"\": {\"\": []}}" },
    { STR_INIT("\011\015\012 {\"a\" : [ 1 , 2 ] } \012"), "{\"a\": [1, 2]}" },
    { STR_INIT(""), NULL },
    { STR_INIT(" "), NULL },
    { STR_INIT("nul"), NULL },
    { STR_INIT("[1,]"), NULL },
    { STR_INIT("{\"a\":1,}"), NULL },
    { STR_INIT("{a:1}"), NULL },
    { STR_INIT("{'a':1}"), NULL },
    { STR_INIT("[1 2]"), NULL },
    { STR_INIT("01"), NULL },
    { STR_INIT("-01"), NULL },
    { STR_INIT("1."), NULL },
    { STR_INIT(".5"), NULL },
    { STR_INIT("1.e5"), NULL },
    { STR_INIT("1e"), NULL },
    { STR_INIT("1e+"), NULL },
    { STR_INIT("-"), NULL },
    { STR_INIT("+1"), NULL },
    { STR_INIT("0x10"), NULL },
    { STR_INIT("["), NULL },
    { STR_INIT("{\"a\""), NULL },
    { STR_INIT("{\"a\":"), NULL },
    { STR_INIT("\"abc"), NULL },
    { STR_INIT("\"\\x\""), NULL },
    { STR_INIT("\"\\u12g4\""), NULL },
    { STR_INIT("\"\\u123\""), NULL },
    { STR_INIT("\"a\012b\""), NULL },
    { STR_INIT("\"a\001b\""), NULL },
    { STR_INIT("[1] x"), NULL },
    { STR_INIT("{} {}"), NULL },
    { STR_INIT("\357\273\277[]"), NULL },
    { STR_INIT("nan"), NULL },
    { STR_INIT("-NaN"), NULL },
    { STR_INIT("+Infinity"), NULL },
    { STR_INIT("Infinityx"), NULL },
    { STR_INIT("[NaN"), NULL },
    { STR_INIT("truefalse"), NULL },
    { STR_INIT("\"\\ud83d\\u12\""), NULL },
    { STR_INIT("\302\240[]"), NULL },
    { STR_INIT("[\0131]"), NULL },
    { STR_INIT("\"\\"), NULL },
    { STR_INIT("{\"a\":1 \"b\":2}"), NULL },
    { STR_INIT("{1:2}"), NULL },
    { STR_INIT("{null:1}"), NULL },
    { STR_INIT("[1]]"), NULL },
    { STR_INIT("-Infinit"), NULL },
};

static void reads_and_writes_as_python_does(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(MIB(1));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        PyValue v;
        bool ok = pyjson_read(a, cases[i].text, &v);

        if (ok != (cases[i].expect != NULL))
            fail_msg("'%.*s'", STR_FMT(cases[i].text));
        buf_clear(&out);
        if (ok) {
            pyjson_write(&out, &v);
            assert_str(buf_str(&out), str_of(cases[i].expect));
        }
    }
}

/* repr() of doubles that are hard to write: halfway, at powers of two, below the normal ones. */
static void floats_are_the_shortest(void **state)
{
    static const struct {
        double real;
        const char *expect;
    } floats[] = {
        { 0x1p-44, "5.684341886080802e-14" },
        { 0x1p-1074, "5e-324" },
        { 0x1.fffffffffffffp+1023, "1.7976931348623157e+308" },
        { 0x1p-1022, "2.2250738585072014e-308" },
        { 0x0.fffffffffffffp-1022, "2.225073858507201e-308" },
        { 1.0 / 3, "0.3333333333333333" },
        { 2.0 / 3, "0.6666666666666666" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1e23, "1e+23" },
        { 9e15, "9000000000000000.0" },
        { 1e16, "1e+16" },
        { 123456.789e-10, "1.23456789e-05" },
        { -1.5, "-1.5" },
        { 4.35, "4.35" },
        { 0x1p+53, "9007199254740992.0" },
        { 0x1p+60, "1.152921504606847e+18" },
    };
    AUTO_BUF out = BUF(MIB(1));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(floats); i++) {
        PyValue v = { .type = PY_FLOAT, .real = floats[i].real };

        buf_clear(&out);
        pyjson_write(&out, &v);
        assert_str(buf_str(&out), str_of(floats[i].expect));
    }
}

static void bad_bytes_become_replacement_characters(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF out = BUF(MIB(1));
    PyValue v;

    (void)state;
    assert_true(pyjson_read(a, STR("[\"a\xff\" , \"\xed\xa0\xbd\"]"), &v));
    pyjson_write(&out, &v);
    assert_str(buf_str(&out), STR("[\"a\\ufffd\", \"\\ufffd\\ufffd\\ufffd\"]"));
}

static void there_are_limits(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF deep = BUF(MIB(1)), digits = BUF(MIB(1));
    PyValue v;

    (void)state;
    buf_pad(&deep, '[', PYJSON_DEPTH);
    buf_pad(&deep, ']', PYJSON_DEPTH);
    assert_true(pyjson_read(a, buf_str(&deep), &v));
    buf_clear(&deep);
    buf_pad(&deep, '[', PYJSON_DEPTH + 1);
    buf_pad(&deep, ']', PYJSON_DEPTH + 1);
    assert_false(pyjson_read(a, buf_str(&deep), &v));
    buf_pad(&digits, '7', PYJSON_INT_DIGITS);
    assert_true(pyjson_read(a, buf_str(&digits), &v));
    buf_addc(&digits, '7');
    assert_false(pyjson_read(a, buf_str(&digits), &v));
}

static void values_can_be_asked(void **state)
{
    AUTO(Arena) *a = arena_new();
    PyValue v;

    (void)state;
    assert_true(pyjson_read(a,
                            STR("{\"zero\": 0, \"minus\": -0.0, \"nan\": NaN, \"s\": \"\", "
                                "\"l\": [0], \"s\": \"x\"}"),
                            &v));
    assert_false(pyjson_truthy(pyjson_get(&v, STR("zero"))));
    assert_false(pyjson_truthy(pyjson_get(&v, STR("minus"))));
    assert_true(pyjson_truthy(pyjson_get(&v, STR("nan"))));
    assert_true(pyjson_truthy(pyjson_get(&v, STR("l"))));
    assert_str(pyjson_get(&v, STR("s"))->text, STR("x"));
    assert_null(pyjson_get(&v, STR("other")));
    assert_null(pyjson_get(pyjson_get(&v, STR("l")), STR("s")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_as_python_does),
        cmocka_unit_test(floats_are_the_shortest),
        cmocka_unit_test(bad_bytes_become_replacement_characters),
        cmocka_unit_test(there_are_limits),
        cmocka_unit_test(values_can_be_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
