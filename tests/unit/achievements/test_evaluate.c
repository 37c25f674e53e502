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
    int64_t totals[MAX_AGGREGATES] = { 0 };
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
    Record records[2] = {
        { .id = STR("b"), .title = STR("T"), .source = STR("cli"), .mark = 77, .rowid = 64 },
        { .id = STR("a"), .model = STR("m"), .started_at = 1.5 }
    };
    const Record *list[] = { &records[0], &records[1] };
    int64_t values[METRIC_COUNT], messages[MAX_PEAKS];
    AUTO_BUF out = BUF(MIB(1));
    ToolTable table = { 0 }, *names;
    size_t n, n_names;
    Record *back;

    (void)state;
    counted.value[METRIC_ERROR_COUNT] = 123456789012;
    counted.message[METRIC_TOOL_CALL_COUNT] = 4711;
    record_set(a, &records[0], &table, &counted);
    record_set(a, &records[1], &table, &none);
    chunk_pack(list, 2, &table, &out);
    assert_true(chunk_unpack(a, buf_str(&out), &back, &n, &names));
    assert_int_equal(n, 2);
    assert_str(record_tools(a, &back[0], &n_names)[1], STR("terminal"));
    assert_int_equal(n_names, 2);
    record_metrics(&back[0], values);
    assert_int_equal(values[METRIC_ERROR_COUNT], 123456789012);
    record_peaks(&back[0], messages);
    assert_int_equal(messages[0], 4711);
    assert_int_equal(back[0].rowid, 64);
    assert_true(back[1].started_at == 1.5);
    /* Cut anywhere it is no chunk, and nothing is read past its end. */
    for (size_t cut = 0; cut < out.n; cut++)
        assert_false(chunk_unpack(a, str_head(buf_str(&out), cut), &back, &n, &names));
}

/* The sums of chunks, packed, unpacked and folded, are what all records come to at once. */
static void totals_are_the_same_in_any_chunks(void **state)
{
    enum { N = 200 };
    AUTO(Arena) *a = arena_new();
    const Record *list[N];
    Record records[N] = { 0 };
    ToolTable table = { 0 };
    Totals whole = { 0 };
    Sum sum;

    (void)state;
    for (size_t i = 0; i < N; i++) {
        SessionMetrics m = { 0 };

        for (size_t k = 0; k < METRIC_COUNT; k++) {
            m.value[k] = (int64_t)(i * 7919 + k * 31) % 23; /* many equal maxima */
            m.message[k] = (int64_t)(i * 100 + k);
        }
        records[i] = (Record){ .id = str_printf(a, "s%zu", i),
                               .title = STR("T"),
                               .model = str_printf(a, "openai/m%zu", i % 5),
                               .started_at = 1.7e9 + (double)(i % 10) * 30000,
                               .rowid = (int64_t)i };
        record_set(a, &records[i], &table, &m);
        list[i] = &records[i];
    }
    sum = sum_of(a, list, N);
    totals_add(a, &whole, &sum);
    totals_end(&whole);
    for (size_t size = 1; size < N; size += 13) {
        Totals folded = { 0 };

        for (size_t i = 0; i < N; i += size) {
            AUTO_BUF out = BUF(MIB(1));
            Unpacker u;

            sum = sum_of(a, list + i, i + size < N ? size : N - i);
            sum_pack(&out, &sum);
            u = (Unpacker){ .rest = str_dup(a, buf_str(&out)) };
            sum_unpack(a, &u, &sum);
            assert_true(!u.bad && u.rest.n == 0);
            totals_add(a, &folded, &sum);
        }
        totals_end(&folded);
        assert_memory_equal(folded.value, whole.value, sizeof whole.value);
        for (size_t i = 0; i < catalogue()->n_peaks; i++) {
            assert_str(folded.peaks[i].id, whole.peaks[i].id);
            assert_int_equal(folded.peaks[i].message, whole.peaks[i].message);
        }
    }
}

static void a_cut_head_is_no_head(void **state)
{
    AUTO(Arena) *a = arena_new();
    SessionMark marks[] = { { 3, 77 }, { 300, 78 } };
    ChunkSum chunks[] = { { 0, &(Sum){ .sessions = 1 } },
                          { 4, &(Sum){ .sessions = 1, .weekend = 1 } } };
    CacheHead head = { .last_message = 42,
                       .marks = marks,
                       .n_marks = 2,
                       .chunks = chunks,
                       .n_chunks = 2 },
              back;
    AUTO_BUF out = BUF(MIB(1));

    (void)state;
    head_pack(&head, &out);
    assert_true(head_unpack(a, buf_str(&out), &back));
    assert_int_equal(back.last_message, 42);
    assert_int_equal(back.marks[1].rowid, 300);
    assert_int_equal(back.marks[1].mark, 78);
    assert_int_equal(back.chunks[1].sum->weekend, 1);
    for (size_t cut = 0; cut < out.n; cut++)
        assert_false(head_unpack(a, str_head(buf_str(&out), cut), &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_golden_case_evaluates_the_same),
        cmocka_unit_test(models_are_told_by_their_names),
        cmocka_unit_test(the_catalogue_is_whole_and_written_by_us),
        cmocka_unit_test(packed_records_come_back_the_same),
        cmocka_unit_test(totals_are_the_same_in_any_chunks),
        cmocka_unit_test(a_cut_head_is_no_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
