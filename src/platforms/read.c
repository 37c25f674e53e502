#include "platforms/read.h"

#include "text/utf8.h"

bool update_read(Arena *a, Str update, const char *platform, PyValue *ret, Err *err)
{
    PyValue v;

    if (!pyjson_read(a, update, &v) || v.type != PY_DICT)
        return err_set(err, ERR_INVALID, "an update of %s must be a JSON object", platform);
    *ret = v;
    return true;
}

const PyValue *update_get(const PyValue *v, const char *key)
{
    static const PyValue none = { .type = PY_NULL };
    const PyValue *got = pyjson_get(v, str_of(key));

    return got ? got : &none;
}

Str update_text(const PyValue *v, const char *key)
{
    const PyValue *got = update_get(v, key);

    return (got->type == PY_STR || got->type == PY_INT) && got->text.n ? got->text : STR_NONE;
}

bool update_true(const PyValue *v, const char *key)
{
    return update_get(v, key)->type == PY_TRUE;
}

bool needs_owner(const char *platform, Str chat_id, Err *err)
{
    return err_set(err, ERR_REFUSED,
                   "everyone in %s chat '%.*s' has a separate session, and the owner is unknown; "
                   "set the home channel again from there, or use one with threads",
                   platform, STR_FMT(chat_id));
}

size_t measure_code_points(Str text)
{
    return utf8_count(text);
}
