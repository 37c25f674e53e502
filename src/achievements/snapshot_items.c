/* Badges as JSON. Keys are in order, so that the same text serves the routes and the file. */
#include "achievements/snapshot.h"
#include "base/limits.h"

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
    json_field_begin(w, "tiers", '[');
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
    json_field_begin(w, "requirements", '[');
    for (size_t i = 0; i < a->n_requirements; i++) {
        json_begin(w, '{');
        json_field_int(w, "gte", a->requirements[i].at_least);
        json_field_str(w, "metric", catalogue()->aggregates[a->requirements[i].aggregate].name);
        json_end(w, '}');
    }
    json_end(w, ']');
}

/* Keys in order: the same text serves the routes and the file. dated: with unlocked_at,
 * evidence. */
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
    tier_put(w, "next_tier", b->next_tier);
    json_field_int(w, "progress", b->progress);
    json_field_int(w, "progress_pct", b->progress_pct);
    if (!a->tiered)
        put_requirements(w, a);
    if (a->secret)
        json_field_bool(w, "secret", true);
    json_field_str(w, "state", str_of(badge_state_name(b->state)));
    if (a->tiered)
        json_field_str(w, "threshold_metric", catalogue()->aggregates[a->aggregate].name);
    tier_put(w, "tier", b->tier);
    if (a->tiered)
        put_ladder(w, a);
    json_field_bool(w, "unlocked", b->unlocked);
    if (b->unlocked && dated)
        json_field_int_or_null(w, "unlocked_at", item->unlocked_at, item->unlocked_at);
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

void snapshot_put_sources(JsonWriter *w, const Snapshot *s)
{
    json_field_begin(w, "sources", '{');
    for (size_t i = 0; i < ORIGIN_COUNT; i++)
        json_field_int(w, origin_name((Origin)i), s->sources[i]);
    json_end(w, '}');
}

/* What one session comes to by itself; false: it is not counted. */
static bool session_alone(const Snapshot *s, Str session, Totals *ret)
{
    AUTO(Arena) *a = arena_new();
    size_t n, at = 0;
    const Record *records = snapshot_records(s, a, &n);

    if (s->source.all) {
        FoldQuery query = { .lanes = s->source.homes, .session = session };
        Fold fold;

        fold_records(records, n, &query, &fold);
        *ret = fold.totals;
        return fold.totals.sessions > 0;
    }
    while (at < n && !str_eq(records[at].id, session))
        at++;
    if (at < n)
        totals_of(&records[at], ret);
    return at < n;
}

void snapshot_put_session_badges(JsonWriter *w, const Snapshot *s, Str session)
{
    const Catalogue *c = catalogue();
    Totals alone;
    bool known = session.n && session_alone(s, session, &alone);

    json_begin(w, '[');
    for (size_t k = 0; k < c->n && known; k++) {
        SnapshotItem item = { .badge = badge_evaluate(&c->all[k], alone.value) };

        if (item.badge.unlocked)
            put_item(w, &c->all[k], &item, false);
    }
    json_end(w, ']');
}
