/* chat_inside.h - the state of one chat, for the files that make it up. One thread. */
#ifndef TALARIA_TERMINAL_CHAT_INSIDE_H
#define TALARIA_TERMINAL_CHAT_INSIDE_H

#include "agent/continue.h"
#include "base/limits.h"
#include "terminal/chat.h"
#include "terminal/render.h"
#include "terminal/screen.h"
#include "terminal/slash.h"

typedef struct Chat {
    const ChatOptions *options;
    Service *service;
    Arena *arena;   /* of the chat: names and ids */
    Arena *scratch; /* of one line or frame */
    Screen screen;
    Editor *editor; /* NULL: no terminal */
    int wake_fd;
    char prompt[96];

    Str conversation; /* empty: none was begun */
    bool fresh;       /* it was begun here, and nothing is in it but files */
    bool session; /* it is the id of a session that becomes a conversation with the next message */
    Str runtime, model, template;
    Str files[LIMIT_FILES]; /* of the next message */
    size_t n_files;

    char *queue[LIMIT_CHAT_QUEUE]; /* messages that wait for the turn under way */
    size_t n_queue;
    char *last; /* message that was sent last; NULL: none */

    bool running;
    Subscriber sub;
    Str run_id; /* of the turn under way, else of the last one; empty: none */
    Arena *run_arena;
    Render *render; /* of that turn */

    struct OwnStore *journal; /* NULL: was not needed yet */
    bool handed;              /* the conversation went elsewhere from here, and that was said */
    bool leaving, failed, told;
    Err err; /* of the last turn or command, where it failed */
} Chat;

/* -- chat_turn.c: turns -- */

/* There is a conversation from here on, and it is ours to write. */
MUST_CHECK bool chat_begin(Chat *c, Err *err);
/* Now, or after the turn under way. */
void chat_say(Chat *c, Str text);
/* Shows what came; sends what waits where a turn is over. */
void chat_pump(Chat *c);
void chat_cancel(Chat *c);
/* Whether the line was meant for a runtime that waits for an answer. */
bool chat_answers(Chat *c, Str line);
/* Gives up the subscription; the service cancels what still runs. */
void chat_forget_turn(Chat *c);

/* -- chat_resume.c: conversations that were there before -- */

/* An id, how one begins, or (empty) the newest other one; shows what was said last. */
MUST_CHECK bool chat_resume(Chat *c, Str id, Err *err);
/* A conversation, or what a session would be as one. */
typedef struct Found {
    Preview preview; /* the row alone where it is a conversation */
    bool session;    /* it is none yet */
} Found;

/* Which one is meant by that; ERR_NOT_FOUND, or ERR_CONFLICT where several are. */
MUST_CHECK bool chat_find(Chat *c, Str id, Found *ret, Err *err);

/* The newest sessions of every source, newest first. */
typedef struct Listed {
    Str id, origin, title;
    double last_active;
    int64_t messages;
} Listed;
MUST_CHECK bool chat_list(Chat *c, size_t max, Listed **ret, size_t *ret_n, Err *err);
void chat_drop_conversation(Chat *c);
/* One in which nothing was said goes again. */
void chat_abandon(Chat *c);

/* -- chat_handoff.c: conversations that move -- */

/* ERR_CONFLICT: it continues elsewhere; the message says where, and how to bring it back. */
MUST_CHECK bool chat_is_ours(Chat *c, Str id, Err *err);
/* Prints how to continue the conversation that is left. */
void chat_farewell(Chat *c);
MUST_CHECK bool slash_handoff(Chat *c, Str rest, Err *err);
MUST_CHECK bool slash_back(Chat *c, Str rest, Err *err);

/* -- slash_do.c, chat_complete.c -- */

MUST_CHECK bool slash_do(Chat *c, SlashId id, Str rest, Err *err);
MUST_CHECK bool chat_set_template(Chat *c, Str name, Err *err);
MUST_CHECK bool chat_add_file(Chat *c, Str path, Err *err);
void chat_complete(void *ctx, Str before, Completion *ret);

/* -- talk -- */

/* One quiet line. */
void chat_note(Chat *c, const char *fmt, ...) PRINTF(2, 3);
void chat_trouble(Chat *c, const Err *err);

#endif
