/* rows_events.h - what rows.c lends to rows_events.c; nobody else includes it. */
#ifndef TALARIA_STORE_ROWS_EVENTS_H
#define TALARIA_STORE_ROWS_EVENTS_H

#include "store/db.h"
#include "store/rows.h"

typedef struct RowsEvents RowsEvents; /* statements, prepared when first needed */

typedef struct RowsInside {
    Db *db;
    RowsEvents **events;
    int slice_ms;
} RowsInside;

RowsInside rows_inside(Rows *rows);
RowsEvents *rows_events_free(RowsEvents *e);

#endif
