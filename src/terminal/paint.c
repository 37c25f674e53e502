/* Lines: what kind of block each belongs to. */
#include "terminal/paint.h"

#include "recall/history.h"
#include "recall/resume.h"
#include "terminal/paint_inside.h"
#include "text/utf8.h"

enum { MIN_COLUMNS = 20, SURE_BYTES = 8, MAX_LINE = 8 << 10, CODE_INDENT = 4, MAX_QUOTES = 4 };

Paint *paint_new(const PaintOptions *options)
{
    Paint *p = mem_alloc(sizeof *p);

    *p = (Paint){ .options = *options, .arena = arena_new(), .held = BUF(LIMIT_RUN_TEXT) };
    p->row.word = BUF(KIB(64));
    paint_resize(p, options->columns);
    return p;
}

Paint *paint_free(Paint *p)
{
    if (!p)
        return NULL;
    arena_free(p->arena);
    buf_done(&p->held);
    buf_done(&p->row.word);
    return mem_free(p);
}

void paint_resize(Paint *p, size_t columns)
{
    p->options.columns = columns;
    p->row.columns = columns > MIN_COLUMNS ? columns - 1 : MIN_COLUMNS;
}

/* -- what a line begins with -- */

static size_t repeated(Str s, char c)
{
    size_t n = 0;

    while (n < s.n && s.p[n] == c)
        n++;
    return n;
}

static bool is_rule(Str line)
{
    char c = line.n ? line.p[0] : 0;
    size_t n = 0;

    if (!c || !strchr("-*_", c))
        return false;
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] != c && line.p[i] != ' ')
            return false;
        n += line.p[i] == c;
    }
    return n >= 3;
}

/* "- ", "* ", "12. ": how long the mark is, with its blank; 0: none. */
static size_t list_mark(Str s)
{
    size_t n = 0;

    if (s.n > 1 && strchr("-*+", s.p[0]) && s.p[1] == ' ')
        return 2;
    while (n < s.n && n < 9 && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n && n + 1 < s.n && (s.p[n] == '.' || s.p[n] == ')') && s.p[n + 1] == ' ' ? n + 2 : 0;
}

/* Whether more of the line is needed to tell what it begins. */
static bool is_unsure(Str line)
{
    Str s = str_skip(line, repeated(line, ' '));

    if (!s.n)
        return true;
    if (s.p[0] == '|' || repeated(s, '`') >= 3 || repeated(s, '~') >= 3)
        return line.n < MAX_LINE;
    return s.n < SURE_BYTES && strchr("#-*+_>`~0123456789|", s.p[0]);
}

/* -- beginnings -- */

static void put_blank_line(Paint *p, Buf *out)
{
    if (p->blank_lines && p->any)
        buf_addc(out, '\n');
    p->blank_lines = 0;
}

static void begin_list_item(Paint *p, Buf *out, Str *s, size_t mark)
{
    Str shown = str_head(*s, mark - 1);
    size_t lead = p->row.indent;

    p->hang = lead + mark;
    if (mark == 2 && strchr("-*+", s->p[0]))
        shown = STR("\xe2\x80\xa2");
    paint_row_text(p, out, shown);
    row_blank(p, out);
    p->row.indent = p->hang;
    p->row.blank = true;
    *s = str_skip(*s, mark);
}

static void begin_quote(Paint *p, Str *s)
{
    static const Str marks = STR_INIT("\xe2\x94\x82 \xe2\x94\x82 \xe2\x94\x82 \xe2\x94\x82 ");
    size_t depth = 0;

    while (s->n && s->p[0] == '>') {
        *s = str_skip(*s, 1);
        if (s->n && s->p[0] == ' ')
            *s = str_skip(*s, 1);
        depth += depth < MAX_QUOTES;
    }
    p->row.lead = str_head(marks, depth * 4);
    p->row.lead_cols = depth * 2;
}

static void draw_rule(Paint *p, Buf *out)
{
    size_t n = p->row.columns < 40 ? p->row.columns : 40;

    row_style(p, PAINT_DIM);
    for (size_t i = 0; i < n; i++)
        row_char(p, out, STR("\xe2\x94\x80"));
    row_style(p, 0);
}

/* Takes what marks the block off *s and sets the row up for its text. */
static void begin_block(Paint *p, Buf *out, Str *s)
{
    size_t lead = repeated(*s, ' '), mark;

    p->row.lead = STR_NONE;
    p->row.lead_cols = p->row.indent = 0;
    row_style(p, 0);
    *s = str_skip(*s, lead);
    if (s->n && s->p[0] == '>') {
        p->row.indent = 0;
        begin_quote(p, s);
        lead = repeated(*s, ' ');
        *s = str_skip(*s, lead);
    } else if (!lead && !list_mark(*s)) {
        p->hang = 0;
    }
    mark = list_mark(*s);
    p->row.indent = mark ? (lead < 12 ? lead : 12) : lead && p->hang ? p->hang : 0;
    if (is_rule(*s) && !mark) {
        draw_rule(p, out);
        *s = STR("");
    } else if (mark) {
        begin_list_item(p, out, s, mark);
    } else if (s->n && s->p[0] == '#' && repeated(*s, '#') <= 6 && repeated(*s, '#') < s->n &&
               s->p[repeated(*s, '#')] == ' ') {
        *s = str_skip(*s, repeated(*s, '#') + 1);
        row_style(p, PAINT_BOLD);
    }
}

/* -- code and tables -- */

static bool is_fence(const Paint *p, Str line)
{
    Str s = str_skip(line, repeated(line, ' '));
    size_t n = s.n ? repeated(s, s.p[0]) : 0;

    if (n < 3 || (s.p[0] != '`' && s.p[0] != '~'))
        return false;
    return p->fence ? s.p[0] == p->fence_mark && !str_trim(str_skip(s, n)).n : true;
}

static void draw_code_line(Paint *p, Buf *out, Str line)
{
    AUTO_BUF shown = BUF(LIMIT_RUN_TEXT);

    utf8_show(&shown, line, true);
    buf_pad(out, ' ', CODE_INDENT);
    buf_addz(out, p->options.color ? "\033[36m" : "");
    buf_add(out, buf_str(&shown));
    buf_addz(out, p->options.color ? "\033[0m" : "");
    buf_addc(out, '\n');
    p->any = true;
}

/* A whole line that is not drawn word by word; false: it is text. */
static bool draw_special_line(Paint *p, Buf *out, Str line)
{
    Str s = str_trim(line);

    if (is_fence(p, line)) {
        put_blank_line(p, out);
        p->fence = !p->fence;
        p->fence_mark = s.p[0];
    } else if (p->fence) {
        draw_code_line(p, out, line);
    } else if (!s.n) {
        p->blank_lines++;
    } else if (s.p[0] == '|' && p->n_table < MAX_TABLE_ROWS) {
        p->table[p->n_table++] = str_dup(p->arena, s);
    } else {
        return false;
    }
    return true;
}

/* -- the list below an answer: what opens each of its links in this terminal -- */

static const Str sessions = STR_INIT("/sessions/");

/* A link may name a session that does not exist: then no beginning of its id means it. */
static Str short_id(History *h, Arena *a, Str id)
{
    HistoryItem item;
    Err ignored;

    return h && history_find(h, a, id, &item, &ignored) ? history_short_id(h, a, id) : id;
}

/* The id is as the link has it, %XX and all. */
static void put_link(Paint *p, Buf *out, size_t number, History *h)
{
    Str target = p->links[number - 1];
    AUTO_BUF line = BUF(KIB(8));

    buf_addf(&line, "[%zu] ", number);
    if (str_starts(target, sessions))
        buf_addf(&line, "%s sessions show %.*s", resume_program(),
                 STR_FMT(short_id(h, p->arena, str_skip(target, sessions.n))));
    else
        buf_add(&line, target);
    buf_addz(out, p->options.color ? "\033[2m" : "");
    utf8_show(out, buf_str(&line), false);
    buf_addz(out, p->options.color ? "\033[0m\n" : "\n");
}

static void paint_links(Paint *p, Buf *out)
{
    AUTO(Store) *store = NULL;
    AUTO(History) *h = NULL;
    bool any = false;
    Homes homes;
    Err ignored;

    for (size_t i = 0; i < p->n_links; i++)
        any |= str_starts(p->links[i], sessions);
    if (p->options.homes && any) {
        homes = homes_again(p->arena, p->options.homes);
        store = store_open(&homes, &ignored);
        h = store
                ? history_open(&(HistoryWhere){
                      .homes = &homes, .store = store, .files = homes.primary->kind != HOME_GIVEN })
                : NULL;
    }
    for (size_t i = 1; i <= p->n_links; i++)
        put_link(p, out, i, h);
}

/* -- text that comes -- */

static void end_table(Paint *p, Buf *out)
{
    if (!p->n_table)
        return;
    put_blank_line(p, out);
    p->row.lead = STR_NONE;
    p->row.lead_cols = p->row.indent = 0;
    paint_table(p, out);
}

/* One line, or its beginning; how many bytes were used. 0: more is needed. */
static size_t draw_line(Paint *p, Buf *out, Str text, bool over)
{
    size_t end = str_find(text, STR("\n"));
    bool whole = end < text.n || over;
    Str line = str_head(text, end), rest;

    if (whole && str_ends(line, STR("\r")))
        line.n--;
    if (!p->in_line) {
        if (!whole && (p->fence || is_unsure(line)))
            return 0;
        if (!str_starts(str_trim(line), STR("|")))
            end_table(p, out);
        if (whole && draw_special_line(p, out, line))
            return end + (end < text.n);
        put_blank_line(p, out);
    }
    rest = line;
    if (!p->in_line) {
        begin_block(p, out, &rest);
        p->before = ' ';
    }
    p->in_line = true;
    paint_spans(p, out, &rest, whole, 0);
    if (!whole) {
        row_show(p, out);
        return line.n - rest.n;
    }
    row_end(p, out);
    p->in_line = false;
    return end + (end < text.n);
}

static void draw_held(Paint *p, Buf *out, bool over)
{
    Str rest = buf_str(&p->held);

    while (rest.n) {
        size_t used = draw_line(p, out, rest, over);

        if (!used)
            break;
        rest = str_skip(rest, used);
    }
    memmove(p->held.p, rest.p, rest.n);
    p->held.n = rest.n;
}

void paint_add(Paint *p, Str text, Buf *out)
{
    buf_add(&p->held, text);
    if (p->held.n)
        draw_held(p, out, false);
}

void paint_break(Paint *p, Buf *out)
{
    if (p->held.n)
        draw_held(p, out, true);
    end_table(p, out);
    row_end(p, out);
    p->in_line = false;
}

void paint_end(Paint *p, Buf *out)
{
    paint_break(p, out);
    if (p->n_links)
        buf_addc(out, '\n');
    paint_links(p, out);
    p->n_links = 0;
    p->fence = p->any = false;
    p->blank_lines = 0;
    p->hang = 0;
    arena_reset(p->arena);
}

void paint_text(const PaintOptions *options, Str text, Buf *out)
{
    AUTO(Paint) *p = paint_new(options);

    paint_add(p, text, out);
    paint_end(p, out);
}
