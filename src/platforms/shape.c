/* The list of shapes, and cutting. The source is cut, not what it becomes: a mark-up that a
 * platform adds later cannot be torn, and the room for its number at the end is kept free
 * beforehand. */
#include "base/limits.h"
#include "platforms/platform.h"
#include "text/utf8.h"

enum { ROOM_FOR_NUMBER = 14, MAX_FENCE = 24 };

const Shape *shapes_each(size_t i)
{
    static const Shape *const all[] = { &shape_local, &shape_telegram, &shape_discord,
                                        &shape_slack };

    return i < ARRAY_LEN(all) ? all[i] : NULL;
}

const Shape *shape_named(Str name)
{
    for (size_t i = 0; shapes_each(i); i++)
        if (str_eqz(name, shapes_each(i)->name))
            return shapes_each(i);
    return NULL;
}

/* -- cutting -- */

/* The longest head that the platform counts as at most `max`; one code point at least. */
static Str fitting(const Shape *shape, Str text, size_t max)
{
    Str rest = text;
    size_t used = 0;

    while (rest.n) {
        Str next = rest;
        size_t width;

        (void)utf8_next(&next);
        width = shape->measure(str_head(rest, rest.n - next.n));
        if (used + width > max && used)
            break;
        used += width;
        rest = next;
    }
    return str_head(text, text.n - rest.n);
}

static size_t last_of(Str s, char c)
{
    size_t at = s.n;

    while (at && s.p[at - 1] != c)
        at--;
    return at; /* behind it; 0: there is none */
}

/* Behind the last line's end past the middle, else behind the last space, else all of it. */
static size_t good_cut(Str window, Str text)
{
    size_t line = last_of(window, '\n'), space = last_of(window, ' ');

    if (window.n == text.n)
        return window.n;
    if (line > window.n / 2)
        return line;
    return space ? space : window.n;
}

/* Which fence is open at the end of text: "```c" as it is, or empty. */
static Str open_fence(Str text, Str before)
{
    Str line, open = before;

    while (str_split(&text, '\n', &line))
        if (str_starts(line, STR("```")))
            open = open.n ? STR("") : utf8_head(line, MAX_FENCE);
    return open;
}

static Str skip_space(Str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\t'))
        s = str_skip(s, 1);
    return s;
}

/* One piece without its number; takes it off *rest. */
static Str next_piece(Arena *a, const Shape *shape, Str *rest, Str *fence, size_t room)
{
    Str head = fence->n ? str_printf(a, "%.*s\n", STR_FMT(*fence)) : STR("");
    size_t frame = shape->measure(head) + 4;
    Str window = fitting(shape, *rest, room > frame ? room - frame : 1);
    Str piece = str_head(*rest, good_cut(window, *rest)), after = open_fence(piece, *fence);

    *rest = after.n ? str_skip(*rest, piece.n) : skip_space(str_skip(*rest, piece.n));
    *fence = after;
    return str_printf(a, "%.*s%.*s%s", STR_FMT(head), STR_FMT(piece),
                      !after.n || !rest->n                      ? ""
                      : piece.n && piece.p[piece.n - 1] == '\n' ? "```"
                                                                : "\n```");
}

void shape_split(Arena *a, const Shape *shape, Str text, Str **ret, size_t *ret_n)
{
    Str *all = NULL, fence = STR(""), rest = text;
    size_t n = 0, cap = 0;

    if (shape->measure(text) <= shape->max_text) {
        ARENA_PUSH(a, all, n, cap, text);
    } else {
        while (rest.n)
            ARENA_PUSH(a, all, n, cap,
                       next_piece(a, shape, &rest, &fence, shape->max_text - ROOM_FOR_NUMBER));
        for (size_t i = 0; n > 1 && i < n; i++)
            all[i] = str_printf(a, "%.*s (%zu/%zu)", STR_FMT(all[i]), i + 1, n);
    }
    *ret = all;
    *ret_n = n;
}
