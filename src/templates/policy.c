#include "templates/policy.h"

#include <math.h>

#include "templates/inject.h"
#include "templates/similar.h"

/* Compared from the first to the last; the larger wins. */
enum { RANK_USABLE, RANK_SIMILAR, RANK_SHARE, RANK_DAY, RANK_UNUSED, RANK_NEWEST, RANKS };

typedef struct Rank {
    double at[RANKS];
} Rank;

static double tenths(double x)
{
    return floor(x * 10 + 0.5);
}

static double share_of_success(const Template *t)
{
    size_t good = 0;

    for (size_t i = 0; i < t->n_examples; i++)
        good += t->examples[i].success;
    return t->n_examples ? (double)good / (double)t->n_examples : 0;
}

static double similarity(Arena *a, const Template *t, const PolicyQuery *query, const WordBag *task)
{
    WordBag request;

    if (!query->request_of || !task->n || !t->source_session_id.n)
        return 0;
    request = wordbag_of(a, query->request_of(query->ctx, a, t->source_session_id));
    return wordbag_similarity(task, &request);
}

static Rank rank_of(Arena *a, const Template *t, const PolicyQuery *query, const WordBag *task)
{
    enum { DAY = 24 * 60 * 60 };
    Rank r = { { 0 } };

    r.at[RANK_USABLE] = inject_usable(t, query->tools) > 0;
    r.at[RANK_UNUSED] = -(double)t->usage_count;
    r.at[RANK_NEWEST] = t->created_at;
    if (query->policy == POLICY_BEST) {
        r.at[RANK_SIMILAR] = tenths(similarity(a, t, query, task));
        r.at[RANK_SHARE] = tenths(share_of_success(t));
        r.at[RANK_DAY] = floor(t->created_at / DAY);
    }
    return r;
}

static bool is_better(const Rank *a, const Rank *b)
{
    for (size_t i = 0; i < RANKS; i++)
        if (a->at[i] != b->at[i])
            return a->at[i] > b->at[i];
    return false;
}

bool policy_choose(Arena *a, const Template *all, size_t n, const PolicyQuery *query,
                   const Template **ret, Err *err)
{
    WordBag task = wordbag_of(a, query->task);
    const Template *chosen = NULL;
    Rank best = { 0 };

    for (size_t i = 0; i < n; i++) {
        Rank rank;

        if (query->one_type && all[i].type != query->type)
            continue;
        rank = rank_of(a, &all[i], query, &task);
        if (!chosen || is_better(&rank, &best)) {
            chosen = &all[i];
            best = rank;
        }
    }
    if (!chosen && query->one_type && n)
        return err_set(err, ERR_NOT_FOUND, "no template of type '%s'", tasktype_name(query->type));
    if (!chosen)
        return err_set(err, ERR_NOT_FOUND,
                       "no templates yet; 'talaria templates create SESSION' makes one");
    *ret = chosen;
    return true;
}

Str policy_first_request(void *store, Arena *a, Str session_id)
{
    const MessageQuery first_few = { .max = 20 };
    Message *messages;
    Lineage lineage;
    size_t n;
    Err ignored; /* a session that is gone says nothing about the template */

    if (!store_find(store, a, session_id, &lineage, &ignored) || !lineage.n_parts ||
        !messages_load(store, a, &lineage.parts[0], &first_few, &messages, &n, &ignored))
        return STR("");
    for (size_t i = 0; i < n; i++) {
        Str text = message_text(a, messages[i].content);

        if (str_eqz(messages[i].role, "user") && str_trim(text).n)
            return text;
    }
    return STR("");
}
