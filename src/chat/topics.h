/* topics.h - what is known of threads at platforms: which of them are gone, and what can be
 * answered in them.
 *
 * A thread that is gone is the chat itself from then on, for whoever writes there and whoever
 * reads. On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_CHAT_TOPICS_H
#define TALARIA_CHAT_TOPICS_H

#include "chat/address.h"
#include "store/own.h"

/* Where p is now: changed where its thread is gone. */
MUST_CHECK bool topic_now(OwnStore *own, Arena *a, ChatAddress *p, Err *err);

/* The same for a message that came from there at that time. In a group it proves that the thread is
 * there again; in a private chat it does not: topics there have brought words of others and yet
 * taken none of ours. */
MUST_CHECK bool topic_heard(OwnStore *own, Arena *a, ChatAddress *p, int64_t at_ms, Err *err);

/* Inside of a transaction; now_thread empty: the chat itself has none. */
MUST_CHECK bool topic_is_gone(OwnStore *own, const ChatAddress *p, Str now_thread, Err *err);

/* -- anchors -- */

/* The last message of a person in a thread. */
typedef struct TopicAnchor {
    Str message_id; /* empty: nobody wrote there yet */
    bool needed;    /* words that answered nothing were refused there */
} TopicAnchor;

MUST_CHECK bool anchor_keep(OwnStore *own, const ChatAddress *p, Str message_id, Err *err);
MUST_CHECK bool anchor_get(OwnStore *own, Arena *a, const ChatAddress *p, TopicAnchor *ret,
                           Err *err);
MUST_CHECK bool anchor_needed(OwnStore *own, const ChatAddress *p, Err *err);

#endif
