/* index.h - writing the search index: documents of sessions, into the tables of index.db.
 *
 * A document is one thing that somebody said, one tool call or one result. Its words go into one of
 * two FTS5 tables (what was said, what tools did) that keep no text; where the text is to be read
 * again stands beside them. All writing happens inside a transaction of the caller, so that it is
 * committed together with the cursors that say what was read. The words wait in memory until some
 * megabytes of them are there, since FTS5 writes what it has whenever a savepoint begins, and every
 * session is one: recall_index_flush before the commit is not to be forgotten. One thread a
 * handle. */
#ifndef TALARIA_RECALL_INDEX_H
#define TALARIA_RECALL_INDEX_H

#include "store/db.h"
#include "transcripts/catalogue.h"

/* X(id, "name"): as --role takes it and JSON says it. */
#define DOC_ROLES(X)                                                                               \
    X(DOC_USER, "user")                                                                            \
    X(DOC_ASSISTANT, "assistant")                                                                  \
    X(DOC_CALL, "call")                                                                            \
    X(DOC_RESULT, "result")

typedef enum DocRole {
#define X(id, name) id,
    DOC_ROLES(X)
#undef X
        DOC_ROLE_COUNT
} DocRole;

const char *doc_role_name(DocRole role);

/* As recall_docs keeps it: a document of a turn that a guest asked for has a bit more. */
enum { DOC_OF_GUEST = 8 };
#define DOC_GUEST_TERM "0guest0"

/* Numbers of documents: see index_003.sql. */
enum { DOC_SEQ_BITS = 16 };
#define DOC_ROW(ord, seq)  (((ord) << DOC_SEQ_BITS) + (seq))
#define DOC_ORD(row)       ((row) >> DOC_SEQ_BITS)
#define DOC_ID(row, tools) ((row)*2 + (tools))

typedef struct Doc {
    DocRole role;
    Str who;     /* who said it, where that has a name */
    Str tool;    /* name of the tool, of a call or a result */
    Str call;    /* pairs a call with its result; may be empty */
    bool failed; /* a result that says so */
    bool guest;  /* of a turn that a guest asked for */
    Str text;
    double at;
    int64_t place, line; /* Event's where and line_bytes */
    int part;            /* which document of that line */
} Doc;

typedef struct DocSession {
    int64_t key;
    SourceKind source;
    Str folder;
    double last_at;
    int64_t offset; /* up to where it was read: before the documents at begin, behind them at end */
    uint64_t proof;
} DocSession;

typedef struct RecallIndex RecallIndex;

/* Over tables that are there already. */
MUST_CHECK RecallIndex *recall_index_open(Db *db, Err *err);
RecallIndex *recall_index_close(RecallIndex *x);
AUTO_FREE(RecallIndex, recall_index_close)

/* A session's documents, in order; `anew`: those that it had are void. Where the index has not read
 * up to the session's offset, its documents are passed over: recall_update reads them
 * afterwards. */
MUST_CHECK bool recall_index_begin(RecallIndex *x, const DocSession *s, bool anew, Err *err);
MUST_CHECK bool recall_index_add(RecallIndex *x, const Doc *d, Err *err);
MUST_CHECK bool recall_index_end(RecallIndex *x, const DocSession *s, Err *err);
MUST_CHECK bool recall_index_drop(RecallIndex *x, int64_t key, Err *err);
/* What waits of the sessions that were ended goes into the tables; before every commit. */
MUST_CHECK bool recall_index_flush(RecallIndex *x, Err *err);
/* Everything, for a new beginning; in its own transaction. */
MUST_CHECK bool recall_index_clear(RecallIndex *x, Err *err);

/* The same from a catalogue's events: who listens. Borrows x. */
CatalogueListener recall_index_listener(RecallIndex *x);

/* -- index_listen.c: documents of events -- */

typedef struct RecallListen RecallListen;
RecallListen *recall_listen_new(void);
RecallListen *recall_listen_free(RecallListen *l);
RecallListen *recall_index_listen(RecallIndex *x); /* its own */

void recall_listen_reset(RecallListen *l); /* another session begins, or another place */

/* What of an event is indexed; false: nothing. Lives until the next event. */
bool doc_from_event(RecallListen *l, const Event *e, Doc *ret);

/* Brings the catalogue up to date, and with it the index; then what the catalogue has read while
 * this index was not listening. stop as in catalogue_update; ERR_INTERRUPTED: what was done is
 * committed. */
MUST_CHECK bool recall_update(RecallIndex *x, Catalogue *c, const Homes *homes,
                              bool (*stop)(void *ctx), void *stop_ctx, UpdateStats *ret, Err *err);

typedef struct RecallSize {
    int64_t sessions, documents, text_bytes, index_bytes;
} RecallSize;
MUST_CHECK bool recall_index_size(Db *db, RecallSize *ret, Err *err);

/* The term by which documents of a role or a tool are found in the column `who`. */
Str doc_role_term(DocRole role);
Str doc_tool_term(Arena *a, Str tool);

#endif
