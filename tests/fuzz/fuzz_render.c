/* Events with anything in them: what is shown holds no control but line feeds and tabs, is valid
 * UTF-8, and ends its quiet lines. The first byte says which event. */
#include "terminal/render.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(Str s)
{
    ASSERT(utf8_valid_prefix(s) == s.n);
    while (s.n) {
        uint32_t c = utf8_next(&s);

        ASSERT(c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0)));
        ASSERT(!(c >= 0x202a && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Render) *r = render_new(false, 0, NULL);
    AUTO(JsonDoc) *doc = NULL;
    AUTO_BUF text = BUF((size_t)1 << 24);
    Err err;

    if (!size)
        return 0;
    render_text(&text, (Str){ (const char *)data, size });
    check(buf_str(&text));
    doc = json_parse((Str){ (const char *)data + 1, size - 1 }, &err);
    if (!doc)
        return 0;
    render_frame(r, (FrameEvent)(data[0] % 5), json_root(doc));
    check(buf_str(&r->quiet));
    check(buf_str(&r->words));
    check(str_of(r->activity));
    ASSERT(!r->quiet.n || r->quiet.p[r->quiet.n - 1] == '\n');
    render_frame(r, FRAME_DONE, json_root(doc));
    check(buf_str(&r->quiet));
    return 0;
}
