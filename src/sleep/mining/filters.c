/* Phrases are looked for as words: "piano," says nothing against anybody, and neither does
 * "undocumented". Negative ones first, in the order of the table. */
#include "sleep/mining/filters.h"

#include "text/letters.h"
#include "text/utf8.h"

#define NEGATIVE(X)                                                                                \
    X("still broken")                                                                              \
    X("still not")                                                                                 \
    X("still wrong")                                                                               \
    X("doesn't work")                                                                              \
    X("does not work")                                                                             \
    X("not working")                                                                               \
    X("that's wrong")                                                                              \
    X("thats wrong")                                                                               \
    X("incorrect")                                                                                 \
    X("wrong")                                                                                     \
    X("no,")                                                                                       \
    X("nope")                                                                                      \
    X("fix it")                                                                                    \
    X("didn't")                                                                                    \
    X("did not")                                                                                   \
    X("broken")                                                                                    \
    X("error again")                                                                               \
    X("still failing")                                                                             \
    X("still fails")                                                                               \
    X("not fixed")                                                                                 \
    X("revert")                                                                                    \
    X("undo")
#define POSITIVE(X)                                                                                \
    X("thanks")                                                                                    \
    X("thank you")                                                                                 \
    X("perfect")                                                                                   \
    X("great")                                                                                     \
    X("works now")                                                                                 \
    X("fixed")                                                                                     \
    X("that works")                                                                                \
    X("lgtm")                                                                                      \
    X("looks good")                                                                                \
    X("nice")                                                                                      \
    X("awesome")                                                                                   \
    X("correct")

#define X(phrase) STR_INIT(phrase),
static const Str negative[] = { NEGATIVE(X) };
static const Str positive[] = { POSITIVE(X) };
#undef X

enum { COMMAND_WORDS = 3, TAG_CHARS = 200 };

static size_t word_count(Str s)
{
    size_t n = 0;
    bool in_word = false;

    while (s.n) {
        bool space = letter_is_space(utf8_next(&s));

        n += !space && !in_word;
        in_word = !space;
    }
    return n;
}

bool filter_is_meta(Str text)
{
    Str s = text_trim(text), head = text_cut(s, TAG_CHARS);

    if (!s.n || (s.p[0] == '<' && s.p[s.n - 1] == '>'))
        return true;
    if (s.p[0] == '/' && word_count(s) <= COMMAND_WORDS)
        return true;
    if (str_starts(s, STR("[Pasted text")) || str_starts(s, STR("Caveat:")) ||
        str_starts(s, STR("# /")))
        return true;
    return str_find(head, STR("<command-message>")) < head.n ||
           str_find(head, STR("<command-name>")) < head.n;
}

/* -- feedback ----------------------------------------------------------------------------------- */

static bool word_at(Str s, size_t i)
{
    Str rest = str_skip(s, i);

    return rest.n && letter_is_word(utf8_next(&rest));
}

static bool word_before(Str s, size_t i)
{
    Str head = utf8_tail(str_head(s, i), 4);

    while (head.n) {
        uint32_t c = utf8_next(&head);

        if (!head.n)
            return letter_is_word(c);
    }
    return false;
}

/* The phrase as words of its own, from *from on; its place, or s.n. */
static size_t find_phrase(Str s, Str phrase, size_t from)
{
    while (from < s.n) {
        size_t at = from + str_find(str_skip(s, from), phrase), end = at + phrase.n;

        if (at >= s.n)
            break;
        if (!word_before(s, at) && !(word_at(phrase, phrase.n - 1) && word_at(s, end)))
            return at;
        from = at + 1;
    }
    return s.n;
}

static bool inside_complaint(Str s, size_t at, size_t n)
{
    for (size_t i = 0; i < ARRAY_LEN(negative); i++)
        for (size_t k = find_phrase(s, negative[i], 0); k < s.n;
             k = find_phrase(s, negative[i], k + 1))
            if (k <= at && at + n <= k + negative[i].n)
                return true;
    return false;
}

static bool praised(Str s, Str phrase)
{
    for (size_t at = find_phrase(s, phrase, 0); at < s.n; at = find_phrase(s, phrase, at + 1))
        if (!inside_complaint(s, at, phrase.n))
            return true;
    return false;
}

void filter_feedback(Arena *a, Str text, StrList *signals)
{
    Str s = text_lower(a, text);

    for (size_t i = 0; i < ARRAY_LEN(negative); i++)
        if (find_phrase(s, negative[i], 0) < s.n)
            LIST_PUSH(a, signals, str_printf(a, "neg:%.*s", STR_FMT(negative[i])));
    for (size_t i = 0; i < ARRAY_LEN(positive); i++)
        if (praised(s, positive[i]))
            LIST_PUSH(a, signals, str_printf(a, "pos:%.*s", STR_FMT(positive[i])));
}
