/* Any bytes as the form of a slash command: what is kept of it is JSON with the fields of the table
 * and no others, each a text on one line that says what the form says; and the shape of Slack reads
 * it. */
#include "http/slack_form.h"

#include "base/limits.h"
#include "http/query.h"
#include "platforms/slack/slack.h"
#include "text/pyjson.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_field(Str name)
{
#define X(field)                                                                                   \
    if (str_eqz(name, #field))                                                                     \
        return true;
    SLACK_COMMAND_FIELDS(X)
#undef X
    return false;
}

static void check_line(Str s)
{
    ASSERT(s.n && utf8_valid_prefix(s) == s.n);
    for (size_t i = 0; i < s.n; i++)
        ASSERT((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f);
}

static void check_fields(Arena *a, Str form, const PyValue *kept)
{
    Str said;
    Err err;

    ASSERT(pyjson_get(kept, STR("command")));
    for (uint32_t i = 0; i < kept->n; i++) {
        Str name = kept->items[2 * i].text, value = kept->items[2 * i + 1].text;

        ASSERT(is_field(name) && kept->items[2 * i + 1].type == PY_STR);
        check_line(value);
        /* Where the form had no break in it, it is the form's own value. */
        if (query_text(a, form, str_z(a, name), &said, &err))
            ASSERT(str_eq(said, value));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Str form = { (const char *)data, size }, json, name = STR_NONE;
    bool wanted;
    PyValue v;
    Err err;

    if (!slack_form_read(a, form, &json, &err)) {
        ASSERT(err.kind == ERR_USAGE || err.kind == ERR_TOO_LARGE);
        return 0;
    }
    if (!json.n)
        return 0;
    ASSERT(json.n <= LIMIT_UPDATE_BYTES && pyjson_read(a, json, &v) && v.type == PY_DICT);
    check_fields(a, form, &v);
    ASSERT(slack_name(a, json, NULL, &name, &wanted, &err));
    ASSERT(!wanted || name.n > 1);
    return 0;
}
