/* rows.h - one home as bare rows, for a feature that counts them all.
 *
 * Where store.h shows lineages and copies what it hands out, this walks every session and lends the
 * bytes of a message only during the call: a scan of the whole history stands on it. The rules for
 * a foreign database are the same; a walk ends its transaction every few milliseconds and continues
 * behind the last row. One thread a handle. */
#ifndef TALARIA_STORE_ROWS_H
#define TALARIA_STORE_ROWS_H

#include "base/arena.h"
#include "base/err.h"
#include "store/homes.h"
#include "store/session.h"

typedef struct Rows Rows;

typedef struct RowsQuery {
    bool archived;  /* the archived sessions too */
    bool compacted; /* rows that were compacted away, too: each once, where it was inserted again */
    bool no_guests; /* of our own: neither what guests said nor sessions in which nobody else
                     * spoke */
    bool all_models; /* every model that a session used, one a line, its last one first */
} RowsQuery;

MUST_CHECK Rows *rows_open(const Home *home, const RowsQuery *query, Err *err);
Rows *rows_close(Rows *rows);
AUTO_FREE(Rows, rows_close)

/* Handles of one process share a lock on the file: in rollback-journal mode short reads of two
 * threads overlap into one long one, and the writer waits for all of it. So: one reader, where this
 * is true. */
bool rows_want_one_reader(const Rows *rows);

typedef struct SessionRow {
    Str id, source, model, title; /* title as stored: may be empty */
    double started_at, last_activity_at;
    int64_t rowid;
    uint64_t mark;    /* differs when the row does */
    Str conversation; /* left to the caller: the newest part of its chain, where it is in one; */
    bool covered;     /* or the conversation of ours that represents it; */
    bool begun_there; /* that counts as the agent's which wrote this one */
} SessionRow;

/* Every session in order of the rowids; its text is gone after fn returns. */
typedef void SessionRowFn(void *ctx, const SessionRow *s);
MUST_CHECK bool rows_walk(Rows *rows, SessionRowFn *fn, void *ctx, Err *err);

/* A session that compression ended, and the one in which the conversation continues. */
typedef struct ChainLink {
    Str id, next;
    Str next_source;
    bool next_archived;
} ChainLink;

/* All of them in order of the ids, by the rule of store.h: parts of one chain are one
 * conversation. */
MUST_CHECK bool rows_chains(Rows *rows, Arena *a, ChainLink **ret, size_t *ret_n, Err *err);

/* The link at `id`, or NULL: then it is where its conversation ends. */
const ChainLink *chain_next(const ChainLink *links, size_t n, Str id);

/* Ids of the sessions that have messages after the one given, each once (-1: none are wanted); and
 * the newest message there is. */
MUST_CHECK bool rows_newer(Rows *rows, Arena *a, int64_t after, Str **ret, size_t *ret_n,
                           int64_t *ret_last, Err *err);

/* The beginning of the first request as a title: at most 60 characters and three dots. */
MUST_CHECK bool rows_preview(Rows *rows, Arena *a, Str id, Str *ret, Err *err);

typedef struct RowMessage {
    int64_t id;
    Str role, content, tool_calls, tool_name;
    bool content_is_blob;
} RowMessage;

typedef struct RowsSeen {
    int64_t n;     /* active messages */
    double newest; /* time of the newest, active or not; 0: there is none */
} RowsSeen;

/* The active messages in order of their ids; bytes are gone after fn returns. */
typedef void RowMessageFn(void *ctx, const RowMessage *m);
MUST_CHECK bool rows_messages(Rows *rows, Str id, RowMessageFn *fn, void *ctx, RowsSeen *ret,
                              Err *err);

/* Behind the two above the read stays open for a few milliseconds, so that a session right after it
 * needs none of its own. This ends it: before the thread waits for anything, or reads elsewhere. */
void rows_rest(Rows *rows);

/* -- everything that is there, for the catalogue -- */

typedef struct RowEvent {
    int64_t id;
    Str role, content, tool_call_id, tool_calls, tool_name, reasoning, finish_reason;
    double at;
    bool active, compacted;
    bool guest; /* of a turn that a guest asked for */
} RowEvent;

/* All messages of a session behind `after` in order of their ids, also those that were rewound or
 * compacted away; bytes are gone after fn returns. *ret_last is left alone where there are none. */
typedef bool RowEventFn(void *ctx, const RowEvent *m, Err *err);
MUST_CHECK bool rows_events(Rows *rows, Str session, int64_t after, RowEventFn *fn, void *ctx,
                            int64_t *ret_last, Err *err);

/* What a session's row says; messages are not looked at. NOT_FOUND where there is none. */
MUST_CHECK bool rows_session(Rows *rows, Arena *a, Str id, Session *ret, Err *err);

/* Differs when messages up to the one given were taken away, rewound or compacted. */
MUST_CHECK bool rows_proof(Rows *rows, Str session, int64_t until, uint64_t *ret, Err *err);

/* Sessions of ours and what the programs that worked on them call theirs, now and before. Of
 * another home: none. */
typedef struct KnownAs {
    Str session, runtime, handle;
    bool lent; /* all of it is there: it is with a gateway of Hermes */
} KnownAs;
MUST_CHECK bool rows_continuity(Rows *rows, Arena *a, KnownAs **ret, size_t *ret_n, Err *err);

/* Turns that a runtime keeps in its own session, which is there: they are read in that one.
 * From here on what this handle reads of such a session is the rest; a failed turn may not be
 * there, and stays. `kept` is in order of session and runtime, and borrowed. */
void rows_skip(Rows *rows, const KnownAs *kept, size_t n);

/* Whether there is any message to read of a session. */
MUST_CHECK bool rows_any(Rows *rows, Str session, bool *ret, Err *err);

#endif
