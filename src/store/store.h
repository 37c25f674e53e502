/* store.h - the sessions of every home, read as one history.
 *
 * Reading never changes a foreign file: handles are read-only, transactions are short (rows are
 * copied in batches, and callbacks run between transactions, never inside one), nothing is
 * checkpointed. Nothing of SQLite shows here; a second engine stands behind the same interface.
 *
 * A Store is for one thread. What it hands out lives in the arena that was passed in. A home that
 * cannot be read does not hide the others: store_open warns and continues, and fails only where the
 * home was asked for by name or nothing at all can be read. */
#ifndef TALARIA_STORE_STORE_H
#define TALARIA_STORE_STORE_H

#include "store/homes.h"
#include "store/session.h"

typedef struct Store Store;

/* Borrows homes. A home without a database is an empty one, except where --home named it. */
MUST_CHECK Store *store_open(const Homes *homes, Err *err);
/* The process ends: reads of every store and index that are under way fail as interrupted. Any
 * thread. */
void store_end_reads(void);
Store *store_free(Store *s);
AUTO_FREE(Store, store_free)

const char *store_engine_version(void); /* "3.53.2" */

/* -- what is there -- */

/* Sessions of one source that are alike. */
typedef struct HomeCount {
    Str source;
    bool part; /* it continues in another one: compression cut it */
    bool archived;
    int64_t n;
    double newest; /* by the sessions' own rows */
} HomeCount;

typedef struct HomeFacts {
    const Home *home;
    bool readable;
    char trouble[ERR_TEXT_BYTES]; /* why not, where it is not */
    char journal[16];             /* "wal", "delete", ... */
    int64_t schema_version;       /* as the database says; 0 = it does not */
    int64_t sessions, messages, bytes;
    bool messages_are_about; /* too many to count within a short transaction: as sessions say */
    double newest;           /* last activity, unix seconds; 0 = none */
    HomeCount *counts;
    size_t n_counts;
} HomeFacts;

/* One row a home, also for those that cannot be read. Never fails as a whole. */
void store_facts(Arena *a, const Homes *homes, HomeFacts **ret, size_t *ret_n);

const Home *store_home(const Store *s, size_t home);

/* -- sessions -- */

/* A chain of sessions that compression cut: one thing to its user. */
typedef struct Lineage {
    Session tip;    /* the newest part: where it continues */
    Session *parts; /* oldest first, the tip last */
    size_t n_parts;
    Str title; /* of the tip, else of an older part, else the first words, else "Untitled" */
    double started_at, last_active;
    int64_t messages, tool_calls, input_tokens, output_tokens;
    int64_t cache_read_tokens, cache_write_tokens;
    double cost_usd; /* actual where known, else estimated; 0 = not known */
    double order_at; /* of a list: the time by which it is in its place */
} Lineage;

typedef struct SessionQuery {
    Str source;           /* only this source; empty = all */
    double since;         /* started (or active) at or after; 0 = ever */
    bool archived;        /* the archived ones too */
    bool by_activity;     /* ordered by the last activity, not by the start */
    const Session *after; /* what follows this tip in the list (its home, started_at, which is the
                             order_at of its lineage, and rowid count; it need not exist any more);
                             NULL = from the newest */
} SessionQuery;

/* Newest first by the start or the last activity of the tip, over all homes. */
typedef struct SessionList SessionList;
MUST_CHECK SessionList *sessions_open(Store *s, const SessionQuery *query, Err *err);
SessionList *sessions_close(SessionList *list);
AUTO_FREE(SessionList, sessions_close)

/* *ret_more is false after the last one. */
MUST_CHECK bool sessions_next(SessionList *list, Arena *a, Lineage *ret, bool *ret_more, Err *err);

/* How many sessions there are at most, for showing progress: parts and archived ones included. */
MUST_CHECK bool sessions_count(Store *s, int64_t *ret, Err *err);

/* By id of any part, or by an unambiguous beginning of one (4 characters at least). */
MUST_CHECK bool store_find(Store *s, Arena *a, Str id, Lineage *ret, Err *err);

/* Sessions whose id begins so, at most `max`, over all homes. */
MUST_CHECK bool store_begins(Store *s, Arena *a, Str prefix, size_t max, Session **ret,
                             size_t *ret_n, Err *err);

enum { MIN_ID_PREFIX = 4, CANDIDATES_COUNTED = 1001 };

/* Fails with ERR_CONFLICT, naming the newest of the sessions that an id may mean. Sorts them. */
bool session_ambiguous(Arena *a, Str id, Session *all, size_t n, Err *err);

/* A short text that differs whenever the session's messages do: a mark of "nothing new". */
MUST_CHECK bool store_fingerprint(Store *s, Arena *a, const Session *session, Str *ret, Err *err);

/* -- messages -- */

typedef struct MessageQuery {
    bool inactive;        /* rewound and compacted rows too */
    size_t max;           /* the first so many; 0 = all */
    const Message *after; /* what follows this one (timestamp, id count); NULL = from the first */
} MessageQuery;

/* In (timestamp, id) order. The message is gone after fn returns; false from fn ends the walk with
 * the err that fn set. */
typedef bool MessageFn(void *ctx, const Message *m, Err *err);
MUST_CHECK bool messages_each(Store *s, const Session *session, const MessageQuery *query,
                              MessageFn *fn, void *ctx, Err *err);

/* The same, all at once into the arena. */
MUST_CHECK bool messages_load(Store *s, Arena *a, const Session *session, const MessageQuery *query,
                              Message **ret, size_t *ret_n, Err *err);

/* What the row of a session has beside our fields; of a message of it where `m` is given. */
MUST_CHECK bool store_cells(Store *s, Arena *a, const Session *session, const Message *m,
                            StoredCell **ret, size_t *ret_n, Err *err);

#endif
