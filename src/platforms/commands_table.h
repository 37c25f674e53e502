/* commands_table.h - what people can type in a chat, for platforms that show their users a list of
 * it.
 *
 * What a command does is the gateway's; a platform only needs its name and a line about it. Names
 * are lower-case letters, the lines at most 100 characters: the least that any platform takes. */
#ifndef TALARIA_PLATFORMS_COMMANDS_TABLE_H
#define TALARIA_PLATFORMS_COMMANDS_TABLE_H

#include "store/trust.h"

/* X(id, "name", who may use it at least, who may use its form that reaches sessions of other chats,
 * "description") */
#define CHAT_COMMANDS(X)                                                                           \
    X(CHAT_NEW, "new", TRUST_GUEST, TRUST_GUEST, "start a new session here")                       \
    X(CHAT_RESUME, "resume", TRUST_GUEST, TRUST_OWNER,                                             \
      "continue a session by number, id or title; '--all': from anywhere")                         \
    X(CHAT_SESSIONS, "sessions", TRUST_GUEST, TRUST_OWNER,                                         \
      "list the sessions of this chat; 'all': from anywhere")                                      \
    X(CHAT_STATUS, "status", TRUST_GUEST, TRUST_GUEST, "show the current session and its state")   \
    X(CHAT_STOP, "stop", TRUST_GUEST, TRUST_GUEST, "stop the current answer")                      \
    X(CHAT_APPROVE, "approve", TRUST_NAMED, TRUST_NAMED,                                           \
      "approve the agent's request: once, 'session' or 'always'")                                  \
    X(CHAT_DENY, "deny", TRUST_GUEST, TRUST_GUEST, "deny the agent's request")                     \
    X(CHAT_HANDOFF, "handoff", TRUST_NAMED, TRUST_NAMED,                                           \
      "move the session: to a terminal ('cli' or 'back') or a platform")                           \
    X(CHAT_SETHOME, "sethome", TRUST_NAMED, TRUST_NAMED,                                           \
      "make this the default chat for handoffs and notices")                                       \
    X(CHAT_HELP, "help", TRUST_GUEST, TRUST_GUEST, "list these commands")

typedef enum ChatCommand {
#define X(id, name, who, all, text) id,
    CHAT_COMMANDS(X)
#undef X
        CHAT_COMMAND_COUNT
} ChatCommand;

#endif
