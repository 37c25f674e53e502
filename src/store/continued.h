/* continued.h - which sessions go on in a conversation of ours, for readers of the history.
 *
 * Read-only, and all at once: these are as many as a person has continued. */
#ifndef TALARIA_STORE_CONTINUED_H
#define TALARIA_STORE_CONTINUED_H

#include "base/arena.h"
#include "base/err.h"

typedef struct Continuation {
    Str home, session_id; /* of the session, as store/conversations_adopt.h names it */
    Str fingerprint;      /* of its messages when they were last taken along */
    Str conversation_id;
    bool archived; /* the conversation is */
} Continuation;

/* data: our own folder; where it has no database yet there are none. */
MUST_CHECK bool continuations_load(Str data, Arena *a, Continuation **ret, size_t *ret_n, Err *err);

#endif
