/* diff_apply.h - the text that a unified diff makes of another: what tests hold diff.h to. */
#ifndef TALARIA_TESTS_DIFF_APPLY_H
#define TALARIA_TESTS_DIFF_APPLY_H

#include "text/diff.h"

#include "base/err.h"

typedef struct Lines {
    Str *all;
    size_t n;
} Lines;

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

typedef struct Patch {
    Buf *out;
    Lines before;
    size_t at; /* lines of `before` used up */
} Patch;

static bool copy_to(Patch *p, size_t line, Err *err)
{
    if (line < p->at || line > p->before.n)
        return err_set(err, ERR_INVALID, "the diff begins at a line that is not there");
    for (; p->at < line; p->at++)
        buf_add(p->out, p->before.all[p->at]);
    return true;
}

/* "@@ -A[,B] +..." : the hunk begins after A - 1 lines, or after A where B is 0. */
static bool hunk_start(Str head, size_t *ret)
{
    Str range = str_skip(head, 4), first;
    int64_t line, count = 1;

    if (!str_starts(head, STR("@@ -")) || !str_split(&range, ' ', &first))
        return false;
    range = first;
    if (!str_split(&range, ',', &first) || !str_to_int(first, 0, INT32_MAX, &line) ||
        (range.n && !str_to_int(range, 0, INT32_MAX, &count)))
        return false;
    *ret = (size_t)(count && line ? line - 1 : line);
    return true;
}

static bool apply_line(Patch *p, Str line, bool ends, Err *err)
{
    Str body = str_skip(line, 1);

    if (!ends)
        body.n--;
    if (line.p[0] == '+') {
        buf_add(p->out, body);
        return true;
    }
    if (p->at >= p->before.n || !str_eq(p->before.all[p->at], body))
        return err_set(err, ERR_CONFLICT, "line %zu is not what the diff expects", p->at + 1);
    if (line.p[0] == ' ')
        buf_add(p->out, body);
    p->at++;
    return true;
}

/* Fails where a line does not fit. */
MUST_CHECK static bool diff_apply(Buf *out, Str before, Str diff, Err *err)
{
    AUTO(Arena) *a = arena_new();
    Patch p = { .out = out, .before = split_lines(a, before) };
    Lines lines = split_lines(a, diff);

    for (size_t i = lines.n && str_starts(lines.all[0], STR("--- ")) ? 2 : 0; i < lines.n; i++) {
        bool ends = i + 1 >= lines.n || lines.all[i + 1].p[0] != '\\';
        char sign = lines.all[i].p[0];
        size_t start;

        if (sign == '@') {
            if (!hunk_start(lines.all[i], &start) || !copy_to(&p, start, err))
                return err_set(err, ERR_INVALID, "line %zu of the diff is no hunk", i + 1);
        } else if (sign == ' ' || sign == '-' || sign == '+') {
            if (!apply_line(&p, lines.all[i], ends, err))
                return false;
        } else if (sign != '\\') {
            return err_set(err, ERR_INVALID, "line %zu of the diff cannot be read", i + 1);
        }
    }
    return copy_to(&p, p.before.n, err);
}

#endif
