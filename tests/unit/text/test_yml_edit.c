/* One value of a YAML text changed in place: everything else stays byte for byte. */
#include "unit.h"

#include "text/yml_edit.h"

typedef struct Row {
    const char *before, *key, *value, *after; /* value NULL: unset; after NULL: refused */
} Row;

static const Row rows[] = {
    { "", "model.name", "x", "model:\n  name: x\n" },
    { "# mine\n", "a", "1", "# mine\na: 1\n" },
    { "a: 1", "b", "2", "a: 1\nb: 2\n" },
    { "a: 1 # one\n\n# end\n", "a", "2", "a: 2 # one\n\n# end\n" },
    { "a: 1 # one\n\n# end\n", "b", "2", "a: 1 # one\nb: 2\n\n# end\n" },
    { "model:\n    # which\n    name: old\nz: 1\n", "model.base_url", "http://h/v1",
      "model:\n    # which\n    name: old\n    base_url: http://h/v1\nz: 1\n" },
    { "model.name: old\n", "model.name", "new", "model.name: new\n" },
    { "model:\n# name: x\nz: 1\n", "model.name", "y", "model:\n  name: y\n# name: x\nz: 1\n" },
    { "model: {name: old, w: 1}\n", "model.name", "a,b", "model: {name: \"a,b\", w: 1}\n" },
    { "model: {w: 1}\n", "model.name", "y", "model: {name: y, w: 1}\n" },
    { "{}\n", "model.name", "y", "{model: {name: y}}\n" },
    { "a: 'one\n  two'\nb: 2\n", "a", "3", "a: 3\nb: 2\n" },
    { "a: |\n  one\n  two\nb: 2\n", "a", "3", "a: 3\nb: 2\n" },
    { "a: |\n  one\n  two\nb: 2\n", "c", "3", "a: |\n  one\n  two\nb: 2\nc: 3\n" },
    { "b: 2\na: |\n  one\n", "c", "3", "b: 2\na: |\n  one\nc: 3\n" },
    { "a:\nb: 2\n", "a", "3", "a: 3\nb: 2\n" },
    { "a: # later\n", "a", "3", "a: 3 # later\n" },
    { "a: 1\r\nb: 2\r\n", "c.d", "3", "a: 1\r\nb: 2\r\nc:\r\n  d: 3\r\n" },
    { "\xc3\xa4: 1\na: \xc3\xb6 # \xe2\x82\xac\n", "a", "\xc3\xbc",
      "\xc3\xa4: 1\na: \"\xc3\xbc\" # \xe2\x82\xac\n" },
    { "list:\n- a\n- b: c\n", "x", "", "list:\n- a\n- b: c\nx: \"\"\n" },
    { "a: 1\n", "a", "# \"q\" \\ \n", "a: \"# \\\"q\\\" \\\\ \\x0A\"\n" },
    { "a: 1\na: 2\n", "a", "3", "a: 1\na: 3\n" },
    { "x: &v 1\ny: *v\n", "y", "2", NULL },
    { "x: &v 1\ny: *v\n", "x", "2", NULL },
    { "model: x\n", "model.name", "y", NULL },
    { "- a\n", "model.name", "y", NULL },
    { "a: [1\n", "b", "2", NULL },
    { "a: 1\n...\n---\nb: 2\n", "a", "3", "a: 3\n...\n---\nb: 2\n" },
    /* taking out */
    { "# c\na: 1 # one\nb: 2\n", "a", NULL, "# c\nb: 2\n" },
    { "model:\n  # which\n  name: x\nz: 1\n", "model.name", NULL, "  # which\nz: 1\n" },
    { "p:\n  t:\n    e: 1\n  d: 2\n", "p.t.e", NULL, "p:\n  d: 2\n" },
    { "model: {name: old, w: 1}\n", "model.name", NULL, "model: {w: 1}\n" },
    { "model: {w: 1, name: old}\n", "model.name", NULL, "model: {w: 1}\n" },
    { "a: |\n  one\nb: 2\n", "a", NULL, "b: 2\n" },
    { "a: 1\na: 2\nb: 3\n", "a", NULL, "b: 3\n" },
    { "b: 3\n", "a", NULL, "b: 3\n" },
};

static void texts_are_edited_in_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(Arena) *a = arena_new();
        const Row *r = &rows[i];
        Str text = STR("");
        Err err = { 0 };
        bool found, ok;

        ok = r->value ? yml_set(a, str_of(r->before), str_of(r->key), str_of(r->value), &text, &err)
                      : yml_unset(a, str_of(r->before), str_of(r->key), &text, &found, &err);
        if (ok != (r->after != NULL) || (ok && !str_eqz(text, r->after)))
            fail_msg("row %zu: %s=%s\n%s->\n%.*s%s", i, r->key, r->value ? r->value : "", r->before,
                     STR_FMT(text), err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_are_edited_in_place) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
