/* The words of the query are looked for as the index knows them; the stretch of text that has most
 * of them is shown, on one line, cut between words. */
#include "recall/snippet.h"

#include "base/limits.h"
#include "recall/terms.h"
#include "text/utf8.h"

enum { SHOWN = 220, BEFORE = 50, SPOTS = 1024, WORDS = 64 };

typedef struct Spot {
    size_t at, n;
    uint64_t word; /* one bit */
} Spot;

typedef struct Word {
    char text[TERM_BYTES];
    size_t n;
    bool prefix;
} Word;

typedef struct Spots {
    Spot all[SPOTS];
    size_t n;
} Spots;

/* -- where the words stand -- */

static size_t words_of(const SearchQuery *q, Word words[WORDS])
{
    size_t n = 0;

    for (size_t i = 0; i < q->n; i++) {
        TermIter it = { .rest = q->atoms[i].text, .plain = q->atoms[i].begins.n > 0 };
        Term t;

        while (n < WORDS && term_next(&it, &t)) {
            if (t.last && t.place.p != q->atoms[i].text.p)
                continue;
            memcpy(words[n].text, t.text, t.n);
            words[n].n = t.n;
            words[n++].prefix = q->atoms[i].begins.n > 0 || t.last;
        }
    }
    return n;
}

static uint64_t word_bit(const Word *words, size_t n, const Term *t)
{
    for (size_t i = 0; i < n; i++) {
        Str word = { words[i].text, words[i].n };

        if (words[i].prefix ? str_starts(term_str(t), word) : str_eq(term_str(t), word))
            return 1ull << i;
    }
    return 0;
}

static void add_spot(Spots *s, size_t at, size_t n, uint64_t word)
{
    Spot *last = s->n ? &s->all[s->n - 1] : NULL;

    if (last && at < last->at + last->n) { /* pairs of characters overlap */
        last->n = at + n - last->at;
        last->word |= word;
    } else if (s->n < SPOTS) {
        s->all[s->n++] = (Spot){ at, n, word };
    }
}

static void find_words(Str text, const SearchQuery *q, Spots *ret)
{
    Word words[WORDS];
    size_t n = words_of(q, words);
    TermIter it = TERMS(text);
    Term t;

    while (ret->n < SPOTS && term_next(&it, &t)) {
        uint64_t bit = word_bit(words, n, &t);

        if (bit)
            add_spot(ret, (size_t)(t.place.p - text.p), t.place.n, bit);
    }
}

static void find_literal(Str text, Str literal, Spots *ret)
{
    size_t at = 0;

    while (literal.n && ret->n < SPOTS) {
        size_t next = str_find_nocase(str_skip(text, at), literal);

        if (at + next >= text.n)
            return;
        add_spot(ret, at + next, literal.n, 1);
        at += next + literal.n;
    }
}

/* -- which part is shown -- */

/* The spot at which a stretch with most different words begins. */
static size_t best_start(const Spots *s)
{
    size_t best = 0;
    int max = -1;

    for (size_t i = 0; i < s->n; i++) {
        uint64_t words = 0;
        int count;

        for (size_t k = i; k < s->n && s->all[k].at + s->all[k].n < s->all[i].at + SHOWN - BEFORE;
             k++)
            words |= s->all[k].word;
        count = __builtin_popcountll(words);
        if (count > max) {
            max = count;
            best = s->all[i].at;
        }
    }
    return best;
}

/* Not in the middle of a character, and behind a space where one is near. */
static size_t clean_start(Str text, size_t at)
{
    size_t from = at > BEFORE ? at - BEFORE : 0;

    if (from == 0)
        return 0;
    for (size_t i = from; i < at; i++)
        if (text.p[i] == ' ' || text.p[i] == '\n')
            return i + 1;
    while (from < at && ((unsigned char)text.p[from] & 0xc0) == 0x80)
        from++;
    return from;
}

/* -- pieces -- */

typedef struct Pieces {
    Arena *arena;
    SnippetPiece *all;
    size_t n, cap;
} Pieces;

/* White space of any kind and length is one space. */
static void add_piece(Pieces *p, Str text, bool hit)
{
    char *to = arena_alloc(p->arena, text.n + 1);
    size_t n = 0;
    SnippetPiece piece;

    for (size_t i = 0; i < text.n; i++) {
        bool space = text.p[i] == ' ' || (text.p[i] >= '\t' && text.p[i] <= '\r');

        if (!space)
            to[n++] = text.p[i];
        else if (n == 0 || to[n - 1] != ' ')
            to[n++] = ' ';
    }
    piece = (SnippetPiece){ { to, n }, hit };
    if (n)
        ARENA_PUSH(p->arena, p->all, p->n, p->cap, piece);
}

void snippet_make(Arena *a, Str text, const Marks *marks, SnippetPiece **ret, size_t *ret_n)
{
    Spots *spots = ARENA_NEW(a, Spots);
    Pieces p = { .arena = a };
    size_t from, until, at;

    if (marks->query)
        find_words(text, marks->query, spots);
    else
        find_literal(text, marks->literal, spots);
    from = spots->n ? clean_start(text, best_start(spots)) : 0;
    until = from + utf8_head(str_skip(text, from), SHOWN).n;
    at = from;
    if (from)
        add_piece(&p, STR("… "), false);
    for (size_t i = 0; i < spots->n; i++) {
        const Spot *s = &spots->all[i];

        if (s->at < at || s->at + s->n > until)
            continue;
        add_piece(&p, (Str){ text.p + at, s->at - at }, false);
        add_piece(&p, (Str){ text.p + s->at, s->n }, true);
        at = s->at + s->n;
    }
    add_piece(&p, (Str){ text.p + at, until - at }, false);
    if (until < text.n)
        add_piece(&p, STR(" …"), false);
    *ret = p.all;
    *ret_n = p.n;
}
