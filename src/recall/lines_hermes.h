/* lines_hermes.h - sessions as 'hermes sessions export' writes them and Hermes imports them: a line
 * a session, all columns of its row, and its messages as an array, likewise. Tool calls and
 * structured content are JSON there, not text. */
#ifndef TALARIA_RECALL_LINES_HERMES_H
#define TALARIA_RECALL_LINES_HERMES_H

#include "recall/lines.h"
#include "text/json.h"

/* Columns of a row that we have no field for. */
typedef struct StoredCells {
    StoredCell *all;
    size_t n;
} StoredCells;

/* One session: begin, its messages, end. `w` is kept by the caller from begin to end. */
void hermes_put_begin(JsonWriter *w, const Session *s, StoredCells cells, bool raw);
void hermes_put_message(JsonWriter *w, const Session *s, const Message *m, StoredCells cells,
                        bool raw);
void hermes_put_end(JsonWriter *w);

/* Whether a line is such a session. */
bool hermes_is_session(Json line);
MUST_CHECK bool hermes_line_read(Arena *a, Json line, Line *ret, Err *err);

#endif
