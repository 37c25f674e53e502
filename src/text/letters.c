/* The normal forms are one loop with another question: which characters become a blank. */
#include "text/letters.h"

#include <utf8proc.h>

#include "base/buf.h"
#include "base/limits.h"
#include "text/utf8.h"

enum { SMALL_SIGMA = 0x3c3, FINAL_SIGMA = 0x3c2, BIG_SIGMA = 0x3a3, BIG_I_DOT = 0x130 };

/* Most text is ASCII, and most of it comes through here. */
static inline uint32_t next(Str *rest)
{
    unsigned char c = (unsigned char)rest->p[0];

    if (c >= 0x80)
        return utf8_next(rest);
    *rest = str_skip(*rest, 1);
    return c;
}

static inline void put(Buf *out, uint32_t c)
{
    char bytes[4];

    if (c < 0x80) {
        buf_addc(out, (char)c);
        return;
    }
    buf_add(out, (Str){ bytes, utf8_put(bytes, c) });
}

bool letter_is_word(uint32_t c)
{
    utf8proc_category_t k;

    if (c < 0x80)
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_';
    k = utf8proc_category((utf8proc_int32_t)c);
    return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) ||
           (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO);
}

bool letter_is_space(uint32_t c)
{
    if (c < 0x80)
        return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
    return c == 0x85 || c == 0x2028 || c == 0x2029 ||
           utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_ZS;
}

/* A sigma at the end of a word has another shape. */
static uint32_t sigma(bool in_word, Str rest)
{
    Str peek = rest;

    return in_word && !(peek.n && letter_is_word(next(&peek))) ? FINAL_SIGMA : SMALL_SIGMA;
}

Str text_lower(Arena *a, Str s)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    bool in_word = false;

    while (s.n) {
        uint32_t c = next(&s);

        if (c == BIG_I_DOT)
            buf_addz(&out, "i\xcc\x87");
        else if (c == BIG_SIGMA)
            put(&out, sigma(in_word, s));
        else if (c < 0x80)
            buf_addc(&out, (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
        else
            put(&out, (uint32_t)utf8proc_tolower((utf8proc_int32_t)c));
        in_word = letter_is_word(c);
    }
    return str_dup(a, buf_str(&out));
}

Str text_fold(Arena *a, Str s)
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);

    while (s.n) {
        utf8proc_int32_t c = (utf8proc_int32_t)next(&s), to[8];
        int state = 0;
        utf8proc_ssize_t n =
            utf8proc_decompose_char(c, to, ARRAY_LEN(to), UTF8PROC_CASEFOLD, &state);

        if (n < 1 || n > (utf8proc_ssize_t)ARRAY_LEN(to))
            put(&out, (uint32_t)c);
        for (utf8proc_ssize_t i = 0; i < n && n <= (utf8proc_ssize_t)ARRAY_LEN(to); i++)
            put(&out, (uint32_t)to[i]);
    }
    return str_dup(a, buf_str(&out));
}

Str text_trim(Str s)
{
    size_t last = 0;
    Str rest;

    while (s.n) {
        rest = s;
        if (!letter_is_space(next(&rest)))
            break;
        s = rest;
    }
    rest = s;
    while (rest.n)
        if (!letter_is_space(next(&rest)))
            last = s.n - rest.n;
    return (Str){ s.p, last };
}

Str text_cut(Str s, size_t n)
{
    Str rest = s;

    while (rest.n && n--)
        (void)next(&rest);
    return (Str){ s.p, s.n - rest.n };
}

Str text_clip(Arena *a, Str s, size_t n)
{
    Str head = text_cut(s, n);

    return head.n == s.n ? s : str_printf(a, "%.*s…", STR_FMT(head));
}

static Str with_blanks(Arena *a, Str s, bool (*stays)(uint32_t c))
{
    AUTO_BUF out = BUF(LIMIT_OUTPUT_BYTES);
    bool wants_blank = false;

    while (s.n) {
        uint32_t c = next(&s);

        if (!stays(c)) {
            wants_blank = out.n > 0;
            continue;
        }
        if (wants_blank)
            buf_addc(&out, ' ');
        wants_blank = false;
        put(&out, c);
    }
    return str_dup(a, buf_str(&out));
}

static bool no_space(uint32_t c)
{
    return !letter_is_space(c);
}

Str text_collapse(Arena *a, Str s)
{
    return with_blanks(a, s, no_space);
}

Str text_squeeze(Arena *a, Str s)
{
    return with_blanks(a, text_lower(a, s), no_space);
}

Str text_words(Arena *a, Str s)
{
    return with_blanks(a, text_lower(a, s), letter_is_word);
}
