#include "unit.h"

#include "achievements/cache.h"
#include "achievements/evaluate.h"
#include "achievements/models.h"
#include "base/file.h"
#include "base/limits.h"
#include "text/json.h"

static JsonDoc *fixture(Arena *a, const char *name)
{
    Str folder = str_of(getenv("TALARIA_FIXTURES")), bytes;
    JsonDoc *doc;
    Err err;

    assert_non_null(folder.p);
    assert_true(file_read(a, str_printf(a, "%.*s/achievements/golden/%s", STR_FMT(folder), name).p,
                          MIB(16), &bytes, &err));
    doc = json_parse(bytes, &err);
    assert_non_null(doc);
    return doc;
}

static bool is_int(Json v, int64_t expected)
{
    int64_t n;

    return json_int(v, &n) && n == expected;
}

static bool is_bool(Json v, bool expected)
{
    bool b;

    return json_bool(v, &b) && b == expected;
}

static bool is_tier(Json v, int tier)
{
    return tier < 0 ? json_type(v) == JSON_NULL
                    : str_eq(json_str(v), catalogue()->tier_names[tier]);
}

static const Achievement *achievement(Str id)
{
    for (size_t i = 0; i < catalogue()->n; i++)
        if (str_eq(catalogue()->all[i].id, id))
            return &catalogue()->all[i];
    fail_msg("no achievement '%.*s'", STR_FMT(id));
    return NULL;
}

/* A row of the golden: input, state, unlocked, discovered, tier, progress, next_tier, ... */
static void check_row(const Achievement *a, Json row)
{
    int64_t totals[MOST_AGGREGATES] = { 0 };
    Json input = json_at(row, 0), item;
    JsonIter it = json_each(input);
    size_t i = 0;
    Badge b;
    Str key;

    if (a->tiered)
        assert_true(json_int(input, &totals[a->aggregate]));
    for (; !a->tiered && json_next(&it, &key, &item); i++)
        assert_true(json_int(item, &totals[a->requirements[i].aggregate]));
    b = badge_evaluate(a, totals);
    if (!str_eqz(json_str(json_at(row, 1)), badge_state_name(b.state)) ||
        !is_bool(json_at(row, 2), b.unlocked) || !is_bool(json_at(row, 3), b.discovered) ||
        !is_tier(json_at(row, 4), b.tier) || !is_int(json_at(row, 5), b.progress) ||
        !is_tier(json_at(row, 6), b.next_tier) || !is_int(json_at(row, 7), b.next_threshold) ||
        !is_int(json_at(row, 8), b.progress_pct))
        fail_msg("%.*s: progress %lld, %d %%", STR_FMT(a->id), (long long)b.progress,
                 b.progress_pct);
}

static void every_golden_case_evaluates_the_same(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = fixture(a, "eval_cases.json");
    JsonIter defs = json_each(json_get(json_root(doc), STR("defs")));
    size_t cases = 0;
    Json def, row;
    Str key;

    (void)state;
    while (json_next(&defs, &key, &def)) {
        JsonIter rows = json_each(json_get(def, STR("rows")));

        for (; json_next(&rows, &key, &row); cases++)
            check_row(achievement(json_str(json_get(def, STR("id")))), row);
    }
    assert_int_equal(cases, 2208);
}

static void models_are_told_by_their_names(void **state)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = fixture(a, "model_cases.json");
    JsonIter it = json_each(json_get(json_root(doc), STR("cases")));
    Json row;
    Str key;

    (void)state;
    while (json_next(&it, &key, &row)) {
        Str name = json_str(json_at(row, 0)), provider = json_str(json_at(row, 1));

        assert_str(model_provider(a, name), provider.p ? provider : STR(""));
        if (!is_bool(json_at(row, 2), model_is_local(a, name)))
            fail_msg("'%.*s' is local or not", STR_FMT(name));
    }
}

static void the_catalogue_is_whole_and_written_by_us(void **state)
{
    const Catalogue *c = catalogue();

    (void)state;
    assert_int_equal(c->n, 60);
    assert_int_equal(c->n_aggregates, 63);
    for (size_t i = 0; i < c->n; i++) {
        const Achievement *a = &c->all[i];

        if (!a->description.n || !str_ends(a->description, STR(".")))
            fail_msg("%.*s has no description", STR_FMT(a->id));
        for (size_t k = 1; a->tiered && k < TIER_COUNT; k++)
            assert_true(a->tiers[k] > a->tiers[k - 1]);
    }
}

static void packed_records_come_back_the_same(void **state)
{
    AUTO(Arena) *a = arena_new();
    Str tools[] = { STR("read_file"), STR("terminal") };
    SessionMetrics counted = { .tool_names = tools, .n_tool_names = 2 }, none = { 0 };
    Record records[2] = { { .id = STR("b"), .title = STR("T"), .source = STR("cli"), .mark = 77 },
                          { .id = STR("a"), .model = STR("m"), .started_at = 1.5 } };
    const Record *list[] = { &records[0], &records[1] };
    int64_t values[METRIC_COUNT];
    AUTO_BUF out = BUF(MIB(1));
    ToolTable table = { 0 };
    RecordCache cache;
    size_t n;

    (void)state;
    counted.value[METRIC_ERROR_COUNT] = 123456789012;
    record_set(a, &records[0], &table, &counted);
    record_set(a, &records[1], &table, &none);
    cache_pack(list, 2, 42, &table, &out);
    assert_true(cache_unpack(a, buf_str(&out), &cache));
    assert_int_equal(cache.last_message, 42);
    for (int round = 0; round < 2; round++) { /* in order, and not */
        assert_str(record_tools(a, cache_find(a, &cache, STR("b")), &n)[1], STR("terminal"));
        assert_int_equal(n, 2);
        record_metrics(cache_find(a, &cache, STR("b")), values);
        assert_int_equal(values[METRIC_ERROR_COUNT], 123456789012);
        assert_true(cache_find(a, &cache, STR("a"))->started_at == 1.5);
        assert_null(cache_find(a, &cache, STR("c")));
    }
    /* Cut anywhere it is no cache, and nothing is read past its end. */
    for (size_t cut = 0; cut < out.n; cut++)
        assert_false(cache_unpack(a, str_head(buf_str(&out), cut), &cache));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_golden_case_evaluates_the_same),
        cmocka_unit_test(models_are_told_by_their_names),
        cmocka_unit_test(the_catalogue_is_whole_and_written_by_us),
        cmocka_unit_test(packed_records_come_back_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
