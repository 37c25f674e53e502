/* The words of a request, by which it is compared. Rough on purpose: every form of a word must give
 * the same, and what differs from time to time (files, numbers) must give nothing. */
#include <stdlib.h>

#include "base/hash.h"
#include "sleep/mining/intent.h"
#include "text/utf8.h"

enum {
    LOOKED_AT = 2000, /* bytes of a request; what comes later is a paste */
    ENOUGH = 2,       /* words of the first line that make it a request */
    MIN_DEMAND = 3,   /* words of a demand that says something */
    STEM = 3,
    CYRILLIC_STEM = 5,
};

/* -- Words -- */

static const char stop_words[] = " a an the and or but if of in on at to for from by with as is "
                                 "are was were be been it its this that "
                                 "these those i you we my your our me us please can could would "
                                 "should will just also so do does did "
                                 "not no what which why how when where who all any some one two "
                                 "than then there here have has had let "
                                 "lets make sure need want like get got give tell show see look "
                                 "into out up down about over under "
                                 "before after again using use via per ";

static bool is_stop_word(Str w)
{
    char padded[32];

    if (w.n + 3 > sizeof padded)
        return false;
    padded[0] = ' ';
    memcpy(padded + 1, w.p, w.n);
    memcpy(padded + 1 + w.n, " ", 2);
    return strstr(stop_words, padded) != NULL;
}

uint64_t hash_str(Str s)
{
    return hash_fnv(HASH_START, s);
}

uint64_t hash_mix(uint64_t a, uint64_t b)
{
    a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
    return a * 0xff51afd7ed558ccdu;
}

/* English endings; rough, and the same for every form of a word. */
static Str stem(Str w)
{
    static const Str endings[] = { STR_INIT("ings"), STR_INIT("ing"), STR_INIT("edly"),
                                   STR_INIT("ed"),   STR_INIT("ies"), STR_INIT("es"),
                                   STR_INIT("s"),    STR_INIT("ly") };

    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (w.n >= endings[i].n + STEM && str_ends(w, endings[i])) {
            w.n -= endings[i].n;
            break;
        }
    while (w.n > 4 && w.p[w.n - 1] == 'e')
        w.n--;
    return w;
}

typedef enum Script { SCRIPT_NONE, SCRIPT_LATIN, SCRIPT_CYRILLIC, SCRIPT_CJK, SCRIPT_OTHER } Script;

static Script script_of(uint32_t c)
{
    if ((c >= 'a' && c <= 'z') || c == '\'' || (c >= 0xc0 && c < 0x250 && c != 0xd7 && c != 0xf7))
        return SCRIPT_LATIN;
    if (c >= 0x400 && c < 0x530)
        return SCRIPT_CYRILLIC;
    if ((c >= 0x3040 && c < 0x3100) || (c >= 0x3400 && c < 0xa000) || (c >= 0xac00 && c < 0xd7b0))
        return SCRIPT_CJK;
    return (c >= 0x370 && c < 0x400) || (c >= 0x530 && c < 0x2000) ? SCRIPT_OTHER : SCRIPT_NONE;
}

typedef struct Words {
    Arena *arena;
    uint64_t *hashes;
    size_t n, cap;
} Words;

static void add_word(Words *words, Str w)
{
    uint64_t h = hash_str(w);

    ARENA_PUSH(words->arena, words->hashes, words->n, words->cap, h);
}

/* Pairs of characters, since nothing else marks a word there. */
static void add_pairs(Words *words, Str run)
{
    Str rest = run, last = STR_NONE;

    while (rest.n) {
        Str c = rest;

        (void)utf8_next(&rest);
        c.n -= rest.n;
        if (last.p)
            add_word(words, (Str){ last.p, last.n + c.n });
        else if (!rest.n)
            add_word(words, c);
        last = c;
    }
}

static void add_run(Words *words, Script script, Str run)
{
    if (script == SCRIPT_CJK)
        add_pairs(words, run);
    else if (script == SCRIPT_CYRILLIC)
        add_word(words, utf8_head(run, (size_t)CYRILLIC_STEM * 2));
    else if (script == SCRIPT_OTHER)
        add_word(words, run);
    else if (run.n > 1 && !is_stop_word(run))
        add_word(words, stem(run));
}

/* Paths, file names, versions and numbers say where, not what. */
static bool is_a_place(Str chunk)
{
    size_t dot = str_find(chunk, STR("."));

    if (str_find(chunk, STR("/")) < chunk.n || str_find(chunk, STR("\\")) < chunk.n)
        return true;
    for (size_t i = 0; i < chunk.n; i++)
        if (chunk.p[i] >= '0' && chunk.p[i] <= '9')
            return chunk.n < 16 && (unsigned char)chunk.p[0] < 0x80;
    return dot > 0 && dot + 1 < chunk.n && chunk.p[dot + 1] >= 'a' && chunk.p[dot + 1] <= 'z';
}

static void add_chunk(Words *words, Str chunk)
{
    Script script = SCRIPT_NONE;
    Str rest = chunk, run = chunk;

    if (is_a_place(chunk))
        return;
    while (rest.n) {
        Str at = rest;
        Script now = script_of(utf8_next(&rest));

        if (now == script)
            continue;
        if (script != SCRIPT_NONE)
            add_run(words, script, (Str){ run.p, (size_t)(at.p - run.p) });
        run = at;
        script = now;
    }
    if (script != SCRIPT_NONE)
        add_run(words, script, (Str){ run.p, (size_t)(chunk.p + chunk.n - run.p) });
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static Str lower(Arena *a, Str s)
{
    char *p = str_z(a, s);

    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] | 0x20);
    return (Str){ p, s.n };
}

static IntentWords words_of(Arena *a, Str text)
{
    Words words = { .arena = a };
    size_t n = 0;

    text = lower(a, utf8_head(text, LOOKED_AT));
    for (size_t at = 0; at < text.n; at++) {
        size_t begin = at;

        while (at < text.n && !memchr(" \t\n\r", text.p[at], 4))
            at++;
        if (at > begin)
            add_chunk(&words, (Str){ text.p + begin, at - begin });
    }
    if (words.n)
        qsort(words.hashes, words.n, sizeof *words.hashes, by_value);
    for (size_t i = 0; i < words.n; i++)
        if (!n || words.hashes[i] != words.hashes[n - 1])
            words.hashes[n++] = words.hashes[i];
    return (IntentWords){ words.hashes, n };
}

/* What is asked stands in the first line; pastes, contexts and keys come behind. */
IntentWords intent_words(Arena *a, Str request)
{
    Str text = str_trim(request);
    IntentWords first = words_of(a, str_head(text, str_find(text, STR("\n"))));

    return first.n >= ENOUGH ? first : words_of(a, text);
}

/* -- Demands -- */

static bool has_cjk(Str s)
{
    while (s.n)
        if (script_of(utf8_next(&s)) == SCRIPT_CJK)
            return true;
    return false;
}

/* What follows the first of these marks; the whole length where there is none. */
static size_t behind(Str text, const Str *marks, size_t n)
{
    size_t best = text.n;

    for (size_t i = 0; i < n; i++) {
        size_t at = str_find(text, marks[i]);

        if (at < text.n && at + marks[i].n < best)
            best = at + marks[i].n;
    }
    return best;
}

Str intent_demand(Arena *a, Str correction)
{
    static const Str colons[] = { STR_INIT(":"), STR_INIT("：") };
    static const Str commas[] = { STR_INIT("，"), STR_INIT("、"), STR_INIT(",") };
    Str text = lower(a, utf8_head(str_trim(correction), LOOKED_AT));
    size_t at = behind(text, colons, ARRAY_LEN(colons));

    if (at >= text.n && has_cjk(text))
        at = behind(text, commas, ARRAY_LEN(commas));
    text = str_trim(str_skip(text, at));
    return words_of(a, text).n >= MIN_DEMAND ? text : STR_NONE;
}
