/* routing.h - which session a key leads to, and who may write it.
 *
 * A binding is one transaction: the session that lived there is put aside, the entry is written,
 * the session and the parts of it that compression cut off are told where they live now, it is open
 * again, and its owner is the platform under a new fence. Entries and columns are byte for byte
 * those that Hermes leaves, so that either may be the next gateway. Where the home keeps a
 * sessions.json beside the table, it follows.
 *
 * On a OwnStore, so one thread; text lives in the arena. */
#ifndef TALARIA_HANDOFF_ROUTING_H
#define TALARIA_HANDOFF_ROUTING_H

#include "chat/address.h"
#include "handoff/handoff.h"

/* Before the binding: what it would have to be undone to, into h->before_json and prev_session_id.
 * ERR_REFUSED: the home's database cannot keep a binding. */
MUST_CHECK bool routing_remember(OwnStore *own, Arena *a, Handoff *h, Err *err);

/* h goes from prepared to bound; h->dest_key and dest_source_json say where. ERR_REFUSED: whoever
 * asked has taken the request back; ERR_BUSY: a turn of it is under way, or the thread is gone by
 * now (topics.h). */
MUST_CHECK bool routing_bind(OwnStore *own, Arena *a, Handoff *h, Err *err);

/* Ends h, and undoes the binding where there is one, also one that the journal does not know of
 * because a worker died in the middle: key and session are what they were before. */
MUST_CHECK bool routing_undo(OwnStore *own, Arena *a, Handoff *h, HandoffState how,
                             const char *code, Str why, Err *err);

/* The session belongs to the terminal again, and no key leads to it, nor to a conversation in which
 * it continues. The place that it left is told, by whichever gateway serves it within an hour.
 * ERR_BUSY: a turn of it is under way there. */
MUST_CHECK bool routing_release(OwnStore *own, Str home, Str session_id, Err *err);
/* The same where the place itself wished so, has ended its turn and needs not be told. */
MUST_CHECK bool routing_forget(OwnStore *own, Str home, Str session_id, Err *err);

/* The conversation of ours in which a session of another home went on; empty: none. */
MUST_CHECK bool routing_goes_on_in(OwnStore *own, Arena *a, Str home, Str session_id, Str *ret,
                                   Err *err);

/* -- without a handoff -- */

/* The key leads to the session from now on, and its place may write it. ERR_CONFLICT: it is
 * somebody else's; ERR_BUSY: a turn of it is under way, or the place's thread is gone. */
MUST_CHECK bool routing_place(OwnStore *own, Arena *a, Str home, Str session_id,
                              const ChatAddress *place, Str key, Err *err);

/* What waits under `waiting`, the key of nobody, is the place's from now on: in every home, ours
 * last, so that its entry is the newest. ERR_BUSY: a turn of it is under way. Doing it again does
 * nothing. */
MUST_CHECK bool routing_claim(OwnStore *own, Arena *a, const Str *homes, size_t n, Str waiting,
                              const ChatAddress *place, Str key, Err *err);

/* The thread of `from` is gone: the session that lives there lives at `to`, the chat itself, and so
 * does what is still to be said there; handoffs say so. !known: who writes there next cannot be
 * known, so the session belongs to the terminal again. Doing it again does nothing. */
MUST_CHECK bool routing_leave(OwnStore *own, Arena *a, const ChatAddress *from,
                              const ChatAddress *to, bool known, const KeyFlags *flags, Err *err);

/* What the key leads to in any of the homes: the newest entry counts. *ret_home: its number, and
 * empty id where there is none. */
MUST_CHECK bool routing_lookup(OwnStore *own, Arena *a, const Str *homes, size_t n, Str key,
                               size_t *ret_home, Str *ret_id, Err *err);

/* ERR_REFUSED: the database of that Hermes home is too old for a session in it to be bound. */
MUST_CHECK bool routing_has_table(Str home, Err *err);

/* *ret_id: empty where the key leads nowhere. */
MUST_CHECK bool routing_find(OwnStore *own, Arena *a, Str home, Str key, Str *ret_id, Err *err);

/* A terminal of Hermes that leaves ends the session that it has just handed over. Opens such
 * sessions again, for handoffs that were done after since_ms; *ret_n of them. */
MUST_CHECK bool routing_reopen(OwnStore *own, int64_t since_ms, size_t *ret_n, Err *err);

/* Entry and sessions.json, for tests. */
Str routing_entry(Arena *a, Str key, Str session_id, const ChatAddress *place, double now);
MUST_CHECK bool routing_mirror(Arena *a, Str home, Str key, Str entry_json, const Str *gone,
                               size_t n_gone, Err *err);

/* -- owners -- */

typedef struct SessionOwner {
    Str surface; /* "cli", or the platform; empty: nobody ever took it from where it began */
    int64_t fence;
    Str source; /* of the session before it first went anywhere */
} SessionOwner;

MUST_CHECK bool owner_get(OwnStore *own, Arena *a, Str home, Str session_id, SessionOwner *ret,
                          Err *err);
/* Inside of a transaction of this room. source: what the session's row says before; p NULL: as it
 * was. */
MUST_CHECK bool owner_set(OwnStore *own, Str home, Str session_id, Str surface, Str source,
                          Err *err);

#endif
