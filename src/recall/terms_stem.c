/* Porter's algorithm (1980), with its later departures left out: the index and the question go
 * through the same code, so what matters is that it never changes, not which version it is. */
#include "recall/terms.h"

typedef struct Word {
    char *p;
    size_t n; /* of the whole word */
    size_t j; /* of what stands before the ending at hand */
} Word;

static bool is_consonant(const Word *w, size_t i)
{
    switch (w->p[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
        return false;
    case 'y':
        return i == 0 || !is_consonant(w, i - 1);
    default:
        return true;
    }
}

/* How often a vowel is followed by a consonant before the ending. */
static size_t measure(const Word *w)
{
    size_t n = 0, i = 0;

    while (i < w->j && is_consonant(w, i))
        i++;
    while (i < w->j) {
        while (i < w->j && !is_consonant(w, i))
            i++;
        if (i == w->j)
            break;
        n++;
        while (i < w->j && is_consonant(w, i))
            i++;
    }
    return n;
}

static bool has_vowel(const Word *w)
{
    for (size_t i = 0; i < w->j; i++)
        if (!is_consonant(w, i))
            return true;
    return false;
}

static bool doubled(const Word *w)
{
    return w->n >= 2 && w->p[w->n - 1] == w->p[w->n - 2] && is_consonant(w, w->n - 1);
}

/* Consonant, vowel, consonant, the last not w, x or y: "hop", where an e is put back. */
static bool is_short(const Word *w, size_t n)
{
    char c;

    if (n < 3 || !is_consonant(w, n - 1) || is_consonant(w, n - 2) || !is_consonant(w, n - 3))
        return false;
    c = w->p[n - 1];
    return c != 'w' && c != 'x' && c != 'y';
}

static bool ends(Word *w, const char *ending)
{
    size_t n = strlen(ending);

    if (n >= w->n || memcmp(w->p + w->n - n, ending, n) != 0)
        return false;
    w->j = w->n - n;
    return true;
}

static void put(Word *w, const char *ending)
{
    size_t n = strlen(ending);

    memcpy(w->p + w->j, ending, n);
    w->n = w->j + n;
}

typedef struct Ending {
    const char *from, *to;
} Ending;

/* The first ending that fits decides, whether it is replaced or not. */
static void replace(Word *w, const Ending *table, size_t n, size_t min)
{
    for (size_t i = 0; i < n; i++)
        if (ends(w, table[i].from)) {
            if (measure(w) > min)
                put(w, table[i].to);
            return;
        }
}

static void plurals(Word *w)
{
    if (ends(w, "sses") || ends(w, "ies"))
        w->n -= 2;
    else if (!ends(w, "ss") && ends(w, "s"))
        w->n--;
}

static void past(Word *w)
{
    if (ends(w, "eed")) {
        if (measure(w) > 0)
            w->n--;
        return;
    }
    if ((!ends(w, "ed") && !ends(w, "ing")) || !has_vowel(w))
        return;
    w->n = w->j;
    if (ends(w, "at") || ends(w, "bl") || ends(w, "iz")) {
        w->p[w->n++] = 'e';
    } else if (doubled(w)) {
        char c = w->p[w->n - 1];

        if (c != 'l' && c != 's' && c != 'z')
            w->n--;
    } else {
        w->j = w->n;
        if (measure(w) == 1 && is_short(w, w->n))
            w->p[w->n++] = 'e';
    }
}

static void last_y(Word *w)
{
    if (ends(w, "y") && has_vowel(w))
        w->p[w->n - 1] = 'i';
}

static void suffixes(Word *w)
{
    static const Ending second[] = {
        { "ational", "ate" }, { "tional", "tion" }, { "enci", "ence" },   { "anci", "ance" },
        { "izer", "ize" },    { "abli", "able" },   { "alli", "al" },     { "entli", "ent" },
        { "eli", "e" },       { "ousli", "ous" },   { "ization", "ize" }, { "ation", "ate" },
        { "ator", "ate" },    { "alism", "al" },    { "iveness", "ive" }, { "fulness", "ful" },
        { "ousness", "ous" }, { "aliti", "al" },    { "iviti", "ive" },   { "biliti", "ble" },
    };
    static const Ending third[] = {
        { "icate", "ic" }, { "ative", "" }, { "alize", "al" }, { "iciti", "ic" },
        { "ical", "ic" },  { "ful", "" },   { "ness", "" },
    };
    static const Ending fourth[] = {
        { "al", "" },   { "ance", "" }, { "ence", "" }, { "er", "" },    { "ic", "" },
        { "able", "" }, { "ible", "" }, { "ant", "" },  { "ement", "" }, { "ment", "" },
        { "ent", "" },  { "ou", "" },   { "ism", "" },  { "ate", "" },   { "iti", "" },
        { "ous", "" },  { "ive", "" },  { "ize", "" },
    };

    replace(w, second, ARRAY_LEN(second), 0);
    replace(w, third, ARRAY_LEN(third), 0);
    if (ends(w, "ion")) {
        if (w->j && (w->p[w->j - 1] == 's' || w->p[w->j - 1] == 't') && measure(w) > 1)
            w->n = w->j;
        return;
    }
    replace(w, fourth, ARRAY_LEN(fourth), 1);
}

static void last_letters(Word *w)
{
    if (ends(w, "e")) {
        size_t m = measure(w);

        if (m > 1 || (m == 1 && !is_short(w, w->n - 1)))
            w->n--;
    }
    if (w->n >= 2 && w->p[w->n - 1] == 'l' && doubled(w)) {
        w->j = w->n - 1;
        if (measure(w) > 1)
            w->n--;
    }
}

size_t term_stem(char *word, size_t n)
{
    Word w = { word, n, 0 };

    if (n < 3)
        return n;
    plurals(&w);
    past(&w);
    last_y(&w);
    if (w.n > 4)
        suffixes(&w);
    last_letters(&w);
    return w.n;
}
