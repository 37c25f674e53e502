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

Str waiting_key(Arena *a, const ChatAddress *p, const KeyFlags *flags)
{
    ChatAddress nobody = *p;

    nobody.user_id = UNKNOWN_USER;
    nobody.user_id_alt = STR_NONE;
    return address_key(a, &nobody, flags);
}

bool is_waiting_place(Arena *a, const ChatAddress *p, const KeyFlags *flags)
{
    ChatAddress other = *p;

    other.user_id = STR("another");
    return str_eq(p->user_id, UNKNOWN_USER) &&
           !str_eq(address_key(a, p, flags), address_key(a, &other, flags));
}

size_t measure_code_points(Str text)
{
    return utf8_count(text);
}
