/* continue.h - continues any session as a conversation (adopt.c).
 *
 * The session may be of Hermes, one of its profiles, Claude Code, Codex or Talaria. An id is that
 * of a conversation, of any part of a session, or an unambiguous prefix. Looking up writes nothing;
 * the first turn makes a conversation that starts with the session's messages and records what it
 * continues (agent/conversations_adopt.h). Any thread; text lives in the arena. */
#ifndef TALARIA_AGENT_CONTINUE_H
#define TALARIA_AGENT_CONTINUE_H

#include "agent/service.h"

typedef struct ContinueWhere {
    const Homes *homes;
    const Settings *settings;
} ContinueWhere;

/* The conversation to write to, made if there is none yet; new messages of the session are added.
 * ERR_NOT_FOUND; ERR_CONFLICT: the id is ambiguous, or the session was handed over. */
MUST_CHECK bool session_continue(const ContinueWhere *where, Runs *r, Arena *a, Str id, Str *ret_id,
                                 Err *err);
MUST_CHECK bool service_continue(Service *s, Arena *a, Str id, Str *ret_id, Err *err);

/* A session as a conversation that does not exist yet. */
typedef struct Preview {
    Conversation row; /* its id is the session's */
    ChatTurn *turns;
    size_t n_turns;
} Preview;

/* *ret_id: the conversation; empty: none yet. Writes nothing. */
MUST_CHECK bool session_continued_in(const ContinueWhere *where, Runs *r, Arena *a, Str id,
                                     Str *ret_id, Err *err);
/* *ret_id: the conversation; empty: none yet, and *ret is filled. Writes nothing. */
MUST_CHECK bool service_look_up(Service *s, Arena *a, Str id, Str *ret_id, Preview *ret, Err *err);

#endif
