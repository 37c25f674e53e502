/* One generic reader and one generic writer over rows of {key, kind, offset}; the rows come from the
 * tables in types.h. A list of records has the same two words and capacity whatever it holds, so it
 * is moved in and out by memcpy as an AnyList. */
#include "sleep/task/types.h"

#include "base/limits.h"

typedef enum FieldKind {
    FIELD_Text,
    FIELD_Json,
    FIELD_Texts,
    FIELD_Int,
    FIELD_Real,
    FIELD_Bool,
    FIELD_LIST
} FieldKind;

typedef struct FieldRow {
    const char *key;
    FieldKind kind;
    size_t offset;
    const char *fallback;         /* NULL: required */
    const struct RecordTable *of; /* of a list */
} FieldRow;

typedef struct RecordTable {
    const char *title;
    const FieldRow *rows;
    size_t n, size;
} RecordTable;

typedef LIST_OF(void) AnyList;

/* -- lists ---------------------------------------------------------------------------------- */

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

Str split_normal(Str split)
{
    if (str_eq(split, STR("replay")))
        return STR("train");
    if (str_eq(split, STR("holdout")))
        return STR("val");
    return split;
}

/* -- defaults ------------------------------------------------------------------------------- */

static void set_default(const FieldRow *row, char *record)
{
    void *field = record + row->offset;
    Str text = str_of(row->fallback ? row->fallback : "");
    int64_t n = 0;

    switch (row->kind) {
    case FIELD_Text:
    case FIELD_Json:
        *(Str *)field = text;
        break;
    case FIELD_Int:
        ASSERT(str_to_int(text, INT64_MIN, INT64_MAX, &n));
        *(int64_t *)field = n;
        break;
    case FIELD_Real:
        ASSERT(str_to_double(text, (double *)field));
        break;
    case FIELD_Bool:
        *(bool *)field = str_eq(text, STR("true"));
        break;
    case FIELD_Texts:
    case FIELD_LIST:
        memset(field, 0, sizeof(AnyList));
        break;
    }
}

static void init_record(const RecordTable *table, void *record)
{
    memset(record, 0, table->size);
    for (size_t i = 0; i < table->n; i++)
        set_default(&table->rows[i], record);
}

/* -- reading -------------------------------------------------------------------------------- */

static bool read_list(Arena *a, const RecordTable *table, Json v, AnyList *ret, Err *err);

static bool read_texts(Arena *a, Json v, StrList *ret)
{
    StrList list = { 0 };
    JsonIter it = json_each(v);
    Str key;
    Json item;

    if (json_type(v) != JSON_ARRAY)
        return false;
    while (json_next(&it, &key, &item)) {
        if (json_type(item) != JSON_STRING)
            return false;
        LIST_PUSH(a, &list, str_dup(a, json_str(item)));
    }
    *ret = list;
    return true;
}

static Str text_of(Arena *a, Json v)
{
    AUTO_BUF out = BUF(LIMIT_JSON_BYTES);
    JsonWriter w = JSON_WRITER(&out, 0);

    json_put(&w, v);
    return str_dup(a, buf_str(&out));
}

/* False where v is of another type. Lists of records are read by the caller. */
static bool read_value(Arena *a, const FieldRow *row, Json v, void *field)
{
    switch (row->kind) {
    case FIELD_Text:
        if (json_type(v) != JSON_STRING)
            return false;
        *(Str *)field = str_dup(a, json_str(v));
        return true;
    case FIELD_Json:
        *(Str *)field = text_of(a, v);
        return true;
    case FIELD_Texts:
        return read_texts(a, v, field);
    case FIELD_Int:
        return json_int(v, field);
    case FIELD_Real:
        return json_double(v, field);
    case FIELD_Bool:
        return json_bool(v, field);
    case FIELD_LIST:
        break;
    }
    return false;
}

static bool read_field(Arena *a, const RecordTable *table, const FieldRow *row, Json v,
                       char *record, Err *err)
{
    JsonType type = json_type(v);
    AnyList list;

    if (type == JSON_NONE || type == JSON_NULL) {
        if (row->fallback)
            return true;
        return err_set(err, ERR_INVALID, "%s without '%s'", table->title, row->key);
    }
    if (row->kind == FIELD_LIST) {
        if (!read_list(a, row->of, v, &list, err))
            return err_wrap(err, "'%s'", row->key);
        memcpy(record + row->offset, &list, sizeof list);
        return true;
    }
    if (read_value(a, row, v, record + row->offset))
        return true;
    return err_set(err, ERR_INVALID, "'%s' of a %s is %s", row->key, table->title,
                   json_type_name(type));
}

static bool read_record(Arena *a, const RecordTable *table, Json v, void *record, Err *err)
{
    if (json_type(v) != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "a %s is %s, not an object", table->title,
                       json_type_name(json_type(v)));
    init_record(table, record);
    for (size_t i = 0; i < table->n; i++) {
        const FieldRow *row = &table->rows[i];

        if (!read_field(a, table, row, json_get(v, str_of(row->key)), record, err))
            return false;
    }
    return true;
}

static bool read_list(Arena *a, const RecordTable *table, Json v, AnyList *ret, Err *err)
{
    JsonIter it = json_each(v);
    AnyList list = { .cap = json_count(v) };
    Str key;
    Json item;

    if (json_type(v) != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "%ss are %s, not an array", table->title,
                       json_type_name(json_type(v)));
    list.items = arena_array(a, list.cap ? list.cap : 1, table->size);
    while (json_next(&it, &key, &item)) {
        if (!read_record(a, table, item, (char *)list.items + list.n * table->size, err))
            return err_wrap(err, "%s %zu", table->title, list.n + 1);
        list.n++;
    }
    *ret = list;
    return true;
}

/* -- writing -------------------------------------------------------------------------------- */

static void put_record(JsonWriter *w, const RecordTable *table, const char *record);

static void put_texts(JsonWriter *w, const StrList *list)
{
    json_begin(w, '[');
    for (size_t i = 0; i < list->n; i++)
        json_put_str(w, list->items[i]);
    json_end(w, ']');
}

static void put_list(JsonWriter *w, const RecordTable *table, const void *field)
{
    AnyList list;

    memcpy(&list, field, sizeof list);
    json_begin(w, '[');
    for (size_t i = 0; i < list.n; i++)
        put_record(w, table, (const char *)list.items + i * table->size);
    json_end(w, ']');
}

static void put_field(JsonWriter *w, const FieldRow *row, const void *field)
{
    json_key(w, row->key);
    switch (row->kind) {
    case FIELD_Text:
        json_put_str(w, ((const Str *)field)->p ? *(const Str *)field : STR(""));
        break;
    case FIELD_Json:
        json_put_raw(w, *(const Str *)field);
        break;
    case FIELD_Texts:
        put_texts(w, field);
        break;
    case FIELD_Int:
        json_put_int(w, *(const int64_t *)field);
        break;
    case FIELD_Real:
        json_put_double(w, *(const double *)field);
        break;
    case FIELD_Bool:
        json_put_bool(w, *(const bool *)field);
        break;
    case FIELD_LIST:
        put_list(w, row->of, field);
        break;
    }
}

static void put_record(JsonWriter *w, const RecordTable *table, const char *record)
{
    json_begin(w, '{');
    for (size_t i = 0; i < table->n; i++)
        put_field(w, &table->rows[i], record + table->rows[i].offset);
    json_end(w, '}');
}

/* -- packed ----------------------------------------------------------------------------------- */

static void pack_record(Buf *out, const RecordTable *table, const char *record);

static void pack_word(Buf *out, uint64_t word)
{
    buf_add(out, (Str){ (const char *)&word, sizeof word });
}

static void pack_text(Buf *out, Str s)
{
    pack_word(out, s.n);
    buf_add(out, s);
}

static void pack_field(Buf *out, const FieldRow *row, const void *field)
{
    AnyList list;

    switch (row->kind) {
    case FIELD_Text:
    case FIELD_Json:
        pack_text(out, *(const Str *)field);
        break;
    case FIELD_Int:
    case FIELD_Real:
        buf_add(out, (Str){ field, sizeof(uint64_t) });
        break;
    case FIELD_Bool:
        pack_word(out, *(const bool *)field);
        break;
    case FIELD_Texts:
    case FIELD_LIST:
        memcpy(&list, field, sizeof list);
        pack_word(out, list.n);
        for (size_t i = 0; i < list.n; i++)
            if (row->kind == FIELD_Texts)
                pack_text(out, ((const Str *)list.items)[i]);
            else
                pack_record(out, row->of, (const char *)list.items + i * row->of->size);
        break;
    }
}

static void pack_record(Buf *out, const RecordTable *table, const char *record)
{
    for (size_t i = 0; i < table->n; i++)
        pack_field(out, &table->rows[i], record + table->rows[i].offset);
}

static bool unpack_record(Arena *a, Str *in, const RecordTable *table, char *record);

static bool unpack_word(Str *in, uint64_t *ret)
{
    if (in->n < sizeof *ret)
        return false;
    memcpy(ret, in->p, sizeof *ret);
    *in = str_skip(*in, sizeof *ret);
    return true;
}

static bool unpack_text(Str *in, Str *ret)
{
    uint64_t n;

    if (!unpack_word(in, &n) || n > in->n)
        return false;
    *ret = str_head(*in, n);
    *in = str_skip(*in, n);
    return true;
}

static bool unpack_list(Arena *a, Str *in, const FieldRow *row, AnyList *ret)
{
    size_t size = row->kind == FIELD_Texts ? sizeof(Str) : row->of->size;
    uint64_t n;

    if (!unpack_word(in, &n) || n > in->n / sizeof n) /* each has a word at least */
        return false;
    *ret = (AnyList){ .items = arena_array(a, n ? n : 1, size), .n = n, .cap = n ? n : 1 };
    for (size_t i = 0; i < n; i++) {
        char *item = (char *)ret->items + i * size;

        if (row->kind == FIELD_Texts ? !unpack_text(in, (Str *)(void *)item)
                                     : !unpack_record(a, in, row->of, item))
            return false;
    }
    return true;
}

static bool unpack_field(Arena *a, Str *in, const FieldRow *row, void *field)
{
    uint64_t word = 0;
    AnyList list;

    switch (row->kind) {
    case FIELD_Text:
    case FIELD_Json:
        return unpack_text(in, field);
    case FIELD_Int:
    case FIELD_Real:
        return unpack_word(in, field);
    case FIELD_Bool:
        if (!unpack_word(in, &word))
            return false;
        *(bool *)field = word != 0;
        return true;
    case FIELD_Texts:
    case FIELD_LIST:
        if (!unpack_list(a, in, row, &list))
            return false;
        memcpy(field, &list, sizeof list);
        return true;
    }
    return false;
}

static bool unpack_record(Arena *a, Str *in, const RecordTable *table, char *record)
{
    for (size_t i = 0; i < table->n; i++)
        if (!unpack_field(a, in, &table->rows[i], record + table->rows[i].offset))
            return false;
    return true;
}

/* -- the tables, and the functions of each record -------------------------------------------------- */

#define FIELD_ROW(T, field_kind, name, word, text)                                                 \
    { .key = word, .kind = FIELD_##field_kind, .offset = offsetof(T, name), .fallback = text },
#define LIST_ROW(T, Item, name)                                                                    \
    { .key = #name,                                                                                \
      .kind = FIELD_LIST,                                                                          \
      .offset = offsetof(T, name),                                                                 \
      .fallback = "",                                                                              \
      .of = &Item##_table },

#define X(Type, prefix, FIELDS, called)                                                            \
    static const FieldRow Type##_rows[] = { FIELDS(FIELD_ROW, LIST_ROW, Type) };                   \
    static const RecordTable Type##_table = {                                                      \
        .title = called, .rows = Type##_rows, .n = ARRAY_LEN(Type##_rows), .size = sizeof(Type)    \
    };                                                                                             \
                                                                                                   \
    void prefix##_init(Type *r)                                                                    \
    {                                                                                              \
        init_record(&Type##_table, r);                                                             \
    }                                                                                              \
                                                                                                   \
    bool prefix##_read(Arena *a, Json v, Type *ret, Err *err)                                      \
    {                                                                                              \
        Type r;                                                                                    \
                                                                                                   \
        if (!read_record(a, &Type##_table, v, &r, err))                                            \
            return false;                                                                          \
        *ret = r;                                                                                  \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    bool prefix##s_read(Arena *a, Json v, Type##s *ret, Err *err)                                  \
    {                                                                                              \
        AnyList list;                                                                              \
                                                                                                   \
        if (!read_list(a, &Type##_table, v, &list, err))                                           \
            return false;                                                                          \
        memcpy(ret, &list, sizeof list);                                                           \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    void prefix##_put(JsonWriter *w, const Type *r)                                                \
    {                                                                                              \
        put_record(w, &Type##_table, (const char *)r);                                             \
    }
SLEEP_RECORDS(X)
#undef X

static const FieldRow tasks_row = { .kind = FIELD_LIST, .of = &TaskRecord_table };

void trace_pack(Buf *out, const Trace *t)
{
    pack_record(out, &Trace_table, (const char *)t);
}

bool trace_unpack(Arena *a, Str packed, Trace *ret)
{
    return unpack_record(a, &packed, &Trace_table, (char *)ret) && !packed.n;
}

void tasks_pack(Buf *out, const TaskRecords *tasks)
{
    pack_field(out, &tasks_row, tasks);
}

bool tasks_unpack(Arena *a, Str packed, TaskRecords *ret)
{
    return unpack_field(a, &packed, &tasks_row, ret) && !packed.n;
}
