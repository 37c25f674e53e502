/* sqlite_inside.h - one open database, as the files of the SQLite engine see it. */
#ifndef TALARIA_STORE_SQLITE_INSIDE_H
#define TALARIA_STORE_SQLITE_INSIDE_H

#include "store/db_sqlite.h"
#include "store/engine.h"

enum {
    SLICE_WAL_MS = 60,     /* of the 100 ms that a read may take */
    SLICE_ROLLBACK_MS = 12 /* of 25 ms */
};

/* A one-shot question ('talaria ask') is kept, but listed and counted only when asked for by its
 * source. */
#define NO_ONE_SHOTS " AND source IS NOT '" SOURCE_ASK "'"

/* Where a list continues. A time of others may be NULL, text or a blob: a key is bound as it is
 * stored, since SQLite has an order for all of them and our numbers have not. NULL compares with
 * nothing, so it has its own statement. */
typedef enum KeyKind { KEY_NONE, KEY_NULL, KEY_VALUE, KEY_KINDS } KeyKind;

struct Conn {
    Db *db;
    bool wal;
    bool has_active, has_archived, has_model_config, has_last_activity, has_message_count;
    char *session_columns, *message_columns;
    Stmt *get, *at, *continuation, *first_words, *newest, *newest_at, *mark;
    Stmt *messages[2][KEY_KINDS]; /* [inactive too][after what kind of key] */
    Stmt *message_key, *session_key, *session_cells, *message_cells, *prompt;
};

/* By when a read that begins now has to end. */
int64_t conn_slice_end(const Conn *c);

/* Prepared once a connection: `*slot` keeps it. */
MUST_CHECK bool conn_prepared(Conn *c, Stmt **slot, const char *sql, Err *err);

/* Of the engine (sqlite_activity.c). */
MUST_CHECK bool conn_activity(Conn *c, Arena *a, const SessionQuery *query, const KnownKeys *known,
                              ActivityKeys *ret, Err *err);

#endif
