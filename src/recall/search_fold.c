#include "recall/search_fold.h"

#include "base/hash.h"
#include "base/limits.h"

enum { SIGNATURE_WORDS = 4 };

/* The words of a passage as bits: two with nearly the same bits say nearly the same. */
typedef struct Signature {
    uint64_t bits[SIGNATURE_WORDS];
    int count;
} Signature;

typedef struct Folding {
    const SearchAnswer *answer;
    size_t each;
    Signature *seen;
    size_t n_seen;
    SearchFold ret;
} Folding;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static void add_word(Signature *s, uint64_t hash)
{
    uint64_t *bits = &s->bits[hash >> 6 & (SIGNATURE_WORDS - 1)], bit = 1ull << (hash & 63);

    s->count += !(*bits & bit);
    *bits |= bit;
}

/* Letters alone: dates, counts and ids change from one report of a tool to the next. */
static Signature signature_of(const SearchHit *hit)
{
    Signature s = { 0 };
    uint64_t hash = 0;

    for (size_t i = 0; i < hit->n_snippet; i++)
        for (size_t k = 0; k < hit->snippet[i].text.n; k++) {
            char c = hit->snippet[i].text.p[k];

            if (is_letter(c))
                hash = hash_number(hash, (unsigned char)(c | 32));
            else if (hash) {
                add_word(&s, hash);
                hash = 0;
            }
        }
    if (hash)
        add_word(&s, hash);
    return s;
}

/* Four fifths of the words are the same. */
static bool is_similar(const Signature *a, const Signature *b)
{
    int both = 0, any = 0;

    for (int i = 0; i < SIGNATURE_WORDS; i++) {
        both += __builtin_popcountll(a->bits[i] & b->bits[i]);
        any += __builtin_popcountll(a->bits[i] | b->bits[i]);
    }
    return any > 0 && both * 5 >= any * 4;
}

static bool was_seen(Folding *g, const SearchHit *hit)
{
    Signature s = signature_of(hit);

    for (size_t i = 0; i < g->n_seen; i++)
        if (is_similar(&g->seen[i], &s))
            return true;
    g->seen[g->n_seen++] = s;
    return false;
}

static size_t shown_of(const Folding *g, int64_t session)
{
    size_t n = 0;

    for (size_t i = 0; i < g->answer->n; i++)
        n += g->ret.shown[i] && g->answer->hits[i].entry.key == session;
    return n;
}

static void look_at(Folding *g, size_t i)
{
    const SearchHit *hit = &g->answer->hits[i];

    if (g->each && shown_of(g, hit->entry.key) >= g->each)
        return;
    if (was_seen(g, hit)) {
        g->ret.similar++;
        return;
    }
    g->ret.shown[i] = true;
    g->ret.n++;
}

SearchFold search_fold(Arena *a, const SearchAnswer *answer, size_t max, size_t each)
{
    Folding g = { .answer = answer,
                  .each = each,
                  .seen = ARENA_ARRAY(a, Signature, answer->n + 1),
                  .ret = { .shown = ARENA_ARRAY(a, bool, answer->n + 1) } };

    for (int tools = 0; tools < 2; tools++)
        for (size_t i = 0; i < answer->n && g.ret.n < max; i++)
            if ((answer->hits[i].at.role >= DOC_CALL) == tools)
                look_at(&g, i);
    return g.ret;
}

size_t search_fold_max(size_t max)
{
    return max * SEARCH_FOLDED < LIMIT_SEARCH_HITS ? max * SEARCH_FOLDED : LIMIT_SEARCH_HITS;
}

void search_fold_apply(SearchAnswer *answer, const SearchFold *fold)
{
    size_t n = 0;

    answer->more |= fold->n + fold->similar < answer->n;
    for (size_t i = 0; i < answer->n; i++)
        if (fold->shown[i])
            answer->hits[n++] = answer->hits[i];
    answer->n = n;
    answer->similar = fold->similar;
}
