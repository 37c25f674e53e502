/* commands_table.h - what people can type in a chat, for platforms that show their users a list of it.
 *
 * What a command does is the gateway's; a platform only needs its name and a line about it. Names are lower-case
 * letters, the lines at most 100 characters: the least that any platform takes. */
#ifndef TALARIA_PLATFORMS_COMMANDS_TABLE_H
#define TALARIA_PLATFORMS_COMMANDS_TABLE_H

/* X(id, "name", "description") */
#define CHAT_COMMANDS(X)                                                                           \
    X(CHAT_NEW, "new", "begin a new session here")                                                 \
    X(CHAT_RESUME, "resume",                                                                       \
      "go on with a session: its number, id or title; '--all': of any place")                      \
    X(CHAT_SESSIONS, "sessions", "list the sessions of this chat; 'all': of any place")            \
    X(CHAT_STATUS, "status", "which session this is, and what it is doing")                        \
    X(CHAT_STOP, "stop", "end the answer that is on its way")                                      \
    X(CHAT_APPROVE, "approve", "yes to what the agent asks: once, or 'session', or 'always'")      \
    X(CHAT_DENY, "deny", "no to what the agent asks")                                              \
    X(CHAT_HANDOFF, "handoff", "move the session: 'cli' or 'back' for a terminal, or a platform")  \
    X(CHAT_SETHOME, "sethome", "let sessions that are handed over arrive in this chat")            \
    X(CHAT_HELP, "help", "list these commands")

typedef enum ChatCommand {
#define X(id, name, text) id,
    CHAT_COMMANDS(X)
#undef X
        CHAT_COMMAND_COUNT
} ChatCommand;

#endif
