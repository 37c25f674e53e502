/* Event streams and lines: the same however the bytes are cut, and never past a limit. */
#include "base/limits.h"
#include "net/ndjson.h"
#include "net/sse.h"

enum { OUT_MOST = 1 << 24, LINE_MOST = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool write_event(void *ctx, const SseEvent *e)
{
    ASSERT(e->data.n < LIMIT_SSE_EVENT && e->name.n > 0);
    ASSERT(!memchr(e->id.p, 0, e->id.n));
    buf_addf(ctx, "[%zu %zu %zu]", e->name.n, e->data.n, e->id.n);
    buf_add(ctx, e->name);
    buf_add(ctx, e->data);
    buf_add(ctx, e->id);
    return true;
}

static void write_line(void *ctx, Str line, bool cut)
{
    ASSERT(line.n > 0 && line.n <= LINE_MOST);
    ASSERT(!memchr(line.p, '\n', line.n));
    buf_addf(ctx, "%d[%zu]", cut, line.n);
    buf_add(ctx, line);
}

/* The cuts come from the text itself, so that the fuzzer can move them. */
static Str next_piece(Str text, size_t at)
{
    size_t size = 1 + ((unsigned char)text.p[at] * 7u + at) % 23;

    return str_head(str_skip(text, at), at % 5 ? size : 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF whole = BUF(OUT_MOST), pieces = BUF(OUT_MOST);
    AUTO(SseParser) *one = sse_parser_new(write_event, &whole);
    AUTO(SseParser) *many = sse_parser_new(write_event, &pieces);
    Ndjson lines = ndjson_of(LINE_MOST, write_line, &whole);
    Ndjson lines_again = ndjson_of(LINE_MOST, write_line, &pieces);
    Str text = { (const char *)data, size };
    Str piece;

    (void)!sse_parser_feed(one, text);
    for (size_t at = 0; at < text.n; at += piece.n) {
        piece = next_piece(text, at);
        (void)!sse_parser_feed(many, piece);
    }
    ASSERT(str_eq(buf_str(&whole), buf_str(&pieces)));
    ASSERT(sse_parser_retry(one) == sse_parser_retry(many));
    ndjson_feed(&lines, text);
    ndjson_finish(&lines);
    for (size_t at = 0; at < text.n; at += piece.n) {
        piece = next_piece(text, at);
        ndjson_feed(&lines_again, piece);
    }
    ndjson_finish(&lines_again);
    ASSERT(str_eq(buf_str(&whole), buf_str(&pieces)));
    return 0;
}
