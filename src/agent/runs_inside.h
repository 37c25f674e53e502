/* runs_inside.h - statements of a Runs, kept prepared; for runs*.c and conversations.c. */
#ifndef TALARIA_AGENT_RUNS_INSIDE_H
#define TALARIA_AGENT_RUNS_INSIDE_H

#include "agent/runs.h"
#include "store/db.h"
#include "store/own.h"

typedef struct Bind {
    enum { BIND_TEXT, BIND_INT, BIND_REAL, BIND_BLOB } kind;
    Str text;
    int64_t number;
    double real;
} Bind;

/* Empty text is bound as it is, NULL only where p is NULL. */
#define TEXT(s)  ((Bind){ .kind = BIND_TEXT, .text = (s) })
#define BLOB(s)  ((Bind){ .kind = BIND_BLOB, .text = (s) })
#define INT(n)   ((Bind){ .kind = BIND_INT, .number = (n) })
#define REAL(x)  ((Bind){ .kind = BIND_REAL, .real = (x) })
#define MAYBE(s) TEXT((s).n ? (s) : STR_NONE)

typedef Stmt Query; /* a statement in use; at the end of its scope it is reset and stays prepared */
static inline Query *query_done(Query *q)
{
    sqlite3_reset(q);
    return NULL;
}
AUTO_FREE(Query, query_done)

Db *runs_db(Runs *r);
Str runs_data(const Runs *r); /* folder of the database */
int64_t now_ms(void);

/* sql is a literal: its address is the name under which it is kept. */
MUST_CHECK bool runs_query(Runs *r, Query **ret, const char *sql, const Bind *binds, int n,
                           Err *err);
#define QUERY(r, q, err, sql, ...)                                                                 \
    runs_query((r), (q), (sql), (const Bind[]){ __VA_ARGS__ },                                     \
               (int)ARRAY_LEN(((const Bind[]){ __VA_ARGS__ })), (err))

MUST_CHECK bool runs_do(Runs *r, const char *sql, const Bind *binds, int n, Err *err);
#define DO(r, err, sql, ...)                                                                       \
    runs_do((r), (sql), (const Bind[]){ __VA_ARGS__ },                                             \
            (int)ARRAY_LEN(((const Bind[]){ __VA_ARGS__ })), (err))

int64_t runs_changes(Runs *r); /* rows that the last statement changed */

/* A transaction: begin, then end with what came of it; a failure rolls back. */
MUST_CHECK bool runs_begin_tx(Runs *r, Err *err);
MUST_CHECK bool runs_end_tx(Runs *r, bool ok, Err *err);
MUST_CHECK bool runs_end_synced(Runs *r, bool ok, Err *err);

Str column(Arena *a, Query *q, int at); /* copied; empty where NULL */

/* For transactions of this room: rows of a new conversation (conversation_row: its session is there already),
 * of one message that stands already, of turns with their messages. */
struct Conversation;
struct ChatTurn;
MUST_CHECK bool conversation_row(Runs *r, const struct Conversation *c, Err *err);
MUST_CHECK bool conversation_rows(Runs *r, const struct Conversation *c, Err *err);
MUST_CHECK bool turn_add(Runs *r, Str id, int64_t message_id, Str runtime, int64_t seq, int64_t at,
                         Err *err);
MUST_CHECK bool turns_add(Runs *r, Str conversation_id, const struct ChatTurn *turns, size_t n,
                          Err *err);

/* What these runs, which nobody goes on with, have said, comes to its place. */
MUST_CHECK bool runs_place_tail(Runs *r, const Str *ids, size_t n, Err *err);

/* Inside of the transaction that writes: ERR_CONFLICT where the session lives elsewhere. surface: of a chat
 * platform; empty: this machine. A session that never went anywhere has no owner. */
MUST_CHECK bool runs_may_write(Runs *r, Str session_id, Str surface, Err *err);
MUST_CHECK bool runs_may_write_at(Runs *r, Str home, Str session_id, Str surface, Err *err);

#endif
