#include "text/utf8.h"

#include <utf8proc.h>

/* Length of the valid sequence at p, 0 where there is none; overlong forms and surrogates are
 * none. */
static size_t sequence(const unsigned char *p, size_t n, uint32_t *ret)
{
    static const uint32_t min[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    uint32_t c;

    if (len == 1)
        *ret = p[0];
    if (len == 1 || len == 0 || p[0] > 0xf4 || len > n)
        return len == 1;
    c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < min[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *ret = c;
    return len;
}

uint32_t utf8_next(Str *rest)
{
    uint32_t c = 0xfffd;
    size_t n = sequence((const unsigned char *)rest->p, rest->n, &c);

    *rest = str_skip(*rest, n ? n : 1);
    return c;
}

size_t utf8_put(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

size_t utf8_valid_prefix(Str s)
{
    size_t i = 0;
    uint32_t c;

    while (i < s.n) {
        size_t n = sequence((const unsigned char *)s.p + i, s.n - i, &c);

        if (n == 0)
            break;
        i += n;
    }
    return i;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

Str utf8_head(Str s, size_t n)
{
    if (n >= s.n)
        return s;
    /* A valid sequence has at most three continuation bytes; more of them are not one. */
    for (size_t back = 0; back < 3 && n > 0 && is_continuation(s.p[n]); back++)
        n--;
    return str_head(s, n);
}

Str utf8_first(Str s, size_t n)
{
    Str rest = s;

    for (size_t i = 0; i < n && rest.n; i++)
        (void)utf8_next(&rest);
    return str_head(s, s.n - rest.n);
}

Str utf8_tail(Str s, size_t n)
{
    size_t at;

    if (n >= s.n)
        return s;
    at = s.n - n;
    for (size_t on = 0; on < 3 && at < s.n && is_continuation(s.p[at]); on++)
        at++;
    return str_skip(s, at);
}

size_t utf8_count(Str s)
{
    size_t n = 0;

    for (; s.n; n++)
        (void)utf8_next(&s);
    return n;
}

static bool turns_direction(uint32_t c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
           c == 0x200f || c == 0x061c;
}

bool utf8_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || turns_direction(c);
}

/* utf8proc's widths, but for three things that terminals do differently: a mark with a place to
 * itself (category Mc, as in Devanagari) takes a column, a skin tone is drawn on the emoji before
 * it, and a control is shown as another character (show_one). */
static size_t columns_of(uint32_t c)
{
    if (c < 0x300 || utf8_is_control(c))
        return 1;
    if (c >= 0x1f3fb && c <= 0x1f3ff)
        return 0;
    if (utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_MC)
        return 1;
    return (size_t)utf8proc_charwidth((utf8proc_int32_t)c);
}

size_t utf8_columns(Str s)
{
    size_t n = 0;

    while (s.n)
        n += columns_of(utf8_next(&s));
    return n;
}

static void show_one(Buf *out, uint32_t c)
{
    char utf8[4];

    if (c < 0x20)
        c += 0x2400; /* the control pictures: U+241B for escape */
    else if (c == 0x7f)
        c = 0x2421;
    else if (utf8_is_control(c))
        c = 0xfffd;
    buf_add(out, (Str){ utf8, utf8_put(utf8, c) });
}

void utf8_show(Buf *out, Str s, bool lines)
{
    while (s.n) {
        size_t run = 0;

        while (run < s.n && (unsigned char)s.p[run] >= 0x20 && (unsigned char)s.p[run] < 0x7f)
            run++;
        buf_add(out, str_head(s, run));
        s = str_skip(s, run);
        if (!s.n)
            break;
        if (lines && (s.p[0] == '\n' || s.p[0] == '\t')) {
            buf_addc(out, s.p[0]);
            s = str_skip(s, 1);
        } else {
            show_one(out, utf8_next(&s));
        }
    }
}

Str utf8_fit(Arena *a, Str s, size_t columns)
{
    AUTO_BUF out = BUF(s.n * 3 + 16);
    bool fits = utf8_columns(s) <= columns;
    size_t used = 0;

    while (s.n) {
        uint32_t c = utf8_next(&s);

        used += columns_of(c);
        if (!fits && used >= columns) {
            buf_addz(&out, "…");
            break;
        }
        show_one(&out, c == '\n' || c == '\t' || c == '\r' ? ' ' : c);
    }
    return str_dup(a, buf_str(&out));
}

Str utf8_repair(Arena *a, Str text)
{
    size_t good = utf8_valid_prefix(text);
    AUTO_BUF out = BUF(SIZE_MAX / 4);

    if (good == text.n)
        return text;
    while (text.n) {
        good = utf8_valid_prefix(text);
        buf_add(&out, str_head(text, good));
        text = str_skip(text, good);
        if (text.n) {
            buf_addz(&out, "\xef\xbf\xbd");
            text = str_skip(text, 1);
        }
    }
    return str_dup(a, buf_str(&out));
}
