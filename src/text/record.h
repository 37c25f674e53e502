/* record.h - one table per struct, from which its JSON is read and written.
 *
 * A table lists the members of a struct with their JSON keys. The reader and the writer both use
 * it, so a key cannot be in one and missing in the other. The JSON form is an object with these
 * keys, in the order of the table. Readers skip unknown keys, treat null as "not given", and refuse
 * a value of another type with a message that names the key.
 *
 * For a struct that exists, list its members; the kind of a field follows from the member's type:
 *
 *   static const RecordField fields[] = {
 *       RECORD_FIELD(Handoff, id, .required = true),
 *       RECORD_FIELD(Handoff, dest_key, .key = "key", .when_empty = RECORD_NULL),
 *       RECORD_ENUM(Handoff, state, handoff_state_names),
 *       RECORD_FIELD(Handoff, chat.title, .key = "title"),      a member of a member
 *       RECORD_NESTED(Handoff, usage, &usage_record),           an object
 *       RECORD_OPTIONAL(Handoff, owner, &owner_record),         an object, if the pointer is not
 * NULL RECORD_LIST(Handoff, steps, &step_record),              an array; LIST_OF(Step) steps
 *   };
 *   const RecordTable handoff_record = RECORD(Handoff, "handoff", fields);
 *
 *   record_put(&w, &handoff_record, &handoff);
 *   if (!record_read(arena, &handoff_record, json, &handoff, &err)) ...
 *
 * For a new struct, RECORD_STRUCT makes the struct from the table too, and RECORD_FUNCTIONS gives
 * it typed functions (see below; sleep/task/types.h is an example).
 *
 * Records are values. Text and lists that are read live in the arena that the caller passes. Tables
 * are constant and may be used by any thread. */
#ifndef TALARIA_TEXT_RECORD_H
#define TALARIA_TEXT_RECORD_H

#include "base/arena.h"
#include "base/err.h"
#include "text/json.h"

/* -- Lists -- */

/* A list in an arena; LIST_PUSH copies the item. */
#define LIST_OF(Type)                                                                              \
    struct {                                                                                       \
        Type *items;                                                                               \
        size_t n, cap;                                                                             \
    }
#define LIST_PUSH(a, list, item) ARENA_PUSH(a, (list)->items, (list)->n, (list)->cap, item)

typedef LIST_OF(Str) StrList;
typedef LIST_OF(double) DoubleList;

bool strs_have(const StrList *list, Str s);
/* Appends s unless the list has it. */
void strs_add_new(Arena *a, StrList *list, Str s);
/* An array of strings. */
void strs_put(JsonWriter *w, const StrList *list);

/* -- Tables -- */

typedef enum RecordKind {
    RECORD_STR,
    RECORD_STRS,    /* StrList */
    RECORD_DOUBLES, /* DoubleList */
    RECORD_INT64,
    RECORD_INT32,
    RECORD_UINT32,
    RECORD_DOUBLE,
    RECORD_BOOL,
    RECORD_WORD,     /* an enum, by name */
    RECORD_OBJECT,   /* another record, by value */
    RECORD_EMBEDDED, /* the same, its fields in the object of the outer record */
    RECORD_POINTER,  /* another record in the arena; NULL if not given */
    RECORD_OBJECTS,  /* LIST_OF another record */
} RecordKind;

/* What the writer does with an empty value: "", 0, false, a list without items, NULL. */
typedef enum RecordEmpty {
    RECORD_WRITE,         /* write it like any other; a NULL pointer as null */
    RECORD_NULL,          /* write null */
    RECORD_OMIT,          /* leave the key out */
    RECORD_NULL_STR,      /* write null for STR_NONE only, "" as it is */
    RECORD_NULL_NEGATIVE, /* of a number whose negative values mean "unknown": write null */
    RECORD_OMIT_NEGATIVE, /* or leave the key out */
} RecordEmpty;

typedef struct RecordTable RecordTable;

typedef struct RecordField {
    const char *name; /* of the member */
    const char *key;  /* in JSON; NULL: the same */
    RecordKind kind;
    RecordEmpty when_empty;
    bool required;            /* reading fails without it */
    bool is_json;             /* a Str that holds the JSON text of any value */
    const char *fallback;     /* value if not given, as text ("train", "0.5", "true"); NULL: zero */
    const char *const *words; /* of an enum or a bool: one name per value from 0 */
    size_t n_words;
    const RecordTable *record; /* of RECORD_OBJECT, RECORD_POINTER, RECORD_OBJECTS */
    size_t offset;
} RecordField;

struct RecordTable {
    const char *title; /* what messages call it: "task" */
    const RecordField *fields;
    size_t n, size;
    bool lenient; /* values of another type count as not given: for files that others write */
};

/* clang-format off */
#define RECORD_KIND_OF(member)                                                                     \
    _Generic((member),                                                                             \
        Str: RECORD_STR, StrList: RECORD_STRS, bool: RECORD_BOOL, double: RECORD_DOUBLE,           \
        DoubleList: RECORD_DOUBLES, int64_t: RECORD_INT64, size_t: RECORD_INT64,                   \
        int32_t: RECORD_INT32, uint32_t: RECORD_UINT32)
/* clang-format on */

/* Rows of a table. Further members of RecordField may follow: .key = "...", .required = true. */
#define RECORD_ROW(T, member, the_kind, ...)                                                       \
    {                                                                                              \
        .name = #member, .offset = offsetof(T, member), .kind = (the_kind), __VA_ARGS__            \
    }
#define RECORD_FIELD(T, member, ...)                                                               \
    RECORD_ROW(T, member, RECORD_KIND_OF(((T *)NULL)->member), __VA_ARGS__)
#define RECORD_ENUM(T, member, names, ...)                                                         \
    RECORD_ROW(T, member, RECORD_WORD, .words = (names), .n_words = ARRAY_LEN(names), __VA_ARGS__)
#define RECORD_NESTED(T, member, of, ...)                                                          \
    RECORD_ROW(T, member, RECORD_OBJECT, .record = (of), __VA_ARGS__)
#define RECORD_EMBED(T, member, of) RECORD_ROW(T, member, RECORD_EMBEDDED, .record = (of))
#define RECORD_OPTIONAL(T, member, of, ...)                                                        \
    RECORD_ROW(T, member, RECORD_POINTER, .record = (of), __VA_ARGS__)
#define RECORD_LIST(T, member, of, ...)                                                            \
    RECORD_ROW(T, member, RECORD_OBJECTS, .record = (of), __VA_ARGS__)

#define RECORD(T, the_title, rows, ...)                                                            \
    {                                                                                              \
        .title = (the_title), .fields = (rows), .n = ARRAY_LEN(rows), .size = sizeof(T),           \
        __VA_ARGS__                                                                                \
    }

/* -- Reading and writing -- */

/* Every field its fallback. */
void record_init(const RecordTable *record, void *ret);

/* ERR_INVALID names the key. */
MUST_CHECK bool record_read(Arena *a, const RecordTable *record, Json v, void *ret, Err *err);
/* Reads an array into a LIST_OF the struct. */
MUST_CHECK bool record_read_list(Arena *a, const RecordTable *record, Json v, void *ret_list,
                                 Err *err);

void record_put(JsonWriter *w, const RecordTable *record, const void *value);
/* Only the fields, for an object that the caller begins and ends. */
void record_put_fields(JsonWriter *w, const RecordTable *record, const void *value);
void record_put_list(JsonWriter *w, const RecordTable *record, const void *list);

/* A binary form for caches on this machine: much faster to read than JSON. What record_unpack reads
 * borrows from the bytes; it returns false if they are something else. */
void record_pack(Buf *out, const RecordTable *record, const void *value);
MUST_CHECK bool record_unpack(Arena *a, const RecordTable *record, Str packed, void *ret);
void record_pack_list(Buf *out, const RecordTable *record, const void *list);
MUST_CHECK bool record_unpack_list(Arena *a, const RecordTable *record, Str packed, void *ret_list);

/* -- Structs made from a table --
 *
 *   #define TASK_FIELDS(F, R, T)                  F: a field; R: a list of another record
 *       F(T, Str, id, .required = true)
 *       F(T, int64_t, tries, .fallback = "1")
 *       R(T, Edit, edits, edit)                   Edits edits; its items by edit_record
 *
 *   RECORD_STRUCT(Task, TASK_FIELDS)              in the header: struct Task, and Tasks, a list
 *   RECORD_FUNCTIONS(Task, task)                  task_init, task_read, task_put, ...
 *   RECORD_TABLE(Task, task, TASK_FIELDS, "task") in the .c file: task_record */

#define RECORD_MEMBER(T, type, name, ...)            type name;
#define RECORD_LIST_MEMBER(T, Item, name, item, ...) Item##s name;
#define RECORD_STRUCT(Type, FIELDS)                                                                \
    typedef struct Type {                                                                          \
        FIELDS(RECORD_MEMBER, RECORD_LIST_MEMBER, Type)                                            \
    } Type;                                                                                        \
    typedef LIST_OF(Type) Type##s;

#define RECORD_FUNCTIONS(Type, prefix)                                                             \
    extern const RecordTable prefix##_record;                                                      \
                                                                                                   \
    static inline void prefix##_init(Type *ret)                                                    \
    {                                                                                              \
        record_init(&prefix##_record, ret);                                                        \
    }                                                                                              \
                                                                                                   \
    MUST_CHECK static inline bool prefix##_read(Arena *a, Json v, Type *ret, Err *err)             \
    {                                                                                              \
        return record_read(a, &prefix##_record, v, ret, err);                                      \
    }                                                                                              \
                                                                                                   \
    MUST_CHECK static inline bool prefix##s_read(Arena *a, Json v, Type##s *ret, Err *err)         \
    {                                                                                              \
        return record_read_list(a, &prefix##_record, v, ret, err);                                 \
    }                                                                                              \
                                                                                                   \
    static inline void prefix##_put(JsonWriter *w, const Type *value)                              \
    {                                                                                              \
        record_put(w, &prefix##_record, value);                                                    \
    }                                                                                              \
                                                                                                   \
    static inline void prefix##_pack(Buf *out, const Type *value)                                  \
    {                                                                                              \
        record_pack(out, &prefix##_record, value);                                                 \
    }                                                                                              \
                                                                                                   \
    MUST_CHECK static inline bool prefix##_unpack(Arena *a, Str packed, Type *ret)                 \
    {                                                                                              \
        return record_unpack(a, &prefix##_record, packed, ret);                                    \
    }                                                                                              \
                                                                                                   \
    static inline void prefix##s_pack(Buf *out, const Type##s *list)                               \
    {                                                                                              \
        record_pack_list(out, &prefix##_record, list);                                             \
    }                                                                                              \
                                                                                                   \
    MUST_CHECK static inline bool prefix##s_unpack(Arena *a, Str packed, Type##s *ret)             \
    {                                                                                              \
        return record_unpack_list(a, &prefix##_record, packed, ret);                               \
    }

#define RECORD_MEMBER_ROW(T, type, name, ...)     RECORD_FIELD(T, name, __VA_ARGS__),
#define RECORD_LIST_ROW(T, Item, name, item, ...) RECORD_LIST(T, name, &item##_record, __VA_ARGS__),
#define RECORD_TABLE(Type, prefix, FIELDS, title)                                                  \
    static const RecordField prefix##_fields[] = { FIELDS(RECORD_MEMBER_ROW, RECORD_LIST_ROW,      \
                                                          Type) };                                 \
    const RecordTable prefix##_record = RECORD(Type, title, prefix##_fields);

#endif
