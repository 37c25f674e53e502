/* The input is content and, behind the first byte 0x1f, tool calls. However tool calls are read,
 * the names and files are the same; and a session of two equal rows counts each error twice. */
#include "achievements/calls.h"
#include "achievements/metrics.h"
#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void both_ways(Str cell)
{
    AUTO(Arena) *a = arena_new();
    AUTO_BUF json = BUF(MIB(64));
    Names *names[2] = { names_new(), names_new() };
    Paths *paths[2] = { paths_new(), paths_new() };
    SessionMetrics m[2] = { { .value = { 0 } }, { .value = { 0 } } };

    names_begin(names[0]);
    names_begin(names[1]);
    if (calls_read_plain(cell, names[0], paths[0])) {
        calls_read_exact(cell, a, &json, names[1], paths[1]);
        names_end(names[0], a, &m[0]);
        names_end(names[1], a, &m[1]);
        ASSERT(memcmp(m[0].value, m[1].value, sizeof m[0].value) == 0);
        ASSERT(m[0].n_tool_names == m[1].n_tool_names);
        for (size_t i = 0; i < m[0].n_tool_names; i++)
            ASSERT(str_eq(m[0].tool_names[i], m[1].tool_names[i]));
        ASSERT(paths_count(paths[0]) == paths_count(paths[1]));
    }
    for (size_t i = 0; i < 2; i++) {
        names_free(names[i]);
        paths_free(paths[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Scanner *s;
    const char *cut = size ? memchr(data, 0x1f, size) : NULL;
    Str content = { (const char *)data, cut ? (size_t)(cut - (const char *)data) : size };
    Str calls = cut ? str_skip((Str){ (const char *)data, size }, content.n + 1) : STR_NONE;
    ScanRow row = { STR("assistant"), content, calls, STR_NONE, false };
    AUTO(Arena) *a = arena_new();
    SessionMetrics once = { .value = { 0 } }, twice = { .value = { 0 } };
    Err err;

    if (!s)
        s = scanner_new(&err);
    ASSERT(s);
    both_ways(calls.n ? calls : content);
    scanner_begin(s);
    scanner_row(s, &row);
    scanner_end(s, a, &once);
    scanner_begin(s);
    scanner_row(s, &row);
    scanner_row(s, &row);
    scanner_end(s, a, &twice);
    ASSERT(twice.value[METRIC_MESSAGE_COUNT] == 2);
    ASSERT(twice.value[METRIC_ERROR_COUNT] == 2 * once.value[METRIC_ERROR_COUNT]);
    ASSERT(twice.value[METRIC_TOOL_CALL_COUNT] == 2 * once.value[METRIC_TOOL_CALL_COUNT]);
    ASSERT(twice.value[METRIC_FILES_TOUCHED_COUNT] == once.value[METRIC_FILES_TOUCHED_COUNT]);
    for (size_t i = 0; i < METRIC_COUNT; i++)
        ASSERT(twice.value[i] >= once.value[i]);
    return 0;
}
