/* query.h - what a request's target says: path segments, ?key=value, and the marks of pages.
 *
 * Everything here reads outside bytes and is strict: a broken escape, a NUL, invalid UTF-8 or a
 * number out of range is ERR_USAGE that names the parameter, never a guess. Pure functions over
 * slices; what had to be decoded lives in the arena. */
#ifndef TALARIA_HTTP_QUERY_H
#define TALARIA_HTTP_QUERY_H

#include "base/arena.h"
#include "base/err.h"
#include "store/session.h"

/* "%41" and, in a query, "+"; valid UTF-8 without control characters, or false. */
MUST_CHECK bool url_decode(Arena *a, Str raw, bool plus, Str *ret);

/* The value of a key: p NULL where it is not there. A key given twice is ERR_USAGE. */
MUST_CHECK bool query_text(Arena *a, Str query, const char *key, Str *ret, Err *err);
MUST_CHECK bool query_number(Arena *a, Str query, const char *key, int64_t min, int64_t max,
                             int64_t fallback, int64_t *ret, Err *err);
MUST_CHECK bool query_flag(Arena *a, Str query, const char *key, bool *ret, Err *err);
MUST_CHECK bool query_time(Arena *a, Str query, const char *key, double *ret, Err *err);

/* -- marks of pages: opaque to their users, three numbers to us -- */

/* Of a list of sessions: home, started_at and rowid. */
Str cursor_of_session(Arena *a, const Session *s);
MUST_CHECK bool cursor_parse_session(Str text, size_t homes, Session *ret, Err *err);

/* Of a transcript: which part, and timestamp and id of the last message. */
typedef struct MessageMark {
    size_t part;
    Message last;
} MessageMark;
Str cursor_of_message(Arena *a, size_t part, const Message *m);
MUST_CHECK bool cursor_parse_message(Str text, size_t parts, MessageMark *ret, Err *err);

#endif
