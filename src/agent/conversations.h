/* conversations.h - conversations and their words, as rows of sessions and messages.
 *
 * A conversation is a session of ours with a row beside it; a message likewise. A message whose run
 * is not over, or that stayed empty, is inactive for readers of the history. On a Runs handle, so
 * one thread; what is handed out lives in the arena. */
#ifndef TALARIA_AGENT_CONVERSATIONS_H
#define TALARIA_AGENT_CONVERSATIONS_H

#include "agent/runs.h"

typedef struct Conversation {
    Str id, title, default_runtime, template, parent_id;
    Str model;                 /* which of the configured ones, or a name; empty: the default */
    Str instructions;          /* of a client that sends its own; may be empty */
    Str idem_key, idem_sha256; /* to be created with, and of what request; else empty */
    Str old_state;   /* to be created with: an agent_state of before, for 'jarvis'; else empty */
    Str memory;      /* what was remembered of the user at its first turn; empty: not yet */
    Str cwd;         /* the folder in which its programs work; empty: any */
    Str first_words; /* of the user; at most 80 bytes */
    Str active;      /* runtime of the newest turn, else the default */
    Str running;     /* id of the run that is not over; empty: none */
    /* The session that it continues (conversations_adopt.h); empty: it was begun here. */
    Str continues_home, continues_id;
    int64_t created_ms, updated_ms, version, messages;
    bool one_shot; /* to be created with: left out of lists until it has a second turn */
} Conversation;

/* What is to be changed; p NULL: stays. */
typedef struct ConversationChange {
    Str title, default_runtime, model;
    int64_t version; /* that it must have; 0: any */
} ConversationChange;

MUST_CHECK bool conversation_create(Runs *r, const Conversation *c, Err *err);
/* That was made under this key; *ret_id is empty where none was. ERR_CONFLICT: for another
 * request. */
MUST_CHECK bool conversation_by_key(Runs *r, Arena *a, Str key, Str sha256, Str *ret_id, Err *err);
MUST_CHECK bool conversation_get(Runs *r, Arena *a, Str id, Conversation *ret, Err *err);
/* The one whose id begins so; *ret_id is empty where there is none. ERR_CONFLICT: there are
 * several. */
MUST_CHECK bool conversation_by_prefix(Runs *r, Arena *a, Str prefix, Str *ret_id, Err *err);
/* Newest first; before_ms and before_id: what follows that one (0: from the newest). */
MUST_CHECK bool conversation_list(Runs *r, Arena *a, int64_t before_ms, Str before_id, size_t max,
                                  Conversation **ret, size_t *ret_n, Err *err);
MUST_CHECK bool conversation_change(Runs *r, Str id, const ConversationChange *change, Err *err);
/* As session_delete (sessions_edit.h). ERR_NOT_FOUND if the session is not a conversation. */
MUST_CHECK bool conversation_delete(Runs *r, Str id, Err *err);
/* A new conversation with the messages up to through_seq (0: all that are complete); its runtimes
 * start again. */
MUST_CHECK bool conversation_branch(Runs *r, Str id, int64_t through_seq, Str new_id, Err *err);

typedef struct ChatTurn {
    int64_t message_id, seq, created_ms, finished_ms;
    Str role, content, runtime, run_id, status, model, usage_json;
    Str passages; /* where they begin in the content, as a JSON list of bytes; empty: it is one */
} ChatTurn;

/* With seq > after, oldest first, at most `max`. */
MUST_CHECK bool turns_list(Runs *r, Arena *a, Str conversation_id, int64_t after_seq, size_t max,
                           ChatTurn **ret, size_t *ret_n, Err *err);
/* The newest with text and seq < before (0: all), oldest first, at most `max`. */
MUST_CHECK bool turns_recent(Runs *r, Arena *a, Str conversation_id, int64_t before_seq, size_t max,
                             ChatTurn **ret, size_t *ret_n, Err *err);
/* Turns that were made elsewhere, behind those that are there; role and content count. */
MUST_CHECK bool conversation_import(Runs *r, Str conversation_id, const ChatTurn *turns, size_t n,
                                    Err *err);
/* seq of the last message that this runtime answered to the end; 0: none. */
MUST_CHECK bool turns_known_to(Runs *r, Str conversation_id, Str runtime, int64_t *ret, Err *err);

#endif
