/* json.h - reading JSON, and writing it.
 *
 * Reading is strict (RFC 8259, UTF-8 checked, no trailing commas, at most LIMIT_JSON_DEPTH levels
 * and LIMIT_JSON_BYTES bytes) and stands on simdjson, behind the one C++ file of the program. A
 * refusal says what was expected and where: "line 3, column 14: ...".
 *
 * A Json is a value by itself: two words, borrowed from its JsonDoc, which owns all text. Asking a
 * value for something that it is not never fails: the answer is JSON_NONE, an empty Str, or false,
 * so that a reader of outside shapes can walk down a path and look once, at the end. */
#ifndef TALARIA_TEXT_JSON_H
#define TALARIA_TEXT_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

typedef enum JsonType {
    JSON_NONE, /* there is no such value */
    JSON_NULL,
    JSON_BOOL,
    JSON_INT, /* fits int64_t */
    JSON_REAL,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} JsonType;

typedef struct JsonDoc JsonDoc;

typedef struct Json {
    const void *doc; /* NULL: JSON_NONE */
    size_t at;
} Json;

const char *json_reader_version(void); /* of simdjson */

/* -- reading -- */

/* Copies what it needs of text. NULL and err on anything that is not one JSON value. */
MUST_CHECK JsonDoc *json_parse(Str text, Err *err);
JsonDoc *json_free(JsonDoc *doc);
AUTO_FREE(JsonDoc, json_free)

typedef struct JsonFault {
    const char *why;         /* NULL: the text is JSON */
    size_t at, line, column; /* byte offset; line and column count from 1, column in bytes */
} JsonFault;

/* Where a text stops being JSON, and why: for json_parse to say it after a refusal. */
JsonFault json_locate(Str text);

Json json_root(const JsonDoc *doc);
JsonType json_type(Json v);
const char *json_type_name(JsonType type); /* "an object", "a string", for messages */

/* The value under a key; the last one where a key is repeated. */
Json json_get(Json object, Str key);
Json json_at(Json array, size_t i);
size_t json_count(Json v); /* of an array or object, else 0 */

Str json_str(Json v);                /* the empty Str with p NULL where v is no string */
bool json_bool(Json v, bool *ret);   /* false, ret untouched: not a boolean */
bool json_int(Json v, int64_t *ret); /* also a real number without fraction */
bool json_uint(Json v, uint64_t *ret);
bool json_double(Json v, double *ret); /* any number */

/* JsonIter it = json_each(v);  while (json_next(&it, &key, &item)) ...   key is empty in arrays */
typedef struct JsonIter {
    Json next, end;
    bool is_object;
} JsonIter;
JsonIter json_each(Json v);
bool json_next(JsonIter *it, Str *ret_key, Json *ret_item);

/* -- writing -- */

/* Commas, colons, escapes and indentation by itself; the caller keeps begin and end in pairs.
 * Invalid UTF-8 becomes U+FFFD; NaN and infinities become null. indent 0: one line. */
typedef struct JsonWriter {
    Buf *out;
    int indent, depth;
    bool first, after_key;
    bool ascii;  /* everything beyond ASCII as \uXXXX, as other tools write their files */
    bool python; /* for files that Python reads: halves of surrogate pairs as \uXXXX, NaN by name */
} JsonWriter;

#define JSON_WRITER(buf, spaces) ((JsonWriter){ .out = (buf), .indent = (spaces), .first = true })

void json_begin(JsonWriter *w, char bracket); /* '{' or '[' */
void json_end(JsonWriter *w, char bracket);   /* '}' or ']' */
void json_key(JsonWriter *w, const char *key);
void json_key_str(JsonWriter *w, Str key);
void json_put_str(JsonWriter *w, Str s);
void json_put_int(JsonWriter *w, int64_t n);
void json_put_double(JsonWriter *w, double n); /* shortest that reads back the same */
void json_put_bool(JsonWriter *w, bool b);
void json_put_null(JsonWriter *w);
void json_put(JsonWriter *w, Json v);    /* a value that was read, all of it */
void json_put_raw(JsonWriter *w, Str s); /* s is JSON already */

/* "key": value in one go; an empty Str with p NULL is written as null */
void json_field_str(JsonWriter *w, const char *key, Str s);
void json_field_int(JsonWriter *w, const char *key, int64_t n);
void json_field_double(JsonWriter *w, const char *key, double n);
void json_field_bool(JsonWriter *w, const char *key, bool b);
void json_field_null(JsonWriter *w, const char *key);
void json_field_int_or_null(JsonWriter *w, const char *key, int64_t n, bool known);
void json_field_begin(JsonWriter *w, const char *key, char bracket); /* json_end ends it */

#endif
