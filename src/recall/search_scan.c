/* There is no index of parts of words: it would be larger than the text. Where the text has whole
 * words inside, those are asked of the index, and what it finds is read and compared; else sessions
 * are read through, the newest first, until there are enough hits or time is up. */
#include "recall/search_scan.h"

#include "base/clock.h"
#include "base/limits.h"
#include "recall/search_copies.h"
#include "recall/terms.h"

enum { CANDIDATES = 400 };

/* -- by the index -- */

/* The words of the text that are whole by themselves: those that touch neither of its ends. */
static size_t whole_words(Scan *s, Atom *ret)
{
    TermIter it = TERMS(s->literal);
    const char *end = s->literal.p + s->literal.n;
    size_t n = 0;
    Term t;

    while (n < LIMIT_SEARCH_TERMS && term_next(&it, &t)) {
        bool inside = t.place.p > s->literal.p && t.place.p + t.place.n < end;

        if (t.last || (!t.pair && !inside))
            continue;
        ret[n++] = (Atom){ .match = str_printf(s->arena, "\"%.*s\"", STR_FMT(term_str(&t))),
                           .text = t.place,
                           .phrases = 1 };
    }
    return n;
}

static void keep(Scan *s, const Ranked *at, const Entry *e, Str text)
{
    Marks marks = { .literal = s->literal };
    SearchHit *hit = &s->hits[s->n];

    *hit = (SearchHit){ .at = *at, .entry = *e };
    if (search_is_copy(s->hits, s->n, hit, text))
        return;
    s->n++;
    snippet_make(s->arena, text, &marks, &hit->snippet, &hit->n_snippet);
}

static bool by_index(Scan *s, const SearchQuery *words, Err *err)
{
    Ranking ranking;

    if (!recall_rank(s->r, s->arena, words, CANDIDATES, &ranking, err))
        return false;
    s->partial |= ranking.partial;
    for (size_t i = 0; i < ranking.n && !ranking.some; i++) {
        const Ranked *at = &ranking.hits[i];
        Entry e;
        Str text;
        Err why;

        if (clock_mono_ms() > s->until || s->n == s->max) {
            s->partial |= s->n < s->max;
            s->more = true;
            break;
        }
        if (!catalogue_get(s->c, s->arena, at->key, &e, &why) ||
            !doc_read(s->reader, s->arena, &e, at->place, at->line, at->part, &text, &why))
            continue;
        if (str_find_nocase(text, s->literal) < text.n)
            keep(s, at, &e, text);
    }
    return true;
}

/* -- by reading -- */

typedef struct One {
    Scan *s;
    const Entry *entry;
    int64_t ord;
    size_t seen;
} One;

static bool passes(const SearchFilter *f, const Doc *d)
{
    if (f->role >= 0 && f->role < DOC_ROLE_COUNT && (int)d->role != f->role)
        return false;
    if (f->role == DOC_ROLE_COUNT && d->role < DOC_CALL)
        return false;
    if (f->no_guests && d->guest)
        return false;
    return (!f->tool.n || str_eq_nocase(f->tool, d->tool)) && d->at >= f->since &&
           (f->until <= 0 || d->at < f->until);
}

static bool look_at(void *ctx, const Doc *d)
{
    One *one = ctx;
    Scan *s = one->s;
    size_t at;

    if ((++one->seen & 31) == 0 && clock_mono_ms() > s->until)
        return false;
    if (!passes(&s->query->filter, d))
        return true;
    at = str_find_nocase(d->text, s->literal);
    if (at < d->text.n) {
        Ranked ranked = { .ord = one->ord,
                          .key = one->entry->key,
                          .role = d->role,
                          .guest = d->guest,
                          .tool = str_dup(s->arena, d->tool),
                          .at = d->at,
                          .place = d->place,
                          .line = d->line,
                          .part = d->part };

        keep(s, &ranked, one->entry, d->text);
    }
    return s->n < s->max;
}

static bool by_reading(Scan *s, Err *err)
{
    if (!recall_sessions_load(s->r, &s->query->filter, err))
        return false;
    for (size_t i = 0; i < s->r->n_sessions; i++) {
        One one = { .s = s, .ord = s->r->sessions[i].ord };
        int64_t key;
        Entry e;
        Err why;

        if (!s->r->sessions[i].allowed)
            continue;
        if (clock_mono_ms() > s->until || s->n == s->max) {
            s->partial |= s->n < s->max;
            s->more = true;
            return true;
        }
        if (!recall_session_key(s->r, one.ord, &key, err))
            return false;
        if (!catalogue_get(s->c, s->arena, key, &e, &why))
            continue;
        one.entry = &e;
        /* A file that cannot be read now does not end the search. */
        (void)!doc_each(s->reader, &e, look_at, &one, &why);
        s->sessions++;
    }
    return true;
}

bool search_scan(Scan *s, Err *err)
{
    SearchQuery words = { .filter = s->query->filter };

    s->hits = ARENA_ARRAY(s->arena, SearchHit, s->max + 1);
    if (!s->literal.n || !s->max)
        return true;
    words.atoms = ARENA_ARRAY(s->arena, Atom, LIMIT_SEARCH_TERMS);
    words.n = whole_words(s, words.atoms);
    return words.n ? by_index(s, &words, err) : by_reading(s, err);
}
