#include "base/str.h"

#include <errno.h>
#include <math.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void assert_failed(const char *what, const char *file, int line)
{
    fprintf(stderr, "talaria: bug: '%s' does not hold (%s:%d)\n", what, file, line);
    abort();
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int str_cmp(Str a, Str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

bool str_eq_nocase(Str a, Str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

#ifdef __SSE2__
enum { SHORT_NEEDLE = 32 };

/* Where the first and the last byte of the needle stand at its distance, sixteen places at a time.
 * memmem makes a table first, which costs more than it saves in the short texts that are searched
 * most; of long needles it is the one that is never slow. */
static const char *find_short(Str s, Str needle)
{
    size_t at = 0;
    const __m128i first = _mm_set1_epi8(needle.p[0]), last = _mm_set1_epi8(needle.p[needle.n - 1]);

    for (; at + needle.n + 15 <= s.n; at += 16) {
        __m128i heads = _mm_loadu_si128((const __m128i *)(s.p + at));
        __m128i tails = _mm_loadu_si128((const __m128i *)(s.p + at + needle.n - 1));
        unsigned hits = (unsigned)_mm_movemask_epi8(
            _mm_and_si128(_mm_cmpeq_epi8(heads, first), _mm_cmpeq_epi8(tails, last)));

        for (; hits; hits &= hits - 1) {
            const char *p = s.p + at + __builtin_ctz(hits);

            if (memcmp(p, needle.p, needle.n) == 0)
                return p;
        }
    }
    for (; at + needle.n <= s.n; at++)
        if (s.p[at] == needle.p[0] && memcmp(s.p + at, needle.p, needle.n) == 0)
            return s.p + at;
    return NULL;
}
#endif

size_t str_find(Str s, Str needle)
{
    const char *hit;

#ifdef __SSE2__
    if (needle.n > 1 && needle.n <= SHORT_NEEDLE)
        hit = find_short(s, needle);
    else
#endif
        hit = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return hit ? (size_t)(hit - s.p) : s.n;
}

size_t str_find_nocase(Str s, Str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (str_eq_nocase((Str){ s.p + i, needle.n }, needle))
            return i;
    return s.n;
}

Str str_base_name(Str path)
{
    size_t at = path.n;

    while (at && path.p[at - 1] != '/')
        at--;
    return str_skip(path, at);
}

Str str_trim(Str s)
{
    while (s.n && is_blank(s.p[0]))
        s = str_skip(s, 1);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_split(Str *rest, char sep, Str *ret_part)
{
    const char *hit;

    if (!rest->p)
        return false;
    hit = rest->n ? memchr(rest->p, sep, rest->n) : NULL;
    if (!hit) {
        *ret_part = *rest;
        *rest = STR_NONE;
        return true;
    }
    *ret_part = (Str){ rest->p, (size_t)(hit - rest->p) };
    *rest = str_skip(*rest, ret_part->n + 1);
    return true;
}

Str str_file_name(Str path)
{
    size_t n = path.n;

    while (n && path.p[n - 1] != '/')
        n--;
    return str_skip(path, n);
}

Str str_folder(Str path)
{
    size_t n = path.n - str_file_name(path).n;

    return str_head(path, n > 1 ? n - 1 : n);
}

bool str_is_one_of(Str s, const char *choices)
{
    Str rest = str_of(choices), choice;

    while (str_split(&rest, '|', &choice))
        if (str_eq(choice, s))
            return true;
    return false;
}

bool str_to_int(Str s, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = s.n && s.p[0] == '-';
    int64_t value = 0;

    s = str_skip(s, negative);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = s.p[i] - '0';

        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    /* Counted downwards, since INT64_MIN has no positive twin. */
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    if (value < min || value > max)
        return false;
    *ret = value;
    return true;
}

bool str_to_double(Str s, double *ret)
{
    char text[64], *end;
    double value;

    if (s.n == 0 || s.n >= sizeof text || is_blank(s.p[0]))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    value = strtod(text, &end);
    if (end != text + s.n || !isfinite(value))
        return false;
    *ret = value;
    return true;
}

size_t str_distance(Str a, Str b)
{
    enum { MOST = 64 };
    size_t row[3][MOST + 1];

    if (a.n > MOST || b.n > MOST)
        return MOST;
    for (size_t j = 0; j <= b.n; j++)
        row[1][j] = j;
    for (size_t i = 1; i <= a.n; i++) {
        size_t *before = row[(i + 2) % 3], *above = row[i % 3], *now = row[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= b.n; j++) {
            size_t best = above[j - 1] + (a.p[i - 1] != b.p[j - 1]);

            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[(a.n + 1) % 3][b.n];
}
