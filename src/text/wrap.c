#include "text/wrap.h"

#include "text/utf8.h"

typedef struct Wrap {
    Buf *out;
    size_t used, indent, width;
    bool begun; /* the line at hand has a word of this text */
} Wrap;

static void new_line(Wrap *w)
{
    buf_addc(w->out, '\n');
    w->used = 0;
    w->begun = false;
}

static void indent_line(Wrap *w)
{
    for (; w->used < w->indent; w->used++)
        buf_addc(w->out, ' ');
}

static void put_word(Wrap *w, Str word, size_t spaces)
{
    size_t columns = utf8_columns(word);

    if (w->begun && w->used + spaces + columns > w->width) {
        new_line(w);
        indent_line(w);
    } else if (w->begun || spaces > 1) { /* spaces at the beginning of a line are meant */
        for (size_t i = 0; i < spaces; i++)
            buf_addc(w->out, ' ');
        w->used += spaces;
    }
    buf_add(w->out, word);
    w->used += columns;
    w->begun = true;
}

static void wrap_line(Wrap *w, Str line)
{
    size_t spaces = 0;

    for (Str word; str_split(&line, ' ', &word);) {
        if (word.n) {
            put_word(w, word, spaces);
            spaces = 0;
        }
        spaces++;
    }
}

void text_wrap(Buf *out, Str text, size_t used, size_t indent, size_t width)
{
    Wrap w = { .out = out, .used = used, .indent = indent, .width = width };
    bool first = true;

    for (Str line; str_split(&text, '\n', &line); first = false) {
        if (!first) {
            new_line(&w);
            if (line.n)
                indent_line(&w);
        }
        wrap_line(&w, line);
    }
}
