/* continue.h - any session goes on as a conversation.
 *
 * Whoever wrote it: Hermes, one of its profiles, Claude Code, Codex, Talaria itself. An id is that of a
 * conversation, of any part of a session, or an unambiguous beginning of one. Looking writes nothing; the first
 * turn makes a conversation that begins with the session's messages and remembers what it continues
 * (agent/conversations_adopt.h). Any thread; text lives in the arena. */
#ifndef TALARIA_AGENT_CONTINUE_H
#define TALARIA_AGENT_CONTINUE_H

#include "agent/service.h"

typedef struct ContinueWhere {
    const Homes *homes;
    const Settings *settings;
} ContinueWhere;

/* The conversation to write to, made where there is none yet. Where the session has grown since, its new
 * messages are taken along. ERR_NOT_FOUND; ERR_CONFLICT: the id is ambiguous, or the session was handed over. */
MUST_CHECK bool session_continue(const ContinueWhere *where, Runs *r, Arena *a, Str id, Str *ret_id,
                                 Err *err);
MUST_CHECK bool service_continue(Service *s, Arena *a, Str id, Str *ret_id, Err *err);

/* What a session would be as a conversation. */
typedef struct Preview {
    Conversation row; /* its id is the session's */
    ChatTurn *turns;
    size_t n_turns;
} Preview;

/* *ret_id: the conversation; empty where there is none yet. Writes nothing. */
MUST_CHECK bool session_continued_in(const ContinueWhere *where, Runs *r, Arena *a, Str id,
                                     Str *ret_id, Err *err);
/* *ret_id: the conversation; empty where there is none yet, then *ret is filled. Writes nothing. */
MUST_CHECK bool service_look_up(Service *s, Arena *a, Str id, Str *ret_id, Preview *ret, Err *err);

#endif
