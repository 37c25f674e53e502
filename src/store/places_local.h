/* places_local.h - the rows of the chat that needs no account: channels, threads, messages.
 *
 * Whatever is made carries the key under which it was asked for; asking again with that key gives what is
 * there already. On a Journal, so one thread; text lives in the arena. */
#ifndef TALARIA_STORE_PLACES_LOCAL_H
#define TALARIA_STORE_PLACES_LOCAL_H

#include "store/handoff.h"

typedef struct LocalMessage {
    int64_t id, created_ms;
    Str channel, thread, author, text, key;
} LocalMessage;

/* ERR_NOT_FOUND: no such channel. */
MUST_CHECK bool local_channel_name(Journal *j, Arena *a, Str channel, Str *ret, Err *err);
MUST_CHECK bool local_thread_open(Journal *j, Arena *a, Str channel, Str title, Str key,
                                  Str *ret_id, Err *err);
/* With what was said in it. */
MUST_CHECK bool local_thread_drop(Journal *j, Str id, Err *err);
/* m->id and created_ms are set by it. */
MUST_CHECK bool local_say(Journal *j, const LocalMessage *m, int64_t *ret_id, Err *err);
/* Oldest first, id > after. */
MUST_CHECK bool local_messages(Journal *j, Arena *a, Str channel, Str thread, int64_t after,
                               size_t most, LocalMessage **ret, size_t *ret_n, Err *err);

#endif
