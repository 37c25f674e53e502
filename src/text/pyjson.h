/* pyjson.h - JSON as Python's json module reads and writes it.
 *
 * Hermes keeps structured content and tool calls as Python wrote them, and the achievements are
 * counted over what Python would write again. So this reader takes what json.h refuses: NaN and
 * Infinity, halves of surrogate pairs, integers of any length; and the writer gives json.dumps() of
 * it, byte for byte.
 *
 * Strings are UTF-8 in which half of a surrogate pair is encoded as three bytes by itself (WTF-8);
 * bytes that are not UTF-8 become U+FFFD. Values live in the arena that was passed in and may point
 * into the text. pyjson_put writes a value into a document of json.h. */
#ifndef TALARIA_TEXT_PYJSON_H
#define TALARIA_TEXT_PYJSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "text/json.h"

enum {
    PYJSON_DEPTH = 1000,      /* levels of nesting; Python's own limit is about that */
    PYJSON_VALUES = 4000000,  /* values in one document */
    PYJSON_INT_DIGITS = 4300, /* Python refuses longer ones */
};

typedef enum PyType {
    PY_NULL,
    PY_FALSE,
    PY_TRUE,
    PY_INT, /* text: its digits, as long as they are */
    PY_FLOAT,
    PY_STR,
    PY_LIST,
    PY_DICT
} PyType;

typedef struct PyValue {
    PyType type;
    uint32_t n; /* items of a list, pairs of a dict */
    union {
        Str text;
        double real;
        struct PyValue *items; /* of a dict: key, value, key, value, ... */
    };
} PyValue;

/* False: json.loads() would raise, or a limit above was met. A repeated key keeps its first place
 * and its last value. */
MUST_CHECK bool pyjson_read(Arena *a, Str text, PyValue *ret);

/* JSON of outside programs, read in spite of their characters: bytes that are no UTF-8 and halves
 * of surrogate pairs become U+FFFD, NaN and infinities null. NULL: no JSON. */
JsonDoc *json_parse_mended(Arena *a, Str text);

/* NULL where v is no dict or has no such key. */
const PyValue *pyjson_get(const PyValue *v, Str key);

/* bool(v): not null, false, zero or empty. */
bool pyjson_truthy(const PyValue *v);

/* json.dumps(v): ", " and ": ", ASCII only, the shortest floats that read back the same. */
void pyjson_write(Buf *out, const PyValue *v);

/* As a value of w, in UTF-8. Without w->python the result is strict JSON: what only Python can say
 * becomes null (NaN, infinities) or U+FFFD (halves of surrogate pairs). */
void pyjson_put(JsonWriter *w, const PyValue *v);

#endif
