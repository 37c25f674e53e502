/* What a terminal sends: the same keys however the bytes are cut, and nothing of a paste steers. */
#include "base/limits.h"
#include "terminal/keys.h"

enum { OUT_MOST = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(Keys *k, bool enough, Buf *out)
{
    KeyKind kind;
    uint32_t c;

    while ((kind = keys_next(k, enough, &c)) != KEY_NONE) {
        Str paste = buf_str(&k->paste);

        if (kind == KEY_CHAR) {
            buf_addf(out, "%x ", (unsigned)c);
            continue;
        }
        for (size_t i = 0; i < paste.n; i++)
            ASSERT((unsigned char)paste.p[i] >= 0x20 || paste.p[i] == '\n' || paste.p[i] == '\t');
        buf_addf(out, "<%zu>", paste.n);
        buf_add(out, paste);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF whole = BUF(OUT_MOST), pieces = BUF(OUT_MOST);
    Str text = { (const char *)data, size };
    Keys one, many;

    keys_init(&one);
    keys_init(&many);
    keys_feed(&one, text);
    take(&one, false, &whole);
    for (size_t at = 0, n; at < text.n; at += n) {
        n = 1 + ((unsigned char)text.p[at] * 7u + at) % 9;
        keys_feed(&many, str_head(str_skip(text, at), n));
        take(&many, false, &pieces);
    }
    while (one.waits)
        take(&one, true, &whole);
    while (many.waits)
        take(&many, true, &pieces);
    ASSERT(size >= LIMIT_RUN_ASK || str_eq(buf_str(&whole), buf_str(&pieces)));
    keys_done(&one);
    keys_done(&many);
    return 0;
}
