#include "text/tokens.h"

#include "text/utf8.h"

/* In quarters of a token, so that the sum needs no fractions. */
static size_t quarters(uint32_t c)
{
    enum { FIRST_CJK = 0x2e80 };

    return c < 0x80 ? 1 : c < FIRST_CJK ? 2 : 4;
}

size_t tokens_estimate(Str text)
{
    size_t sum = 0;

    while (text.n)
        sum += quarters(utf8_next(&text));
    return (sum + 3) / 4;
}
