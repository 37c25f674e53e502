#include "text/utf8.h"

typedef struct Range {
    uint32_t first, last;
} Range;

/* Two columns wide: East Asian wide and full-width forms, and emoji. */
static const Range wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },
    { 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },
    { 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
    { 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },
    { 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },
    { 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },
    { 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },
    { 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },
    { 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },
    { 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },
    { 0xa960, 0xa97c },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },
    { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18cff },
    { 0x1b000, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e },
    { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c },
    { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 },
    { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc },
    { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a },
    { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 },
    { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6d7 }, { 0x1f6dc, 0x1f6df },
    { 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7eb }, { 0x1f7f0, 0x1f7f0 },
    { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faff },
    { 0x20000, 0x3fffd },
};

/* No column at all: combining marks, joiners, variation selectors. */
static const Range zero[] = {
    { 0x0300, 0x036f },   { 0x0483, 0x0489 },   { 0x0591, 0x05bd }, { 0x05bf, 0x05bf },
    { 0x05c1, 0x05c2 },   { 0x05c4, 0x05c5 },   { 0x0610, 0x061a }, { 0x064b, 0x065f },
    { 0x0670, 0x0670 },   { 0x06d6, 0x06dc },   { 0x06df, 0x06e4 }, { 0x06e7, 0x06e8 },
    { 0x06ea, 0x06ed },   { 0x0711, 0x0711 },   { 0x0730, 0x074a }, { 0x0900, 0x0902 },
    { 0x093c, 0x093c },   { 0x0941, 0x0948 },   { 0x094d, 0x094d }, { 0x0e31, 0x0e31 },
    { 0x0e34, 0x0e3a },   { 0x0e47, 0x0e4e },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
    { 0x200b, 0x200d },   { 0x2060, 0x2064 },   { 0x20d0, 0x20f0 }, { 0x302a, 0x302d },
    { 0x3099, 0x309a },   { 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
    { 0x1f3fb, 0x1f3ff }, { 0xe0100, 0xe01ef },
};

static bool in_ranges(const Range *ranges, size_t n, uint32_t c)
{
    size_t low = 0;

    while (low < n) {
        size_t mid = low + (n - low) / 2;

        if (c < ranges[mid].first)
            n = mid;
        else if (c > ranges[mid].last)
            low = mid + 1;
        else
            return true;
    }
    return false;
}

/* Length of the valid sequence at p, 0 where there is none; overlong forms and surrogates are none.
 */
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

static size_t columns_of(uint32_t c)
{
    if (c < 0x300)
        return 1;
    if (in_ranges(zero, ARRAY_LEN(zero), c))
        return 0;
    return in_ranges(wide, ARRAY_LEN(wide), c) ? 2 : 1;
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
