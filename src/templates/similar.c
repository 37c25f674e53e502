#include "templates/similar.h"

#include <math.h>

#include "base/hash.h"
#include "base/limits.h"
#include "text/utf8.h"

typedef struct Hashes {
    uint64_t *all;
    size_t n, cap;
} Hashes;

static uint64_t hash_nocase(Str s)
{
    uint64_t hash = HASH_START;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] | 0x20) : s.p[i];

        hash = hash_fnv(hash, (Str){ &c, 1 });
    }
    return hash;
}

/* Words that say nothing about a task. */
static bool is_filler(Str word)
{
    static const Str fillers[] = {
        STR_INIT("a"),      STR_INIT("an"), STR_INIT("and"),  STR_INIT("are"), STR_INIT("as"),
        STR_INIT("at"),     STR_INIT("be"), STR_INIT("can"),  STR_INIT("do"),  STR_INIT("for"),
        STR_INIT("from"),   STR_INIT("i"),  STR_INIT("in"),   STR_INIT("is"),  STR_INIT("it"),
        STR_INIT("me"),     STR_INIT("my"), STR_INIT("of"),   STR_INIT("on"),  STR_INIT("or"),
        STR_INIT("please"), STR_INIT("so"), STR_INIT("that"), STR_INIT("the"), STR_INIT("this"),
        STR_INIT("to"),     STR_INIT("we"), STR_INIT("with"), STR_INIT("you"),
    };

    for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
        if (str_eq_nocase(word, fillers[i]))
            return true;
    return false;
}

static bool is_cjk(uint32_t c)
{
    return (c >= 0x3041 && c <= 0x9fff) || (c >= 0xac00 && c <= 0xd7a3) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x20000 && c <= 0x3ffff);
}

static bool is_letter(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= 0xc0 && c < 0x2000 && c != 0xd7 && c != 0xf7);
}

static void add_word(Arena *a, Hashes *h, Str word)
{
    if (word.n && !is_filler(word))
        ARENA_PUSH(a, h->all, h->n, h->cap, hash_nocase(word));
}

static Hashes hashes_of(Arena *a, Str text)
{
    Hashes h = { 0 };
    Str word = { text.p, 0 }, before = STR_NONE; /* before: the CJK character just passed */

    while (text.n) {
        Str here = text;
        uint32_t c = utf8_next(&text);

        here.n -= text.n;
        if (is_letter(c)) {
            word.n += here.n;
            before = STR_NONE;
            continue;
        }
        add_word(a, &h, word);
        word = (Str){ text.p, 0 };
        if (is_cjk(c) && before.p)
            add_word(a, &h, (Str){ before.p, before.n + here.n });
        before = is_cjk(c) ? here : STR_NONE;
    }
    add_word(a, &h, word);
    return h;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

WordBag wordbag_of(Arena *a, Str text)
{
    Hashes h = hashes_of(a, utf8_head(text, KIB(32)));
    WordBag bag = { .words = h.all, .weights = ARENA_ARRAY(a, double, h.n + 1) };
    double squares = 0;

    if (h.n)
        qsort(h.all, h.n, sizeof *h.all, by_value);
    for (size_t i = 0, end; i < h.n; i = end) {
        double weight;

        for (end = i + 1; end < h.n && h.all[end] == h.all[i]; end++)
            ;
        weight = 1 + log((double)(end - i));
        bag.words[bag.n] = h.all[i];
        bag.weights[bag.n++] = weight;
        squares += weight * weight;
    }
    bag.length = sqrt(squares);
    return bag;
}

double wordbag_similarity(const WordBag *a, const WordBag *b)
{
    double dot = 0;

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->words[i] == b->words[j])
            dot += a->weights[i++] * b->weights[j++];
        else if (a->words[i] < b->words[j])
            i++;
        else
            j++;
    }
    return dot > 0 ? dot / (a->length * b->length) : 0;
}
