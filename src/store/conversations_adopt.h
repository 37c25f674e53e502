/* conversations_adopt.h - a session that was begun elsewhere goes on as a conversation of ours.
 *
 * One of our own home that is no conversation yet becomes one where it stands. One of another home is left as
 * it is: its words are the beginning of a new conversation, which remembers what it continues. On a Runs handle,
 * so one thread; text lives in the arena. */
#ifndef TALARIA_STORE_CONVERSATIONS_ADOPT_H
#define TALARIA_STORE_CONVERSATIONS_ADOPT_H

#include "store/conversations.h"

typedef struct Adoption {
    Str home, session_id;
    Str fingerprint;       /* of its words: where they are others by now, it is loaded anew */
    Conversation row;      /* id: of the new one, or of the session itself in our own home */
    const ChatTurn *turns; /* message_id counts where the session is ours; else role and content */
    size_t n_turns;
    Str thread, handle; /* the same words as a runtime keeps them, tools and all; empty: none */
} Adoption;

/* *ret_id: empty where it was not adopted yet. */
MUST_CHECK bool adoption_find(Runs *r, Arena *a, Str home, Str session_id, Str fingerprint,
                              Str *ret_id, Err *err);
/* *ret_id: the conversation, also where somebody was faster. */
MUST_CHECK bool adoption_make(Runs *r, Arena *a, const Adoption *x, Str *ret_id, Err *err);

/* -- and comes back --------------------------------------------------------------------------------- */

/* What a conversation of ours became while it lived elsewhere. */
typedef struct Comeback {
    Str conversation_id;
    int64_t fence;         /* of its owner when this was read */
    bool archived;         /* its user had put it aside before it went */
    const ChatTurn *turns; /* that were made there; role and content count */
    size_t n_turns;
    Str thread, handle; /* all of its words as that runtime keeps them; empty: as they were */
} Comeback;

/* The turns and the owner in one transaction. ERR_CONFLICT: somebody was faster. */
MUST_CHECK bool comeback_make(Runs *r, Arena *a, const Comeback *x, Err *err);

#endif
