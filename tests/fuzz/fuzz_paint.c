/* Markdown in pieces: whatever it holds, the only escapes in the output are the painter's own, and
 * the cursor goes back no further than the row's beginning. The first byte says how long the pieces
 * are. */
#include "terminal/paint.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Str after_sequence(Str s)
{
    size_t n = 2;

    if (str_starts(s, STR("\033]8;;")))
        return str_skip(s, str_find(s, STR("\033\\")) + 2);
    ASSERT(str_starts(s, STR("\033[")));
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    ASSERT(n < s.n && strchr("mDK", s.p[n]));
    return str_skip(s, n + 1);
}

static void check(Str s)
{
    while (s.n) {
        uint32_t c;

        if (s.p[0] == '\033') {
            s = after_sequence(s);
            continue;
        }
        c = utf8_next(&s);
        ASSERT(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0)));
        ASSERT(!(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PaintOptions options = { .columns = 40, .color = true, .hyperlinks = true };
    AUTO(Paint) *p = paint_new(&options);
    AUTO_BUF out = BUF((size_t)1 << 26);
    size_t step = size ? data[0] + 1u : 1;
    Str text = { (const char *)data + 1, size ? size - 1 : 0 };

    while (text.n) {
        paint_add(p, str_head(text, step), &out);
        text = str_skip(text, step);
    }
    paint_end(p, &out);
    check(buf_str(&out));
    return 0;
}
