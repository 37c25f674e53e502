#include "terminal/screen.h"

#include <unistd.h>

#include "terminal/rows.h"

/* A pipe that is closed ends the program by its signal, or is of no interest any more. */
static void write_all(int fd, Str s)
{
    while (s.n) {
        ssize_t n = write(fd, s.p, s.n);

        if (n <= 0)
            return;
        s = str_skip(s, (size_t)n);
    }
}

static void put(Screen *s, Str text)
{
    if (s->out)
        fwrite(text.p, 1, text.n, s->out);
    else
        write_all(STDOUT_FILENO, text);
}

void screen_words(Screen *s, Str text)
{
    size_t wide = s->editor ? editor_columns(s->editor) : 80;

    if (!text.n)
        return;
    editor_hide(s->editor);
    if (s->out && s->col)
        fprintf(s->out, "\033[A\033[%zuG", s->col + 1);
    put(s, text);
    s->col = position_after((CursorPosition){ 0, s->col }, text, wide).col;
    if (s->out && s->col)
        put(s, STR("\n"));
    /* After a full row the terminal continues on the next one by itself. */
    if (s->out && s->col >= wide)
        s->col = 0;
    editor_show(s->editor);
}

void screen_fresh(Screen *s)
{
    if (!s->out && s->col)
        put(s, STR("\n"));
    s->col = 0;
}

void screen_lines(Screen *s, Str lines)
{
    if (!lines.n)
        return;
    screen_fresh(s);
    if (!s->out) {
        write_all(STDERR_FILENO, lines);
        return;
    }
    editor_hide(s->editor);
    put(s, lines);
    editor_show(s->editor);
}
