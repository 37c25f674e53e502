/* A command is one line, however it was typed: breaks and tabs are blanked while they are still
 * escaped, since what reads forms takes no control characters at all. */
#include "http/slack_form.h"

#include "base/limits.h"
#include "http/query.h"
#include "text/json.h"

static Str one_line(Arena *a, Str form)
{
    char *out = arena_alloc(a, form.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < form.n; i++) {
        bool blank = str_is_one_of(str_head(str_skip(form, i), 3), "%0A|%0a|%0D|%0d|%09");

        out[n++] = blank ? '+' : form.p[i];
        i += blank ? 2 : 0;
    }
    return (Str){ out, n };
}

bool slack_form_read(Arena *a, Str form, Str *ret_json, Err *err)
{
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);
    Str name, value;

    form = one_line(a, form);
    if (!query_text(a, form, "command", &name, err))
        return false;
    json_begin(&w, '{');
#define X(field)                                                                                   \
    if (!query_text(a, form, #field, &value, err))                                                 \
        return false;                                                                              \
    if (value.n)                                                                                   \
        json_field_str(&w, #field, value);
    SLACK_COMMAND_FIELDS(X)
#undef X
    json_end(&w, '}');
    if (buf_full(&out))
        return err_set(err, ERR_TOO_LARGE, "the command is too long");
    *ret_json = name.n ? str_dup(a, buf_str(&out)) : STR("");
    return true;
}
