/* lines_hermes.h - sessions as 'hermes sessions export' writes them and Hermes imports them: a line a session, all of its
 * fields, and its messages as an array. Tool calls and structured content are JSON there, not text. */
#ifndef TALARIA_RECALL_LINES_HERMES_H
#define TALARIA_RECALL_LINES_HERMES_H

#include "recall/lines.h"
#include "text/json.h"

/* One session: begin, its messages, end. `w` is kept by the caller from begin to end. */
void hermes_put_begin(JsonWriter *w, const Session *s, bool raw);
void hermes_put_message(JsonWriter *w, const Session *s, const Message *m, bool raw);
void hermes_put_end(JsonWriter *w);

/* Whether a line is such a session. */
bool hermes_is_session(Json line);
MUST_CHECK bool hermes_line_read(Arena *a, Json line, Line *ret, Err *err);

#endif
