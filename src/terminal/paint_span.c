/* Bold, code and links within a line. A mark counts only if its closing one comes within the line;
 * until then it waits, and without one it is text. */
#include "terminal/paint_inside.h"
#include "text/utf8.h"

typedef struct Span {
    Str inner, target; /* target: of a link */
    size_t bytes;      /* with its marks */
    unsigned style;
} Span;

typedef enum Found { SPAN_NONE, SPAN_WAITS, SPAN_FOUND } Found;

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static size_t run_of(Str s, char c)
{
    size_t n = 0;

    while (n < s.n && n < MAX_SPAN && s.p[n] == c)
        n++;
    return n;
}

/* Not there yet: it may come, unless the line is over or the span too long. */
static Found missing(Str s, bool whole)
{
    return whole || s.n > MAX_SPAN ? SPAN_NONE : SPAN_WAITS;
}

static Found find_code(Str s, bool whole, Span *ret)
{
    size_t marks = run_of(s, '`');

    if (marks == s.n)
        return missing(s, whole);
    for (size_t at = marks; at < s.n && at < MAX_SPAN; at++) {
        size_t n = run_of(str_skip(s, at), '`');

        if (n == marks && (whole || at + n < s.n)) {
            *ret = (Span){ { s.p + marks, at - marks }, STR_NONE, at + marks, PAINT_CODE };
            return SPAN_FOUND;
        }
        at += n > 1 ? n - 1 : 0;
    }
    return missing(s, whole);
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* "2 * 3" and "snake_case" hold no marks: one opens before a word and closes behind one. */
static Found find_emphasis(Str s, char before, bool whole, Span *ret)
{
    size_t marks = run_of(s, s.p[0]);

    if (marks == s.n)
        return marks > 2 ? SPAN_NONE : missing(s, whole);
    if (marks > 2 || is_space(s.p[marks]) || (s.p[0] == '_' && is_word_char(before)))
        return SPAN_NONE;
    for (size_t at = marks + 1; at + marks <= s.n && at < MAX_SPAN; at++) {
        size_t n = run_of(str_skip(s, at), s.p[0]);

        if (n < marks || is_space(s.p[at - 1])) {
            at += n ? n - 1 : 0;
            continue;
        }
        if (!whole && at + n == s.n)
            return SPAN_WAITS;
        if (s.p[0] == '_' && at + n < s.n && is_word_char(s.p[at + n]))
            return SPAN_NONE;
        *ret = (Span){ { s.p + marks, at - marks },
                       STR_NONE,
                       at + marks,
                       marks == 2 ? PAINT_BOLD : PAINT_ITALIC };
        return SPAN_FOUND;
    }
    return missing(s, whole);
}

static Found find_link(Str s, bool whole, Span *ret)
{
    size_t at = 1, end;

    while (at < s.n && s.p[at] != ']' && at < MAX_SPAN)
        at += s.p[at] == '\\' ? 2 : 1;
    if (at + 1 >= s.n)
        return missing(s, whole);
    if (s.p[at] != ']' || s.p[at + 1] != '(')
        return SPAN_NONE;
    end = at + 2;
    while (end < s.n && end < at + MAX_SPAN && s.p[end] != ')' && !is_space(s.p[end]))
        end++;
    if (end == s.n)
        return missing(s, whole);
    if (s.p[end] != ')')
        return SPAN_NONE;
    *ret = (Span){ { s.p + 1, at - 1 }, { s.p + at + 2, end - at - 2 }, end + 1, PAINT_LINK };
    return SPAN_FOUND;
}

static Found find_span(Str s, char before, bool whole, Span *ret)
{
    switch (s.p[0]) {
    case '`':
        return find_code(s, whole, ret);
    case '*':
    case '_':
        return find_emphasis(s, before, whole, ret);
    case '[':
        return find_link(s, whole, ret);
    default:
        return SPAN_NONE;
    }
}

/* -- drawing -- */

static size_t link_number(Paint *p, Str target)
{
    for (size_t i = 0; i < p->n_links; i++)
        if (str_eq(p->links[i], target))
            return i + 1;
    if (p->n_links == MAX_LINKS)
        return 0;
    p->links[p->n_links++] = str_dup(p->arena, target);
    return p->n_links;
}

/* Only what no terminal can misread goes into a hyperlink. */
static bool can_link(const Paint *p, Str target)
{
    if (!p->options.hyperlinks ||
        (!str_starts(target, STR("https://")) && !str_starts(target, STR("http://"))))
        return false;
    for (size_t i = 0; i < target.n; i++)
        if (target.p[i] <= ' ' || target.p[i] >= 0x7f)
            return false;
    return true;
}

static void draw_link(Paint *p, Buf *out, const Span *span, int depth)
{
    bool hyper = can_link(p, span->target);
    size_t number = link_number(p, span->target);
    unsigned style = p->row.style;
    Str inner = span->inner;

    row_style(p, style | PAINT_LINK);
    if (hyper)
        row_escape(p, str_printf(p->arena, "\033]8;;%.*s\033\\", STR_FMT(span->target)));
    paint_spans(p, out, &inner, true, depth + 1);
    if (hyper)
        row_escape(p, STR("\033]8;;\033\\"));
    row_style(p, style | PAINT_DIM);
    if (number)
        paint_row_text(p, out, str_printf(p->arena, " [%zu]", number));
    row_style(p, style);
}

static void draw_span(Paint *p, Buf *out, const Span *span, int depth)
{
    unsigned style = p->row.style;
    Str inner = span->inner;

    if (span->style == PAINT_LINK) {
        draw_link(p, out, span, depth);
        return;
    }
    row_style(p, style | span->style);
    if (span->style != PAINT_CODE) {
        paint_spans(p, out, &inner, true, depth + 1);
    } else if (p->options.color) {
        paint_row_text(p, out, inner);
    } else { /* without colour the marks say that it is code */
        row_char(p, out, STR("`"));
        paint_row_text(p, out, inner);
        row_char(p, out, STR("`"));
    }
    row_style(p, style);
}

/* A backslash takes the meaning of any ASCII punctuation, as CommonMark says. */
static bool is_mark(char c)
{
    return c && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c);
}

/* "&lt;" and the like; how long it is. */
static size_t entity(Str s, const char **ret)
{
    static const char *const rows[][2] = {
        { "&lt;", "<" }, { "&gt;", ">" }, { "&amp;", "&" }, { "&quot;", "\"" }
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_starts(s, str_of(rows[i][0]))) {
            *ret = rows[i][1];
            return strlen(rows[i][0]);
        }
    return 0;
}

static void draw_char(Paint *p, Buf *out, Str *rest)
{
    Str from = *rest;

    (void)utf8_next(rest);
    row_char(p, out, str_head(from, from.n - rest->n));
}

/* A character that is cut in two, a backslash, an ampersand: clear with the next piece. */
static bool waits(Str s, bool whole)
{
    unsigned char c = (unsigned char)s.p[0];
    size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

    if (whole)
        return false;
    return s.n < need || (c == '\\' && s.n < 2) || (c == '&' && s.n < 6);
}

void paint_spans(Paint *p, Buf *out, Str *rest, bool whole, int depth)
{
    char own = ' ', *before = depth ? &own : &p->before;

    while (rest->n && !waits(*rest, whole)) {
        Str s = *rest;
        Span span = { .bytes = 0 };
        Found found = depth < MAX_DEPTH ? find_span(s, *before, whole, &span) : SPAN_NONE;
        const char *text;
        size_t n = s.p[0] == '&' ? entity(s, &text) : 0;

        if (found == SPAN_WAITS)
            return;
        *before = s.p[0];
        if (found == SPAN_FOUND) {
            draw_span(p, out, &span, depth);
            *rest = str_skip(s, span.bytes);
        } else if (n) {
            row_char(p, out, str_of(text));
            *rest = str_skip(s, n);
        } else if (is_space(s.p[0])) {
            row_blank(p, out);
            *rest = str_skip(s, 1);
        } else {
            if (s.p[0] == '\\' && s.n > 1 && is_mark(s.p[1]))
                *rest = str_skip(s, 1);
            draw_char(p, out, rest);
        }
    }
}
