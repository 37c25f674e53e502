/* Slack's mark-up is not Markdown: *bold*, _italic_, ~strike~, <address|words>, no headings and no tables. It is
 * made line by line; what has no form of its own stays as it was written. Three characters are escaped wherever
 * they stand, so nothing that a model writes can name a channel or everyone in it. */
#include "base/limits.h"
#include "platforms/slack/slack.h"
#include "text/utf8.h"

enum {
    MAX_SPAN = 4000, /* how far the end of a mark is looked for */
    MAX_DEPTH = 6,
    SEARCHES = 64, /* bytes searched for ends, for a byte of text */
    MAX_OUT = MIB(1),
};

static void escape(Buf *out, Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '&')
            buf_add(out, STR("&amp;"));
        else if (s.p[i] == '<')
            buf_add(out, STR("&lt;"));
        else if (s.p[i] == '>')
            buf_add(out, STR("&gt;"));
        else
            buf_addc(out, s.p[i]);
    }
}

/* -- within a line ------------------------------------------------------------------------------------------ */

/* Where the text goes, and how many bytes may still be searched for the ends of marks: a text of nothing but
 * beginnings would be searched again for each of them. */
typedef struct Inline {
    Buf *out;
    size_t left;
} Inline;

static void inline_text(Inline *w, Str s, int depth);

/* The part of s in which an end may be looked for. */
static Str within(const Inline *w, Str s)
{
    return str_head(s, MAX_SPAN < w->left ? MAX_SPAN : w->left);
}

static void searched(Inline *w, size_t n)
{
    w->left -= n < w->left ? n : w->left;
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

/* The longest first. */
static const struct {
    Str mark;
    const char *open, *close;
    bool words_only; /* not inside of a word: snake_case */
} marks[] = { { STR_INIT("***"), "*_", "_*", false }, { STR_INIT("**"), "*", "*", false },
              { STR_INIT("__"), "*", "*", true },     { STR_INIT("~~"), "~", "~", false },
              { STR_INIT("*"), "_", "_", false },     { STR_INIT("_"), "_", "_", true } };

/* Where the mark that begins s ends again; 0: nowhere. */
static size_t mark_end(Inline *w, Str s, Str mark, bool words_only)
{
    Str body = within(w, str_skip(s, mark.n));

    if (!body.n || body.p[0] == ' ')
        return 0;
    for (size_t at = 1; at + mark.n <= body.n; at++)
        if (memcmp(body.p + at, mark.p, mark.n) == 0 && body.p[at - 1] != ' ' &&
            body.p[at - 1] != mark.p[0] &&
            !(words_only && at + mark.n < body.n && is_word(body.p[at + mark.n]))) {
            searched(w, at);
            return at;
        }
    searched(w, body.n);
    return 0;
}

/* Bytes taken; 0: no mark begins here. */
static size_t put_marked(Inline *w, Str s, bool in_word, int depth)
{
    for (size_t i = 0; i < ARRAY_LEN(marks) && depth < MAX_DEPTH; i++) {
        size_t end = 0;

        if (str_starts(s, marks[i].mark) && !(marks[i].words_only && in_word))
            end = mark_end(w, s, marks[i].mark, marks[i].words_only);
        if (!end)
            continue;
        buf_addz(w->out, marks[i].open);
        inline_text(w, str_head(str_skip(s, marks[i].mark.n), end), depth + 1);
        buf_addz(w->out, marks[i].close);
        return end + 2 * marks[i].mark.n;
    }
    return 0;
}

static size_t put_code(Inline *w, Str s)
{
    size_t ticks = 0, end;
    Str body;

    while (ticks < s.n && ticks < w->left && s.p[ticks] == '`')
        ticks++;
    body = within(w, str_skip(s, ticks));
    end = ticks ? str_find(body, str_head(s, ticks)) : body.n;
    searched(w, ticks + end);
    if (!ticks || end == body.n)
        return 0;
    buf_addc(w->out, '`');
    escape(w->out, str_trim(str_head(body, end)));
    buf_addc(w->out, '`');
    return end + 2 * ticks;
}

static bool is_address(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || strchr("|<>", s.p[i]))
            return false;
    return str_starts(s, STR("https://")) || str_starts(s, STR("http://")) ||
           str_starts(s, STR("mailto:"));
}

/* [words](address), also with '!' in front; an address that is none leaves the words. */
static size_t put_link(Inline *w, Str s, int depth)
{
    size_t bang = s.p[0] == '!', words_end, end;
    Str words, address, rest;

    if (!str_starts(str_skip(s, bang), STR("[")))
        return 0;
    words = within(w, str_skip(s, bang + 1));
    words_end = str_find(words, STR("]("));
    searched(w, words_end);
    if (words_end == words.n)
        return 0;
    rest = str_head(str_skip(words, words_end + 2), MAX_SPAN);
    end = str_find(rest, STR(")"));
    words = str_head(words, words_end);
    address = str_head(rest, end);
    if (end == rest.n || memchr(words.p, '[', words.n))
        return 0;
    if (is_address(address)) {
        buf_addc(w->out, '<');
        escape(w->out, address);
        buf_addc(w->out, '|');
        for (size_t i = 0; i < words.n; i++)
            escape(w->out, words.p[i] == '|' ? STR("/") : str_head(str_skip(words, i), 1));
        buf_addc(w->out, '>');
    } else {
        inline_text(w, words, depth + 1);
    }
    return bang + 1 + words_end + 2 + end + 1;
}

/* <https://...> */
static size_t put_autolink(Inline *w, Str s)
{
    Str head = within(w, s);
    size_t end = str_find(head, STR(">"));

    searched(w, end);
    if (s.p[0] != '<' || end >= head.n || !is_address(str_head(str_skip(s, 1), end - 1)))
        return 0;
    buf_addc(w->out, '<');
    escape(w->out, str_head(str_skip(s, 1), end - 1));
    buf_addc(w->out, '>');
    return end + 1;
}

static size_t put_special(Inline *w, Str s, bool in_word, int depth)
{
    switch (s.p[0]) {
    case '`':
        return put_code(w, s);
    case '[':
    case '!':
        return depth < MAX_DEPTH ? put_link(w, s, depth) : 0;
    case '<':
        return put_autolink(w, s);
    case '*':
    case '_':
    case '~':
        return put_marked(w, s, in_word, depth);
    default:
        return 0;
    }
}

static void inline_text(Inline *w, Str s, int depth)
{
    size_t at = 0;

    while (at < s.n) {
        Str rest = str_skip(s, at);
        size_t taken = 0;

        if (rest.p[0] == '\\' && rest.n > 1 && strchr("*_~`[]<>\\#!|", rest.p[1])) {
            escape(w->out, str_head(str_skip(rest, 1), 1));
            taken = 2;
        } else {
            taken = put_special(w, rest, at && is_word(s.p[at - 1]), depth);
        }
        if (!taken) {
            escape(w->out, str_head(rest, 1));
            taken = 1;
        }
        at += taken;
    }
}

/* -- lines -------------------------------------------------------------------------------------------------- */

static void put_line(Inline *w, Str line)
{
    Buf *out = w->out;
    size_t lead = 0, marks_n = 0;
    Str rest;

    while (lead < line.n && line.p[lead] == ' ')
        lead++;
    rest = str_skip(line, lead);
    while (marks_n < rest.n && rest.p[marks_n] == '#')
        marks_n++;
    if (marks_n && marks_n <= 6 && marks_n < rest.n && rest.p[marks_n] == ' ') {
        Str title = str_trim(str_skip(rest, marks_n));

        buf_addc(out, '*');
        escape(out, title);
        buf_addc(out, '*');
        return;
    }
    buf_pad(out, ' ', lead);
    if (str_starts(rest, STR("> ")) || str_eqz(rest, ">")) {
        buf_addc(out, '>');
        inline_text(w, str_skip(rest, 1), 0);
    } else if (rest.n > 1 && strchr("-*+", rest.p[0]) && rest.p[1] == ' ') {
        buf_add(out, STR("\xe2\x80\xa2 "));
        inline_text(w, str_skip(rest, 2), 0);
    } else {
        inline_text(w, rest, 0);
    }
}

static bool is_row(Str line)
{
    line = str_trim(line);
    return line.n > 1 && line.p[0] == '|';
}

/* |---|:-:| */
static bool is_rule(Str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr("|-: \t\r", line.p[i]))
            return false;
    return is_row(line) && memchr(line.p, '-', line.n);
}

static bool table_begins(Str line, Str rest)
{
    Str second = STR("");

    return is_row(line) && str_split(&rest, '\n', &second) && is_rule(second);
}

/* The whole table, from its first line on, as it was written. */
static void put_table(Buf *out, Str line, Str *rest)
{
    Str ahead = *rest;

    buf_add(out, STR("```\n"));
    do {
        escape(out, str_trim(line));
        buf_addc(out, '\n');
        *rest = ahead;
    } while (str_split(&ahead, '\n', &line) && is_row(line));
    buf_add(out, STR("```"));
}

Str slack_from_markdown(Arena *a, Str text)
{
    AUTO_BUF out = BUF(MAX_OUT);
    Inline w = { &out, text.n * SEARCHES };
    Str rest = utf8_repair(a, text), line;
    bool code = false;

    while (str_split(&rest, '\n', &line)) {
        bool fence = str_starts(str_trim(line), STR("```"));

        if (fence)
            buf_add(&out, STR("```"));
        else if (code)
            escape(&out, line);
        else if (table_begins(line, rest))
            put_table(&out, line, &rest);
        else
            put_line(&w, line);
        code = code != fence;
        if (rest.n)
            buf_addc(&out, '\n');
    }
    return str_dup(a, buf_str(&out));
}

/* -- and back ------------------------------------------------------------------------------------------------- */

/* What stands between '<' and '>': an address, a name, a word for many. */
static void put_reference(Buf *out, Str s)
{
    size_t bar = str_find(s, STR("|"));
    Str label = bar < s.n ? str_skip(s, bar + 1) : STR_NONE, target = str_head(s, bar);

    if (target.n && strchr("@#!", target.p[0])) {
        buf_addc(out, target.p[0] == '#' ? '#' : '@');
        buf_add(out, label.n ? label : str_skip(target, 1));
    } else if (label.n && !str_eq(label, target)) {
        buf_addf(out, "[%.*s](%.*s)", STR_FMT(label), STR_FMT(target));
    } else {
        buf_add(out, target);
    }
}

static size_t put_unescaped(Buf *out, Str s)
{
    static const struct {
        Str from;
        char to;
    } escapes[] = { { STR_INIT("&amp;"), '&' },
                    { STR_INIT("&lt;"), '<' },
                    { STR_INIT("&gt;"), '>' } };

    for (size_t i = 0; i < ARRAY_LEN(escapes); i++)
        if (str_starts(s, escapes[i].from)) {
            buf_addc(out, escapes[i].to);
            return escapes[i].from.n;
        }
    buf_addc(out, s.p[0]);
    return 1;
}

static void unescape(Buf *out, Str s)
{
    while (s.n)
        s = str_skip(s, put_unescaped(out, s));
}

Str slack_to_markdown(Arena *a, Str text)
{
    AUTO_BUF out = BUF(LIMIT_UPDATE_BYTES), plain = BUF(LIMIT_UPDATE_BYTES);

    while (text.n) {
        size_t end = text.p[0] == '<' ? str_find(str_head(text, MAX_SPAN), STR(">")) : 0;

        if (end && end < text.n && end < MAX_SPAN) {
            buf_clear(&plain);
            put_reference(&plain, str_head(str_skip(text, 1), end - 1));
            unescape(&out, buf_str(&plain));
            text = str_skip(text, end + 1);
        } else {
            text = str_skip(text, put_unescaped(&out, text));
        }
    }
    return str_dup(a, buf_str(&out));
}
