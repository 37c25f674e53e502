/* The recorded demo: markers of time, and what is packed. */
#include "demo/checklist.h"
#include "demo/pack.h"
#include "demo/shift.h"
#include "unit.h"

static const double NOW = 1794765600; /* 2026-11-15T18:00:00Z, a Sunday */

static Str shifted(Arena *a, const char *text, double now)
{
    RecordedFile files[] = { { STR_INIT("a"), STR_INIT("{\"demo_path\": \"x\"}\nabc") } };
    Recording r = { .arena = a, .files = files, .n = 1, .now = now, .root = STR_INIT("/h/\"q\"") };
    AUTO_BUF out = BUF(4096);
    double latest;
    Err err;

    if (!demo_shift(&r, str_of(text), &out, &latest, &err))
        return str_dup(a, str_of(err.text));
    return str_dup(a, buf_str(&out));
}

static void markers_become_times(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "no marker", "no marker" },
        { "«unix:-60» «unix:-59.877»", "1794765540.000 1794765540.123" },
        { "«sec:-60» «ms:-59.877»", "1794765540 1794765540123" },
        { "«iso:-60» «isoms:-59.5»", "2026-11-15T17:59:00Z 2026-11-15T17:59:00.500Z" },
        { "a «date:-86400», «long:-950400».", "a 2026-11-14, 4 November 2026." },
        { "«year:0» «month:0:0» «month:0:11»", "2026 2026-11 2025-12" },
        { "demo_«stamp:-60»_ab", "demo_20261115_175900_ab" },
        { "«folder:-60»/rollout-«file:-60»", "2026/11/15/rollout-2026-11-15T17-59-00" },
        { "«night:-60» «root»/x", "20261115-175900 /h/\\\"q\\\"/x" },
        { "«sha256:a»", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "«sha256:b»", "the recorded demo has no file 'b'" },
        { "«nope:1»", "unknown marker 'nope:1' in the recorded demo" },
        { "«date:x»", "unknown marker 'date:x' in the recorded demo" },
        { "«date»", "unknown marker 'date' in the recorded demo" },
        { "left « open", "left « open" },
    };
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(shifted(a, cases[i].text, NOW), str_of(cases[i].want));
}

static void the_latest_time_is_told(void **state)
{
    AUTO_BUF out = BUF(4096);
    Recording r = { .now = NOW };
    double latest = -1;
    Err err;

    (void)state;
    assert_true(demo_shift(&r, STR("«unix:-5» «unix:-3» «unix:-4»"), &out, &latest, &err));
    assert_true(latest == NOW - 3);
    assert_true(demo_shift(&r, STR("none"), &out, &latest, &err));
    assert_true(latest == 0);
}

static void every_recorded_file_shifts(void **state)
{
    AUTO(Arena) *a = arena_new();
    Recording r = { .arena = a, .now = NOW, .root = STR("/demo") };
    Err err;

    (void)state;
    assert_true(demo_unpack(a, &r.files, &r.n, &err));
    assert_true(r.n > 50);
    assert_true(demo_recorded(r.files, r.n, "demo.json").n > 0);
    assert_null(demo_recorded(r.files, r.n, "nothing").p);
    for (size_t i = 0; i < r.n; i++) {
        AUTO_BUF out = BUF(8 << 20);
        double latest;

        assert_true(demo_shift(&r, r.files[i].text, &out, &latest, &err));
        assert_true(latest <= NOW + 40 * 86400);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_become_times),
        cmocka_unit_test(the_latest_time_is_told),
        cmocka_unit_test(every_recorded_file_shifts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
