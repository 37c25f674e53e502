/* hermes_script.h - what the stand-in for a Hermes sends in a turn: frames, made up beforehand. */
#ifndef TALARIA_HTTP_HERMES_SCRIPT_H
#define TALARIA_HTTP_HERMES_SCRIPT_H

#include "base/arena.h"

typedef enum ScriptDialect {
    SCRIPT_SESSION,
    SCRIPT_RUNS,
    SCRIPT_RESPONSES,
    SCRIPT_CHAT
} ScriptDialect;

typedef enum ScriptMark {
    SCRIPT_SEND,
    SCRIPT_WAIT, /* after this one: until the approval was answered */
    SCRIPT_CUT   /* after this one: the line breaks */
} ScriptMark;

typedef struct ScriptFrame {
    Str bytes;
    int pause_ms; /* before it */
    ScriptMark mark;
} ScriptFrame;

typedef struct Script {
    Arena *arena;
    ScriptDialect dialect;
    Str prompt, session, fail;
    Str next_session; /* the id under which it goes on */
    int turn;
    int pause_ms;
    Str answer; /* all of its text */
    ScriptFrame *frames;
    size_t n, cap;
    int item; /* numbers for ids */
} Script;

void script_write(Script *s); /* fills answer, next_session and frames */

/* What a run sends when it was stopped. */
Str script_cancelled(void);

#endif
