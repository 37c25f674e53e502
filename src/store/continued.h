/* continued.h - which sessions go on in a conversation of ours, for readers of the history.
 *
 * Read-only, and all at once: these are as many as a person has continued. */
#ifndef TALARIA_STORE_CONTINUED_H
#define TALARIA_STORE_CONTINUED_H

#include "base/arena.h"
#include "base/err.h"

/* A session that a conversation took along, or, of a runtime, the one in which that keeps the
 * conversation's own turns. */
typedef struct Continuation {
    Str home, session_id; /* as agent/conversations_adopt.h names it; of a runtime, its name and the
                             id there */
    Str fingerprint;      /* of its messages when they were last taken along */
    Str conversation_id;
    bool archived; /* the conversation is */
    bool one_shot; /* a single question, which is no session */
    bool by_runtime;
    double until; /* of a runtime: the end of the last turn; what was said later was not said in the
                     conversation */
} Continuation;

/* In order of session_id. data: our own folder; where it has no database yet there are none. */
MUST_CHECK bool continuations_load(Str data, Arena *a, Continuation **ret, size_t *ret_n, Err *err);

/* Conversations in which a guest of the gateway asked for a turn (trust.h), in order of their
 * ids. */
MUST_CHECK bool guests_load(Str data, Arena *a, Str **ret, size_t *ret_n, Err *err);

/* The session's id in what a runtime keeps to go on: the text itself, or JSON that has it. Empty:
 * none. */
Str continuation_session(Arena *a, Str handle);

#endif
