#include "achievements/chars.h"

#include "text/letters.h"
#include "text/utf8.h"

const unsigned char char_class[256] = {
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['_'] = 1, [0x80 ... 0xff] = 2,
};

uint32_t char_at(const char *p, size_t *ret_n)
{
    Str rest = { p, 1 };
    uint32_t c;

    /* The line feed behind the text cuts a sequence at the latest. */
    while (rest.n < 4 && ((unsigned char)p[rest.n] & 0xc0) == 0x80)
        rest.n++;
    c = utf8_next(&rest);
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

        if (!letter_is_space(c))
            break;
        p += n;
    }
    return p;
}
