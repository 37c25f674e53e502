/* Cutting notes: at headings first; a section that is too long at empty lines, then at line ends,
 * then wherever a character ends. */
#include "agent/brain.h"

#include "text/letters.h"
#include "text/utf8.h"

enum { LEVELS = 6 };

typedef struct Cut {
    Arena *arena;
    size_t chars;
    Str path[LEVELS]; /* headings that are open */
    Chunk *all;
    size_t n, cap;
} Cut;

static Str heading_of(const Cut *c)
{
    Str out = STR("");

    for (size_t i = 0; i < LEVELS; i++)
        if (c->path[i].n)
            out = out.n ? str_printf(c->arena, "%.*s > %.*s", STR_FMT(out), STR_FMT(c->path[i]))
                        : c->path[i];
    return out;
}

/* How much of a text that is too long goes into the next chunk. */
static size_t good_end(Str text, size_t chars)
{
    Str head = text_cut(text, chars);

    for (size_t i = head.n; i > head.n / 3; i--)
        if (head.p[i - 1] == '\n' && (i == head.n || head.p[i] == '\n'))
            return i;
    for (size_t i = head.n; i > head.n / 3; i--)
        if (head.p[i - 1] == '\n')
            return i;
    for (size_t i = head.n; i > head.n / 3; i--)
        if (head.p[i - 1] == ' ')
            return i;
    return head.n;
}

static void add_section(Cut *c, Str text)
{
    Str heading = heading_of(c);

    while (text_trim(text).n) {
        size_t end = utf8_count(text) > c->chars ? good_end(text, c->chars) : text.n;
        Chunk chunk = { heading, text_trim(str_head(text, end)) };

        if (chunk.text.n)
            ARENA_PUSH(c->arena, c->all, c->n, c->cap, chunk);
        text = str_skip(text, end);
    }
}

/* "## Title": its level from 1, 0 where the line is no heading. */
static size_t heading_level(Str line, Str *ret_title)
{
    size_t n = 0;

    while (n < line.n && line.p[n] == '#')
        n++;
    if (n == 0 || n > LEVELS || n == line.n || line.p[n] != ' ')
        return 0;
    *ret_title = text_cut(str_trim(str_skip(line, n)), 120);
    return n;
}

static void open_heading(Cut *c, size_t level, Str title)
{
    for (size_t i = level - 1; i < LEVELS; i++)
        c->path[i] = STR("");
    c->path[level - 1] = title;
}

void chunks_cut(Arena *a, Str text, size_t chars, Chunk **ret, size_t *ret_n)
{
    Cut c = { .arena = a, .chars = chars };
    Str rest = text, line, title = STR("");
    const char *from = text.p;
    bool fenced = false;

    while (str_split(&rest, '\n', &line)) {
        size_t level = fenced ? 0 : heading_level(line, &title);

        if (str_starts(str_trim(line), STR("```")))
            fenced = !fenced;
        if (!level)
            continue;
        add_section(&c, (Str){ from, (size_t)(line.p - from) });
        open_heading(&c, level, title);
        from = line.p;
    }
    if (text.n)
        add_section(&c, (Str){ from, (size_t)(text.p + text.n - from) });
    *ret = c.all;
    *ret_n = c.n;
}
