#include "achievements/chars.h"

#include "text/utf8.h"

const unsigned char char_class[256] = {
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['_'] = 1, [0x80 ... 0xff] = 2,
};

bool char_is_space(uint32_t c)
{
    if (c < 0x80)
        return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
           c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/* A sequence is cut by the line feed behind the text at the latest. */
static Str sequence_at(const char *p)
{
    size_t n = 1;

    while (n < 4 && ((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    return (Str){ p, n };
}

uint32_t char_at(const char *p, size_t *ret_n)
{
    Str rest = sequence_at(p);
    uint32_t c = utf8_next(&rest);

    *ret_n = (size_t)(rest.p - p);
    return c;
}

uint32_t char_before(const char *p)
{
    const char *from = p - 1;
    uint32_t c;
    size_t n;

    while (from > p - 4 && ((unsigned char)*from & 0xc0) == 0x80)
        from--;
    c = char_at(from, &n);
    return from + n == p ? c : 0xfffd;
}

const char *skip_spaces(const char *p, const char *end)
{
    while (p < end) {
        size_t n = 1;
        uint32_t c = (unsigned char)*p < 0x80 ? (unsigned char)*p : char_at(p, &n);

        if (!char_is_space(c))
            break;
        p += n;
    }
    return p;
}
