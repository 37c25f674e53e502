/* chat.h - an interactive conversation: the agent service with a person in front of it.
 *
 * On a terminal a line is typed at the bottom while answers stream above it; without one every line
 * of standard input is a message, words go to standard output and talk to standard error. Either
 * way the same commands work (slash.h), and everything goes through the agent service of this
 * process. */
#ifndef TALARIA_TERMINAL_CHAT_H
#define TALARIA_TERMINAL_CHAT_H

#include "base/err.h"
#include "store/homes.h"
#include "terminal/slash.h"
#include "text/settings.h"

typedef struct ChatOptions {
    const Homes *homes;
    const Settings *settings;
    Str runtime, model, template; /* empty: the default */
    Str conversation;             /* to continue: an id or its beginning; empty: see resume */
    bool resume;                  /* without an id: the newest one */
    const Str *files;             /* paths, for the first message */
    size_t n_files;
    bool color, quiet;
} ChatOptions;

/* Until the user leaves. False: the last turn failed, or nothing could be begun. *ret_told: why was
 * shown already. */
MUST_CHECK bool chat(const ChatOptions *options, bool *ret_told, Err *err);

/* For help and the man page: C wants a literal there. */
#define CHAT_COMMAND_TEXT(name, needs, operand, idle, what) "\n- /" #name operand ": " what
#define CHAT_DETAILS                                                                               \
    "Answers stream while you type. Enter during a turn queues the message, Ctrl-C or /stop "      \
    "cancels the turn and keeps the answer so far, Alt-Enter starts a new line, Tab completes, "   \
    "Ctrl-D leaves. Pasted text is one message. Without a terminal, each line of standard input "  \
    "is a message or a command and answers go to standard output; the exit code is that of the "   \
    "last turn: 0 completed or cut short, 1 failed, 130 cancelled.\n" SLASH_COMMANDS(              \
        CHAT_COMMAND_TEXT)

#endif
