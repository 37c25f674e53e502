/* The data behind the badges: totals and sessions, and the two files that Hermes' plugin shares
 * with us. A session's fields are sorted by name, metrics and the others together, as the plugin
 * writes them. */
#include "achievements/snapshot.h"
#include "base/limits.h"

/* -- totals and sessions -- */

typedef struct Named {
    Str name;
    size_t at;
} Named;

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const Named *)a)->name, ((const Named *)b)->name);
}

void snapshot_put_totals(JsonWriter *w, const Snapshot *s)
{
    const Catalogue *c = catalogue();
    Named order[MAX_AGGREGATES];

    for (size_t i = 0; i < c->n_aggregates; i++)
        order[i] = (Named){ c->aggregates[i].name, i };
    qsort(order, c->n_aggregates, sizeof *order, by_name);
    json_begin(w, '{');
    for (size_t i = 0; i < c->n_aggregates; i++) {
        json_key_str(w, order[i].name);
        json_put_int(w, s->totals.value[order[i].at]);
    }
    json_end(w, '}');
}

/* The fields of a session beside its metrics, sorted in among them. */
enum {
    FIELD_LAST_ACTIVE = METRIC_COUNT,
    FIELD_MODELS,
    FIELD_ID,
    FIELD_SOURCE,
    FIELD_STARTED,
    FIELD_TITLE,
    FIELD_TOOLS,
    FIELD_COUNT
};

static const Named *record_order(void)
{
    static const char *const extra[] = { "last_active", "model_names", "session_id", "source",
                                         "started_at",  "title",       "tool_names" };
    static _Thread_local Named order[FIELD_COUNT];

    if (!order[0].name.p) {
        for (size_t i = 0; i < METRIC_COUNT; i++)
            order[i] = (Named){ str_of(metric_name(i)), i };
        for (size_t i = METRIC_COUNT; i < FIELD_COUNT; i++)
            order[i] = (Named){ str_of(extra[i - METRIC_COUNT]), i };
        qsort(order, FIELD_COUNT, sizeof *order, by_name);
    }
    return order;
}

static void put_models(JsonWriter *w, Str models)
{
    Str model;

    json_begin(w, '[');
    while (models.n && str_split(&models, '\n', &model))
        json_put_str(w, model);
    json_end(w, ']');
}

static void put_tools(JsonWriter *w, const Record *r)
{
    AUTO(Arena) *a = arena_new();
    size_t n;
    Str *names = record_tools(a, r, &n);

    json_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        json_put_str(w, names[i]);
    json_end(w, ']');
}

static void put_field(JsonWriter *w, const Record *r, const int64_t *values, size_t field)
{
    switch (field) {
    case FIELD_LAST_ACTIVE:
        json_put_double(w, r->last_active);
        break;
    case FIELD_MODELS:
        put_models(w, r->model);
        break;
    case FIELD_ID:
        json_put_str(w, r->id);
        break;
    case FIELD_SOURCE:
        json_put_str(w, r->source);
        break;
    case FIELD_STARTED:
        json_put_double(w, r->started_at);
        break;
    case FIELD_TITLE:
        json_put_str(w, r->title);
        break;
    case FIELD_TOOLS:
        put_tools(w, r);
        break;
    default:
        if (metric_is_flag(field))
            json_put_bool(w, values[field] != 0);
        else
            json_put_int(w, values[field]);
    }
}

static void put_record(JsonWriter *w, const Record *r)
{
    const Named *order = record_order();
    int64_t values[METRIC_COUNT];

    record_metrics(r, values);
    json_begin(w, '{');
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        json_key_str(w, order[i].name);
        put_field(w, r, values, order[i].at);
    }
    json_end(w, '}');
}

void snapshot_put_sessions(JsonWriter *w, const Snapshot *s)
{
    AUTO(Arena) *a = arena_new();
    size_t n;
    const Record *records = snapshot_records(s, a, &n);

    json_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        put_record(w, &records[i]);
    json_end(w, ']');
}

/* -- files -- */

static void put_meta(JsonWriter *w, const ScanMeta *m)
{
    json_begin(w, '{');
    json_field_int(w, "duration_ms", m->duration_ms);
    json_field_null(w, "error");
    json_field_int(w, "messages_scanned", m->messages_scanned);
    json_field_str(w, "mode", str_of(scan_mode_name(m->mode)));
    json_field_int(w, "sessions_expected_total", m->sessions_expected);
    json_field_int(w, "sessions_rescanned", m->sessions_rescanned);
    json_field_int(w, "sessions_reused", m->sessions_reused);
    json_field_int(w, "sessions_scanned", m->sessions_rescanned);
    json_field_int(w, "sessions_scanned_so_far", m->sessions_total);
    json_field_int(w, "sessions_total", m->sessions_total);
    json_end(w, '}');
}

void snapshot_write_file(const Snapshot *s, Buf *out)
{
    JsonWriter w = JSON_WRITER(out, 2);

    w.ascii = true;
    json_begin(&w, '{');
    json_key(&w, "achievements");
    snapshot_put_items(&w, s);
    json_key(&w, "aggregate");
    snapshot_put_totals(&w, s);
    json_field_int(&w, "discovered_count", s->discovered);
    json_field_null(&w, "error");
    json_field_int(&w, "generated_at", s->generated_at);
    json_key(&w, "scan_meta");
    put_meta(&w, &s->meta);
    json_field_int(&w, "secret_count", s->secret);
    json_key(&w, "sessions");
    snapshot_put_sessions(&w, s);
    json_field_int(&w, "total_count", (int64_t)catalogue()->n);
    json_field_int(&w, "unlocked_count", s->unlocked);
    json_end(&w, '}');
}

static void put_counted(JsonWriter *w, const Record *r)
{
    const Named *order = record_order();
    int64_t values[METRIC_COUNT];
    char hash[20];

    record_metrics(r, values);
    json_field_begin(w, "contribution", '{');
    json_field_begin(w, "metrics", '{');
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (order[i].at < METRIC_COUNT && !metric_is_flag(order[i].at)) {
            json_key_str(w, order[i].name);
            json_put_int(w, values[order[i].at]);
        }
    json_end(w, '}');
    json_end(w, '}');
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->mark);
    json_field_begin(w, "fingerprint", '{');
    json_field_double(w, "last_active", r->last_active);
    json_field_str(w, "model", r->model.n ? r->model : STR_NONE);
    json_field_double(w, "started_at", r->started_at);
    json_field_str(w, "title", r->title);
    json_end(w, '}');
    json_field_begin(w, "seed_fingerprint", '{');
    json_field_str(w, "hash", str_of(hash));
    json_field_int(w, "message_count", values[METRIC_MESSAGE_COUNT]);
    json_field_double(w, "updated_at", r->last_active);
    json_end(w, '}');
}

static int by_record_id(const void *a, const void *b)
{
    return str_cmp((*(const Record *const *)a)->id, (*(const Record *const *)b)->id);
}

void snapshot_write_checkpoint(const Snapshot *s, Buf *out)
{
    JsonWriter w = JSON_WRITER(out, 2);
    AUTO(Arena) *a = arena_new();
    size_t n;
    const Record *records = snapshot_records(s, a, &n);
    const Record **order = ARENA_ARRAY(a, const Record *, n + 1);

    for (size_t i = 0; i < n; i++)
        order[i] = &records[i];
    qsort(order, n, sizeof(Record *), by_record_id);
    w.ascii = true;
    json_begin(&w, '{');
    json_field_int(&w, "generated_at", s->generated_at);
    json_field_int(&w, "schema_version", 1);
    json_field_begin(&w, "sessions", '{');
    for (size_t i = 0; i < n; i++) {
        json_key_str(&w, order[i]->id);
        json_begin(&w, '{');
        put_counted(&w, order[i]);
        json_key(&w, "stats");
        put_record(&w, order[i]);
        json_end(&w, '}');
    }
    json_end(&w, '}');
    json_end(&w, '}');
}
