/* threads.h - what is known of threads at platforms: which of them are gone, and what can be answered in them.
 *
 * A thread that is gone is the chat itself from then on, for whoever writes there and whoever reads. On a Journal, so
 * one thread; text lives in the arena. */
#ifndef TALARIA_STORE_THREADS_H
#define TALARIA_STORE_THREADS_H

#include "handoff/handoff.h"
#include "chat/address.h"

/* Where p is now: changed where its thread is gone. */
MUST_CHECK bool thread_now(Journal *j, Arena *a, Place *p, Err *err);

/* The same for a message that came from there at that time. In a group it proves that the thread is there again; in a
 * private chat it does not: topics there have brought words of others and yet taken none of ours. */
MUST_CHECK bool thread_heard(Journal *j, Arena *a, Place *p, int64_t at_ms, Err *err);

/* Inside of a transaction; now_thread empty: the chat itself has none. */
MUST_CHECK bool thread_is_gone(Journal *j, const Place *p, Str now_thread, Err *err);

/* -- anchors ---------------------------------------------------------------------------------------- */

/* The last message of a person in a thread. */
typedef struct ThreadAnchor {
    Str message_id; /* empty: nobody wrote there yet */
    bool needed;    /* words that answered nothing were refused there */
} ThreadAnchor;

MUST_CHECK bool anchor_keep(Journal *j, const Place *p, Str message_id, Err *err);
MUST_CHECK bool anchor_get(Journal *j, Arena *a, const Place *p, ThreadAnchor *ret, Err *err);
MUST_CHECK bool anchor_needed(Journal *j, const Place *p, Err *err);

#endif
