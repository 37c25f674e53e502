/* slash.h - the commands of the terminal, as one table.
 *
 * A row is the command's name, its help, its completion and its place in the documentation; what it
 * does is the function `slash_NAME` in slash_do.c or chat_handoff.c. A line is a command where it
 * begins with one slash and letters and then a blank or nothing, so that a path is a message; two
 * slashes begin a message that begins with a slash. Pure. */
#ifndef TALARIA_TERMINAL_SLASH_H
#define TALARIA_TERMINAL_SLASH_H

#include "base/buf.h"
#include "base/err.h"

typedef enum SlashNeeds {
    SLASH_ALONE, /* takes nothing */
    SLASH_MAY,   /* takes something, or nothing */
    SLASH_MUST   /* takes something */
} SlashNeeds;

/* X(name, what it takes, the same in help (with a blank before it), waits for the end of a turn,
 * what it does) */
#define SLASH_COMMANDS(X)                                                                          \
    X(new, SLASH_ALONE, "", true, "start a new conversation")                                      \
    X(resume, SLASH_MAY, " [ID]", true,                                                            \
      "continue any session; without ID the newest conversation")                                  \
    X(sessions, SLASH_ALONE, "", false, "list the newest sessions of every agent")                 \
    X(runtime, SLASH_MAY, " [NAME]", false,                                                        \
      "choose the runtime that answers; without NAME list them")                                   \
    X(template, SLASH_MAY, " [NAME]", true, "start with a template: auto, NAME or none")           \
    X(model, SLASH_MAY, " [NAME]", false, "choose the runtime's model; 'default': its own")        \
    X(memory, SLASH_ALONE, "", false, "show what Talaria remembers about you")                     \
    X(skills, SLASH_MAY, " [QUERY]", false,                                                        \
      "list the skills on this machine, or those that match")                                      \
    X(context, SLASH_ALONE, "", false, "show the context of the last turn, and why")               \
    X(file, SLASH_MUST, " PATH", false, "attach a file to the next message")                       \
    X(retry, SLASH_ALONE, "", true, "send the last message again")                                 \
    X(title, SLASH_MUST, " TEXT", false, "name the conversation")                                  \
    X(handoff, SLASH_MUST, " PLATFORM [CHAT] [--no-turn]", false,                                  \
      "continue on a chat platform (local, telegram, ...) and leave")                              \
    X(back, SLASH_MAY, " [ID]", true, "bring a conversation back from a chat platform")            \
    X(stop, SLASH_ALONE, "", false, "cancel the running turn (same as Ctrl-C)")                    \
    X(help, SLASH_ALONE, "", false, "list these commands")                                         \
    X(quit, SLASH_ALONE, "", false, "leave (same as Ctrl-D)")

typedef enum SlashId {
#define X(name, needs, operand, idle, what) SLASH_##name,
    SLASH_COMMANDS(X)
#undef X
        SLASH_COUNT
} SlashId;

typedef struct SlashRow {
    const char *name, *operand, *what;
    SlashNeeds needs;
    bool idle;
} SlashRow;

extern const SlashRow slash_rows[SLASH_COUNT];

typedef enum SlashKind { SLASH_MESSAGE, SLASH_COMMAND, SLASH_WRONG } SlashKind;

/* A message: *ret_rest is its text. A command: its id and what follows. Wrong: err says why, and
 * names the command that is nearest. */
SlashKind slash_parse(Str line, SlashId *ret_id, Str *ret_rest, Err *err);

/* The row whose name comes nearest; NULL: none is near. */
const SlashRow *slash_nearest(Str name);

void slash_help_add(Buf *out);

#endif
