/* The loop that every indexed byte goes through, so ASCII words have a short way of their own:
 * classified by a table, folded while they are copied. What is beyond ASCII goes through code
 * points and a fold of Latin, Greek and Cyrillic; scripts that need more than that are kept as they
 * are. */
#include "recall/terms.h"

#include <libstemmer.h>
#include <pthread.h>

#include "text/utf8.h"

enum { BLOB_BYTES = 128 }; /* no person writes a word of base64's alphabet as long as this */

/* -- characters -- */

/* 0: no part of a word; else the byte as it is indexed. */
static const char ascii_fold[128] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6',
    ['7'] = '7', ['8'] = '8', ['9'] = '9', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd',
    ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k',
    ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',
    ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y',
    ['z'] = 'z', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f',
    ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm',
    ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r', ['S'] = 's', ['T'] = 't',
    ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y', ['Z'] = 'z',
};

/* U+00C0 to U+017F without their marks, one letter each; '.' is no letter. */
static const char latin_fold[] = "aaaaaaaceeeeiiiidnooooo.ouuuuyts"
                                 "aaaaaaaceeeeiiiidnooooo.ouuuuyty"
                                 "aaaaaaccccccccddddeeeeeeeeeegggg"
                                 "gggghhhhiiiiiiiiiiiijjkkklllllll"
                                 "lllnnnnnnnnnoooooooorrrrrrssssss"
                                 "ssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

typedef struct Range {
    uint32_t first, last;
} Range;

static bool is_in(uint32_t c, const Range *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= table[i].first && c <= table[i].last)
            return true;
    return false;
}

/* Scripts that put no space between words; Hangul does, but its words carry their particles. */
static bool is_paired(uint32_t c)
{
    static const Range paired[] = {
        { 0x0e00, 0x0eff },                       /* Thai, Lao */
        { 0x1000, 0x109f },                       /* Burmese */
        { 0x1780, 0x17ff },                       /* Khmer */
        { 0x3040, 0x30ff },                       /* kana */
        { 0x3400, 0x4dbf },                       /* Han */
        { 0x4e00, 0x9fff },   { 0xac00, 0xd7a3 }, /* Hangul */
        { 0xf900, 0xfaff },   { 0xff66, 0xff9d }, /* narrow kana */
        { 0x20000, 0x3ffff },
    };

    return c >= 0x0e00 && c != 0x30fb && is_in(c, paired, ARRAY_LEN(paired));
}

static bool is_mark(uint32_t c)
{
    return (c >= 0x300 && c <= 0x36f) || c == 0xad || c == 0x200b || c == 0x200d || c == 0xfe0f;
}

static bool is_letter(uint32_t c)
{
    static const Range others[] = {
        { 0x80, 0xa9 },     { 0xab, 0xb4 },     { 0xb6, 0xb9 },       { 0xbb, 0xbf },
        { 0xd7, 0xd7 },     { 0xf7, 0xf7 },     { 0x2000, 0x206f },   { 0x20a0, 0x20cf },
        { 0x2100, 0x2bff }, { 0x2e00, 0x2e7f }, { 0x3000, 0x3004 },   { 0x3008, 0x3020 },
        { 0x3030, 0x3030 }, { 0x303d, 0x303f }, { 0x30fb, 0x30fb },   { 0xd800, 0xf8ff },
        { 0xfe00, 0xfe6f }, { 0xff00, 0xff0f }, { 0xff1a, 0xff20 },   { 0xff3b, 0xff40 },
        { 0xff5b, 0xff65 }, { 0xfff0, 0xffff }, { 0x1f000, 0x1faff }, { 0xe0000, 0x10ffff },
    };

    return !is_in(c, others, ARRAY_LEN(others));
}

/* Simple lower case and no accents for the scripts that have both. */
static uint32_t fold(uint32_t c)
{
    if (c >= 0xc0 && c < 0x180) {
        char to = latin_fold[c - 0xc0];

        return to == '.' ? c : (uint32_t)to;
    }
    if ((c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if (c >= 0xff10 && c <= 0xff5a && is_letter(c)) /* wide forms of ASCII */
        return (uint32_t)ascii_fold[c - 0xfee0];
    return c;
}

/* -- words -- */

static bool is_blob_byte(char c)
{
    return (c >= 0 && ascii_fold[(unsigned char)c]) || c == '+' || c == '/' || c == '=';
}

/* How long the run of base64 is that begins here; 0: none. */
static size_t blob_end(Str s)
{
    size_t n = 0;

    while (n < s.n && is_blob_byte(s.p[n]))
        n++;
    return n >= BLOB_BYTES ? n : 0;
}

typedef struct Word {
    size_t n;   /* bytes in the term; past TERM_BYTES it is none */
    bool ascii; /* ... so that its ending can be taken off */
    bool digits;
} Word;

static void add_byte(Word *w, Term *t, char c)
{
    if (w->n < TERM_BYTES)
        t->text[w->n] = c;
    w->n++;
}

static void add_code_point(Word *w, Term *t, uint32_t c)
{
    char bytes[4];
    size_t n;

    if (c < 0x80) {
        add_byte(w, t, (char)c);
        return;
    }
    w->ascii = false;
    n = utf8_put(bytes, c);
    for (size_t i = 0; i < n; i++)
        add_byte(w, t, bytes[i]);
}

/* Takes the rest of the word off *rest. */
static void read_word(Str *rest, Term *t, Word *w)
{
    while (rest->n) {
        unsigned char b = (unsigned char)*rest->p;
        Str next = *rest;
        uint32_t c;

        if (b < 0x80) {
            if (!ascii_fold[b])
                return;
            w->digits |= b <= '9';
            add_byte(w, t, ascii_fold[b]);
            *rest = str_skip(*rest, 1);
            continue;
        }
        c = utf8_next(&next);
        if (!is_mark(c)) {
            if (!is_letter(c) || is_paired(c))
                return;
            add_code_point(w, t, fold(c));
        }
        *rest = next;
    }
}

/* -- endings -- */

static pthread_key_t stemmer_key; /* frees a thread's stemmer when the thread ends */

static void make_stemmer_key(void)
{
    if (pthread_key_create(&stemmer_key, (void (*)(void *))sb_stemmer_delete) != 0)
        out_of_memory(0);
}

/* A stemmer serves one thread at a time. "porter" and not "english": the index keeps stems, and
 * Snowball promises that Porter's algorithm never changes, while "english" does between
 * releases. */
static struct sb_stemmer *thread_stemmer(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local struct sb_stemmer *stemmer;

    if (!stemmer) {
        pthread_once(&once, make_stemmer_key);
        stemmer = sb_stemmer_new("porter", "ISO_8859_1");
        if (!stemmer || pthread_setspecific(stemmer_key, stemmer) != 0)
            out_of_memory(0);
    }
    return stemmer;
}

/* Takes the English ending off an ASCII word in lower case, in place; returns its new length. Words
 * of two letters stay whole: Porter's rules would make "i" of "is" and nothing of "s". */
static size_t stem(char *word, size_t n)
{
    struct sb_stemmer *stemmer = thread_stemmer();
    const sb_symbol *stemmed;

    if (n < 3)
        return n;
    stemmed = sb_stemmer_stem(stemmer, (const sb_symbol *)word, (int)n);
    if (!stemmed)
        out_of_memory(n);
    n = (size_t)sb_stemmer_length(stemmer);
    memcpy(word, stemmed, n);
    return n;
}

/* -- pairs -- */

static bool next_pair(TermIter *it, Term *ret)
{
    uint32_t first = it->held, second = 0;
    Str rest = it->rest;
    size_t n = utf8_put(ret->text, first);

    it->held = 0;
    if (rest.n && (unsigned char)*rest.p >= 0x80)
        second = utf8_next(&rest);
    ret->pair = true;
    ret->last = !is_paired(second);
    ret->place.p = it->held_at;
    if (ret->last) {
        ret->place.n = (size_t)(it->rest.p - it->held_at);
    } else {
        n += utf8_put(ret->text + n, second);
        ret->place.n = (size_t)(rest.p - it->held_at);
        it->held = second;
        it->held_at = it->rest.p;
        it->rest = rest;
    }
    ret->n = (uint8_t)n;
    return true;
}

/* -- all of them -- */

/* To the next byte that begins a word; false at the end. */
static bool find_word(TermIter *it)
{
    while (it->rest.n) {
        unsigned char b = (unsigned char)*it->rest.p;
        Str next = it->rest;
        uint32_t c;

        if (b < 0x80) {
            size_t blob = ascii_fold[b] && it->rest.n >= BLOB_BYTES ? blob_end(it->rest) : 0;

            if (ascii_fold[b] && !blob)
                return true;
            it->rest = str_skip(it->rest, blob ? blob : 1);
            continue;
        }
        c = utf8_next(&next);
        if (is_paired(c)) {
            it->held = c;
            it->held_at = it->rest.p;
            it->rest = next;
            return true;
        }
        if (is_letter(c) && !is_mark(c))
            return true;
        it->rest = next;
    }
    return false;
}

bool term_next(TermIter *it, Term *ret)
{
    for (;;) {
        Word w = { .ascii = true };
        const char *from;

        if (it->held || (find_word(it) && it->held))
            return next_pair(it, ret);
        if (!it->rest.n)
            return false;
        from = it->rest.p;
        read_word(&it->rest, ret, &w);
        if (w.n == 0 || w.n > TERM_BYTES)
            continue;
        if (w.ascii && !w.digits && !it->plain)
            w.n = stem(ret->text, w.n);
        ret->place = (Str){ from, (size_t)(it->rest.p - from) };
        ret->n = (uint8_t)w.n;
        ret->pair = ret->last = false;
        return true;
    }
}

size_t terms_write(Buf *out, Str text)
{
    TermIter it = TERMS(text);
    size_t n = 0;
    Term t;

    while (term_next(&it, &t)) {
        char *to = buf_room(out, t.n + 1u);

        if (!to)
            break;
        memcpy(to, t.text, t.n);
        to[t.n] = ' ';
        out->n += t.n + 1u;
        n++;
    }
    return n;
}

/* -- words that say nothing -- */

static bool is_listed(Str word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_eqz(word, list[i]))
            return true;
    return false;
}

bool term_is_stop(Str word)
{
    static const char *const stop[] = {
        "a",     "about", "after",  "again", "all",   "also",   "am",    "an",     "and",   "any",
        "are",   "as",    "at",     "be",    "been",  "before", "being", "but",    "by",    "can",
        "could", "d",     "did",    "do",    "does",  "doing",  "don",   "during", "each",  "ever",
        "for",   "from",  "had",    "has",   "have",  "having", "he",    "her",    "here",  "hers",
        "him",   "his",   "how",    "i",     "if",    "in",     "into",  "is",     "it",    "its",
        "just",  "ll",    "m",      "may",   "me",    "might",  "my",    "no",     "not",   "of",
        "on",    "once",  "or",     "our",   "ours",  "out",    "over",  "own",    "re",    "s",
        "shall", "she",   "should", "so",    "some",  "such",   "t",     "than",   "that",  "the",
        "their", "them",  "then",   "there", "these", "they",   "this",  "those",  "to",    "too",
        "up",    "us",    "ve",     "very",  "was",   "we",     "were",  "what",   "when",  "where",
        "which", "while", "who",    "whom",  "whose", "why",    "will",  "with",   "would", "you",
        "your",  "yours",
    };

    return is_listed(word, stop, ARRAY_LEN(stop));
}

bool term_asks(Str word)
{
    static const char *const asks[] = { "what",  "when",  "where",  "which", "who",  "whom",
                                        "whose", "why",   "how",    "did",   "does", "do",
                                        "is",    "are",   "was",    "were",  "has",  "have",
                                        "can",   "could", "should", "would", "will" };

    return is_listed(word, asks, ARRAY_LEN(asks));
}
