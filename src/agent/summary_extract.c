/* Centrality without a matrix: BM25 of sentence s as a question to sentence d is a sum over the
 * terms of s, so the sum over all d is, for each term, its idf times the sum of its weights
 * everywhere but in s. One pass gathers those sums, a second scores: linear in the text, whatever
 * its length. */
#include "agent/summary_extract.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"
#include "recall/terms.h"
#include "text/letters.h"
#include "text/tokens.h"
#include "text/utf8.h"

enum {
    SENTENCES = 4000,
    TERMS_OF_SENTENCE = 64,
    SENTENCE_CHARS = 320,
    SLOTS = 1 << 15,
    DUE = 8000
};

static const double K1 = 1.2, B = 0.75, MUST_SHARE = 0.7; /* of the room, for what is always kept */

/* X(id, "label"): what is always kept, the most wanted first; then the rest. */
#define SENTENCE_KINDS(X)                                                                          \
    X(SENTENCE_OPEN, "open")                                                                       \
    X(SENTENCE_DECISION, "decided")                                                                \
    X(SENTENCE_ERROR, "error")                                                                     \
    X(SENTENCE_COMMAND, "command")                                                                 \
    X(SENTENCE_PATH, "file")                                                                       \
    X(SENTENCE_PLAIN, "")

typedef enum SentenceKind {
#define X(id, label) id,
    SENTENCE_KINDS(X)
#undef X
} SentenceKind;

typedef struct Sentence {
    Str text;
    SentenceKind kind;
    bool from_user, carried; /* carried over from the summary before: label and all */
    uint16_t terms[TERMS_OF_SENTENCE];
    size_t n_terms;
    double score;
    bool taken;
} Sentence;

typedef struct Slot {
    char text[TERM_BYTES];
    uint8_t n;
    uint32_t sentences;
    double weight;
} Slot;

typedef struct Extract {
    Arena *arena;
    Sentence *all;
    size_t n;
    Slot *slots;
    size_t n_slots;
    double average;
} Extract;

/* -- What a sentence is -- */

static bool has_any(Str lower, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_find(lower, str_of(words[i])) < lower.n)
            return true;
    return false;
}
#define HAS_ANY(lower, ...)                                                                        \
    has_any((lower), (const char *const[]){ __VA_ARGS__ },                                         \
            ARRAY_LEN(((const char *const[]){ __VA_ARGS__ })))

static bool is_path_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/';
}

/* A word with a slash in it and letters on both sides, or with an ending: src/a, main.c. */
static bool has_path(Str s)
{
    for (size_t i = 0; i < s.n;) {
        size_t from = i, slash = 0, dot = 0;

        while (i < s.n && is_path_char(s.p[i])) {
            if (s.p[i] == '/')
                slash++;
            if (s.p[i] == '.' && i > from && i + 1 < s.n && is_path_char(s.p[i + 1]) &&
                s.p[i + 1] > '9')
                dot = i - from;
            i++;
        }
        if ((slash > 1 || (slash == 1 && dot)) && i - from > 4)
            return true;
        if (dot > 1 && i - from - dot <= 5)
            return true;
        i += i == from;
    }
    return false;
}

static SentenceKind kind_of(Arena *a, Str s)
{
    Str lower = text_lower(a, s);

    if (HAS_ANY(lower, "error:", "exception", "traceback", "failed",
                "fatal:", "panic:", "segmentation fault", "错误", "失败", "异常"))
        return SENTENCE_ERROR;
    if (HAS_ANY(lower, "decided", "we will ", "we'll ", "let's use", "let us use", "going with",
                "agreed", "instead of", "must not", "do not ", "don't ", "always ", "never ",
                "决定", "采用", "选择", "不要", "必须"))
        return SENTENCE_DECISION;
    if (str_starts(s, STR("$ ")) || HAS_ANY(lower, "`git ", "`npm ", "`make", "`cargo ", "`pip ",
                                            "`docker ", "`sudo ", "`curl ", "`python", "`meson "))
        return SENTENCE_COMMAND;
    return has_path(s) ? SENTENCE_PATH : SENTENCE_PLAIN;
}

static bool is_question(Str s)
{
    return str_ends(s, STR("?")) || str_ends(s, STR("？"));
}

/* -- Cutting -- */

/* Length of the sentence that begins the line, with its end mark. */
static size_t sentence_end(Str line)
{
    static const char *const wide[] = { "。", "！", "？", "；" };

    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];

        if ((c == '.' || c == '!' || c == '?') && (i + 1 == line.n || line.p[i + 1] == ' '))
            return i + 1;
        for (size_t j = 0; (unsigned char)c >= 0x80 && j < ARRAY_LEN(wide); j++)
            if (str_starts(str_skip(line, i), str_of(wide[j])))
                return i + 3;
    }
    return line.n;
}

static Str without_bullet(Str line)
{
    line = str_trim(line);
    while (line.n && (*line.p == '-' || *line.p == '*' || *line.p == '#' || *line.p == '>'))
        line = str_trim(str_skip(line, 1));
    return line;
}

static void add_sentence(Extract *x, Str text, bool from_user, bool carried)
{
    Sentence *s = &x->all[x->n];

    text = text_clip(x->arena, text_collapse(x->arena, text), SENTENCE_CHARS);
    if (x->n == SENTENCES || utf8_count(text) < 4)
        return;
    *s = (Sentence){ .text = text, .from_user = from_user, .carried = carried };
    s->kind = kind_of(x->arena, text);
    x->n++;
}

static void cut_turn(Extract *x, Str text, bool from_user)
{
    Str line;

    while (str_split(&text, '\n', &line)) {
        line = without_bullet(line);
        if (str_starts(line, STR("```")))
            continue;
        while (line.n) {
            size_t end = sentence_end(line);

            add_sentence(x, str_head(line, end), from_user, false);
            line = str_trim(str_skip(line, end));
        }
    }
}

/* -- Ranking -- */

static size_t slot_of(Extract *x, const Term *t)
{
    for (size_t i = hash_text(0, term_str(t)) % SLOTS;; i = (i + 1) % SLOTS) {
        Slot *s = &x->slots[i];

        if (!s->n) {
            if (x->n_slots >= SLOTS / 2)
                return SLOTS;
            x->n_slots++;
            s->n = t->n;
            memcpy(s->text, t->text, t->n);
        }
        if (s->n == t->n && memcmp(s->text, t->text, t->n) == 0)
            return i;
    }
}

static void count_terms(Extract *x, Sentence *s)
{
    TermIter it = { .rest = s->text, .plain = true }, stems = TERMS(s->text);
    Term typed, term;

    while (s->n_terms < TERMS_OF_SENTENCE && term_next(&it, &typed) && term_next(&stems, &term)) {
        size_t slot = term_is_stop(term_str(&typed)) ? SLOTS : slot_of(x, &term);
        bool again = slot == SLOTS;

        for (size_t i = 0; !again && i < s->n_terms; i++)
            again = s->terms[i] == slot;
        if (!again)
            s->terms[s->n_terms++] = (uint16_t)slot;
    }
}

/* Each term once a sentence: repeating itself makes none of them more important. */
static double weight_in(const Extract *x, const Sentence *s)
{
    return (K1 + 1) / (1 + K1 * (1 - B + B * (double)s->n_terms / x->average));
}

static void rank(Extract *x)
{
    size_t terms = 0;

    for (size_t i = 0; i < x->n; i++) {
        count_terms(x, &x->all[i]);
        terms += x->all[i].n_terms;
    }
    x->average = terms ? (double)terms / (double)x->n : 1;
    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < x->all[i].n_terms; j++) {
            x->slots[x->all[i].terms[j]].sentences++;
            x->slots[x->all[i].terms[j]].weight += weight_in(x, &x->all[i]);
        }
    for (size_t i = 0; i < x->n; i++) {
        Sentence *s = &x->all[i];
        double own = weight_in(x, s);

        for (size_t j = 0; j < s->n_terms; j++) {
            const Slot *t = &x->slots[s->terms[j]];

            s->score += log(1 + ((double)(x->n - t->sentences) + 0.5) / (t->sentences + 0.5)) *
                        (t->weight - own);
        }
        s->score /= sqrt((double)s->n_terms + 1);
    }
}

/* -- Picking -- */

static const char *label_of(const Sentence *s)
{
    static const char *const labels[] = {
#define X(id, label) label,
        SENTENCE_KINDS(X)
#undef X
    };

    return s->carried ? "" : labels[s->kind];
}

static Str line_of(Arena *a, const Sentence *s)
{
    const char *label = label_of(s), *who = s->carried ? "" : s->from_user ? "user: " : "";

    return *label ? str_printf(a, "- [%s] %s%.*s\n", label, who, STR_FMT(s->text))
                  : str_printf(a, "- %s%.*s\n", who, STR_FMT(s->text));
}

static bool is_said_already(const Extract *x, const Sentence *s)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->all[i].taken && str_eq(x->all[i].text, s->text))
            return true;
    return false;
}

static void take_best(Extract *x, Sentence **order, size_t n, size_t *room)
{
    for (size_t i = 0; i < n; i++) {
        size_t cost = tokens_estimate(line_of(x->arena, order[i]));

        if (order[i]->taken || cost > *room || is_said_already(x, order[i]))
            continue;
        order[i]->taken = true;
        *room -= cost;
    }
}

static int by_kind(const void *a, const void *b)
{
    const Sentence *x = *(Sentence *const *)a, *y = *(Sentence *const *)b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x > y ? -1 : x < y; /* the newest first */
}

static int by_score(const void *a, const void *b)
{
    const Sentence *x = *(Sentence *const *)a, *y = *(Sentence *const *)b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x < y ? -1 : x > y;
}

static Str pick(Extract *x, size_t max_tokens)
{
    Sentence **order = ARENA_ARRAY(x->arena, Sentence *, x->n + 1);
    size_t must = (size_t)((double)max_tokens * MUST_SHARE), rest, n = 0;
    AUTO_BUF b = BUF(LIMIT_CONTEXT_BYTES);

    rest = max_tokens - must;
    for (size_t i = 0; i < x->n; i++)
        if (x->all[i].kind != SENTENCE_PLAIN || x->all[i].carried)
            order[n++] = &x->all[i];
    qsort(order, n, sizeof *order, by_kind);
    take_best(x, order, n, &must);
    rest += must;
    for (size_t i = 0; i < x->n; i++)
        order[i] = &x->all[i];
    qsort(order, x->n, sizeof *order, by_score);
    take_best(x, order, x->n, &rest);
    for (size_t i = 0; i < x->n; i++)
        if (x->all[i].taken)
            buf_add(&b, line_of(x->arena, &x->all[i]));
    return str_dup(x->arena, buf_str(&b));
}

Str talk_summary(Arena *a, Str previous, const TalkTurn *turns, size_t n, size_t max_tokens)
{
    AUTO(Arena) *work = arena_new();
    Extract x = { .arena = work,
                  .all = ARENA_ARRAY(work, Sentence, SENTENCES + 1),
                  .slots = ARENA_ARRAY(work, Slot, SLOTS) };
    size_t last = 0;
    Str line;

    while (str_split(&previous, '\n', &line))
        add_sentence(&x, without_bullet(line), false, true);
    for (size_t i = 0; i < n; i++) {
        last = x.n;
        cut_turn(&x, turns[i].text, turns[i].from_user);
    }
    /* A question is open while nobody has spoken after it. */
    for (size_t i = last; i < x.n; i++)
        if (is_question(x.all[i].text))
            x.all[i].kind = SENTENCE_OPEN;
    rank(&x);
    return str_dup(a, pick(&x, max_tokens));
}

bool talk_summary_is_due(const TalkTurn *turns, size_t n, size_t window_tokens)
{
    size_t tokens = 0;

    for (size_t i = 0; i < n; i++)
        tokens += tokens_estimate(turns[i].text);
    return tokens > DUE || (window_tokens && tokens > window_tokens / 10 * 6);
}
