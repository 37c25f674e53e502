/* Words are judged as they were typed, before their ending goes: "doing" says nothing, "do"
 * neither. */
#include "recall/skills_words.h"

#include "base/limits.h"

/* Beside the stop words of every search: how people ask, not what for. */
static bool is_courtesy(Str word)
{
    return str_is_one_of(word,
                         "please|thanks|thank|hi|hello|hey|need|want|wants|like|help|let|lets|"
                         "make|made|get|give|me|us|show|tell|try|using|use|used|now|new|"
                         "one|thing|things|something|some|any|way|good|best|able|kindly|"
                         "okay|ok|yes|sure|maybe|really|still|already|only|via|per|etc");
}

static bool says_something(const Term *typed)
{
    Str word = term_str(typed);

    return typed->pair || (word.n > 1 && !term_is_stop(word) && !is_courtesy(word));
}

static bool has(const Words *w, Str term)
{
    for (size_t i = 0; i < w->n; i++)
        if (str_eq(w->all[i], term))
            return true;
    return false;
}

Words words_of(Arena *a, Str text, size_t max)
{
    TermIter plain = { .rest = text, .plain = true }, stems = TERMS(text);
    Words w = { .all = ARENA_ARRAY(a, Str, max + 1) };
    bool in_run = false;
    Term typed, term;

    while (w.n < max && term_next(&plain, &typed) && term_next(&stems, &term)) {
        /* The last character of a run is in the pair before it, unless it is all there is. */
        bool doubled = term.last && in_run;

        in_run = term.pair && !term.last;
        if (!doubled && says_something(&typed) && !has(&w, term_str(&term)))
            w.all[w.n++] = str_dup(a, term_str(&term));
    }
    return w;
}

Str words_any(Arena *a, const Words *w)
{
    AUTO_BUF b = BUF(KIB(64));

    /* A term is letters and digits alone: quoting it is all that FTS5 needs. */
    for (size_t i = 0; i < w->n; i++)
        buf_addf(&b, "%s\"%.*s\"", i ? " OR " : "", STR_FMT(w->all[i]));
    return str_dup(a, buf_str(&b));
}

size_t words_in(Arena *a, const Words *w, Str text, Str *ret_which)
{
    bool *seen = ARENA_ARRAY(a, bool, w->n + 1);
    TermIter it = TERMS(text);
    AUTO_BUF which = BUF(KIB(1));
    size_t n = 0;
    Term t;

    while (n < w->n && term_next(&it, &t))
        for (size_t i = 0; i < w->n; i++) {
            if (seen[i] || !str_eq(w->all[i], term_str(&t)))
                continue;
            seen[i] = true;
            n++;
            if (which.n < 120)
                buf_addf(&which, "%s%.*s", which.n ? ", " : "", STR_FMT(t.place));
        }
    if (ret_which)
        *ret_which = str_dup(a, buf_str(&which));
    return n;
}

bool words_enough(size_t have, size_t of)
{
    size_t min = of <= 2 ? of : of <= 5 ? 2 : (of + 2) / 3;

    return of > 0 && have >= (min > 5 ? 5 : min);
}
