/* Redacting twice is redacting once, and pieces are the whole, whatever the bytes. */
#include "text/redact.h"

enum { OUT_MOST = 1 << 24 };

static void redact_pieces(Buf *out, Str text)
{
    AUTO(Redactor) *r = redactor_new(out);
    size_t at = 0;

    /* The cuts come from the text itself, so that the fuzzer can move them. */
    while (at < text.n) {
        size_t size = 1 + ((unsigned char)text.p[at] * 7u + at) % 23;
        Str piece = str_head(str_skip(text, at), at % 5 ? size : 1);

        redactor_feed(r, piece);
        at += piece.n;
    }
    redactor_finish(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF once = BUF(OUT_MOST), twice = BUF(OUT_MOST), pieces = BUF(OUT_MOST);
    AUTO(Arena) *a = arena_new();
    Str text = { (const char *)data, size };

    redact_to(&once, text);
    redact_to(&twice, buf_str(&once));
    ASSERT(str_eq(buf_str(&once), buf_str(&twice)));
    redact_pieces(&pieces, text);
    ASSERT(str_eq(buf_str(&once), buf_str(&pieces)));
    ASSERT(str_eq(buf_str(&once), redact_text(a, text)));
    (void)redact_key_is_secret(text);
    return 0;
}
