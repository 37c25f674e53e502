/* local.h - the rows of the chat that needs no account: channels, threads, messages.
 *
 * Whatever is made carries the key under which it was asked for; asking again with that key gives
 * what is there already. On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_CHAT_LOCAL_H
#define TALARIA_CHAT_LOCAL_H

#include "store/own.h"

typedef struct LocalMessage {
    int64_t id, created_ms;
    int64_t edited_ms; /* 0: as it was written first */
    Str channel, thread, author, text, key;
} LocalMessage;

/* A channel, or a thread of one. */
typedef struct LocalRoom {
    Str id, title;
    Str channel; /* of a thread */
    int64_t messages, last_ms;
} LocalRoom;

/* ERR_NOT_FOUND: no such channel. */
MUST_CHECK bool local_channel_name(OwnStore *own, Arena *a, Str channel, Str *ret, Err *err);
MUST_CHECK bool local_thread_open(OwnStore *own, Arena *a, Str channel, Str title, Str key,
                                  Str *ret_id, Err *err);
/* With what was said in it. */
MUST_CHECK bool local_thread_drop(OwnStore *own, Str id, Err *err);
/* m->id and created_ms are set by it. */
MUST_CHECK bool local_say(OwnStore *own, const LocalMessage *m, int64_t *ret_id, Err *err);
/* Other words in a message; ERR_NOT_FOUND. */
MUST_CHECK bool local_edit(OwnStore *own, int64_t id, Str text, Err *err);
/* Oldest first, id > after. */
MUST_CHECK bool local_messages(OwnStore *own, Arena *a, Str channel, Str thread, int64_t after,
                               size_t max, LocalMessage **ret, size_t *ret_n, Err *err);

/* -- for people who look at it -- */

MUST_CHECK bool local_channels(OwnStore *own, Arena *a, LocalRoom **ret, size_t *ret_n, Err *err);
/* Those in which something was said last come first; channel empty: of all. */
MUST_CHECK bool local_threads(OwnStore *own, Arena *a, Str channel, size_t max, LocalRoom **ret,
                              size_t *ret_n, Err *err);

typedef struct LocalQuery {
    Str channel, thread;   /* thread empty: what was said beside all threads */
    int64_t after, before; /* ids; before 0: no end */
    int64_t since_ms;      /* written or changed since then */
    size_t max;
} LocalQuery;

/* The last ones that fit, oldest first; *ret_more: there are earlier ones. */
MUST_CHECK bool local_page(OwnStore *own, Arena *a, const LocalQuery *q, LocalMessage **ret,
                           size_t *ret_n, bool *ret_more, Err *err);

/* What the user writes: the message, and the update that a gateway takes up, in one transaction.
 * m->key names it for ever; m->author is the user. ERR_NOT_FOUND: no such channel or thread;
 * ERR_CONFLICT: the key represents other words. */
MUST_CHECK bool local_user_says(OwnStore *own, Arena *a, const LocalMessage *m, int64_t *ret_id,
                                Err *err);

/* Somebody types there; until_ms 0: no more. */
MUST_CHECK bool local_types(OwnStore *own, Str channel, Str thread, int64_t until_ms, Err *err);
/* 0: nobody does. */
MUST_CHECK bool local_typing(OwnStore *own, Str channel, Str thread, int64_t *ret_until_ms,
                             Err *err);

#endif
