/* commands_table.h - what people can type in a chat, for platforms that show their users a list of it.
 *
 * What a command does is the gateway's; a platform only needs its name and a line about it. Names are lower-case
 * letters, the lines at most 100 characters: the least that any platform takes. */
#ifndef TALARIA_PLATFORMS_COMMANDS_TABLE_H
#define TALARIA_PLATFORMS_COMMANDS_TABLE_H

/* X(id, "name", "description") */
#define CHAT_COMMANDS(X)                                                                           \
    X(CHAT_NEW, "new", "start a new session here")                                                 \
    X(CHAT_RESUME, "resume", "continue a session by number, id or title; '--all': from anywhere")  \
    X(CHAT_SESSIONS, "sessions", "list the sessions of this chat; 'all': from anywhere")           \
    X(CHAT_STATUS, "status", "show the current session and its state")                             \
    X(CHAT_STOP, "stop", "stop the current answer")                                                \
    X(CHAT_APPROVE, "approve", "approve the agent's request: once, 'session' or 'always'")         \
    X(CHAT_DENY, "deny", "deny the agent's request")                                               \
    X(CHAT_HANDOFF, "handoff", "move the session: to a terminal ('cli' or 'back') or a platform")  \
    X(CHAT_SETHOME, "sethome", "make this the default chat for handoffs and notices")              \
    X(CHAT_HELP, "help", "list these commands")

typedef enum ChatCommand {
#define X(id, name, text) id,
    CHAT_COMMANDS(X)
#undef X
        CHAT_COMMAND_COUNT
} ChatCommand;

#endif
