/* render.h - the events of a turn as a person reads them.
 *
 * Words of the answer are one thing, quiet lines about it another: tools in one line each when they
 * are over, thinking folded into one line, context, skills and graph in one, trouble with its code
 * and a way out, at the end tokens and time. Everything that comes from a runtime passes through
 * utf8_show: no escape sequence, control or mark that turns the direction of text reaches a
 * terminal. Pure. */
#ifndef TALARIA_TERMINAL_RENDER_H
#define TALARIA_TERMINAL_RENDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "runtimes/frames.h"
#include "terminal/paint.h"

typedef enum Tint { TINT_OFF, TINT_DIM, TINT_BOLD, TINT_RED, TINT_YELLOW, TINT_CYAN } Tint;
const char *tint(bool color, Tint t); /* "" without colour */

typedef struct RenderTool {
    struct RenderTool *next;
    Str id, name, argument;
    int64_t began_ms;
} RenderTool;

typedef struct Render {
    bool color;
    Arena *arena;     /* of the turn */
    Paint *paint;     /* draws Markdown; NULL: words are shown as they come */
    Buf before;       /* words that were said before the lines of the last frame */
    Buf quiet, words; /* of the last frame: whole lines, then words */
    bool after_line;  /* no words since the last line */
    Buf thought;
    RenderTool *tools; /* under way */
    char activity[40]; /* current activity, for the prompt; may be empty */
    struct {
        Str id; /* empty: nothing is asked */
        Str choices[4];
        size_t n;
    } approval;
    Str status; /* of done; empty: it is not over */
    Str error;  /* in words; empty: none */
} Render;

/* `columns` 0: no terminal, words stay Markdown. `homes`: see PaintOptions. */
Render *render_new(bool color, size_t columns, const Homes *homes);
/* The terminal was resized. */
void render_resize(Render *r, size_t columns);
Render *render_free(Render *r);
AUTO_FREE(Render, render_free)

/* Replaces before, quiet and words. */
void render_frame(Render *r, FrameEvent event, Json data);

/* The argument that says most of what a tool was asked to do. */
Str render_argument(Arena *a, Str preview);

/* Text from outside on its lines; carriage returns at their ends are left out. */
void render_text(Buf *out, Str s);

#endif
