#include "agent/statement.h"

#include "text/letters.h"

enum { MAX_SENTENCE = 1000 };

typedef enum Phrases {
    FIXED,
    NOT_FIXED,
    DECIDED,
    DECIDED_BY_USER,
    NOT_DECIDED,
    TROUBLE,
    NEVER
} Phrases;

static const struct {
    Phrases kind;
    Str words;
} phrases[] = {
#define STATEMENT(kind, words) { kind, STR_INIT(words) },
#include "../../data/statements.def"
#undef STATEMENT
};

/* The end of the sentence that begins here: a line feed, or a stop before a blank. */
static size_t sentence_bytes(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            return i + 1;
        if (strchr(".!?", s.p[i]) && (i + 1 == s.n || s.p[i + 1] == ' '))
            return i + 1;
    }
    return s.n;
}

static Str without_marks(Str s)
{
    while (s.n && strchr("-*#>+ \t", s.p[0]))
        s = str_skip(s, 1);
    return str_trim(s);
}

bool sentence_next(Str *rest, Str *ret)
{
    while (rest->n) {
        size_t n = sentence_bytes(*rest);
        Str sentence = without_marks(str_head(*rest, n));

        *rest = str_skip(*rest, n);
        if (sentence.n) {
            *ret = sentence;
            return true;
        }
    }
    return false;
}

static bool has_words(Str padded, Str words)
{
    for (size_t from = 0;;) {
        size_t at = str_find(str_skip(padded, from), words) + from;

        if (at >= padded.n)
            return false;
        if (padded.p[at - 1] == ' ' && padded.p[at + words.n] == ' ')
            return true;
        from = at + 1;
    }
}

static bool has_any(Str padded, Phrases kind)
{
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
        if (phrases[i].kind == kind && has_words(padded, phrases[i].words))
            return true;
    return false;
}

bool sentence_states(Arena *a, Str sentence, Statement what, bool by_user)
{
    static const Phrases with[] = { FIXED, DECIDED, TROUBLE };
    static const Phrases without[] = { NOT_FIXED, NOT_DECIDED, NEVER };
    Str padded;

    sentence = str_head(sentence, MAX_SENTENCE);
    if (str_ends(sentence, STR("?")) && what != STATEMENT_TROUBLE)
        return false;
    padded = str_printf(a, " %.*s ", STR_FMT(text_words(a, sentence)));
    return (has_any(padded, with[what]) ||
            (what == STATEMENT_DECIDED && by_user && has_any(padded, DECIDED_BY_USER))) &&
           !has_any(padded, without[what]);
}
