/* outbox.h - what is to be said at a platform, and how much of it has been.
 *
 * A row under the key that names the words for ever. A piece is marked before it goes out and
 * after: what was marked once only may have arrived or not. A row waits until somebody takes it for
 * a while; what failed is taken again later, and what cannot arrive is dead until somebody says so.
 * Rows for one place (platform, chat, thread) are taken in the order in which they were complete:
 * one that waits for its next try holds up those behind it. On a OwnStore, so one thread; text
 * lives in the arena. */
#ifndef TALARIA_CHAT_OUTBOX_H
#define TALARIA_CHAT_OUTBOX_H

#include "chat/address.h"
#include "store/own.h"

/* X(id, name) */
#define OUTBOX_STATES(X)                                                                           \
    X(OUTBOX_WAITING, "waiting")                                                                   \
    X(OUTBOX_OPEN, "open") /* whoever made it still writes it, or sends it alone */                \
    X(OUTBOX_SENT, "sent")                                                                         \
    X(OUTBOX_DEAD, "dead")

typedef enum OutboxState {
#define X(id, name) id,
    OUTBOX_STATES(X)
#undef X
} OutboxState;

enum { OUTBOX_TRIES = 24 };

typedef struct Outgoing {
    Str id, platform, address_json, text;
    Str place;     /* of what is read: which rows keep an order among each other */
    Str post_as;   /* names its messages at the platform; empty: the id does */
    Str first_ref; /* the platform's name of the first piece; with sent 0: words that still grow */
    Str error;     /* of the last try */
    OutboxState state;
    int64_t sending, sent, pieces;
    int64_t attempt, not_before_ms, created_ms;
    int64_t expires_ms; /* of no use from then on; 0: never */
} Outgoing;

/* The row as it is: text and place are those of the first time, and so is its state. A thread that
 * is gone is no place: then it is the chat itself. */
MUST_CHECK bool outbox_put(OwnStore *own, Arena *a, const Outgoing *o, Outgoing *ret, Err *err);
MUST_CHECK bool outbox_get(OwnStore *own, Arena *a, Str id, Outgoing *ret, bool *ret_found,
                           Err *err);
/* All but text and place. What was sent, or taken back, stays so. */
MUST_CHECK bool outbox_mark(OwnStore *own, const Outgoing *o, Err *err);
/* Inside of a transaction: what is not sent yet goes there instead. */
MUST_CHECK bool outbox_follow(OwnStore *own, Arena *a, const ChatAddress *from,
                              const ChatAddress *to, Err *err);
/* The words of an open row are these, and it waits; without any it is sent as it is. One that is
 * not open is left alone. */
MUST_CHECK bool outbox_finish(OwnStore *own, Str id, Str text, Err *err);

/* The words so far of an open row are a row of their own, which waits and has the message in which
 * they stand; what o says from now on stands in a new one. Once for a part_id: later, nothing
 * happens. */
MUST_CHECK bool outbox_part(OwnStore *own, Arena *a, Outgoing *o, Str part_id, Str text, Err *err);
/* Waiting rows whose id begins so are over, unsaid; `why` stands in their error. */
MUST_CHECK bool outbox_take_back(OwnStore *own, Str prefix, Str why, Err *err);

/* The first rows of the places of a platform, where their time has come, oldest first;
 * *ret_next_ms: when the next one's does, 0: there is none. */
MUST_CHECK bool outbox_due(OwnStore *own, Arena *a, Str platform, size_t max, Outgoing **ret,
                           size_t *ret_n, int64_t *ret_next_ms, Err *err);
/* Of one place; empty: none, or its time has not come. */
MUST_CHECK bool outbox_due_at(OwnStore *own, Arena *a, Str place, Str *ret_id, Err *err);
/* Whether anything waits there. */
MUST_CHECK bool outbox_waits(OwnStore *own, Str place, bool *ret, Err *err);
/* Nobody else takes it until then; *ret false: somebody has it, others come first, or it is
 * over. */
MUST_CHECK bool outbox_take(OwnStore *own, Str id, int64_t until_ms, bool *ret, Err *err);
/* What waits and is of no use any more is dead. */
MUST_CHECK bool outbox_expire(OwnStore *own, Err *err);
/* Open rows whose id begins so. */
MUST_CHECK bool outbox_open(OwnStore *own, Arena *a, Str prefix, Outgoing **ret, size_t *ret_n,
                            Err *err);

/* -- for people -- */

/* Newest first. */
MUST_CHECK bool outbox_dead(OwnStore *own, Arena *a, size_t max, Outgoing **ret, size_t *ret_n,
                            Err *err);
/* What was sent longer ago than LIMIT_INBOX_KEEP_DAYS is forgotten, unless it told of a message
 * that is still parked: that must not be told again. */
MUST_CHECK bool outbox_prune(OwnStore *own, Err *err);
/* Dead to waiting, with all its tries and however old. ERR_NOT_FOUND: no dead row of that id. */
MUST_CHECK bool outbox_retry(OwnStore *own, Str id, Err *err);

#endif
