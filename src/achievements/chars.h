/* chars.h - what the rules ask of a place in a text: word or not, white space or not.
 *
 * A text here is bytes between two line feeds that may be read: the one before it and the one
 * behind it. So neighbours of any place can be looked at without asking where the text ends, and a
 * comparison with a word stops at the edge by itself. Bytes that are not UTF-8 count as U+FFFD:
 * neither word nor space. */
#ifndef TALARIA_ACHIEVEMENTS_CHARS_H
#define TALARIA_ACHIEVEMENTS_CHARS_H

#include "base/str.h"

extern const unsigned char rule_word_index[0x1100];
extern const unsigned char rule_word_pages[][32];

/* Letters and numbers of any script, and '_'. */
static inline bool is_word(uint32_t c)
{
    return rule_word_pages[rule_word_index[c >> 8]][c >> 3 & 31] >> (c & 7) & 1;
}

/* The code point that begins at p (*ret_n: its bytes), and the one that ends before p. */
uint32_t char_at(const char *p, size_t *ret_n);
uint32_t char_before(const char *p);

/* Of a byte by itself: 0 no word character, 1 one, 2 part of a longer sequence. */
extern const unsigned char char_class[256];

static inline bool word_at(const char *p)
{
    unsigned char class = char_class[(unsigned char)*p];
    size_t n;

    return class < 2 ? class : is_word(char_at(p, &n));
}

static inline bool word_before(const char *p)
{
    unsigned char class = char_class[(unsigned char)p[-1]];

    return class < 2 ? class : is_word(char_before(p));
}

static inline bool boundary(const char *p)
{
    return word_before(p) != word_at(p);
}

/* Behind the white space at p, at most at end. */
const char *skip_spaces(const char *p, const char *end);

/* Whether `word`, in lower case, is at p, or ends before p, in any case of ASCII letters. */
static inline char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool stands_at(const char *p, Str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (lower(p[i]) != word.p[i])
            return false;
    return true;
}

static inline bool stands_before(const char *p, Str word)
{
    for (size_t i = 1; i <= word.n; i++)
        if (lower(p[-(ptrdiff_t)i]) != word.p[word.n - i])
            return false;
    return true;
}

#endif
