/* Equal lines at both ends are taken off first, which leaves little for most edits of a document;
 * what is between goes through Myers' greedy search. Its trace costs D^2 words, so D is bounded:
 * 1,000 edits are 8 MB, and a longer diff is of no use to a reader.
 *
 * Lines keep their line feed, so that a missing one at the end is a difference like any other. */
#include "text/diff.h"

#include "base/limits.h"

typedef struct Lines {
    Str *all;
    size_t n;
} Lines;

typedef struct Step {
    char sign; /* ' ', '-' or '+' */
    Str line;
} Step;

typedef struct Script {
    Step *steps;
    size_t n;
} Script;

static Lines split_lines(Arena *a, Str text)
{
    size_t cap = 1;
    Lines lines = { .all = ARENA_ARRAY(a, Str, cap) };

    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) + 1 : text.n;

        ARENA_PUSH(a, lines.all, lines.n, cap, str_head(text, n));
        text = str_skip(text, n);
    }
    return lines;
}

/* -- the search -- */

typedef struct Search {
    Arena *arena;
    Lines x, y;      /* what is left between equal ends */
    long **furthest; /* one row an edit: how far each diagonal got; row d has 2d + 1 of them */
    long edits;      /* -1: too many */
} Search;

/* How far diagonal k gets with d edits, before equal lines are followed. */
static long step_to(const Search *s, long d, long k)
{
    const long *last = d ? s->furthest[d - 1] + (d - 1) : NULL; /* so that last[k] is diagonal k */

    if (d == 0)
        return 0;
    if (k == -d || (k != d && last[k - 1] < last[k + 1]))
        return last[k + 1];
    return last[k - 1] + 1;
}

static bool reach(Search *s, long d)
{
    long nx = (long)s->x.n, ny = (long)s->y.n, *row = ARENA_ARRAY(s->arena, long, 2 * d + 1);

    s->furthest[d] = row;
    for (long k = -d; k <= d; k += 2) {
        long x = step_to(s, d, k), y = x - k;

        while (x < nx && y < ny && x >= 0 && y >= 0 && str_eq(s->x.all[x], s->y.all[y])) {
            x++;
            y++;
        }
        row[k + d] = x;
        if (x >= nx && y >= ny)
            return true;
    }
    return false;
}

static void search(Search *s)
{
    long max = (long)(s->x.n + s->y.n);

    if (max > DIFF_MAX_EDITS)
        max = DIFF_MAX_EDITS;
    s->furthest = ARENA_ARRAY(s->arena, long *, (size_t)max + 1);
    for (s->edits = 0; s->edits <= max; s->edits++)
        if (reach(s, s->edits))
            return;
    s->edits = -1;
}

/* Walks the trace back from the end; steps are filled from the back of `room`. */
static size_t walk_back(const Search *s, Step *room, size_t end)
{
    long x = (long)s->x.n, y = (long)s->y.n;
    size_t at = end;

    for (long d = s->edits; d >= 0; d--) {
        long k = x - y, from_x = step_to(s, d, k);
        bool down = d && (k == -d || (k != d && s->furthest[d - 1][k - 1 + d - 1] <
                                                    s->furthest[d - 1][k + 1 + d - 1]));

        while (x > from_x && y > from_x - k && x > 0 && y > 0) {
            room[--at] = (Step){ ' ', s->x.all[--x] };
            y--;
        }
        if (d && down)
            room[--at] = (Step){ '+', s->y.all[--y] };
        else if (d)
            room[--at] = (Step){ '-', s->x.all[--x] };
    }
    return at;
}

static void put_all(Script *script, char sign, const Str *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        script->steps[script->n++] = (Step){ sign, lines[i] };
}

static void put_middle(Arena *a, Script *script, Lines x, Lines y)
{
    Search s = { .arena = a, .x = x, .y = y };
    size_t max = x.n + y.n, at;
    Step *room;

    search(&s);
    if (s.edits < 0) {
        put_all(script, '-', x.all, x.n);
        put_all(script, '+', y.all, y.n);
        return;
    }
    room = ARENA_ARRAY(a, Step, max + 1);
    at = walk_back(&s, room, max);
    memcpy(script->steps + script->n, room + at, (max - at) * sizeof *room);
    script->n += max - at;
}

static Script make_script(Arena *a, Lines x, Lines y)
{
    size_t head = 0, tail = 0, shorter = x.n < y.n ? x.n : y.n;
    Script script = { .steps = ARENA_ARRAY(a, Step, x.n + y.n + 1) };

    while (head < shorter && str_eq(x.all[head], y.all[head]))
        head++;
    while (tail < shorter - head && str_eq(x.all[x.n - 1 - tail], y.all[y.n - 1 - tail]))
        tail++;
    put_all(&script, ' ', x.all, head);
    put_middle(a, &script, (Lines){ x.all + head, x.n - head - tail },
               (Lines){ y.all + head, y.n - head - tail });
    if (tail)
        put_all(&script, ' ', x.all + x.n - tail, tail);
    return script;
}

/* -- hunks -- */

/* The end of the hunk that begins at `from`: where more than two contexts of equal lines follow. */
static size_t hunk_end(const Script *s, size_t from)
{
    size_t end = from, equal = 0;

    for (size_t i = from; i < s->n; i++) {
        equal = s->steps[i].sign == ' ' ? equal + 1 : 0;
        if (!equal)
            end = i + 1;
        if (equal > 2 * DIFF_CONTEXT)
            break;
    }
    return end;
}

static void put_range(Buf *out, char sign, size_t start, size_t n)
{
    buf_addf(out, "%c%zu", sign, n ? start + 1 : start);
    if (n != 1)
        buf_addf(out, ",%zu", n);
}

static void put_hunk(Buf *out, const Script *s, size_t from, size_t to, const size_t start[2])
{
    size_t n[2] = { 0, 0 };

    for (size_t i = from; i < to; i++) {
        n[0] += s->steps[i].sign != '+';
        n[1] += s->steps[i].sign != '-';
    }
    buf_addz(out, "@@ ");
    put_range(out, '-', start[0], n[0]);
    buf_addc(out, ' ');
    put_range(out, '+', start[1], n[1]);
    buf_addz(out, " @@\n");
    for (size_t i = from; i < to; i++) {
        buf_addc(out, s->steps[i].sign);
        buf_add(out, s->steps[i].line);
        if (!str_ends(s->steps[i].line, STR("\n")))
            buf_addz(out, "\n\\ No newline at end of file\n");
    }
}

static void put_hunks(Buf *out, const Script *s)
{
    size_t at[2] = { 0, 0 }, done = 0;

    for (size_t i = 0; i < s->n;) {
        size_t from, to, start[2];

        if (s->steps[i].sign == ' ') {
            i++;
            continue;
        }
        from = i > done + DIFF_CONTEXT ? i - DIFF_CONTEXT : done;
        to = hunk_end(s, i);
        to = to + DIFF_CONTEXT < s->n ? to + DIFF_CONTEXT : s->n;
        for (; done < from; done++) {
            at[0]++;
            at[1]++;
        }
        memcpy(start, at, sizeof start);
        put_hunk(out, s, from, to, start);
        for (; done < to; done++) {
            at[0] += s->steps[done].sign != '+';
            at[1] += s->steps[done].sign != '-';
        }
        i = to;
    }
}

void diff_unified(Buf *out, Str before, Str after, Str before_name, Str after_name)
{
    AUTO(Arena) *a = arena_new();
    Script script;

    if (str_eq(before, after))
        return;
    script = make_script(a, split_lines(a, before), split_lines(a, after));
    buf_addf(out, "--- %.*s\n+++ %.*s\n", STR_FMT(before_name), STR_FMT(after_name));
    put_hunks(out, &script);
}
