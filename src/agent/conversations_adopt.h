/* conversations_adopt.h - a session that was begun elsewhere continues as a conversation of ours.
 *
 * A session of Talaria's own database that is no conversation yet becomes one in place. Every other
 * session is left as it is: its messages are the beginning of a new conversation, which remembers
 * what it continues. One session has one conversation: where the session has grown since, its new
 * messages are added. On a Runs handle, so one thread; text lives in the arena. */
#ifndef TALARIA_AGENT_CONVERSATIONS_ADOPT_H
#define TALARIA_AGENT_CONVERSATIONS_ADOPT_H

#include "agent/conversations.h"

/* A session outside of our database: the path of its home, or the origin's name of a transcript. */
typedef struct Continues {
    Str home, session_id;
} Continues;

typedef struct Adoption {
    Continues from;
    Str fingerprint;       /* of its messages; empty: in place */
    Str by;                /* who said what is added later, for the runtimes that did not hear it */
    Conversation row;      /* id: of the new one, or of the session itself in our own database */
    const ChatTurn *turns; /* message_id counts in place; else role and content */
    size_t n_turns;
    Str thread, handle; /* the same as a runtime keeps it, tools and all; empty: none */
} Adoption;

/* *ret_id: empty where it was not adopted yet. The fingerprint is that of the last time. */
MUST_CHECK bool adoption_find(Runs *r, Arena *a, const Continues *from, Str *ret_id,
                              Str *ret_fingerprint, Err *err);
/* By the session's id alone, in whatever place it is; *ret_id is empty where there is none. */
MUST_CHECK bool adoption_of(Runs *r, Arena *a, Str session_id, Str *ret_id, Err *err);
/* What a conversation continues; the session_id is empty where it is nothing. */
MUST_CHECK bool adoption_source(Runs *r, Arena *a, Str conversation_id, Continues *ret, Err *err);
/* *ret_id: the conversation, also where somebody was faster. */
MUST_CHECK bool adoption_make(Runs *r, Arena *a, const Adoption *x, Str *ret_id, Err *err);

/* ERR_CONFLICT where the session itself was handed over to a chat platform. */
MUST_CHECK bool adoption_allowed(Runs *r, const Continues *from, Err *err);

/* -- And comes back -- */

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
