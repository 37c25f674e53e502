#include "achievements/catalogue.h"

#include <pthread.h>

#include "achievements/metrics.h"
#include "embedded.h"
#include "text/json.h"

static Catalogue loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Lives as long as the process: the catalogue's text. */
static Arena *arena;

static Str keep(Json v)
{
    return str_dup(arena, json_str(v));
}

static JsonDoc *parse(const unsigned char *bytes, size_t size)
{
    Err err;
    JsonDoc *doc = json_parse((Str){ (const char *)bytes, size }, &err);

    ASSERT(doc);
    return doc;
}

static size_t metric_named(Str name)
{
    for (size_t i = 0; i < METRIC_COUNT; i++)
        if (str_eqz(name, metric_name(i)))
            return i;
    ASSERT(name.n == 0);
    return 0;
}

static void add_aggregate(Json labels, AggregateKind kind, Str name, Str metric)
{
    AggregateInfo info = { .name = str_dup(arena, name), .kind = kind };
    Str label = json_str(json_get(labels, name));

    ASSERT(loaded.n_aggregates < MAX_AGGREGATES);
    info.label = str_dup(arena, label.n ? label : name);
    if (kind != AGGREGATE_SPECIAL)
        info.metric = metric_named(metric);
    if (kind == AGGREGATE_MAX) {
        ASSERT(loaded.n_peaks < MAX_PEAKS);
        loaded.peaks[loaded.n_peaks++] = loaded.n_aggregates;
    }
    loaded.aggregates[loaded.n_aggregates++] = info;
}

static void load_aggregates(Json metrics)
{
    Json aggregate = json_get(metrics, STR("aggregate"));
    Json labels = json_get(metrics, STR("suggested_labels_own_words"));
    static const struct {
        const char *group;
        AggregateKind kind;
    } groups[] = { { "max", AGGREGATE_MAX },
                   { "sum", AGGREGATE_SUM },
                   { "sum_same_name", AGGREGATE_SUM },
                   { "special", AGGREGATE_SPECIAL } };
    Json item;
    Str name;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        JsonIter it = json_each(json_get(aggregate, str_of(groups[i].group)));

        /* An object says which metric; in a list both have one name. */
        while (json_next(&it, &name, &item))
            add_aggregate(labels, groups[i].kind, name.n ? name : json_str(item), json_str(item));
    }
}

static Str *load_words(Json list, size_t *ret_n)
{
    Str *words = ARENA_ARRAY(arena, Str, json_count(list) + 1), key;
    JsonIter it = json_each(list);
    Json item;

    while (json_next(&it, &key, &item))
        words[(*ret_n)++] = keep(item);
    return words;
}

static void load_requirements(Achievement *a, Json list)
{
    JsonIter it = json_each(list);
    Json item;
    Str key;

    while (json_next(&it, &key, &item)) {
        Requirement *r = &a->requirements[a->n_requirements++];

        ASSERT(a->n_requirements <= MAX_REQUIREMENTS);
        r->aggregate = catalogue_aggregate(&loaded, json_str(json_at(item, 0)));
        ASSERT(r->aggregate < loaded.n_aggregates && json_int(json_at(item, 1), &r->at_least));
    }
}

static void load_achievement(Json item)
{
    Achievement *a = &loaded.all[loaded.n++];
    Json tiers = json_get(item, STR("tiers"));

    ASSERT(loaded.n <= MAX_ACHIEVEMENTS);
    a->id = keep(json_get(item, STR("id")));
    a->name = keep(json_get(item, STR("name")));
    a->category = keep(json_get(item, STR("category")));
    a->kind = keep(json_get(item, STR("kind")));
    a->icon = keep(json_get(item, STR("icon")));
    a->description = keep(json_get(item, STR("description")));
    (void)json_bool(json_get(item, STR("secret")), &a->secret);
    a->tiered = json_type(tiers) == JSON_ARRAY;
    load_requirements(a, json_get(item, STR("requirements")));
    if (!a->tiered)
        return;
    a->aggregate = catalogue_aggregate(&loaded, json_str(json_get(item, STR("metric"))));
    ASSERT(a->aggregate < loaded.n_aggregates);
    for (size_t i = 0; i < TIER_COUNT; i++)
        ASSERT(json_int(json_at(tiers, i), &a->tiers[i]));
}

static void load(void)
{
    AUTO(JsonDoc) *metrics = parse(data_metrics_json, data_metrics_json_size);
    AUTO(JsonDoc) *list = parse(data_catalogue_json, data_catalogue_json_size);
    Json m = json_root(metrics), c = json_root(list), item;
    JsonIter it = json_each(json_get(c, STR("achievements")));
    Str key;

    arena = arena_new();
    load_aggregates(m);
    loaded.providers =
        load_words(json_get(m, STR("provider_substrings_in_order")), &loaded.n_providers);
    loaded.local_marks =
        load_words(json_get(m, STR("local_model_substrings")), &loaded.n_local_marks);
    for (size_t i = 0; i < TIER_COUNT; i++)
        loaded.tier_names[i] = keep(json_at(json_get(c, STR("tier_names")), i));
    while (json_next(&it, &key, &item))
        load_achievement(item);
}

const Catalogue *catalogue(void)
{
    pthread_once(&once, load);
    return &loaded;
}

size_t catalogue_aggregate(const Catalogue *c, Str name)
{
    size_t i = 0;

    while (i < c->n_aggregates && !str_eq(c->aggregates[i].name, name))
        i++;
    return i;
}
