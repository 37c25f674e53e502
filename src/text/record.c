/* The list of a LIST_OF any record has the same layout whatever it holds, so the functions copy it
 * in and out by memcpy as an AnyList. */
#include "text/record.h"

#include "base/limits.h"

typedef LIST_OF(void) AnyList;

bool strs_have(const StrList *list, Str s)
{
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->items[i], s))
            return true;
    return false;
}

void strs_add_new(Arena *a, StrList *list, Str s)
{
    if (!strs_have(list, s))
        LIST_PUSH(a, list, s);
}

void strs_put(JsonWriter *w, const StrList *list)
{
    json_begin(w, '[');
    for (size_t i = 0; i < list->n; i++)
        json_put_str(w, list->items[i]);
    json_end(w, ']');
}

static const char *key_of(const RecordField *f)
{
    return f->key ? f->key : f->name;
}

static AnyList load_list(const void *field)
{
    AnyList list;

    memcpy(&list, field, sizeof list);
    return list;
}

/* -- Numbers: the same switch for all widths -- */

static int64_t load_int(const RecordField *f, const void *field)
{
    switch (f->kind) {
    case RECORD_INT32:
        return *(const int32_t *)field;
    case RECORD_UINT32:
    case RECORD_WORD:
        return *(const uint32_t *)field;
    case RECORD_BOOL:
        return *(const bool *)field;
    default:
        return *(const int64_t *)field;
    }
}

/* False if n does not fit. */
static bool store_int(const RecordField *f, int64_t n, void *field)
{
    switch (f->kind) {
    case RECORD_INT32:
        if (n < INT32_MIN || n > INT32_MAX)
            return false;
        *(int32_t *)field = (int32_t)n;
        return true;
    case RECORD_UINT32:
    case RECORD_WORD:
        if (n < 0 || n > (f->kind == RECORD_WORD ? (int64_t)f->n_words - 1 : UINT32_MAX))
            return false;
        *(uint32_t *)field = (uint32_t)n;
        return true;
    case RECORD_BOOL:
        *(bool *)field = n != 0;
        return true;
    default:
        *(int64_t *)field = n;
        return true;
    }
}

static bool store_word(const RecordField *f, Str name, void *field)
{
    for (size_t i = 0; i < f->n_words; i++)
        if (str_eqz(name, f->words[i]))
            return store_int(f, (int64_t)i, field);
    return false;
}

/* -- Fallbacks -- */

/* The record is zero when this is called. */
static void set_fallback(const RecordField *f, void *field)
{
    Str text = str_of(f->fallback ? f->fallback : "");
    int64_t n = 0;

    switch (f->kind) {
    case RECORD_STR:
        *(Str *)field = text;
        break;
    case RECORD_INT64:
    case RECORD_INT32:
    case RECORD_UINT32:
        ASSERT(!text.n || (str_to_int(text, INT64_MIN, INT64_MAX, &n) && store_int(f, n, field)));
        break;
    case RECORD_DOUBLE:
        ASSERT(!text.n || str_to_double(text, (double *)field));
        break;
    case RECORD_BOOL:
        *(bool *)field = str_eq(text, STR("true"));
        break;
    case RECORD_WORD:
        ASSERT(!text.n || store_word(f, text, field));
        break;
    case RECORD_OBJECT:
    case RECORD_EMBEDDED:
        record_init(f->record, field);
        break;
    case RECORD_STRS:
    case RECORD_DOUBLES:
    case RECORD_POINTER:
    case RECORD_OBJECTS:
        break;
    }
}

void record_init(const RecordTable *record, void *ret)
{
    memset(ret, 0, record->size);
    for (size_t i = 0; i < record->n; i++)
        set_fallback(&record->fields[i], (char *)ret + record->fields[i].offset);
}

/* -- Reading -- */

static bool read_strs(Arena *a, Json v, bool lenient, StrList *ret)
{
    StrList list = { 0 };
    JsonIter it = json_each(v);
    Str key;
    Json item;

    if (json_type(v) != JSON_ARRAY)
        return false;
    while (json_next(&it, &key, &item)) {
        if (json_type(item) == JSON_STRING)
            LIST_PUSH(a, &list, str_dup(a, json_str(item)));
        else if (!lenient)
            return false;
    }
    *ret = list;
    return true;
}

static bool read_doubles(Arena *a, Json v, DoubleList *ret)
{
    DoubleList list = { 0 };

    for (size_t i = 0; i < json_count(v); i++) {
        double n;

        if (!json_double(json_at(v, i), &n))
            return false;
        LIST_PUSH(a, &list, n);
    }
    *ret = list;
    return json_type(v) == JSON_ARRAY;
}

static Str json_text(Arena *a, Json v)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_put(&w, v);
    return str_dup(a, buf_str(&out));
}

/* False if v is of another type. Other records are read by the caller. */
static bool read_value(Arena *a, const RecordTable *record, const RecordField *f, Json v,
                       void *field)
{
    int64_t n;

    switch (f->kind) {
    case RECORD_STR:
        if (!f->is_json && json_type(v) != JSON_STRING)
            return false;
        *(Str *)field = f->is_json ? json_text(a, v) : str_dup(a, json_str(v));
        return true;
    case RECORD_STRS:
        return read_strs(a, v, record->lenient, field);
    case RECORD_DOUBLES:
        return read_doubles(a, v, field);
    case RECORD_DOUBLE:
        return json_double(v, field);
    case RECORD_BOOL:
    case RECORD_WORD:
        if (!f->words)
            return json_bool(v, field);
        return json_type(v) == JSON_STRING && store_word(f, json_str(v), field);
    default:
        return json_int(v, &n) && store_int(f, n, field);
    }
}

static bool read_into(Arena *a, const RecordTable *record, Json v, char *ret, Err *err);

/* An object or a list of objects. */
static bool read_records(Arena *a, const RecordField *f, Json v, char *field, Err *err)
{
    char *target;

    if (f->kind == RECORD_OBJECTS)
        return record_read_list(a, f->record, v, field, err);
    if (f->kind != RECORD_POINTER)
        return record_read(a, f->record, v, field, err);
    target = arena_alloc(a, f->record->size);
    if (!read_into(a, f->record, v, target, err))
        return false;
    memcpy(field, &target, sizeof target);
    return true;
}

static bool read_field(Arena *a, const RecordTable *record, const RecordField *f, Json v,
                       char *field, Err *err)
{
    JsonType type = json_type(v);
    bool ok;

    if (type == JSON_NONE || type == JSON_NULL)
        return !f->required ||
               err_set(err, ERR_INVALID, "%s without '%s'", record->title, key_of(f));
    if (f->record) {
        ok = read_records(a, f, v, field, err) || err_wrap(err, "'%s'", key_of(f));
    } else {
        ok = read_value(a, record, f, v, field) ||
             err_set(err, ERR_INVALID, "'%s' of a %s is %s", key_of(f), record->title,
                     json_type_name(type));
    }
    return ok || (record->lenient && !f->required); /* a failed read leaves the fallback */
}

static bool read_into(Arena *a, const RecordTable *record, Json v, char *ret, Err *err)
{
    if (json_type(v) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "a %s is %s, not an object", record->title,
                       json_type_name(json_type(v)));
    record_init(record, ret);
    for (size_t i = 0; i < record->n; i++) {
        const RecordField *f = &record->fields[i];

        if (f->kind == RECORD_EMBEDDED
                ? !read_into(a, f->record, v, ret + f->offset, err)
                : !read_field(a, record, f, json_get(v, str_of(key_of(f))), ret + f->offset, err))
            return false;
    }
    return true;
}

bool record_read(Arena *a, const RecordTable *record, Json v, void *ret, Err *err)
{
    char *value = arena_alloc(a, record->size);

    if (!read_into(a, record, v, value, err))
        return false;
    memcpy(ret, value, record->size);
    return true;
}

bool record_read_list(Arena *a, const RecordTable *record, Json v, void *ret_list, Err *err)
{
    JsonIter it = json_each(v);
    AnyList list = { .cap = json_count(v) };
    Str key;
    Json item;

    if (json_type(v) != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "%ss are %s, not an array", record->title,
                       json_type_name(json_type(v)));
    list.items = arena_array(a, list.cap ? list.cap : 1, record->size);
    while (json_next(&it, &key, &item)) {
        if (!read_into(a, record, item, (char *)list.items + list.n * record->size, err))
            return err_wrap(err, "%s %zu", record->title, list.n + 1);
        list.n++;
    }
    memcpy(ret_list, &list, sizeof list);
    return true;
}

/* -- Writing -- */

static bool is_empty(const RecordField *f, const void *field)
{
    const void *target;

    switch (f->kind) {
    case RECORD_STR:
        return ((const Str *)field)->n == 0;
    case RECORD_STRS:
    case RECORD_DOUBLES:
    case RECORD_OBJECTS:
        return load_list(field).n == 0;
    case RECORD_DOUBLE:
        return *(const double *)field == 0;
    case RECORD_OBJECT:
    case RECORD_EMBEDDED:
        return false;
    case RECORD_POINTER:
        memcpy(&target, field, sizeof target);
        return !target;
    default:
        return load_int(f, field) == 0;
    }
}

static bool is_null(const RecordField *f, const void *field)
{
    switch (f->when_empty) {
    case RECORD_NULL_STR:
        return f->kind == RECORD_STR && !((const Str *)field)->p;
    case RECORD_NULL_NEGATIVE:
    case RECORD_OMIT_NEGATIVE:
        return f->kind == RECORD_DOUBLE ? *(const double *)field < 0 : load_int(f, field) < 0;
    case RECORD_WRITE:
        return f->kind == RECORD_POINTER && is_empty(f, field);
    default:
        return is_empty(f, field);
    }
}

static void put_value(JsonWriter *w, const RecordField *f, const void *field)
{
    const DoubleList *doubles = field;
    const void *target;
    Str s;

    switch (f->kind) {
    case RECORD_STR:
        s = *(const Str *)field;
        if (f->is_json)
            json_put_raw(w, s);
        else
            json_put_str(w, s.p ? s : STR(""));
        break;
    case RECORD_STRS:
        strs_put(w, field);
        break;
    case RECORD_DOUBLES:
        json_begin(w, '[');
        for (size_t i = 0; i < doubles->n; i++)
            json_put_double(w, doubles->items[i]);
        json_end(w, ']');
        break;
    case RECORD_DOUBLE:
        json_put_double(w, *(const double *)field);
        break;
    case RECORD_BOOL:
    case RECORD_WORD:
        if (!f->words) {
            json_put_bool(w, *(const bool *)field);
            break;
        }
        ASSERT((size_t)load_int(f, field) < f->n_words);
        json_put_str(w, str_of(f->words[load_int(f, field)]));
        break;
    case RECORD_OBJECT:
    case RECORD_EMBEDDED:
        record_put(w, f->record, field);
        break;
    case RECORD_POINTER:
        memcpy(&target, field, sizeof target);
        record_put(w, f->record, target);
        break;
    case RECORD_OBJECTS:
        record_put_list(w, f->record, field);
        break;
    default:
        json_put_int(w, load_int(f, field));
        break;
    }
}

void record_put_fields(JsonWriter *w, const RecordTable *record, const void *value)
{
    for (size_t i = 0; i < record->n; i++) {
        const RecordField *f = &record->fields[i];
        const char *field = (const char *)value + f->offset;

        if (f->kind == RECORD_EMBEDDED) {
            record_put_fields(w, f->record, field);
        } else if (!is_null(f, field)) {
            json_key(w, key_of(f));
            put_value(w, f, field);
        } else if (f->when_empty != RECORD_OMIT && f->when_empty != RECORD_OMIT_NEGATIVE) {
            json_field_null(w, key_of(f));
        }
    }
}

void record_put(JsonWriter *w, const RecordTable *record, const void *value)
{
    json_begin(w, '{');
    record_put_fields(w, record, value);
    json_end(w, '}');
}

void record_put_list(JsonWriter *w, const RecordTable *record, const void *list)
{
    AnyList all = load_list(list);

    json_begin(w, '[');
    for (size_t i = 0; i < all.n; i++)
        record_put(w, record, (const char *)all.items + i * record->size);
    json_end(w, ']');
}

/* -- Packing: words of 64 bits, and text after its length -- */

static void pack_int(Buf *out, uint64_t n)
{
    buf_add(out, (Str){ (const char *)&n, sizeof n });
}

static void pack_str(Buf *out, Str s)
{
    pack_int(out, s.n);
    buf_add(out, s);
}

static void pack_field(Buf *out, const RecordField *f, const void *field)
{
    const void *target;

    switch (f->kind) {
    case RECORD_STR:
        pack_str(out, *(const Str *)field);
        break;
    case RECORD_STRS:
        pack_int(out, ((const StrList *)field)->n);
        for (size_t i = 0; i < ((const StrList *)field)->n; i++)
            pack_str(out, ((const StrList *)field)->items[i]);
        break;
    case RECORD_DOUBLE:
        buf_add(out, (Str){ field, sizeof(double) });
        break;
    case RECORD_DOUBLES:
        pack_int(out, ((const DoubleList *)field)->n);
        for (size_t i = 0; i < ((const DoubleList *)field)->n; i++)
            buf_add(out,
                    (Str){ (const char *)&((const DoubleList *)field)->items[i], sizeof(double) });
        break;
    case RECORD_OBJECT:
    case RECORD_EMBEDDED:
        record_pack(out, f->record, field);
        break;
    case RECORD_POINTER:
        memcpy(&target, field, sizeof target);
        pack_int(out, target != NULL);
        if (target)
            record_pack(out, f->record, target);
        break;
    case RECORD_OBJECTS:
        record_pack_list(out, f->record, field);
        break;
    default:
        pack_int(out, (uint64_t)load_int(f, field));
        break;
    }
}

void record_pack(Buf *out, const RecordTable *record, const void *value)
{
    for (size_t i = 0; i < record->n; i++)
        pack_field(out, &record->fields[i], (const char *)value + record->fields[i].offset);
}

void record_pack_list(Buf *out, const RecordTable *record, const void *list)
{
    AnyList all = load_list(list);

    pack_int(out, all.n);
    for (size_t i = 0; i < all.n; i++)
        record_pack(out, record, (const char *)all.items + i * record->size);
}

static bool unpack_int(Str *in, void *ret)
{
    if (in->n < sizeof(uint64_t))
        return false;
    memcpy(ret, in->p, sizeof(uint64_t));
    *in = str_skip(*in, sizeof(uint64_t));
    return true;
}

static bool unpack_str(Str *in, Str *ret)
{
    uint64_t n;

    if (!unpack_int(in, &n) || n > in->n)
        return false;
    *ret = str_head(*in, n);
    *in = str_skip(*in, n);
    return true;
}

static bool unpack_fields(Arena *a, Str *in, const RecordTable *record, char *ret);

static bool unpack_list(Arena *a, Str *in, RecordKind kind, const RecordTable *record, void *ret)
{
    size_t size = record ? record->size : kind == RECORD_STRS ? sizeof(Str) : sizeof(double);
    AnyList list;
    uint64_t n;

    if (!unpack_int(in, &n) || n > in->n / sizeof n) /* each item has at least one word */
        return false;
    list = (AnyList){ .items = arena_array(a, n ? n : 1, size), .n = n, .cap = n ? n : 1 };
    for (size_t i = 0; i < n; i++) {
        char *item = (char *)list.items + i * size;

        if (record                ? !unpack_fields(a, in, record, item)
            : kind == RECORD_STRS ? !unpack_str(in, (Str *)(void *)item)
                                  : !unpack_int(in, item))
            return false;
    }
    memcpy(ret, &list, sizeof list);
    return true;
}

static bool unpack_field(Arena *a, Str *in, const RecordField *f, char *field)
{
    char *target = NULL;
    int64_t n = 0;

    switch (f->kind) {
    case RECORD_STR:
        return unpack_str(in, (Str *)(void *)field);
    case RECORD_STRS:
    case RECORD_DOUBLES:
    case RECORD_OBJECTS:
        return unpack_list(a, in, f->kind, f->record, field);
    case RECORD_DOUBLE:
        return unpack_int(in, field);
    case RECORD_OBJECT:
    case RECORD_EMBEDDED:
        return unpack_fields(a, in, f->record, field);
    case RECORD_POINTER:
        if (!unpack_int(in, &n))
            return false;
        if (n)
            target = arena_alloc(a, f->record->size);
        memcpy(field, &target, sizeof target);
        return !target || unpack_fields(a, in, f->record, target);
    default:
        return unpack_int(in, &n) && store_int(f, n, field);
    }
}

static bool unpack_fields(Arena *a, Str *in, const RecordTable *record, char *ret)
{
    for (size_t i = 0; i < record->n; i++)
        if (!unpack_field(a, in, &record->fields[i], ret + record->fields[i].offset))
            return false;
    return true;
}

bool record_unpack(Arena *a, const RecordTable *record, Str packed, void *ret)
{
    return unpack_fields(a, &packed, record, ret) && !packed.n;
}

bool record_unpack_list(Arena *a, const RecordTable *record, Str packed, void *ret_list)
{
    return unpack_list(a, &packed, RECORD_OBJECTS, record, ret_list) && !packed.n;
}
