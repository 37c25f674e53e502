#include "achievements/snapshot.h"

#include "achievements/cache.h"
#include "base/limits.h"

const char *scan_mode_name(ScanMode mode)
{
    static const char *const names[] = {
#define X(name, text) [name] = (text),
        SCAN_MODES(X)
#undef X
    };

    return names[mode];
}

/* -- making ---------------------------------------------------------------------------------------- */

static Evidence keep_evidence(Arena *a, Evidence e)
{
    e.session_id = e.session_id.p ? str_dup(a, e.session_id) : STR_NONE;
    e.title = e.title.p ? str_dup(a, e.title) : STR_NONE;
    return e;
}

/* Only a best session can be pointed at. */
static void find_best(Snapshot *s, const Totals *totals)
{
    const Catalogue *c = catalogue();

    for (size_t i = 0; i < c->n_peaks && totals->sessions; i++) {
        const Peak *peak = &totals->peaks[i];

        s->best[c->peaks[i]] = keep_evidence(s->arena, (Evidence){ .known = peak->id.p != NULL,
                                                                   .session_id = peak->id,
                                                                   .title = peak->title,
                                                                   .value = peak->value,
                                                                   .message = peak->message });
    }
}

static void keep_badge(SnapshotItem *item, const Unlock *u)
{
    item->kept = true;
    item->badge.unlocked = item->badge.discovered = true;
    item->badge.state = BADGE_UNLOCKED;
    item->badge.tier = u->tier;
}

static void fill_item(Snapshot *s, size_t i, Unlocks *unlocks, bool compat, int64_t now)
{
    const Achievement *a = &catalogue()->all[i];
    SnapshotItem *item = &s->items[i];
    Evidence found = a->tiered ? s->best[a->aggregate] : (Evidence){ 0 };
    const Unlock *u;

    item->badge = badge_evaluate(a, s->totals.value);
    if (!unlocks)
        return;
    u = &unlocks->all[i];
    if (item->badge.unlocked)
        unlocks_note(unlocks, i, item->badge.tier, &found, now);
    else if (u->known && !compat)
        keep_badge(item, u);
    if (!item->badge.unlocked)
        return;
    item->unlocked_at = u->unlocked_at;
    item->shown_at = compat ? u->unlocked_at : u->tier_at;
    item->evidence = keep_evidence(s->arena, u->evidence.known ? u->evidence : found);
    if (!item->evidence.message && str_eq(item->evidence.session_id, found.session_id))
        item->evidence.message = found.message;
}

static void count_states(Snapshot *s)
{
    for (size_t i = 0; i < catalogue()->n; i++) {
        s->unlocked += s->items[i].badge.state == BADGE_UNLOCKED;
        s->discovered += s->items[i].badge.state == BADGE_DISCOVERED;
        s->secret += s->items[i].badge.state == BADGE_SECRET;
    }
}

Snapshot *snapshot_make(Arena *arena, const Totals *totals, const ScanMeta *meta, Unlocks *unlocks,
                        bool compat, int64_t now)
{
    Snapshot *s = mem_alloc(sizeof *s);

    *s = (Snapshot){ .arena = arena, .users = 1, .generated_at = now, .meta = *meta };
    s->totals.sessions = totals->sessions;
    memcpy(s->totals.value, totals->value, sizeof s->totals.value);
    find_best(s, totals);
    for (size_t i = 0; i < catalogue()->n; i++)
        fill_item(s, i, unlocks, compat, now);
    count_states(s);
    return s;
}

Snapshot *snapshot_pending(int64_t now)
{
    Snapshot *s = mem_alloc(sizeof *s);

    *s = (Snapshot){ .arena = arena_new(), .users = 1, .generated_at = now };
    for (size_t i = 0; i < catalogue()->n; i++)
        s->items[i].badge = badge_pending(&catalogue()->all[i]);
    count_states(s);
    return s;
}

Snapshot *snapshot_free(Snapshot *s)
{
    if (s) {
        arena_free(s->arena);
        arena_free(s->kept);
        mem_free(s);
    }
    return NULL;
}

const Record *snapshot_records(const Snapshot *s, Arena *a, size_t *ret_n)
{
    const RecordSource *source = &s->source;
    AUTO(Index) *index = NULL;

    *ret_n = source->n;
    if (source->records || !source->homes)
        return source->records;
    index = index_open(source->homes->data);
    return cache_records(index, a, source->topic, source->homes, source->read, ret_n);
}

/* -- recent ----------------------------------------------------------------------------------------- */

typedef struct Recent {
    size_t at;
    int64_t when;
} Recent;

static int newest_first(const void *left, const void *right)
{
    const Recent *a = left, *b = right;

    if (a->when != b->when)
        return a->when > b->when ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

size_t snapshot_recent(const Snapshot *s, size_t order[MOST_ACHIEVEMENTS])
{
    enum { MOST = 20 };
    Recent all[MOST_ACHIEVEMENTS];
    size_t n = 0;

    for (size_t i = 0; i < catalogue()->n; i++)
        if (s->items[i].badge.unlocked)
            all[n++] = (Recent){ i, s->items[i].shown_at };
    if (n)
        qsort(all, n, sizeof *all, newest_first);
    for (size_t i = 0; i < n && i < MOST; i++)
        order[i] = all[i].at;
    return n < MOST ? n : MOST;
}

/* -- items ------------------------------------------------------------------------------------------ */

static void put_tier_name(JsonWriter *w, const char *key, int tier)
{
    json_field_str(w, key, tier < 0 ? STR_NONE : catalogue()->tier_names[tier]);
}

/* What counts, in words: the label and the ladder, or all that is asked for. */
static void put_criteria(JsonWriter *w, const Achievement *a)
{
    const Catalogue *c = catalogue();
    AUTO_BUF text = BUF(KIB(2));

    if (a->tiered) {
        Str label = c->aggregates[a->aggregate].label;

        buf_addf(&text, "What counts: %.*s.", STR_FMT(label));
        for (size_t i = 0; i < TIER_COUNT; i++)
            buf_addf(&text, "%s%.*s at %lld", i ? ", " : " ", STR_FMT(c->tier_names[i]),
                     (long long)a->tiers[i]);
        buf_addc(&text, '.');
    } else {
        buf_addz(&text, "All of these:");
        for (size_t i = 0; i < a->n_requirements; i++) {
            Str label = c->aggregates[a->requirements[i].aggregate].label;

            buf_addf(&text, "%s %.*s, at least %lld", i ? ";" : "", STR_FMT(label),
                     (long long)a->requirements[i].at_least);
        }
        buf_addc(&text, '.');
    }
    json_field_str(w, "criteria", buf_str(&text));
}

static void put_ladder(JsonWriter *w, const Achievement *a)
{
    json_key(w, "tiers");
    json_begin(w, '[');
    for (size_t i = 0; i < TIER_COUNT; i++) {
        json_begin(w, '{');
        json_field_str(w, "name", catalogue()->tier_names[i]);
        json_field_int(w, "threshold", a->tiers[i]);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void put_requirements(JsonWriter *w, const Achievement *a)
{
    json_key(w, "requirements");
    json_begin(w, '[');
    for (size_t i = 0; i < a->n_requirements; i++) {
        json_begin(w, '{');
        json_field_int(w, "gte", a->requirements[i].at_least);
        json_field_str(w, "metric", catalogue()->aggregates[a->requirements[i].aggregate].name);
        json_end(w, '}');
    }
    json_end(w, ']');
}

/* Keys in order: the same text serves the routes and the file. dated: with unlocked_at, evidence. */
static void put_item(JsonWriter *w, const Achievement *a, const SnapshotItem *item, bool dated)
{
    const Badge *b = &item->badge;
    bool hidden = b->state == BADGE_SECRET;

    json_begin(w, '{');
    json_field_str(w, "category", a->category);
    if (hidden)
        json_field_str(w, "criteria", STR("A secret: it shows itself when you come across it."));
    else
        put_criteria(w, a);
    json_field_str(w, "description",
                   hidden ? STR("Not discovered yet. Keep going about your work.")
                          : a->description);
    json_field_bool(w, "discovered", b->discovered);
    if (b->unlocked && dated) {
        json_key(w, "evidence");
        evidence_put(w, &item->evidence);
    }
    json_field_str(w, "icon", hidden ? STR("secret") : a->icon);
    json_field_str(w, "id", a->id);
    if (item->kept)
        json_field_bool(w, "kept", true);
    json_field_str(w, "kind", a->kind);
    json_field_str(w, "name", hidden ? STR("???") : a->name);
    json_field_int(w, "next_threshold", b->next_threshold);
    put_tier_name(w, "next_tier", b->next_tier);
    json_field_int(w, "progress", b->progress);
    json_field_int(w, "progress_pct", b->progress_pct);
    if (!a->tiered)
        put_requirements(w, a);
    if (a->secret)
        json_field_bool(w, "secret", true);
    json_field_str(w, "state", str_of(badge_state_name(b->state)));
    if (a->tiered)
        json_field_str(w, "threshold_metric", catalogue()->aggregates[a->aggregate].name);
    put_tier_name(w, "tier", b->tier);
    if (a->tiered)
        put_ladder(w, a);
    json_field_bool(w, "unlocked", b->unlocked);
    if (b->unlocked && dated) {
        json_key(w, "unlocked_at");
        if (item->unlocked_at)
            json_put_int(w, item->unlocked_at);
        else
            json_put_null(w);
    }
    json_end(w, '}');
}

void snapshot_put_item(JsonWriter *w, const Snapshot *s, size_t achievement)
{
    put_item(w, &catalogue()->all[achievement], &s->items[achievement], true);
}

void snapshot_put_items(JsonWriter *w, const Snapshot *s)
{
    json_begin(w, '[');
    for (size_t i = 0; i < catalogue()->n; i++)
        snapshot_put_item(w, s, i);
    json_end(w, ']');
}

void snapshot_put_session_badges(JsonWriter *w, const Snapshot *s, Str session)
{
    const Catalogue *c = catalogue();
    AUTO(Arena) *a = arena_new();
    size_t n, at = 0;
    const Record *records = snapshot_records(s, a, &n);
    Totals alone;

    while (at < n && !str_eq(records[at].id, session))
        at++;
    if (at < n)
        totals_of(&records[at], &alone);
    json_begin(w, '[');
    for (size_t k = 0; k < c->n && at < n; k++) {
        SnapshotItem item = { .badge = badge_evaluate(&c->all[k], alone.value) };

        if (item.badge.unlocked)
            put_item(w, &c->all[k], &item, false);
    }
    json_end(w, ']');
}

/* -- totals and sessions ----------------------------------------------------------------------------- */

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
    Named order[MOST_AGGREGATES];

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

static void put_names(JsonWriter *w, const Str *names, size_t n)
{
    json_begin(w, '[');
    for (size_t i = 0; i < n; i++)
        json_put_str(w, names[i]);
    json_end(w, ']');
}

static void put_models(JsonWriter *w, Str models)
{
    Str model;

    json_begin(w, '[');
    while (models.n && str_split(&models, '\n', &model))
        json_put_str(w, model);
    json_end(w, ']');
}

/* A record, taken apart for writing. */
typedef struct Open {
    const Record *record;
    int64_t values[METRIC_COUNT];
} Open;

static void put_tools(JsonWriter *w, const Record *r)
{
    AUTO(Arena) *a = arena_new();
    size_t n;
    Str *names = record_tools(a, r, &n);

    put_names(w, names, n);
}

static void put_field(JsonWriter *w, const Open *open, size_t field)
{
    const Record *r = open->record;

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
            json_put_bool(w, open->values[field] != 0);
        else
            json_put_int(w, open->values[field]);
    }
}

static void put_record(JsonWriter *w, const Record *r)
{
    const Named *order = record_order();
    Open open = { .record = r };

    record_metrics(r, open.values);
    json_begin(w, '{');
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        json_key_str(w, order[i].name);
        put_field(w, &open, order[i].at);
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

/* -- files ------------------------------------------------------------------------------------------- */

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

static void put_contribution(JsonWriter *w, const Record *r)
{
    const Named *order = record_order();
    int64_t values[METRIC_COUNT];

    record_metrics(r, values);
    json_key(w, "contribution");
    json_begin(w, '{');
    json_key(w, "metrics");
    json_begin(w, '{');
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (order[i].at < METRIC_COUNT && !metric_is_flag(order[i].at)) {
            json_key_str(w, order[i].name);
            json_put_int(w, values[order[i].at]);
        }
    json_end(w, '}');
    json_end(w, '}');
}

static void put_fingerprints(JsonWriter *w, const Record *r)
{
    int64_t values[METRIC_COUNT];
    char hash[20];

    record_metrics(r, values);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->mark);
    json_key(w, "fingerprint");
    json_begin(w, '{');
    json_field_double(w, "last_active", r->last_active);
    json_field_str(w, "model", r->model.n ? r->model : STR_NONE);
    json_field_double(w, "started_at", r->started_at);
    json_field_str(w, "title", r->title);
    json_end(w, '}');
    json_key(w, "seed_fingerprint");
    json_begin(w, '{');
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
    json_key(&w, "sessions");
    json_begin(&w, '{');
    for (size_t i = 0; i < n; i++) {
        json_key_str(&w, order[i]->id);
        json_begin(&w, '{');
        put_contribution(&w, order[i]);
        put_fingerprints(&w, order[i]);
        json_key(&w, "stats");
        put_record(&w, order[i]);
        json_end(&w, '}');
    }
    json_end(&w, '}');
    json_end(&w, '}');
}
