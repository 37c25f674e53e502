/* rows_events.h - what rows.c lends to rows_events.c; no other file includes it. */
#ifndef TALARIA_STORE_ROWS_EVENTS_H
#define TALARIA_STORE_ROWS_EVENTS_H

#include "store/db_sqlite.h"
#include "store/rows.h"

typedef struct RowsEvents RowsEvents; /* statements, prepared when first needed */

/* In our own database: not what a conversation copied from the session that it continues. Other
 * databases have no such rows, and are spared the look behind each long message. */
#define ROWS_NO_COPY "display_kind IS NOT '" MESSAGE_CONTINUED "'"

/* Each message is read in one session: not here what is a copy, or is kept by the runtime that
 * answered it. */
#define ROWS_ONCE                                                                                  \
    ROWS_NO_COPY " AND NOT (kept_elsewhere(session_id, NULL) AND EXISTS (SELECT 1 FROM "           \
                 "conversation_message x JOIN run u ON u.id = x.run_id WHERE x.message_id = "      \
                 "messages.id AND u.state IN ('completed', 'truncated') AND "                      \
                 "kept_elsewhere(x.conversation_id, x.runtime)))"

/* Of a message: whether it is of a turn that a guest asked for. Where there is the column. */
#define ROWS_OF_GUEST                                                                              \
    "EXISTS (SELECT 1 FROM conversation_message g WHERE g.message_id = messages.id AND g.guest)"

typedef struct RowsInside {
    Db *db;
    RowsEvents **events;
    int slice_ms;
} RowsInside;

RowsInside rows_inside(Rows *rows);
RowsEvents *rows_events_free(RowsEvents *e);

#endif
