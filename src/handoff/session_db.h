/* session_db.h - the database in which a session lies, for the few writes that a handoff makes
 * there.
 *
 * In our own home that is talaria.db itself, and the writes belong to the journal's transaction. In
 * a Hermes home it is a state.db that others write: opened for the one operation, patient
 * (LIMIT_HANDOFF_LOCK_MS) at BEGIN IMMEDIATE and at COMMIT, columns looked up, and nothing touched
 * but `sessions` and `gateway_routing`. Its transaction is committed inside of the journal's:
 * whoever holds our write lock is the only worker that changes it.
 *
 * For the files of this room. One thread. */
#ifndef TALARIA_HANDOFF_SESSION_DB_H
#define TALARIA_HANDOFF_SESSION_DB_H

#include "store/db.h"

/* The columns that say where a session lives, in the order of `before_json`. */
#define PEER_COLUMNS(X)                                                                            \
    X(source)                                                                                      \
    X(user_id)                                                                                     \
    X(session_key)                                                                                 \
    X(chat_id)                                                                                     \
    X(chat_type)                                                                                   \
    X(thread_id)                                                                                   \
    X(display_name)                                                                                \
    X(origin_json)

typedef struct SessionDb {
    Db *db;
    Db *opened; /* the same where it is not ours */
    bool ours, began;
    bool handoff;  /* has the three handoff columns */
    bool routing;  /* has gateway_routing */
    bool activity; /* has last_activity_at */
#define X(name) bool has_##name;
    PEER_COLUMNS(X)
#undef X
} SessionDb;

/* `own` is the journal's handle, data its folder. */
MUST_CHECK bool sessiondb_begin(Db *own, Str data, Str home, SessionDb *ret, Err *err);
MUST_CHECK bool sessiondb_commit(SessionDb *s, Err *err);
void sessiondb_done(SessionDb *s); /* rolls back what was not committed */
#define AUTO_SESSIONDB __attribute__((cleanup(sessiondb_done))) SessionDb

/* What the database of s->db has; for a handle that was opened otherwise. */
MUST_CHECK bool sessiondb_columns(SessionDb *s, Err *err);
/* Adds the handoff columns where they are missing. */
MUST_CHECK bool sessiondb_add_columns(SessionDb *s, Err *err);

/* -- the state that other tools see: NULL, pending, running, completed, failed -- */

typedef struct ShownState {
    bool exists;                /* the session's row */
    Str state, platform, error; /* empty: NULL */
    Str key, source;            /* where the row says that the session lives */
} ShownState;

/* Whether it is about a request for that platform: somebody may have asked for another one
 * since. */
static inline bool shown_is(const ShownState *s, const char *state, Str platform)
{
    return str_eqz(s->state, state) && str_eq(s->platform, platform);
}

MUST_CHECK bool shown_get(SessionDb *s, Arena *a, Str session_id, ShownState *ret, Err *err);
/* The same by a reading handle: a question must not take the write lock. `own` and data as in
 * sessiondb_begin. */
MUST_CHECK bool shown_look(Db *own, Str data, Arena *a, Str home, Str session_id, ShownState *ret,
                           Err *err);
/* Each is one guarded UPDATE; *ret_won: it was in a state in which this may happen, for that
 * platform. */
MUST_CHECK bool shown_request(SessionDb *s, Str session_id, Str platform, bool *ret_won, Err *err);
MUST_CHECK bool shown_claim(SessionDb *s, Str session_id, Str platform, bool *ret_won, Err *err);
MUST_CHECK bool shown_complete(SessionDb *s, Str session_id, Str platform, bool *ret_won, Err *err);
/* pending_only: for one who waits; else from running too. */
MUST_CHECK bool shown_fail(SessionDb *s, Str session_id, Str platform, Str why, bool pending_only,
                           bool *ret_won, Err *err);

#endif
