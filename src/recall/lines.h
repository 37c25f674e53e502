/* lines.h - sessions as JSON lines: the form that export writes and import reads.
 *
 *   {"format":1,"kind":"session","id":...}   every field of a Session
 *   {"kind":"message","role":...}            its messages, in order
 *   {"kind":"end","messages":2}              whole up to here
 *
 * A text that is absent and a number that is 0 are left out, but for "active", which is 1 where it
 * is absent. Bytes that are not UTF-8 are {"base64": "..."}; a number that is not finite is
 * "Infinity" or
 * "-Infinity". Unknown fields are passed over. Written, read and written again it is the same, byte
 * for byte. */
#ifndef TALARIA_RECALL_LINES_H
#define TALARIA_RECALL_LINES_H

#include "base/buf.h"
#include "store/session.h"

typedef enum LineKind { LINE_SESSION, LINE_MESSAGE, LINE_END, LINE_WHOLE } LineKind;

typedef struct Line {
    LineKind kind;
    Session session;
    Message message;  /* without session_id and id */
    int64_t messages; /* LINE_END, LINE_WHOLE */
    Message *all;     /* LINE_WHOLE: of a line of Hermes' own export, which is a whole session */
} Line;

/* Text lives in the arena. ERR_INVALID says what is wrong. */
MUST_CHECK bool line_read(Arena *a, Str text, Line *ret, Err *err);

/* `raw`: secrets and all; else without them. A line feed ends each. */
void line_put_session(Buf *out, const Session *s, bool raw);
void line_put_message(Buf *out, const Message *m, bool raw);
void line_put_end(Buf *out, int64_t messages);

/* Names and ids pair things with each other: they are no secrets. */
bool line_field_stays(const char *name);

#endif
