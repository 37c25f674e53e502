/* engine.h - what a database must be able to do to be read as a home.
 *
 * store.c knows lineages, several homes and order; an engine knows one database. Rows are copied
 * into the arena that is passed in; when a function returns no transaction is open any more.
 * Opening may take locks for a moment; no function keeps a transaction longer than its journal
 * mode allows (see sqlite.c). */
#ifndef TALARIA_STORE_ENGINE_H
#define TALARIA_STORE_ENGINE_H

#include "store/store.h"

typedef struct Conn Conn; /* one open database; the engine's own */

/* Where a session belongs in a list by activity. `active` is 0 if neither a message nor the session
 * has a time. */
typedef struct SessionKey {
    double active, started_at;
    int64_t rowid;
    int64_t marks; /* KEY_ARCHIVED, KEY_ONE_SHOT */
} SessionKey;

enum { KEY_ARCHIVED = 1, KEY_ONE_SHOT = 2 };

/* Keys as they were once, by rowid, when `last_message` was the newest one that had ever been
 * written. */
typedef struct KnownKeys {
    const SessionKey *keys;
    size_t n;
    int64_t last_message;
} KnownKeys;

/* By rowid. */
typedef struct ActivityKeys {
    SessionKey *keys;
    size_t n;
    int64_t
        last_message; /* -1: ids of messages may be given twice, so that new ones cannot be told */
} ActivityKeys;

typedef struct Engine {
    const char *(*version)(void);

    MUST_CHECK Conn *(*open)(const Home *home, Err *err);
    Conn *(*close)(Conn *c); /* accepts NULL, returns NULL */

    /* Fills journal, schema_version, counts and newest. */
    MUST_CHECK bool (*facts)(Conn *c, Arena *a, HomeFacts *facts, Err *err);

    /* Up to `max` sessions after `after` in (started_at descending, rowid) order; NULL = from the
     * newest. *ret_n is 0 after the last. */
    MUST_CHECK bool (*list)(Conn *c, Arena *a, const SessionQuery *query, const Session *after,
                            size_t max, Session **ret, size_t *ret_n, Err *err);
    /* When each session was last active. Of the query only the source counts: archived sessions and
     * one-shot questions are marked. With `known`, messages are looked at only where some were
     * added: `active` may then be too late where messages were deleted, never too early. */
    MUST_CHECK bool (*activity)(Conn *c, Arena *a, const SessionQuery *query,
                                const KnownKeys *known, ActivityKeys *ret, Err *err);
    /* The highest number of a session: about how many there may be. */
    MUST_CHECK bool (*highest)(Conn *c, int64_t *ret, Err *err);
    /* The session of a key; *ret_found false: it is gone. */
    MUST_CHECK bool (*at)(Conn *c, Arena *a, int64_t rowid, Session *ret, bool *ret_found,
                          Err *err);
    /* How many sessions there are in all, by an index. */
    MUST_CHECK bool (*count)(Conn *c, int64_t *ret, Err *err);

    /* *ret_found false: there is none. */
    MUST_CHECK bool (*get)(Conn *c, Arena *a, Str id, Session *ret, bool *ret_found, Err *err);
    /* The sessions whose id begins so, at most `max`. */
    MUST_CHECK bool (*begins)(Conn *c, Arena *a, Str prefix, size_t max, Session **ret,
                              size_t *ret_n, Err *err);
    /* The session that continues where compression ended this one. */
    MUST_CHECK bool (*continuation)(Conn *c, Arena *a, const Session *s, Session *ret,
                                    bool *ret_found, Err *err);

    /* Beginning of the first user message: at most 63 characters on one line; empty: none. */
    MUST_CHECK bool (*first_words)(Conn *c, Arena *a, Str id, Str *ret, Err *err);
    /* Time of the newest message; 0: none. */
    MUST_CHECK bool (*newest)(Conn *c, Str id, double *ret, Err *err);
    /* A text that differs whenever the session's messages do. */
    MUST_CHECK bool (*mark)(Conn *c, Arena *a, Str id, Str *ret, Err *err);

    /* Up to a batch of messages after `after` in (timestamp, id) order; NULL = from the first. */
    MUST_CHECK bool (*messages)(Conn *c, Arena *a, Str id, const MessageQuery *query,
                                const Message *after, Message **ret, size_t *ret_n, Err *err);
    /* What a row has beside our fields: of a message, or of a session where `m` is NULL. */
    MUST_CHECK bool (*cells)(Conn *c, Arena *a, const Session *s, const Message *m,
                             StoredCell **ret, size_t *ret_n, Err *err);
} Engine;

extern const Engine engine_sqlite;

#endif
