#include "cmd/wrapped.h"

#include "text/utf8.h"

/* The length of the escape sequence at the beginning: ESC [ ... letter, or ESC ] ... BEL or ESC \. */
static size_t escape_length(Str s)
{
    size_t i = 2;

    if (s.n < 2 || s.p[0] != '\033')
        return 0;
    if (s.p[1] == '[') {
        while (i < s.n && (unsigned char)s.p[i] < 0x40)
            i++;
        return i < s.n ? i + 1 : s.n;
    }
    if (s.p[1] != ']')
        return 2;
    while (i < s.n && s.p[i] != '\a' && s.p[i] != '\033')
        i++;
    if (i < s.n && s.p[i] == '\033')
        i++;
    return i < s.n ? i + 1 : s.n;
}

static size_t visible_columns(Str s)
{
    size_t columns = 0;

    while (s.n) {
        size_t skip = escape_length(s), run = 0;

        s = str_skip(s, skip);
        while (run < s.n && s.p[run] != '\033')
            run++;
        columns += utf8_columns(str_head(s, run));
        s = str_skip(s, run);
        if (!skip && !run)
            break;
    }
    return columns;
}

static bool put(Wrapped *w, Str s)
{
    return !s.n || w->sink(w->sink_ctx, s.p, s.n);
}

static bool put_spaces(Wrapped *w, size_t n)
{
    static const char spaces[] = "                                ";
    bool ok = true;

    for (; n && ok; n -= n < 32 ? n : 32)
        ok = put(w, (Str){ spaces, n < 32 ? n : 32 });
    return ok;
}

/* A word of which an earlier piece is on the line already stays there. */
static bool put_word(Wrapped *w)
{
    Str word = buf_str(&w->word);
    size_t columns = visible_columns(word), hang = w->indent + 2;
    bool ok;

    if (!w->begun && !w->open)
        w->indent = w->spaces;
    if (hang > w->width / 2)
        hang = w->width / 2;
    if (w->begun && !w->open && columns && w->column + w->spaces + columns > w->width) {
        ok = put(w, STR("\n")) && put_spaces(w, hang);
        w->column = hang;
    } else {
        ok = put_spaces(w, w->spaces);
        w->column += w->spaces;
    }
    ok = ok && put(w, word);
    w->column += columns;
    w->begun |= columns > 0;
    w->spaces = 0;
    w->open = columns > 0;
    w->word.n = 0;
    return ok;
}

static bool put_newline(Wrapped *w)
{
    w->column = w->spaces = w->indent = 0;
    w->begun = w->open = false;
    return put(w, STR("\n"));
}

bool wrapped_write(void *ctx, const char *p, size_t n)
{
    Wrapped *w = ctx;
    bool ok = true;

    for (size_t i = 0; i < n && ok; i++) {
        if (p[i] != ' ' && p[i] != '\n') {
            buf_addc(&w->word, p[i]);
            continue;
        }
        if (w->word.n)
            ok = put_word(w);
        if (p[i] == '\n')
            ok = ok && put_newline(w);
        else
            w->spaces++;
        w->open = false;
    }
    if (ok && w->word.n)
        ok = put_word(w);
    return ok;
}

void wrapped_done(Wrapped *w)
{
    buf_done(&w->word);
}
