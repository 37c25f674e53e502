/* lines.h - reading what peers write: JSON of outside shapes, looked at field by field. */
#ifndef TALARIA_RUNTIMES_LINES_H
#define TALARIA_RUNTIMES_LINES_H

#include "text/pyjson.h"

static inline Json at(Json v, const char *key)
{
    return json_get(v, str_of(key));
}

static inline Str str_at(Json v, const char *key)
{
    Str s = json_str(at(v, key));

    return s.p ? s : STR("");
}

static inline bool is_at(Json v, const char *key, const char *value)
{
    return str_eqz(str_at(v, key), value);
}

int64_t int_at(Json v, const char *key); /* a count; 0 where there is none */
bool true_at(Json v, const char *key);   /* false where there is none */
Str text_of(Arena *a, Json v);           /* a string as it is, else as JSON; "" for none */
/* The version in what a program says of itself: "2.1.325 (Claude Code)", "talaria/0.166.0 (Debian
 * 12; …)", "codex-cli 0.166.0"; text without one stays as it is. */
Str version_in(Str text);
Str error_text(Arena *a, Json v); /* of {message}, {error:{message}}, text, JSON in text */

#endif
