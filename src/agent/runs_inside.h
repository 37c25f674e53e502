/* runs_inside.h - the database of a Runs and its transactions; for runs*.c and conversations.c. */
#ifndef TALARIA_AGENT_RUNS_INSIDE_H
#define TALARIA_AGENT_RUNS_INSIDE_H

#include "agent/runs.h"
#include "store/db.h"
#include "store/own.h"

Db *runs_db(Runs *r);
Str runs_data(const Runs *r); /* folder of the database */
int64_t now_ms(void);

/* A transaction: begin, then end with what came of it; a failure rolls back. */
MUST_CHECK bool runs_begin_tx(Runs *r, Err *err);
MUST_CHECK bool runs_end_tx(Runs *r, bool ok, Err *err);
MUST_CHECK bool runs_end_synced(Runs *r, bool ok, Err *err);

/* For transactions of this room: rows of a new conversation (conversation_row: its session is there
 * already), of one message that stands already, of turns with their messages. */
struct Conversation;
struct ChatTurn;
MUST_CHECK bool conversation_row(Runs *r, const struct Conversation *c, Err *err);
MUST_CHECK bool conversation_rows(Runs *r, const struct Conversation *c, Err *err);
MUST_CHECK bool turn_add(Runs *r, Str id, int64_t message_id, Str runtime, int64_t seq, int64_t at,
                         Err *err);
MUST_CHECK bool turns_add(Runs *r, Str conversation_id, const struct ChatTurn *turns, size_t n,
                          Err *err);

/* What these runs, which nobody continues with, have said, comes to its place. */
MUST_CHECK bool runs_place_tail(Runs *r, const Str *ids, size_t n, Err *err);

/* Inside of the transaction that writes: ERR_CONFLICT where the session lives elsewhere. surface:
 * of a chat platform; empty: this machine. A session that never went anywhere has no owner. */
MUST_CHECK bool runs_may_write(Runs *r, Str session_id, Str surface, Err *err);
MUST_CHECK bool runs_may_write_at(Runs *r, Str home, Str session_id, Str surface, Err *err);

#endif
