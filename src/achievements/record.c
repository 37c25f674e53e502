#include "achievements/record.h"

#include <math.h>
#include <time.h>

#include "achievements/models.h"
#include "base/limits.h"

/* -- packing ------------------------------------------------------------------------------------- */

void pack_number(Buf *out, uint64_t n)
{
    char *room = buf_room(out, 10);
    size_t used = 0;

    if (!room)
        return;
    while (n >= 0x80) {
        room[used++] = (char)(n | 0x80);
        n >>= 7;
    }
    room[used++] = (char)n;
    out->n += used;
}

void pack_text(Buf *out, Str s)
{
    pack_number(out, s.n);
    buf_add(out, s);
}

uint64_t unpack_number(Unpacker *u)
{
    uint64_t n = 0;

    /* Nearly every number fits one byte. */
    if (u->rest.n && (unsigned char)u->rest.p[0] < 0x80) {
        n = (unsigned char)u->rest.p[0];
        u->rest = (Str){ u->rest.p + 1, u->rest.n - 1 };
        return n;
    }
    for (unsigned shift = 0; shift < 64 && u->rest.n; shift += 7) {
        unsigned char byte = (unsigned char)u->rest.p[0];

        u->rest = (Str){ u->rest.p + 1, u->rest.n - 1 };
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return n;
    }
    u->bad = true;
    return 0;
}

Str unpack_text(Unpacker *u)
{
    uint64_t n = unpack_number(u);
    Str s = { u->rest.p, (size_t)n };

    if (n > u->rest.n) {
        u->bad = true;
        return STR("");
    }
    u->rest = (Str){ u->rest.p + n, u->rest.n - (size_t)n };
    return s;
}

/* -- numbers --------------------------------------------------------------------------------------- */

static size_t place_of(Arena *a, ToolTable *table, Str name)
{
    for (size_t i = 0; i < table->n; i++)
        if (str_eq(table->all[i], name))
            return i;
    ARENA_PUSH(a, table->all, table->n, table->cap, str_dup(a, name));
    return table->n - 1;
}

void record_set(Arena *a, Record *r, ToolTable *table, const SessionMetrics *m)
{
    AUTO_BUF numbers = BUF(KIB(4)), tools = BUF(MIB(4));

    for (size_t i = 0; i < METRIC_COUNT; i++)
        pack_number(&numbers, (uint64_t)m->value[i]);
    for (size_t i = 0; i < m->n_tool_names; i++)
        pack_number(&tools, place_of(a, table, m->tool_names[i]));
    r->metrics = str_dup(a, buf_str(&numbers));
    r->tools = str_dup(a, buf_str(&tools));
    r->table = table;
}

void record_metrics(const Record *r, int64_t ret[METRIC_COUNT])
{
    Unpacker u = { .rest = r->metrics };

    for (size_t i = 0; i < METRIC_COUNT; i++)
        ret[i] = (int64_t)unpack_number(&u);
}

Str *record_tools(Arena *a, const Record *r, size_t *ret_n)
{
    Unpacker u = { .rest = r->tools };
    Str *names = ARENA_ARRAY(a, Str, r->tools.n + 1);
    size_t n = 0;

    while (u.rest.n) {
        uint64_t place = unpack_number(&u);

        if (!u.bad && place < r->table->n)
            names[n++] = r->table->all[place];
    }
    *ret_n = n;
    return names;
}

/* -- distinct names ---------------------------------------------------------------------------- */

typedef struct Names {
    Str *all;
    size_t n, cap;
} Names;

/* Histories have tens of models, so looking along the list is fine. */
static void add_name(Arena *a, Names *names, Str name)
{
    for (size_t i = 0; i < names->n; i++)
        if (str_eq(names->all[i], name))
            return;
    ARENA_PUSH(a, names->all, names->n, names->cap, name);
}

static bool any_of(const Names *names, Str models)
{
    Str model;

    while (str_split(&models, '\n', &model))
        for (size_t k = 0; k < names->n; k++)
            if (str_eq(names->all[k], model))
                return true;
    return false;
}

/* -- time ---------------------------------------------------------------------------------------- */

typedef struct Hours {
    bool weekend, night;
} Hours;

static Hours hours_of(double started_at)
{
    time_t t = (time_t)floor(started_at);
    struct tm tm;

    if (started_at == 0 || !(fabs(started_at) < 67768036191676799.0) || !localtime_r(&t, &tm) ||
        tm.tm_year < -1899 || tm.tm_year > 8099)
        return (Hours){ 0 };
    return (Hours){ .weekend = tm.tm_wday == 0 || tm.tm_wday == 6,
                    .night = tm.tm_hour < 6 || tm.tm_hour >= 23 };
}

/* -- totals -------------------------------------------------------------------------------------- */

static void add_plain(const Catalogue *c, const Record *r, size_t at, Totals *t)
{
    int64_t values[METRIC_COUNT];

    record_metrics(r, values);
    for (size_t i = 0; i < c->n_aggregates; i++) {
        const AggregateInfo *info = &c->aggregates[i];
        int64_t value = values[info->metric];

        if (info->kind == AGGREGATE_SUM) {
            t->value[i] += value;
        } else if (info->kind == AGGREGATE_MAX && (at == 0 || value > t->value[i])) {
            t->value[i] = value;
            t->best[i] = at;
        }
    }
}

typedef struct Specials {
    int64_t sessions, models, providers, local, weekend, night;
} Specials;

static void put_special(const Catalogue *c, Totals *t, const char *name, int64_t value)
{
    size_t at = catalogue_aggregate(c, str_of(name));

    ASSERT(at < c->n_aggregates);
    t->value[at] = value;
}

void totals_of(const Record *records, size_t n, Totals *ret)
{
    const Catalogue *c = catalogue();
    AUTO(Arena) *a = arena_new();
    Names models = { 0 }, providers = { 0 }, local = { 0 };
    Specials s = { .sessions = (int64_t)n };
    Str rest, model;

    *ret = (Totals){ 0 };
    for (size_t i = 0; i < n; i++) {
        const Record *r = &records[i];
        Hours hours = hours_of(r->started_at);

        add_plain(c, r, i, ret);
        s.weekend += hours.weekend;
        s.night += hours.night;
        for (rest = r->model; str_split(&rest, '\n', &model);)
            if (model_counts(model))
                add_name(a, &models, model);
    }
    /* A name is looked at once, however many sessions used it. */
    for (size_t i = 0; i < models.n; i++) {
        Str provider = model_provider(a, models.all[i]);

        if (provider.n)
            add_name(a, &providers, provider);
        if (model_is_local(a, models.all[i]))
            add_name(a, &local, models.all[i]);
    }
    for (size_t i = 0; i < n && local.n; i++)
        s.local += any_of(&local, records[i].model);
    put_special(c, ret, "session_count", s.sessions);
    put_special(c, ret, "distinct_model_count", (int64_t)models.n);
    put_special(c, ret, "distinct_provider_count", (int64_t)providers.n);
    put_special(c, ret, "local_model_chat_sessions", s.local);
    put_special(c, ret, "weekend_sessions", s.weekend);
    put_special(c, ret, "night_sessions", s.night);
}
