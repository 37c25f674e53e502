/* rows_events.h - what rows.c lends to rows_events.c; nobody else includes it. */
#ifndef TALARIA_STORE_ROWS_EVENTS_H
#define TALARIA_STORE_ROWS_EVENTS_H

#include "agent/conversations_adopt.h"
#include "store/db.h"
#include "store/rows.h"

typedef struct RowsEvents RowsEvents; /* statements, prepared when first needed */

/* In our own database: not what a conversation copied from the session that it continues. Other databases have
 * no such rows, and are spared the look behind each long message. */
#define ROWS_NO_COPY "display_kind IS NOT '" MESSAGE_CONTINUED "'"

typedef struct RowsInside {
    Db *db;
    RowsEvents **events;
    int slice_ms;
} RowsInside;

RowsInside rows_inside(Rows *rows);
RowsEvents *rows_events_free(RowsEvents *e);

#endif
