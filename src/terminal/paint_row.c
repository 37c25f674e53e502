/* Words go out at once. The last one may still grow, so the row remembers how much of it is on the
 * terminal: a word that outgrows the row is erased there and drawn again on the next one. The last
 * column stays free, because terminals disagree about where the cursor is after it was written. */
#include "terminal/paint_inside.h"
#include "text/utf8.h"

static void put_codes(Buf *to, unsigned style)
{
    static const struct {
        unsigned style;
        const char *code;
    } codes[] = { { PAINT_BOLD, "\033[1m" },
                  { PAINT_ITALIC, "\033[3m" },
                  { PAINT_CODE, "\033[36m" },
                  { PAINT_LINK, "\033[4m" },
                  { PAINT_DIM, "\033[2m" } };

    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (style & codes[i].style)
            buf_addz(to, codes[i].code);
}

static void put_style(Paint *p, Buf *to, unsigned style)
{
    unsigned drawn = p->row.drawn_style;

    if (!p->options.color || style == drawn)
        return;
    if (drawn & ~style) { /* one that is over */
        buf_addz(to, "\033[0m");
        drawn = 0;
    }
    put_codes(to, style & ~drawn);
    p->row.drawn_style = style;
}

static void begin_row(Paint *p, Buf *out)
{
    Row *r = &p->row;

    if (r->begun)
        return;
    r->begun = p->any = true;
    if (r->lead_cols) {
        buf_addz(out, p->options.color ? "\033[0m\033[2m" : "");
        buf_add(out, r->lead);
        buf_addz(out, p->options.color ? "\033[0m" : "");
        if (p->options.color)
            put_codes(out, r->word_style);
    }
    buf_pad(out, ' ', r->indent);
    r->col = r->lead_cols + r->indent;
}

static size_t row_start(const Row *r)
{
    return r->lead_cols + r->indent;
}

/* The word as it is so far moves to the next row. */
static void move_word(Paint *p, Buf *out)
{
    Row *r = &p->row;

    if (r->shown_cols)
        buf_addf(out, "\033[%zuD\033[K", r->shown_cols + r->shown_blank);
    buf_addc(out, '\n');
    r->begun = r->blank = r->shown_blank = false;
    r->shown_bytes = r->shown_cols = 0;
    begin_row(p, out);
}

void row_show(Paint *p, Buf *out)
{
    Row *r = &p->row;

    if (r->shown_bytes == r->word.n)
        return;
    begin_row(p, out);
    if (r->col + r->blank + r->word_cols > r->columns && r->col > row_start(r))
        move_word(p, out);
    if (r->blank && !r->shown_bytes) {
        buf_addc(out, ' ');
        r->col++;
        r->shown_blank = true;
    }
    r->blank = false;
    buf_add(out, str_skip(buf_str(&r->word), r->shown_bytes));
    r->shown_bytes = r->word.n;
    r->shown_cols = r->word_cols;
}

/* The word is final. */
static void end_word(Paint *p, Buf *out)
{
    Row *r = &p->row;

    row_show(p, out);
    r->col += r->word_cols;
    buf_clear(&r->word);
    r->word_cols = r->shown_bytes = r->shown_cols = 0;
    r->shown_blank = false;
    r->word_style = r->drawn_style;
}

/* A style ends with its last character, not before the next word: the blank between them has
 * none. */
void row_style(Paint *p, unsigned style)
{
    p->row.style = style;
    if (p->row.drawn_style & ~style)
        put_style(p, &p->row.word, style);
}

void row_escape(Paint *p, Str sequence)
{
    buf_add(&p->row.word, sequence);
}

void row_char(Paint *p, Buf *out, Str bytes)
{
    Row *r = &p->row;
    size_t cols;
    AUTO_BUF shown = BUF(64);

    utf8_show(&shown, bytes, false);
    cols = utf8_columns(buf_str(&shown));
    /* Wide characters may begin a row; so may the rest of a word that no row holds. */
    if (r->word_cols && (cols > 1 || row_start(r) + r->word_cols + cols > r->columns)) {
        end_word(p, out);
        if (r->col + cols > r->columns)
            move_word(p, out);
    }
    put_style(p, &r->word, r->style);
    buf_add(&r->word, buf_str(&shown));
    r->word_cols += cols;
}

void row_blank(Paint *p, Buf *out)
{
    if (p->row.word.n)
        end_word(p, out);
    p->row.blank = p->row.begun && p->row.col > row_start(&p->row);
}

void paint_row_text(Paint *p, Buf *out, Str text)
{
    while (text.n) {
        Str from = text;
        uint32_t c = utf8_next(&text);

        if (c == ' ' || c == '\t')
            row_blank(p, out);
        else
            row_char(p, out, str_head(from, from.n - text.n));
    }
}

void row_end(Paint *p, Buf *out)
{
    if (p->row.word.n)
        end_word(p, out);
    put_style(p, out, 0);
    if (p->row.begun)
        buf_addc(out, '\n');
    p->row.begun = p->row.blank = false;
    p->row.col = 0;
    p->row.word_style = p->row.drawn_style;
}
