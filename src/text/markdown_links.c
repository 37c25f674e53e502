/* Our own instead of cmark's extension, whose time is quadratic in texts like a@a@a@ and http://a)))). The rules are
 * those of GitHub: trailing punctuation and parentheses that were not opened inside do not belong to an address. */
#include "text/markdown_links.h"

enum {
    LOCAL_PART = 64, /* bytes before the @ */
    HOST = 255
};

typedef struct Find {
    size_t from, to;
    const char *scheme;
} Find;

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_letter_or_digit(char c)
{
    return is_alnum(c) || (unsigned char)c >= 0x80;
}

/* Without what a sentence puts behind an address. */
static size_t trimmed(Str s, size_t from, size_t to)
{
    size_t open = 0, closed = 0;

    for (size_t i = from; i < to; i++) {
        open += s.p[i] == '(';
        closed += s.p[i] == ')';
    }
    while (to > from) {
        char c = s.p[to - 1];

        if (c == ')' && closed > open)
            closed--;
        else if (!strchr("?!.,:;*_~'\"", c) || !c)
            break;
        to--;
    }
    return to;
}

static bool url_at(Str s, size_t i, Find *ret)
{
    static const struct {
        Str lead;
        const char *scheme;
    } leads[] = { { STR_INIT("http://"), "" },
                  { STR_INIT("https://"), "" },
                  { STR_INIT("www."), "http://" } };
    Str rest = str_skip(s, i);

    if (i && is_letter_or_digit(s.p[i - 1]))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(leads); k++) {
        size_t from = i + leads[k].lead.n, to = from;

        if (from >= s.n || !is_letter_or_digit(s.p[from]) ||
            strncasecmp(rest.p, leads[k].lead.p, leads[k].lead.n) != 0)
            continue;
        while (to < s.n && (unsigned char)s.p[to] > ' ' && s.p[to] != '<')
            to++;
        *ret = (Find){ i, trimmed(s, from, to), leads[k].scheme };
        return true;
    }
    return false;
}

static bool mail_at(Str s, size_t at, Find *ret)
{
    size_t from = at, to = at + 1, dots = 0;

    while (from && at - from < LOCAL_PART &&
           (is_alnum(s.p[from - 1]) || strchr(".-_+", s.p[from - 1])))
        from--;
    while (to < s.n && to - at < HOST && (is_alnum(s.p[to]) || s.p[to] == '-' || s.p[to] == '.'))
        dots += s.p[to++] == '.';
    while (to > at + 1 && !is_alnum(s.p[to - 1]))
        dots -= s.p[--to] == '.';
    if (from == at || !dots || s.p[at + 1] == '.')
        return false;
    *ret = (Find){ from, to, "mailto:" };
    return true;
}

static bool find(Str s, Find *ret)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if ((c == 'h' || c == 'H' || c == 'w' || c == 'W') && url_at(s, i, ret))
            return true;
        if (c == '@' && mail_at(s, i, ret))
            return true;
    }
    return false;
}

bool markdown_next_piece(Str *rest, TextPiece *ret)
{
    Find f;

    if (!rest->n)
        return false;
    if (!find(*rest, &f))
        *ret = (TextPiece){ .text = *rest };
    else if (f.from)
        *ret = (TextPiece){ .text = str_head(*rest, f.from) };
    else
        *ret = (TextPiece){ .text = str_head(*rest, f.to), .scheme = f.scheme };
    *rest = str_skip(*rest, ret->text.n);
    return true;
}
