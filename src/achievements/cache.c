#include "achievements/cache.h"

#include "achievements/scan.h"
#include "base/limits.h"

/* -- writing --------------------------------------------------------------------------------------- */

static void pack_real(Buf *out, double d)
{
    buf_add(out, (Str){ (const char *)&d, sizeof d });
}

static size_t place_of(Arena *a, ToolTable *table, Str name)
{
    for (size_t i = table->n; i > 0; i--)
        if (str_eq(table->all[i - 1], name))
            return i - 1;
    ARENA_PUSH(a, table->all, table->n, table->cap, name);
    return table->n - 1;
}

static void pack_table(Buf *out, const ToolTable *table)
{
    pack_number(out, table->n);
    for (size_t i = 0; i < table->n; i++)
        pack_text(out, table->all[i]);
}

void cache_pack(const Record *const *records, size_t n, int64_t last_message,
                const ToolTable *tools, Buf *out)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF body = BUF(LIMIT_OUTPUT_BYTES);
    ToolTable words = { 0 };

    for (size_t i = 0; i < n; i++) {
        const Record *r = records[i];

        pack_text(&body, r->id);
        pack_text(&body, r->title);
        pack_number(&body, place_of(a, &words, r->source));
        pack_number(&body, place_of(a, &words, r->model));
        pack_real(&body, r->started_at);
        pack_real(&body, r->last_active);
        pack_number(&body, r->mark);
        pack_text(&body, r->metrics);
        pack_text(&body, r->tools);
    }
    pack_number(out, RULES_VERSION);
    pack_number(out, METRIC_COUNT);
    pack_number(out, (uint64_t)last_message);
    pack_table(out, tools);
    pack_table(out, &words);
    pack_number(out, n);
    buf_add(out, buf_str(&body));
    out->full = out->full || buf_full(&body);
}

/* -- reading --------------------------------------------------------------------------------------- */

static double unpack_real(Unpacker *u)
{
    double d = 0;

    if (u->rest.n < sizeof d) {
        u->bad = true;
        return 0;
    }
    memcpy(&d, u->rest.p, sizeof d);
    u->rest = str_skip(u->rest, sizeof d);
    return d;
}

static ToolTable unpack_table(Arena *a, Unpacker *u)
{
    uint64_t n = unpack_number(u);
    ToolTable table = { 0 };

    if (n > u->rest.n) {
        u->bad = true;
        return table;
    }
    table.all = ARENA_ARRAY(a, Str, n + 1);
    table.cap = (size_t)n + 1;
    for (; table.n < n && !u->bad; table.n++)
        table.all[table.n] = unpack_text(u);
    return table;
}

static Str word_at(Unpacker *u, const ToolTable *words)
{
    uint64_t place = unpack_number(u);

    if (place >= words->n) {
        u->bad = true;
        return STR("");
    }
    return words->all[place];
}

static Record unpack_record(Unpacker *u, const ToolTable *words)
{
    Record r = { .id = unpack_text(u) };

    r.title = unpack_text(u);
    r.source = word_at(u, words);
    r.model = word_at(u, words);
    r.started_at = unpack_real(u);
    r.last_active = unpack_real(u);
    r.mark = unpack_number(u);
    r.metrics = unpack_text(u);
    r.tools = unpack_text(u);
    return r;
}

bool cache_unpack(Arena *a, Str bytes, RecordCache *ret)
{
    Unpacker u = { .rest = bytes };
    RecordCache cache = { 0 };
    ToolTable words;
    uint64_t n;

    if (unpack_number(&u) != RULES_VERSION)
        return false;
    if (unpack_number(&u) != METRIC_COUNT)
        return false;
    cache.last_message = (int64_t)unpack_number(&u);
    cache.tools = unpack_table(a, &u);
    words = unpack_table(a, &u);
    n = unpack_number(&u);
    if (u.bad || n > u.rest.n)
        return false;
    cache.all = ARENA_ARRAY(a, Record, n + 1);
    for (; cache.n < n && !u.bad; cache.n++)
        cache.all[cache.n] = unpack_record(&u, &words);
    if (u.bad || u.rest.n)
        return false;
    *ret = cache;
    for (size_t i = 0; i < ret->n; i++)
        ret->all[i].table = &ret->tools;
    return true;
}

/* -- finding --------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    return str_cmp((*(const Record *const *)a)->id, (*(const Record *const *)b)->id);
}

static void sort_by_id(Arena *a, RecordCache *cache)
{
    cache->by_id = ARENA_ARRAY(a, const Record *, cache->n + 1);
    for (size_t i = 0; i < cache->n; i++)
        cache->by_id[i] = &cache->all[i];
    qsort(cache->by_id, cache->n, sizeof(Record *), by_id);
}

const Record *cache_find(Arena *a, RecordCache *cache, Str id)
{
    const Record key = { .id = id }, *wanted = &key, **found;

    if (cache->at < cache->n && str_eq(cache->all[cache->at].id, id))
        return &cache->all[cache->at++];
    if (!cache->n)
        return NULL;
    if (!cache->by_id)
        sort_by_id(a, cache);
    found = bsearch(&wanted, cache->by_id, cache->n, sizeof(Record *), by_id);
    if (!found)
        return NULL;
    cache->at = (size_t)(*found - cache->all) + 1;
    return *found;
}
