/* Comparing every request with every group leader would be quadratic; words lead from a request to
 * the leaders that share one, and only those are weighed. */
#include "sleep/mining/intent.h"

#include <math.h>
#include <stdlib.h>
#include <uthash.h>

#define NEAR                                                                                       \
    0.35 /* share of weight in common: measured on labelled trees of 40 to 3,000 sessions */

enum {
    MIN_COMMON = 2, /* words: one alone is a topic, not a task */
    MAX_LINKED = 4, /* groups with the same demand; more, and it is a habit of speech */
};

typedef struct Rarity {
    uint64_t word;
    size_t requests; /* different ones that have it */
    UT_hash_handle hh;
} Rarity;

/* One set of words in one project, with all who said it. */
typedef struct Wording {
    uint64_t key;
    IntentWords words;
    double weight;
    size_t first, times; /* member that came first; how many there are */
    size_t leader;       /* index of a wording; itself where it leads */
    UT_hash_handle hh;
} Wording;

typedef struct LeaderRow {
    uint64_t key; /* of project and word */
    size_t *leaders;
    size_t n, cap;
    UT_hash_handle hh;
} LeaderRow;

typedef struct DemandRow {
    uint64_t key;
    size_t groups[MAX_LINKED + 1];
    size_t n;
    UT_hash_handle hh;
} DemandRow;

typedef struct Grouping {
    Arena *arena;
    const Intent *intents;
    size_t n;
    Wording **wordings; /* in order of first member, later of size */
    size_t n_wordings;
    size_t *wording_of; /* of each intent */
    Rarity *rarities;
    size_t different; /* sets of words, all projects together */
    size_t *parent;   /* of each wording: which it was joined to */
} Grouping;

static void count_words(Grouping *g, const IntentWords *w)
{
    g->different++;
    for (size_t i = 0; i < w->n; i++) {
        Rarity *row;

        HASH_FIND(hh, g->rarities, &w->hashes[i], sizeof row->word, row);
        if (!row) {
            row = ARENA_NEW(g->arena, Rarity);
            row->word = w->hashes[i];
            HASH_ADD(hh, g->rarities, word, sizeof row->word, row);
        }
        row->requests++;
    }
}

static double weight_of(const Grouping *g, uint64_t word)
{
    Rarity *row;

    HASH_FIND(hh, g->rarities, &word, sizeof word, row);
    return log(1.0 + (double)g->different / (double)(row ? row->requests : 1));
}

static void collect_wordings(Grouping *g)
{
    Wording *by_key = NULL, *everywhere = NULL, *row;
    size_t cap = 0;

    for (size_t i = 0; i < g->n; i++) {
        IntentWords words = intent_words(g->arena, g->intents[i].request);
        uint64_t said = words.n, key;

        for (size_t k = 0; k < words.n; k++)
            said = hash_mix(said, words.hashes[k]);
        key = hash_mix(said, hash_str(g->intents[i].project));
        HASH_FIND(hh, by_key, &key, sizeof key, row);
        if (!row) {
            row = ARENA_NEW(g->arena, Wording);
            *row = (Wording){ .key = key, .words = words, .first = i, .leader = g->n_wordings };
            HASH_ADD(hh, by_key, key, sizeof key, row);
            ARENA_PUSH(g->arena, g->wordings, g->n_wordings, cap, row);
        }
        row->times++;
        g->wording_of[i] = row->leader;
        HASH_FIND(hh, everywhere, &said, sizeof said, row);
        if (!row) {
            row = ARENA_NEW(g->arena, Wording);
            row->key = said;
            HASH_ADD(hh, everywhere, key, sizeof said, row);
            count_words(g, &words);
        }
    }
    HASH_CLEAR(hh, by_key);
    HASH_CLEAR(hh, everywhere);
    for (size_t i = 0; i < g->n_wordings; i++)
        for (size_t k = 0; k < g->wordings[i]->words.n; k++)
            g->wordings[i]->weight += weight_of(g, g->wordings[i]->words.hashes[k]);
}

/* Weight in common over weight in all; 0 where too few words are. */
static double nearness(const Grouping *g, const Wording *a, const Wording *b)
{
    double common = 0;
    size_t n = 0;

    for (size_t i = 0, k = 0; i < a->words.n && k < b->words.n;) {
        uint64_t x = a->words.hashes[i], y = b->words.hashes[k];

        if (x == y) {
            common += weight_of(g, x);
            n++;
        }
        i += x <= y;
        k += y <= x;
    }
    return n < MIN_COMMON ? 0 : common / (a->weight + b->weight - common);
}

static LeaderRow *row_of(Grouping *g, LeaderRow **rows, uint64_t key, bool make)
{
    LeaderRow *row;

    HASH_FIND(hh, *rows, &key, sizeof key, row);
    if (!row && make) {
        row = ARENA_NEW(g->arena, LeaderRow);
        row->key = key;
        HASH_ADD(hh, *rows, key, sizeof key, row);
    }
    return row;
}

/* The nearest leader that shares a word; the wording itself where none is near enough. */
static size_t find_leader(Grouping *g, LeaderRow **rows, size_t at, uint64_t project, size_t *seen)
{
    const Wording *w = g->wordings[at];
    double best = NEAR;
    size_t found = at;

    for (size_t k = 0; k < w->words.n; k++) {
        LeaderRow *row = row_of(g, rows, hash_mix(w->words.hashes[k], project), false);

        for (size_t i = 0; row && i < row->n; i++) {
            size_t leader = row->leaders[i];
            double near;

            if (seen[leader] == at + 1)
                continue;
            seen[leader] = at + 1;
            near = nearness(g, w, g->wordings[leader]);
            if (near >= best && (near > best || found == at)) {
                best = near;
                found = leader;
            }
        }
    }
    return found;
}

static int by_frequency(const void *left, const void *right, void *ctx)
{
    const Grouping *g = ctx;
    const Wording *a = g->wordings[*(const size_t *)left];
    const Wording *b = g->wordings[*(const size_t *)right];

    if (a->times != b->times)
        return a->times > b->times ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* The commonest wordings lead: what people say most is what the others are near to. */
static void join_near(Grouping *g)
{
    size_t *order = ARENA_ARRAY(g->arena, size_t, g->n_wordings + 1);
    size_t *seen = ARENA_ARRAY(g->arena, size_t, g->n_wordings + 1);
    LeaderRow *rows = NULL;

    for (size_t i = 0; i < g->n_wordings; i++)
        order[i] = i;
    qsort_r(order, g->n_wordings, sizeof *order, by_frequency, g);
    for (size_t i = 0; i < g->n_wordings; i++) {
        size_t at = order[i];
        Wording *w = g->wordings[at];
        uint64_t project = hash_str(g->intents[w->first].project);

        w->leader = find_leader(g, &rows, at, project, seen);
        if (w->leader != at)
            continue;
        for (size_t k = 0; k < w->words.n; k++) {
            LeaderRow *row = row_of(g, &rows, hash_mix(w->words.hashes[k], project), true);

            ARENA_PUSH(g->arena, row->leaders, row->n, row->cap, at);
        }
    }
    HASH_CLEAR(hh, rows);
}

static size_t root_of(const Grouping *g, size_t at)
{
    while (g->parent[at] != at)
        at = g->parent[at];
    return at;
}

static DemandRow *demand_row(Grouping *g, DemandRow **demands, size_t intent, Str demand)
{
    uint64_t key = hash_mix(hash_str(demand), hash_str(g->intents[intent].project));
    DemandRow *row;

    HASH_FIND(hh, *demands, &key, sizeof key, row);
    if (!row) {
        row = ARENA_NEW(g->arena, DemandRow);
        row->key = key;
        HASH_ADD(hh, *demands, key, sizeof key, row);
    }
    return row;
}

static void join(Grouping *g, size_t one, size_t other)
{
    g->parent[root_of(g, other)] = root_of(g, one);
}

/* The first who has a mark leads all who have it. */
static void join_marks(Grouping *g)
{
    DemandRow *marks = NULL;

    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->intents[i].n_marks; k++) {
            DemandRow *row = demand_row(g, &marks, i, g->intents[i].marks[k]);
            size_t group = g->wordings[g->wording_of[i]]->leader;

            if (row->n)
                join(g, row->groups[0], group);
            else
                row->groups[row->n++] = group;
        }
    HASH_CLEAR(hh, marks);
}

/* Who insists on the same thing asked for the same thing, unless it is insisted on everywhere. */
static void join_demands(Grouping *g)
{
    DemandRow *demands = NULL, *row, *next;

    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->intents[i].n_demands; k++) {
            size_t group = g->wordings[g->wording_of[i]]->leader;
            bool listed = false;

            row = demand_row(g, &demands, i, g->intents[i].demands[k]);
            for (size_t m = 0; m < row->n; m++)
                listed |= row->groups[m] == group;
            if (!listed && row->n <= MAX_LINKED)
                row->groups[row->n++] = group;
        }
    HASH_ITER(hh, demands, row, next)
    {
        for (size_t i = 1; row->n <= MAX_LINKED && i < row->n; i++)
            join(g, row->groups[0], row->groups[i]);
    }
    HASH_CLEAR(hh, demands);
}

void intents_group(Arena *a, const Intent *intents, size_t n, size_t *ret, size_t *ret_groups)
{
    Grouping g = { .arena = a, .intents = intents, .n = n };
    size_t *number, groups = 0;

    g.wording_of = ARENA_ARRAY(a, size_t, n + 1);
    collect_wordings(&g);
    join_near(&g);
    g.parent = ARENA_ARRAY(a, size_t, g.n_wordings + 1);
    number = ARENA_ARRAY(a, size_t, g.n_wordings + 1);
    for (size_t i = 0; i < g.n_wordings; i++)
        g.parent[i] = i;
    join_demands(&g);
    join_marks(&g);
    for (size_t i = 0; i < n; i++) {
        size_t root = root_of(&g, g.wordings[g.wording_of[i]]->leader);

        if (!number[root])
            number[root] = ++groups;
        ret[i] = number[root] - 1;
    }
    *ret_groups = groups;
    HASH_CLEAR(hh, g.rarities);
}
