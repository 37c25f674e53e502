/* inbox.h - what chat platforms sent, kept before they are told that it arrived.
 *
 * An update is written in the transaction that moves its platform's cursor, and never twice. It is
 * new until somebody takes it; a taken one whose taker died is taken again, and parked after
 * INBOX_TRIES.
 *
 * On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_CHAT_INBOX_H
#define TALARIA_CHAT_INBOX_H

#include "store/own.h"

/* X(id, name) */
#define INBOX_STATES(X)                                                                            \
    X(INBOX_NEW, "new")                                                                            \
    X(INBOX_TAKEN, "taken")                                                                        \
    X(INBOX_DONE, "done")                                                                          \
    X(INBOX_IGNORED, "ignored") /* no message, or not for us; `reason` says why */                 \
    X(INBOX_PARKED, "parked")

typedef enum InboxState {
#define X(id, name) id,
    INBOX_STATES(X)
#undef X
} InboxState;

enum { INBOX_TRIES = 3 };

typedef struct InboxRow {
    int64_t seq, attempt, received_ms;
    int64_t retried; /* how often it was parked and asked for again */
    InboxState state;
    Str platform, id, json, run_id, reason;
} InboxRow;

typedef struct InboxUpdate {
    Str id, json;
} InboxUpdate;

/* All of them and the cursor (empty: as it was), synced; *ret_new were not there before. What
 * nobody could read (longer than LIMIT_UPDATE_BYTES, not UTF-8) is born ignored, without its bytes.
 * ERR_BUSY: LIMIT_INBOX wait. */
MUST_CHECK bool inbox_put(OwnStore *own, Str platform, const InboxUpdate *all, size_t n, Str cursor,
                          size_t *ret_new, Err *err);
MUST_CHECK bool inbox_cursor(OwnStore *own, Arena *a, Str platform, Str *ret, Err *err);

/* New ones, oldest first. */
MUST_CHECK bool inbox_new(OwnStore *own, Arena *a, size_t max, InboxRow **ret, size_t *ret_n,
                          Err *err);
/* The same behind `after`, for whoever leaves some of them lying. */
MUST_CHECK bool inbox_new_after(OwnStore *own, Arena *a, int64_t after, size_t max, InboxRow **ret,
                                size_t *ret_n, Err *err);
/* After a start: what a process that is gone had taken is new again, or parked. */
MUST_CHECK bool inbox_recover(OwnStore *own, size_t *ret_again, size_t *ret_parked, Err *err);
/* new to taken, one more attempt; ERR_CONFLICT: it is not new. */
MUST_CHECK bool inbox_take(OwnStore *own, int64_t seq, Err *err);
/* Not now: taken to new, and the attempt does not count. */
MUST_CHECK bool inbox_put_back(OwnStore *own, int64_t seq, Err *err);
/* The run that it became: from here on it is the run's matter, which ends it. It stays taken: where
 * the process dies meanwhile, the next taker finds run_id in the row. */
MUST_CHECK bool inbox_began(OwnStore *own, int64_t seq, Str run_id, Err *err);
MUST_CHECK bool inbox_end(OwnStore *own, int64_t seq, InboxState how, Str reason, Err *err);

/* Those that ended longer ago than LIMIT_INBOX_KEEP_DAYS are forgotten: no platform sends them
 * again. */
MUST_CHECK bool inbox_prune(OwnStore *own, Err *err);

/* How many wait: new or taken. platform empty: of all. *ret_oldest_ms: when the oldest of them
 * came; 0: none. */
MUST_CHECK bool inbox_waiting(OwnStore *own, Str platform, size_t *ret, int64_t *ret_oldest_ms,
                              Err *err);
const char *inbox_state_name(InboxState s);

/* Newest first, of one state; for people. */
MUST_CHECK bool inbox_list(OwnStore *own, Arena *a, InboxState state, size_t max, InboxRow **ret,
                           size_t *ret_n, Err *err);
MUST_CHECK bool inbox_retry(OwnStore *own, int64_t seq, Err *err); /* parked to new */

#endif
