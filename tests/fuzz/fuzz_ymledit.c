/* "KEY\0VALUE\0YAML": after a set the key has the value, every other setting is as it was, and no
 * comment is lost; an unset afterwards leaves the rest alone too. */
#include "text/settings.h"
#include "text/yml_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t comment_lines(Str text)
{
    size_t n = 0;
    Str line;

    while (str_split(&text, '\n', &line))
        n += str_starts(str_trim(line), STR("#"));
    return n;
}

/* Inside of these a '#' at the beginning of a line need not be a comment. */
static bool has_long_values(Str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (strchr("|>\"'\r", text.p[i]) || (unsigned char)text.p[i] >= 0x80)
            return true;
    return false;
}

/* Settings that both texts give, by the program's own reader of config.yaml. */
static void compare_settings(Arena *a, Str before, Str after, Str key)
{
    Settings old, new;
    Err err;

    settings_defaults(&old);
    settings_defaults(&new);
    if (!settings_parse(a, before, &old, &err) || !settings_parse(a, after, &new, &err))
        return;
    for (size_t i = 0; i < SETTING_COUNT; i++)
        ASSERT(str_eqz(key, setting_infos[i].key) ||
               str_eq(old.values[i].text, new.values[i].text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str rest = { (const char *)data, size }, key = STR(""), value = STR(""), text, again;
    bool found = false;
    Err err;

    if (!str_split(&rest, '\0', &key) || !str_split(&rest, '\0', &value) || !rest.p || !key.n)
        return 0;
    if (!yml_set(a, rest, key, value, &text, &err)) {
        ASSERT(err.text[0]);
        return 0;
    }
    compare_settings(a, rest, text, key);
    ASSERT(has_long_values(rest) || comment_lines(text) == comment_lines(rest));
    ASSERT(yml_set(a, text, key, value, &again, &err) && str_eq(again, text));
    if (yml_unset(a, text, key, &again, &found, &err)) {
        ASSERT(found);
        compare_settings(a, text, again, key);
    }
    return 0;
}
