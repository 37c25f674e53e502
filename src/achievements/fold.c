#include "achievements/fold.h"

#include <stdlib.h>

#include "achievements/models.h"
#include "base/clock.h"

/* -- conversations -- */

typedef struct Talk {
    const Record *const *parts; /* oldest first */
    size_t n;
    double last_active;
    Origin origin; /* whose it counts as */
} Talk;

typedef struct Talks {
    Talk *all;
    size_t n;
} Talks;

static Str talk_of(const Record *r)
{
    return r->conversation.n ? r->conversation : r->id;
}

static int by_talk(const void *left, const void *right)
{
    const Record *a = *(const Record *const *)left, *b = *(const Record *const *)right;
    int order = a->home != b->home ? (a->home < b->home ? -1 : 1) : str_cmp(talk_of(a), talk_of(b));

    if (order)
        return order;
    if (a->started_at != b->started_at)
        return a->started_at < b->started_at ? -1 : 1;
    return a->rowid < b->rowid ? -1 : a->rowid > b->rowid;
}

static bool same_talk(const Record *a, const Record *b)
{
    return a->home == b->home && str_eq(talk_of(a), talk_of(b));
}

/* Whether one of the parts continues in this record. */
static bool ends_chain(const Record *const *parts, size_t n, const Record *r)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Record *part = parts[middle];
        int order = part->home != r->home ? (part->home < r->home ? -1 : 1)
                                          : str_cmp(part->conversation, r->id);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Sessions that a conversation of ours represents, in any home. */
static int by_name(const void *left, const void *right)
{
    const Record *a = *(const Record *const *)left, *b = *(const Record *const *)right;
    int order = str_cmp(a->conversation, b->conversation);

    return order ? order : a->started_at < b->started_at ? -1 : a->started_at > b->started_at;
}

typedef struct Sorting {
    Arena *a;
    const FoldQuery *query;
    const Record **parts; /* of chains, in order of their conversations */
    size_t n_parts;
    const Record **alone;
    size_t n_alone;
    const Record **covered; /* sessions that conversations of ours represent, in their order */
    size_t n_covered;
} Sorting;

static Origin record_origin(const Sorting *s, const Record *r)
{
    return origin_of(&s->query->lanes->all[r->home], r->source);
}

static void sort_out(Sorting *s, const Record *records, size_t n)
{
    size_t chained;

    s->parts = ARENA_ARRAY(s->a, const Record *, n + 1);
    s->alone = ARENA_ARRAY(s->a, const Record *, n + 1);
    s->covered = ARENA_ARRAY(s->a, const Record *, n + 1);
    for (size_t i = 0; i < n; i++)
        if (records[i].covered)
            s->covered[s->n_covered++] = &records[i];
        else if (records[i].conversation.n)
            s->parts[s->n_parts++] = &records[i];
    if (s->n_covered)
        qsort(s->covered, s->n_covered, sizeof *s->covered, by_name);
    chained = s->n_parts;
    if (chained)
        qsort(s->parts, chained, sizeof *s->parts, by_talk);
    for (size_t i = 0; i < n; i++) {
        if (records[i].covered || records[i].conversation.n)
            continue;
        if (chained && ends_chain(s->parts, chained, &records[i]))
            s->parts[s->n_parts++] = &records[i];
        else
            s->alone[s->n_alone++] = &records[i];
    }
    if (chained)
        qsort(s->parts, s->n_parts, sizeof *s->parts, by_talk);
}

static Talk talk_from(const Sorting *s, const Record *const *parts, size_t n)
{
    Talk talk = { .parts = parts, .n = n, .origin = record_origin(s, parts[n - 1]) };

    for (size_t i = 0; i < n; i++) {
        if (parts[i]->last_active > talk.last_active)
            talk.last_active = parts[i]->last_active;
        if (parts[i]->begun_there)
            talk.origin = record_origin(s, parts[i]);
    }
    return talk;
}

static size_t first_covered(const Sorting *s, Str name)
{
    size_t low = 0, high = s->n_covered;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_cmp(s->covered[middle]->conversation, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A conversation of ours preceded by the sessions that it represents: together they are one. */
static Talk talk_with_covered(const Sorting *s, const Record *const *parts, size_t n)
{
    const Record *tip = parts[n - 1];
    size_t first = first_covered(s, talk_of(tip)), end = first;
    const Record **all;

    while (end < s->n_covered && str_eq(s->covered[end]->conversation, talk_of(tip)))
        end++;
    if (end == first || s->query->lanes->all[tip->home].kind != HOME_OURS)
        return talk_from(s, parts, n);
    all = ARENA_ARRAY(s->a, const Record *, end - first + n);
    memcpy(all, &s->covered[first], (end - first) * sizeof *all);
    memcpy(all + (end - first), parts, n * sizeof *all);
    return talk_from(s, all, end - first + n);
}

static Talks talks_of(const Sorting *s)
{
    Talks talks = { .all = ARENA_ARRAY(s->a, Talk, s->n_parts + s->n_alone + 1) };

    for (size_t i = 0; i < s->n_parts;) {
        size_t end = i + 1;

        while (end < s->n_parts && same_talk(s->parts[i], s->parts[end]))
            end++;
        talks.all[talks.n++] = talk_with_covered(s, &s->parts[i], end - i);
        i = end;
    }
    for (size_t i = 0; i < s->n_alone; i++)
        talks.all[talks.n++] = talk_with_covered(s, &s->alone[i], 1);
    return talks;
}

static int in_time(const void *left, const void *right)
{
    const Talk *a = left, *b = right;

    if (a->last_active != b->last_active)
        return a->last_active < b->last_active ? -1 : 1;
    return by_talk(&a->parts[0], &b->parts[0]);
}

static bool has_part(const Talk *talk, Str id)
{
    for (size_t i = 0; i < talk->n; i++)
        if (str_eq(talk->parts[i]->id, id))
            return true;
    return false;
}

/* -- adding up -- */

/* Totals that no metric says, by their places in the catalogue. */
typedef struct Places {
    size_t sessions, models, providers, local, weekend, night;
} Places;

typedef struct Folding {
    Arena *a;
    const FoldQuery *query;
    Fold *ret;
    Places at;
    Str last_model;
    bool last_local;
    Str *models, *providers;
    size_t n_models, cap_models, n_providers, cap_providers;
    int next[MAX_ACHIEVEMENTS]; /* tiers that are reached */
    double now;
} Folding;

static Places find_places(void)
{
    const Catalogue *c = catalogue();

    return (Places){ .sessions = catalogue_aggregate(c, STR("session_count")),
                     .models = catalogue_aggregate(c, STR("distinct_model_count")),
                     .providers = catalogue_aggregate(c, STR("distinct_provider_count")),
                     .local = catalogue_aggregate(c, STR("local_model_chat_sessions")),
                     .weekend = catalogue_aggregate(c, STR("weekend_sessions")),
                     .night = catalogue_aggregate(c, STR("night_sessions")) };
}

static bool add_name(Arena *a, Str **all, size_t *n, size_t *cap, Str name)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq((*all)[i], name))
            return false;
    ARENA_PUSH(a, *all, *n, *cap, name);
    return true;
}

static void add_model(Folding *f, Str model)
{
    Str provider;

    if (!add_name(f->a, &f->models, &f->n_models, &f->cap_models, model))
        return;
    provider = model_provider(f->a, model);
    if (provider.n)
        (void)add_name(f->a, &f->providers, &f->n_providers, &f->cap_providers, provider);
    f->ret->totals.value[f->at.models] = (int64_t)f->n_models;
    f->ret->totals.value[f->at.providers] = (int64_t)f->n_providers;
}

/* Conversations side by side mostly use the same model. */
static bool uses_local(Folding *f, Str models)
{
    Str rest = models, model;

    if (f->last_model.p && str_eq(f->last_model, models))
        return f->last_local;
    f->last_model = models;
    f->last_local = false;
    while (str_split(&rest, '\n', &model))
        if (model_counts(model)) {
            add_model(f, model);
            f->last_local = f->last_local || model_is_local(f->a, model);
        }
    return f->last_local;
}

/* Calls and messages of the parts add up; what is counted once a session is the most of any part,
 * since parts repeat each other's tools and files. */
static bool adds_up(size_t metric)
{
    return metric != METRIC_DISTINCT_TOOL_COUNT && metric != METRIC_FILES_TOUCHED_COUNT &&
           metric != METRIC_PORT_CONFLICT;
}

typedef struct Counted {
    int64_t values[METRIC_COUNT], messages[MAX_PEAKS];
    bool local;
} Counted;

static void count_talk(Folding *f, const Talk *talk, Counted *ret)
{
    int64_t values[METRIC_COUNT];

    record_metrics(talk->parts[0], ret->values);
    record_peaks(talk->parts[talk->n - 1], ret->messages);
    ret->local = uses_local(f, talk->parts[0]->model);
    for (size_t i = 1; i < talk->n; i++) {
        record_metrics(talk->parts[i], values);
        ret->local |= uses_local(f, talk->parts[i]->model);
        for (size_t m = 0; m < METRIC_COUNT; m++)
            ret->values[m] = adds_up(m)                   ? ret->values[m] + values[m]
                             : values[m] > ret->values[m] ? values[m]
                                                          : ret->values[m];
    }
}

/* Equal ones: the newer conversation, as lists have it. */
static void add_peak(Folding *f, size_t i, const Talk *talk, const Counted *counted)
{
    const Catalogue *c = catalogue();
    const Record *tip = talk->parts[talk->n - 1];
    int64_t value = counted->values[c->aggregates[c->peaks[i]].metric];
    Peak *peak = &f->ret->totals.peaks[i];

    if (f->ret->totals.sessions &&
        (value < peak->value || (value == peak->value && tip->started_at <= peak->started_at)))
        return;
    *peak = (Peak){ .value = value,
                    .message = counted->messages[i],
                    .rowid = tip->rowid,
                    .started_at = tip->started_at,
                    .id = tip->id,
                    .title = tip->title };
    f->ret->totals.value[c->peaks[i]] = value;
}

static void add_talk(Folding *f, const Talk *talk)
{
    const Catalogue *c = catalogue();
    Totals *t = &f->ret->totals;
    Hours hours = hours_of(talk->parts[0]->started_at);
    Counted counted;

    count_talk(f, talk, &counted);
    for (size_t i = 0; i < c->n_aggregates; i++)
        if (c->aggregates[i].kind == AGGREGATE_SUM)
            t->value[i] += counted.values[c->aggregates[i].metric];
    for (size_t i = 0; i < c->n_peaks; i++)
        add_peak(f, i, talk, &counted);
    t->sessions++;
    t->value[f->at.sessions]++;
    t->value[f->at.local] += counted.local;
    t->value[f->at.weekend] += hours.weekend;
    t->value[f->at.night] += hours.night;
    f->ret->sources[talk->origin]++;
}

/* -- when -- */

static bool has_all(const Achievement *a, const int64_t *values)
{
    for (size_t i = 0; i < a->n_requirements; i++)
        if (values[a->requirements[i].aggregate] < a->requirements[i].at_least)
            return false;
    return true;
}

static void note_times(Folding *f, double last_active)
{
    const Catalogue *c = catalogue();
    const int64_t *values = f->ret->totals.value;
    /* A clock that went wrong does not move a badge into the future. */
    int64_t at = last_active >= 1 && last_active < f->now ? (int64_t)last_active : (int64_t)f->now;

    for (size_t i = 0; i < c->n; i++) {
        const Achievement *a = &c->all[i];
        int *next = &f->next[i];

        if (!a->tiered && *next == 0 && has_all(a, values))
            f->ret->at[i][(*next)++] = at;
        while (a->tiered && *next < TIER_COUNT && values[a->aggregate] >= a->tiers[*next])
            f->ret->at[i][(*next)++] = at;
    }
}

void fold_records(const Record *records, size_t n, const FoldQuery *query, Fold *ret)
{
    AUTO(Arena) *a = arena_new();
    Sorting sorting = { .a = a, .query = query };
    Folding f = { .a = a, .query = query, .ret = ret, .at = find_places(), .now = clock_wall() };
    Talks talks;

    *ret = (Fold){ 0 };
    sort_out(&sorting, records, n);
    talks = talks_of(&sorting);
    if (query->dates && talks.n)
        qsort(talks.all, talks.n, sizeof *talks.all, in_time);
    for (size_t i = 0; i < talks.n; i++) {
        if ((query->origin && talks.all[i].origin + 1 != (Origin)query->origin) ||
            (query->session.n && !has_part(&talks.all[i], query->session)))
            continue;
        add_talk(&f, &talks.all[i]);
        if (query->dates)
            note_times(&f, talks.all[i].last_active);
    }
}
