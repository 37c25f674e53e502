/* handoff.h - the journal of handoffs: which session goes where, how far it is, who does it.
 *
 * A row in talaria.db for each handoff. A worker claims it for a time (the lease) under a number
 * that grows with every claim (the fence); every transition says state and fence that it builds on,
 * and one that finds others in the row does nothing: ERR_CONFLICT, and the worker stops. A worker
 * that died is followed by the next one at the step where it was. Where the session's row is shown
 * to other tools (`mirrored`), its handoff_state is kept in step, in the same transaction or inside
 * of it.
 *
 * A handoff with a copy (copy.h) is carried out by a gateway of Hermes: what shows its state is the
 * row of the copy, and the session belongs to the platform from the request on.
 *
 * A OwnStore is for one thread. What it hands out lives in the arena that was passed in. */
#ifndef TALARIA_HANDOFF_HANDOFF_H
#define TALARIA_HANDOFF_HANDOFF_H

#include "store/own.h"
#include "text/json.h"

/* X(id, name, what the session's row shows, the step that comes next) */
#define HANDOFF_STATES(X)                                                                          \
    X(HANDOFF_QUEUED, "queued", "pending", "claim")                                                \
    X(HANDOFF_CLAIMED, "claimed", "running", "prepare")                                            \
    X(HANDOFF_PREPARED, "prepared", "running", "bind")                                             \
    X(HANDOFF_BOUND, "bound", "running", "announce")                                               \
    X(HANDOFF_ANNOUNCED, "announced", "running", "done")                                           \
    X(HANDOFF_DONE, "done", "completed", "")                                                       \
    X(HANDOFF_FAILED, "failed", "failed", "")                                                      \
    X(HANDOFF_CANCELLED, "cancelled", "failed", "")                                                \
    X(HANDOFF_UNKNOWN, "unknown", "failed", "") /* not one of these; left alone */

typedef enum HandoffState {
#define X(id, name, shown, step) id,
    HANDOFF_STATES(X)
#undef X
} HandoffState;

const char *handoff_state_name(HandoffState s);
const char *handoff_state_shown(HandoffState s);
const char *handoff_state_step(HandoffState s); /* that comes next; "": none */
static inline bool handoff_is_over(HandoffState s)
{
    return s >= HANDOFF_DONE;
}

#define HANDOFF_TEXTS(X)                                                                           \
    X(id)                                                                                          \
    X(home)                                                                                        \
    X(session_id)                                                                                  \
    X(platform)                                                                                    \
    X(target)                                                                                      \
    X(step)                                                                                        \
    X(owner)                                                                                       \
    X(thread_ref)                                                                                  \
    X(dest_key)                                                                                    \
    X(dest_source_json)                                                                            \
    X(prev_session_id)                                                                             \
    X(before_json)                                                                                 \
    X(notice_ref)                                                                                  \
    X(error_code)                                                                                  \
    X(error_text)                                                                                  \
    X(copy_home)                                                                                   \
    X(copy_id)

#define HANDOFF_NUMBERS(X)                                                                         \
    X(mirrored)                                                                                    \
    X(attempt)                                                                                     \
    X(thread_tries)                                                                                \
    X(not_before_ms)                                                                               \
    X(requested_ms)                                                                                \
    X(deadline_ms)                                                                                 \
    X(lease_ms)                                                                                    \
    X(fence)                                                                                       \
    X(cancel)                                                                                      \
    X(no_turn)                                                                                     \
    X(updated_ms)

typedef struct Handoff {
    HandoffState state;
#define X(name) Str name;
    HANDOFF_TEXTS(X)
#undef X
#define X(name) int64_t name;
    HANDOFF_NUMBERS(X)
#undef X
} Handoff;

/* Of one whose thread is gone: no failure, and it stays when the handoff is done. */
#define HANDOFF_THREAD_GONE "thread_gone"

/* Of one that failed after the session had moved. */
#define HANDOFF_LATE "failed_late"
/* Of one that failed after Hermes' chat had been bound to the copy: ours continues here, and the
 * copy there. */
#define HANDOFF_COPY_STAYS "copy_stays"

/* The fields of its row that people see, for an object that the caller begins and ends. */
void handoff_put(JsonWriter *w, const Handoff *h);

/* Whether a gateway of Hermes may serve it: else its rows must not lie in Hermes' database. */
bool handoff_hermes_serves(Str platform);

/* -- asking -- */

typedef struct HandoffRequest {
    Str home, session_id, platform;
    Str target;    /* empty: the home channel */
    bool no_turn;  /* the agent says nothing by itself when it has arrived */
    Str copy_home; /* of a Hermes whose gateway takes a copy of our session; empty: no copy */
} HandoffRequest;

/* ERR_NOT_FOUND: no such session; ERR_CONFLICT: one is on its way already
 * (handoff_moves_already). */
bool handoff_moves_already(Str session_id, Err *err);
MUST_CHECK bool handoff_request(OwnStore *own, Arena *a, const HandoffRequest *request,
                                Handoff *ret, Err *err);
MUST_CHECK bool handoff_get(OwnStore *own, Arena *a, Str id, Handoff *ret, Err *err);
/* Newest first; home and session_id empty: of all. */
MUST_CHECK bool handoff_list(OwnStore *own, Arena *a, Str home, Str session_id, size_t max,
                             Handoff **ret, size_t *ret_n, Err *err);
/* The same row again, after a look at what a gateway of others has made of it. */
MUST_CHECK bool handoff_look(OwnStore *own, Arena *a, Str id, Handoff *ret, Err *err);

/* What nobody has claimed is cancelled; else its worker is asked to leave it (*ret_over false), as
 * long as the session has not moved: ERR_CONFLICT. */
MUST_CHECK bool handoff_cancel(OwnStore *own, Str id, bool *ret_over, Err *err);

/* -- doing: for the worker -- */

/* Requests that a program of Hermes wrote into the home: makes rows of those whose platform is one
 * of `served`. */
MUST_CHECK bool handoff_adopt(OwnStore *own, Str home, const Str *served, size_t n_served,
                              Err *err);

/* For a gateway that has just got the lock of the data folder: whoever had a lease is gone. */
MUST_CHECK bool handoff_recover(OwnStore *own, Err *err);

/* What can be claimed now, oldest request first: queued, or under way with a lease that is over.
 * Also ends what nobody claimed before its deadline. */
MUST_CHECK bool handoff_pending(OwnStore *own, Arena *a, const Str *served, size_t n_served,
                                Handoff **ret, size_t *ret_n, Err *err);

/* Whether a session is on its way to that place and not there yet: to that key or thread (empty:
 * none); or to one that has no name yet, and somebody is at it now. */
MUST_CHECK bool handoff_is_coming(OwnStore *own, Str platform, Str key, Str thread, bool *ret,
                                  Err *err);

/* How many are not over, whoever has them. */
MUST_CHECK bool handoff_open_count(OwnStore *own, size_t *ret, Err *err);

/* *ret_won: h is the row under a new fence; else somebody was faster. */
MUST_CHECK bool handoff_claim(OwnStore *own, Arena *a, Str id, Str owner, int64_t lease_ms,
                              Handoff *ret, bool *ret_won, Err *err);

/* Each of these builds on h's state and fence and brings h up to date; ERR_CONFLICT: it is somebody
 * else's. */
MUST_CHECK bool handoff_renew(OwnStore *own, Handoff *h, int64_t lease_ms, Err *err);
/* Where its session went, and what is said of that, as they are by now: a thread may be gone
 * meanwhile. */
MUST_CHECK bool handoff_refresh(OwnStore *own, Arena *a, Handoff *h, Err *err);
/* With h's thread_ref, thread_tries, dest_*, notice_ref; where the session has moved already, where
 * to is as it was. Not to HANDOFF_BOUND (routing.h), nor to an end. */
MUST_CHECK bool handoff_advance(OwnStore *own, Handoff *h, HandoffState to, Err *err);
/* The place of the newest one that went to a key is another one. Inside of a transaction;
 * prev_session_id p NULL: as it was. */
MUST_CHECK bool handoff_follow(OwnStore *own, Str from_key, Str to_key, Str to_json,
                               Str prev_session_id, Err *err);
/* The same where somebody claimed the session that waited under from_key. */
MUST_CHECK bool handoff_claimed(OwnStore *own, Str from_key, Str to_key, Str to_json,
                                Str prev_session_id, Err *err);
/* Whether one of them waits there, or did and its claim was cut short. */
MUST_CHECK bool handoff_waits_at(OwnStore *own, Str key, bool *ret, Err *err);
/* *ret_shown false: whoever waited has given up meanwhile, and was told that the session is
 * intact. */
MUST_CHECK bool handoff_complete(OwnStore *own, Handoff *h, bool *ret_shown, Err *err);
MUST_CHECK bool handoff_fail(OwnStore *own, Handoff *h, HandoffState to, const char *code, Str why,
                             Err *err);
/* Not now: the lease is given back, and the same step is tried again after that time. */
MUST_CHECK bool handoff_postpone(OwnStore *own, Handoff *h, int64_t wait_ms, Str why, Err *err);

/* -- for transactions of this room -- */

struct ShownState;

/* What the session's row shows of h, which is queued and shown there: where somebody else has
 * finished it, taken it back or asked for another platform, h is over. */
MUST_CHECK bool handoff_settle(OwnStore *own, Arena *a, Handoff *h, const struct ShownState *shown,
                               Err *err);
/* The same for the open one of that session, if there is one. */
MUST_CHECK bool handoff_make_way(OwnStore *own, Arena *a, Str home, Str session_id,
                                 const struct ShownState *shown, Err *err);
/* The one statement. copy_id empty: no copy. */
MUST_CHECK bool handoff_move(OwnStore *own, const Handoff *h, HandoffState to, Err *err);
MUST_CHECK bool handoff_insert(OwnStore *own, const HandoffRequest *request, bool mirrored,
                               const char *id, Str copy_id, Err *err);

#endif
