/* Likeness is the share of common words (Jaccard). A script without blanks has pairs of letters
 * instead of words, so that Chinese and Japanese tasks find each other too. */
#include "sleep/mining/dream.h"

#include "text/letters.h"
#include "text/utf8.h"

enum { WORD_CHARS = 3, PHRASINGS = 3, FIRST_CJK = 0x2e80 };

static void add_tag(Arena *a, TaskRecord *t, const char *tag)
{
    StrList tags = { 0 };

    for (size_t i = 0; i < t->tags.n; i++)
        LIST_PUSH(a, &tags, t->tags.items[i]);
    LIST_PUSH(a, &tags, str_of(tag));
    t->tags = tags;
}

static Str rephrase(Arena *a, Str intent, size_t k)
{
    switch (k % PHRASINGS) {
    case 0:
        return str_printf(a, "Once more, as before: %.*s", STR_FMT(intent));
    case 1:
        return str_printf(a, "%.*s\n\nThe same conventions as always apply.", STR_FMT(intent));
    default:
        return str_printf(a, "A colleague asks: %.*s", STR_FMT(intent));
    }
}

void dream_add(Arena *a, int64_t factor, TaskRecords *tasks)
{
    size_t real = tasks->n;

    for (size_t i = 0; i < real; i++)
        for (int64_t k = 0; k < factor; k++) {
            TaskRecord t = tasks->items[i];

            if (!str_eq(split_normal(t.split), STR("train")) || str_eq(t.origin, STR("dream")))
                break;
            t.derived_from = t.id;
            t.id = str_printf(a, "%.*s_dream%lld", STR_FMT(t.id), (long long)k);
            t.intent = rephrase(a, t.intent, (size_t)k);
            t.origin = STR("dream");
            t.split = STR("train");
            add_tag(a, &t, "dream");
            LIST_PUSH(a, tasks, t);
        }
}

/* -- Recall -- */

/* Words of three letters and more; of scripts without blanks each two neighbours. */
static StrList words_of(Arena *a, Str intent)
{
    Str rest = text_words(a, intent), word;
    StrList words = { 0 };

    while (str_split(&rest, ' ', &word)) {
        Str peek = word, tail;

        if (word.n && utf8_next(&peek) < FIRST_CJK) {
            if (utf8_count(word) >= WORD_CHARS)
                strs_add_new(a, &words, word);
            continue;
        }
        for (tail = word; utf8_count(tail) >= 2; (void)utf8_next(&tail))
            strs_add_new(a, &words, text_cut(tail, 2));
    }
    return words;
}

static bool known_tonight(const TaskRecords *tasks, Str id)
{
    for (size_t i = 0; i < tasks->n; i++)
        if (str_eq(tasks->items[i].id, id) || str_eq(tasks->items[i].derived_from, id))
            return true;
    return false;
}

/* Whether a task of the archive may be used tonight. */
static bool is_recallable(const TaskRecords *tasks, const TaskRecord *old)
{
    Str split = split_normal(old->split);
    bool same_project = false;

    for (size_t i = 0; i < tasks->n; i++)
        same_project |= str_eq(tasks->items[i].project, old->project);
    return same_project && !str_eqz(split, "val") && !str_eqz(split, "test") &&
           !str_eqz(old->origin, "dream") && !known_tonight(tasks, old->id);
}

static double best_likeness(Arena *a, const TaskRecords *tasks, size_t n, Str intent)
{
    StrList words = words_of(a, intent);
    double best = 0;

    for (size_t i = 0; i < n; i++) {
        StrList other = { 0 };
        size_t both = 0;
        double like;

        if (!str_eq(split_normal(tasks->items[i].split), STR("train")))
            continue;
        other = words_of(a, tasks->items[i].intent);
        for (size_t k = 0; k < words.n; k++)
            both += strs_have(&other, words.items[k]);
        like = both ? (double)both / (double)(words.n + other.n - both) : 0;
        best = like > best ? like : best;
    }
    return best;
}

void recall_add(Arena *a, int64_t k, const TaskRecords *archive, TaskRecords *tasks)
{
    double *like = ARENA_ARRAY(a, double, archive->n + 1);
    size_t tonight = tasks->n;

    for (size_t i = 0; k > 0 && i < archive->n; i++)
        if (is_recallable(tasks, &archive->items[i]))
            like[i] = best_likeness(a, tasks, tonight, archive->items[i].intent);
    for (; k > 0; k--) {
        size_t best = archive->n;
        TaskRecord t;

        for (size_t i = 0; i < archive->n; i++)
            if (like[i] > 0 && !known_tonight(tasks, archive->items[i].id) &&
                (best == archive->n || like[i] > like[best] ||
                 (like[i] == like[best] &&
                  str_cmp(archive->items[i].id, archive->items[best].id) < 0)))
                best = i;
        if (best == archive->n)
            return;
        t = archive->items[best];
        t.derived_from = t.id;
        t.id = str_printf(a, "recall:%.*s", STR_FMT(t.id));
        t.split = STR("train");
        t.origin = STR("real");
        add_tag(a, &t, "recall");
        LIST_PUSH(a, tasks, t);
    }
}
