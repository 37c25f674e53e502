#include "achievements/sum.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "achievements/models.h"
#include "base/hash.h"

/* -- distinct names -- */

/* Histories have tens of models, so looking along the list is fine. */
static void add_name(Arena *a, Str **all, size_t *n, size_t *cap, Str name)
{
    for (size_t i = 0; i < *n; i++)
        if (str_eq((*all)[i], name))
            return;
    ARENA_PUSH(a, *all, *n, *cap, name);
}

/* -- time -- */

Hours hours_of(double started_at)
{
    time_t t = (time_t)floor(started_at);
    struct tm tm;

    if (started_at == 0 || !(fabs(started_at) < 67768036191676799.0) || !localtime_r(&t, &tm) ||
        tm.tm_year < -1899 || tm.tm_year > 8099)
        return (Hours){ 0 };
    return (Hours){ .weekend = tm.tm_wday == 0 || tm.tm_wday == 6,
                    .night = tm.tm_hour < 6 || tm.tm_hour >= 23 };
}

uint64_t sum_zone(void)
{
    const char *name = getenv("TZ");
    uint64_t hash = HASH_START;
    struct stat st;

    if (name)
        hash = hash_fnv(hash, str_of(name));
    else if (stat("/etc/localtime", &st) == 0)
        hash = hash_number(hash_number(hash, (uint64_t)st.st_ino), (uint64_t)st.st_mtim.tv_sec);
    return hash >> 1;
}

/* -- of some sessions -- */

static bool comes_first(const Peak *a, const Peak *b)
{
    if (a->value != b->value)
        return a->value > b->value;
    if (a->started_at != b->started_at)
        return a->started_at > b->started_at;
    return a->rowid < b->rowid;
}

static void add_values(Sum *sum, const Record *r)
{
    const Catalogue *c = catalogue();
    int64_t values[METRIC_COUNT], messages[MAX_PEAKS];

    record_metrics(r, values);
    record_peaks(r, messages);
    for (size_t i = 0; i < c->n_aggregates; i++)
        if (c->aggregates[i].kind == AGGREGATE_SUM)
            sum->value[i] += values[c->aggregates[i].metric];
    for (size_t i = 0; i < c->n_peaks; i++) {
        Peak peak = { .value = values[c->aggregates[c->peaks[i]].metric],
                      .message = messages[i],
                      .rowid = r->rowid,
                      .started_at = r->started_at,
                      .id = r->id,
                      .title = r->title };

        if (sum->sessions == 0 || comes_first(&peak, &sum->peaks[i]))
            sum->peaks[i] = peak;
    }
}

/* Several models are one per line. */
static bool add_models(Arena *a, Sum *sum, size_t *cap, Str models)
{
    bool local = false;
    Str model;

    while (str_split(&models, '\n', &model))
        if (model_counts(model)) {
            add_name(a, &sum->models, &sum->n_models, cap, model);
            local = local || model_is_local(a, model);
        }
    return local;
}

Sum sum_of(Arena *a, const Record *const *records, size_t n)
{
    Sum sum = { 0 };
    Str last = STR_NONE;
    bool local = false;
    size_t cap = 0;

    for (size_t i = 0; i < n; i++) {
        Hours hours = hours_of(records[i]->started_at);

        add_values(&sum, records[i]);
        sum.sessions++;
        sum.weekend += hours.weekend;
        sum.night += hours.night;
        /* Sessions side by side mostly use the same model. */
        if (i == 0 || !str_eq(last, records[i]->model))
            local = add_models(a, &sum, &cap, records[i]->model);
        last = records[i]->model;
        sum.local += local;
    }
    return sum;
}

/* -- packing -- */

static void pack_peak(Buf *out, const Peak *peak)
{
    pack_number(out, (uint64_t)peak->value);
    pack_number(out, (uint64_t)peak->message);
    pack_number(out, (uint64_t)peak->rowid);
    pack_real(out, peak->started_at);
    pack_text(out, peak->id);
    pack_text(out, peak->title);
}

static Peak unpack_peak(Unpacker *u)
{
    Peak peak = { .value = (int64_t)unpack_number(u) };

    peak.message = (int64_t)unpack_number(u);
    peak.rowid = (int64_t)unpack_number(u);
    peak.started_at = unpack_real(u);
    peak.id = unpack_text(u);
    peak.title = unpack_text(u);
    return peak;
}

void sum_pack(Buf *out, const Sum *sum)
{
    const Catalogue *c = catalogue();

    pack_number(out, (uint64_t)sum->sessions);
    pack_number(out, (uint64_t)sum->weekend);
    pack_number(out, (uint64_t)sum->night);
    pack_number(out, (uint64_t)sum->local);
    for (size_t i = 0; i < c->n_aggregates; i++)
        pack_number(out, (uint64_t)sum->value[i]);
    for (size_t i = 0; i < c->n_peaks; i++)
        pack_peak(out, &sum->peaks[i]);
    pack_number(out, sum->n_models);
    for (size_t i = 0; i < sum->n_models; i++)
        pack_text(out, sum->models[i]);
}

void sum_unpack(Arena *a, Unpacker *u, Sum *ret)
{
    const Catalogue *c = catalogue();
    uint64_t n;

    *ret = (Sum){ .sessions = (int64_t)unpack_number(u) };
    ret->weekend = (int64_t)unpack_number(u);
    ret->night = (int64_t)unpack_number(u);
    ret->local = (int64_t)unpack_number(u);
    for (size_t i = 0; i < c->n_aggregates; i++)
        ret->value[i] = (int64_t)unpack_number(u);
    for (size_t i = 0; i < c->n_peaks; i++)
        ret->peaks[i] = unpack_peak(u);
    n = unpack_number(u);
    u->bad = u->bad || n > u->rest.n;
    if (u->bad)
        return;
    ret->models = ARENA_ARRAY(a, Str, n + 1);
    for (; ret->n_models < n; ret->n_models++)
        ret->models[ret->n_models] = unpack_text(u);
}

/* -- totals -- */

/* Where two are equal the one of the earlier home comes first, whatever their rowids. */
static bool replaces(const Totals *t, const Peak *peak, const Peak *old)
{
    if (t->sessions == 0)
        return true;
    if (t->before && peak->value == old->value && peak->started_at == old->started_at)
        return false;
    return comes_first(peak, old);
}

static void add_special(Totals *t, const char *name, int64_t value)
{
    size_t at = catalogue_aggregate(catalogue(), str_of(name));

    ASSERT(at < catalogue()->n_aggregates);
    t->value[at] += value;
}

void totals_add(Arena *a, Totals *t, const Sum *sum)
{
    const Catalogue *c = catalogue();

    if (sum->sessions == 0)
        return;
    for (size_t i = 0; i < c->n_aggregates; i++)
        if (c->aggregates[i].kind == AGGREGATE_SUM)
            t->value[i] += sum->value[i];
    for (size_t i = 0; i < c->n_peaks; i++)
        if (replaces(t, &sum->peaks[i], &t->peaks[i]))
            t->peaks[i] = sum->peaks[i];
    for (size_t i = 0; i < sum->n_models; i++)
        add_name(a, &t->models, &t->n_models, &t->cap_models, sum->models[i]);
    t->sessions += sum->sessions;
    add_special(t, "session_count", sum->sessions);
    add_special(t, "local_model_chat_sessions", sum->local);
    add_special(t, "weekend_sessions", sum->weekend);
    add_special(t, "night_sessions", sum->night);
}

void totals_next_home(Totals *t)
{
    t->before = t->sessions > 0;
}

void totals_end(Totals *t)
{
    const Catalogue *c = catalogue();
    AUTO(Arena) *a = arena_new();
    Str *providers = NULL;
    size_t n = 0, cap = 0;

    for (size_t i = 0; i < c->n_peaks; i++)
        t->value[c->peaks[i]] = t->peaks[i].value;
    for (size_t i = 0; i < t->n_models; i++) {
        Str provider = model_provider(a, t->models[i]);

        if (provider.n)
            add_name(a, &providers, &n, &cap, provider);
    }
    add_special(t, "distinct_model_count", (int64_t)t->n_models);
    add_special(t, "distinct_provider_count", (int64_t)n);
}

void totals_of(const Record *r, Totals *ret)
{
    AUTO(Arena) *a = arena_new();
    Sum sum = sum_of(a, &r, 1);

    *ret = (Totals){ 0 };
    totals_add(a, ret, &sum);
    totals_end(ret);
    ret->models = NULL;
    ret->n_models = ret->cap_models = 0;
}
