/* A line through the shortener, in pieces of any size: what the strict reader takes comes out as
 * JSON of the same shape, and what comes out is always JSON and never long. */
#include "base/limits.h"
#include "text/json.h"
#include "text/json_scan.h"
#include "transcripts/longline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool shorten(LongLine *l, Str bytes, size_t step, Str *ret)
{
    longline_begin(l);
    while (bytes.n) {
        longline_feed(l, str_head(bytes, step));
        bytes = str_skip(bytes, step);
    }
    return longline_end(l, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static LongLine *whole, *pieces;
    static JsonScan *scan;
    AUTO(JsonDoc) *before = NULL, *after = NULL;
    Str bytes = { (const char *)data + 1, size ? size - 1 : 0 }, one, two;
    Err err;
    bool ok;

    if (!size || memchr(bytes.p, '\n', bytes.n))
        return 0;
    if (!whole) {
        whole = longline_new();
        pieces = longline_new();
        scan = json_scan_new(LIMIT_TRANSCRIPT_LINE);
    }
    ok = shorten(whole, bytes, SIZE_MAX, &one);
    ASSERT(shorten(pieces, bytes, data[0] % 7 + 1u, &two) == ok);
    before = json_parse(bytes, &err);
    ASSERT(!before || ok);
    if (!ok)
        return 0;
    ASSERT(str_eq(one, two) && one.n < LIMIT_TRANSCRIPT_LINE);
    if (!before)
        return 0;
    ASSERT(json_scan(scan, one) == SCAN_OK);
    after = json_parse(one, &err);
    ASSERT(after && json_type(json_root(after)) == json_type(json_root(before)));
    /* Nothing was long: nothing is left out but what nobody reads. */
    if (!json_get(json_root(before), STR("toolUseResult")).doc)
        ASSERT(json_count(json_root(after)) == json_count(json_root(before)));
    return 0;
}
