/* editor.h - the line at the bottom of the screen: libedit with ears.
 *
 * libedit asks us for each character, and while we wait for one we also wait for everything else:
 * words of an answer, signals. So the whole terminal is one thread, and the line that is being
 * typed can be taken away (editor_hide), something written in its place and the line be drawn again
 * below (editor_show) at any moment between two keys. */
#ifndef TALARIA_TERMINAL_EDITOR_H
#define TALARIA_TERMINAL_EDITOR_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

typedef struct Editor Editor;

/* Replacements for the last word; all in the arena. */
typedef struct Completion {
    Arena *arena;
    Str *words;
    size_t n, cap;
    size_t replaces; /* bytes before the cursor that they begin with */
    const char *end; /* what follows one that is the only one: " " or "" */
} Completion;

typedef struct EditorHooks {
    const char *(*prompt)(void *ctx);
    void (*wake)(void *ctx);                  /* the descriptor was written to */
    bool (*interrupt)(void *ctx, bool empty); /* Ctrl-C; true: what was typed is taken away */
    void (*complete)(void *ctx, Str before, Completion *ret);
    /* Whole lines above the line that is being typed. */
    void (*say)(void *ctx, Str lines);
    void *ctx;
} EditorHooks;

/* Borrows all of it. Standard input and `out` must be a terminal. */
MUST_CHECK Editor *editor_open(const EditorHooks *hooks, int wake_fd, FILE *out, Err *err);
Editor *editor_close(Editor *e); /* leaves the terminal as it was */
AUTO_FREE(Editor, editor_close)

/* A message as it was typed or pasted, without its last line feed. False: there will be none. */
MUST_CHECK bool editor_line(Editor *e, Buf *ret);
/* Which signal ended it; 0: the user. */
int editor_ended_by(const Editor *e);

/* For the arrow keys. */
void editor_remember(Editor *e, Str line);

/* Nothing happens where no line is being typed. */
void editor_hide(Editor *e);
void editor_show(Editor *e);
/* Takes the line that editor_line gave last off the screen, where nothing was written since. */
void editor_erase(Editor *e);

size_t editor_columns(const Editor *e);

#endif
