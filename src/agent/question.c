/* A question is cut into words; the period, the opening and the fillers are taken out; what is left
 * has to be one of the patterns from its first word to its last. Patterns are tried one after the
 * other: there are about a hundred short ones, and longer texts are no questions of this kind. */
#include "agent/question.h"

#include <time.h>

#include "text/letters.h"
#include "text/utf8.h"

enum { MAX_WORDS = 32, MAX_BYTES = 400 };

typedef struct Word {
    Str text;  /* lower case */
    Str place; /* in the question */
} Word;

typedef struct Words {
    Word all[MAX_WORDS];
    size_t n;
} Words;

typedef struct Match {
    size_t end;                 /* the first word behind the pattern */
    size_t topic_at, topic_end; /* words of '$'; equal: none */
} Match;

static const char before_period[] = "in|on|from|of|for|during|since|over|within|at|the|from|der|im|"
                                    "en|de|within|throughout";
static const char before_topic[] = "in|on|for|at|with|within|about|of|from|regarding";

const char *intent_name(Intent intent)
{
    static const char *const names[] = {
#define X(id, name) name,
        INTENTS(X)
#undef X
    };

    return names[intent];
}

/* -- Words -- */

/* False: too long for a question of this kind. */
static bool cut_words(Arena *a, Str text, Words *ret)
{
    ret->n = 0;
    while (text.n) {
        Str from = text;
        size_t n = 0;

        while (text.n && letter_is_word(utf8_next(&text)))
            n = from.n - text.n;
        if (!n)
            continue;
        if (ret->n == MAX_WORDS)
            return false;
        ret->all[ret->n++] =
            (Word){ .text = text_lower(a, str_head(from, n)), .place = str_head(from, n) };
    }
    return true;
}

static void drop_words(Words *w, size_t from, size_t to)
{
    memmove(&w->all[from], &w->all[to], (w->n - to) * sizeof *w->all);
    w->n -= to - from;
}

/* -- Patterns -- */

static bool is_alternative(Str word, Str choices)
{
    Str choice;

    while (str_split(&choices, '|', &choice))
        if (str_eq(choice, word))
            return true;
    return false;
}

/* Whether the pattern fits the words from `at` on; with `whole` up to their end. */
static bool fits(Str pattern, const Words *w, size_t at, bool whole, Match *m)
{
    Str part;
    bool optional;

    if (!str_split(&pattern, ' ', &part) || !part.n) {
        m->end = at;
        return !whole || at == w->n;
    }
    if (str_eqz(part, "$")) {
        m->topic_at = at;
        for (m->topic_end = w->n; m->topic_end > at; m->topic_end--) {
            size_t end = m->topic_end;

            if (fits(pattern, w, end, whole, m))
                return true;
            m->topic_end = end;
        }
        return false;
    }
    optional = str_ends(part, STR("?"));
    part.n -= optional;
    if (at < w->n && is_alternative(w->all[at].text, part) && fits(pattern, w, at + 1, whole, m))
        return true;
    return optional && fits(pattern, w, at, whole, m);
}

/* The whole question, or the question and a topic behind a preposition. */
static bool asks(Str pattern, const Words *w, Match *m)
{
    *m = (Match){ 0 };
    if (fits(pattern, w, 0, true, m))
        return true;
    *m = (Match){ 0 };
    if (str_find(pattern, STR("$")) < pattern.n || !fits(pattern, w, 0, false, m) ||
        m->end + 1 >= w->n || !str_is_one_of(w->all[m->end].text, before_topic))
        return false;
    m->topic_at = m->end + 1;
    m->topic_end = w->n;
    return true;
}

/* -- Openings and fillers -- */

static void drop_fillers(Words *w)
{
    static const Str fillers[] = {
#define ASK(intent, pattern)
#define OPENING(pattern)
#define FILLER(words) STR_INIT(words),
#define PERIOD(pattern, when)
#include "../../data/questions.def"
#undef FILLER
#define FILLER(words)
    };

    for (size_t i = w->n; i > 0; i--)
        for (size_t k = 0; k < ARRAY_LEN(fillers); k++)
            if (is_alternative(w->all[i - 1].text, fillers[k])) {
                drop_words(w, i - 1, i);
                break;
            }
}

static bool drop_opening(Words *w)
{
    static const Str openings[] = {
#undef OPENING
#define OPENING(pattern) STR_INIT(pattern),
#include "../../data/questions.def"
#undef OPENING
#define OPENING(pattern)
    };

    for (size_t i = 0; i < ARRAY_LEN(openings); i++) {
        Match m = { 0 };

        if (fits(openings[i], w, 0, false, &m) && m.end && m.end < w->n) {
            drop_words(w, 0, m.end);
            return true;
        }
    }
    return false;
}

/* -- Periods -- */

/* Words from..to say when; the prepositions before them go with them. */
static void take_period(Question *q, Words *w, size_t from, size_t to)
{
    const char *end = w->all[to - 1].place.p + w->all[to - 1].place.n;

    q->has_period = true;
    q->period_text = (Str){ w->all[from].place.p, (size_t)(end - w->all[from].place.p) };
    while (from > 0 && str_is_one_of(w->all[from - 1].text, before_period))
        from--;
    drop_words(w, from, to);
}

static bool find_known_period(Question *q, Words *w, Str text, double now)
{
    size_t from = 0, to;
    Str place;

    if (!when_find(text, now, &q->period, &place))
        return false;
    while (from < w->n && w->all[from].place.p < place.p)
        from++;
    to = from;
    while (to < w->n && w->all[to].place.p < place.p + place.n)
        to++;
    if (to == from)
        return false;
    take_period(q, w, from, to);
    return true;
}

/* "in October", "in October 2025": a month by itself may be a name or a verb. */
static bool find_month(Arena *a, Question *q, Words *w, double now)
{
    for (size_t i = 1; i < w->n; i++) {
        Str word = w->all[i].text;
        int64_t year;
        size_t to = i + 1;

        if (word.n < 3 || (word.p[0] >= '0' && word.p[0] <= '9') ||
            !str_is_one_of(w->all[i - 1].text, "in|during|since|of|for|last|throughout") ||
            str_is_one_of(word, "now|today|yesterday") || !when_parse(word, now, &q->period))
            continue;
        if (to < w->n && str_to_int(w->all[to].text, 1990, 2200, &year)) {
            struct tm month;
            time_t at = (time_t)q->period.from;

            if (localtime_r(&at, &month) &&
                when_parse(str_printf(a, "%04d-%02d", (int)year, month.tm_mon + 1), now,
                           &q->period))
                to++;
        }
        take_period(q, w, i, to);
        return true;
    }
    return false;
}

static bool find_other_period(Question *q, Words *w, double now)
{
    static const Str rows[][2] = {
#undef PERIOD
#define PERIOD(pattern, when) { STR_INIT(pattern), STR_INIT(when) },
#include "../../data/questions.def"
#undef PERIOD
#define PERIOD(pattern, when)
    };

    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
            Match m = { 0 };

            if (fits(rows[k][0], w, i, false, &m) && m.end > i &&
                when_parse(rows[k][1], now, &q->period)) {
                take_period(q, w, i, m.end);
                return true;
            }
        }
    return false;
}

/* -- The question -- */

static Str topic_of(const Words *w, const Match *m)
{
    const Word *first = &w->all[m->topic_at], *last;

    if (m->topic_at >= m->topic_end)
        return STR_NONE;
    last = &w->all[m->topic_end - 1];
    return (Str){ first->place.p, (size_t)(last->place.p + last->place.n - first->place.p) };
}

/* "in this session", "in our chat": the conversation at hand. */
static bool is_at_hand(const Words *w, const Match *m)
{
    size_t n = m->topic_end > m->topic_at ? m->topic_end - m->topic_at : 0;
    const Word *last = n ? &w->all[m->topic_end - 1] : NULL;

    return last && n <= 2 &&
           str_is_one_of(last->text, "session|conversation|chat|thread|discussion") &&
           (n == 1 || str_is_one_of(w->all[m->topic_at].text, "this|our|current"));
}

static void find_intent(Question *q, const Words *w)
{
    static const struct {
        Intent intent;
        Str pattern;
    } rows[] = {
#undef ASK
#define ASK(intent, pattern) { INTENT_##intent, STR_INIT(pattern) },
#include "../../data/questions.def"
#undef ASK
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool needs_period = str_starts(rows[i].pattern, STR("!"));
        Match m;

        if ((needs_period && !q->has_period) ||
            !asks(str_skip(rows[i].pattern, needs_period), w, &m))
            continue;
        q->intent = rows[i].intent;
        q->topic = topic_of(w, &m);
        if (q->intent == INTENT_WORKED && !q->has_period && is_at_hand(w, &m)) {
            q->intent = INTENT_SESSION;
            q->topic = STR_NONE;
        }
        return;
    }
}

Question question_read(Arena *a, Str text, double now)
{
    Question q = { .intent = INTENT_NONE };
    Words w;

    text = str_trim(text);
    if (text.n > MAX_BYTES || !cut_words(a, text, &w))
        return q;
    if (!find_known_period(&q, &w, text, now) && !find_other_period(&q, &w, now))
        (void)!find_month(a, &q, &w, now);
    drop_fillers(&w);
    /* "and why", "and how often": wanted anyway. */
    if (w.n > 3 && str_is_one_of(w.all[w.n - 2].text, "and|und|et|y") &&
        str_is_one_of(w.all[w.n - 1].text, "why|how|when|warum|pourquoi"))
        w.n -= 2;
    while (drop_opening(&w))
        ;
    find_intent(&q, &w);
    return q;
}
