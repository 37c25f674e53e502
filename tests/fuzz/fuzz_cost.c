/* What a text costs: whatever it holds, each converter answers with at most 64 bytes for a byte and
 * 4 kB, within a time that is linear in the text. The time is the thread's own, and the shortest of
 * three, so that a busy machine does not count. The first byte chooses what converts. */
#include "sanitized.h"

#include "base/clock.h"
#include "base/limits.h"
#include "platforms/slack/slack.h"
#include "platforms/telegram/entities.h"
#include "terminal/paint.h"
#include "text/markdown.h"
#include "text/redact.h"
#include "text/yml.h"

enum {
    TEXT_BYTES = KIB(64),
    OUT_FACTOR = 64,
    NS_A_BYTE = 4000, /* 256 ms for 64 kB; without sanitizers it is a tenth of that */
    NS_AT_ALL = 20000000,
    TRIES = 3
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t cost_markdown(Arena *a, Str text)
{
    return markdown_html(a, text).n;
}

static size_t cost_entities(Arena *a, Str text)
{
    EntityText got;
    size_t n;

    entities_of(a, text, &got);
    n = got.text.n;
    for (size_t i = 0; i < got.n; i++)
        n += got.all[i].extra.n;
    return n;
}

static size_t cost_slack(Arena *a, Str text)
{
    return slack_from_markdown(a, text).n;
}

static size_t cost_from_slack(Arena *a, Str text)
{
    return slack_to_markdown(a, text).n;
}

static size_t cost_redact(Arena *a, Str text)
{
    return redact_text(a, text).n;
}

static size_t cost_pieces(Arena *a, Str text)
{
    AUTO_BUF out = BUF(MIB(64));
    AUTO(Redactor) *r = redactor_new(&out);

    (void)a;
    for (size_t at = 0; at < text.n; at += 100)
        redactor_feed(r, str_head(str_skip(text, at), 100));
    redactor_finish(r);
    return out.n;
}

static size_t cost_yaml(Arena *a, Str text)
{
    yaml_document_t doc;
    Err err;

    (void)a;
    if (yml_load(text, 1, &doc, &err))
        yaml_document_delete(&doc);
    return 0;
}

static size_t cost_paint(Arena *a, Str text)
{
    PaintOptions options = { .columns = 40, .color = true, .hyperlinks = true };
    AUTO_BUF out = BUF(MIB(64));

    (void)a;
    paint_text(&options, text, &out);
    return out.n;
}

static size_t (*const converters[])(Arena *a, Str text) = {
    cost_markdown,   cost_entities, cost_slack,  cost_yaml,
    cost_from_slack, cost_redact,   cost_pieces, cost_paint,
};

/* What costs most repeats itself. The second byte says how long the text is to be, the third how
 * much of it is made of the bytes before a 0x1e, again and again; the rest is made of those behind
 * it. No length: the text as it is. */
static void spread(Str from, size_t share, size_t length, Buf *ret)
{
    size_t cut = str_find(from, STR("\x1e"));
    Str head = str_head(from, cut), tail = cut < from.n ? str_skip(from, cut + 1) : head;

    while (ret->n < share && head.n)
        buf_add(ret, str_head(head, share - ret->n));
    while (ret->n < length && tail.n)
        buf_add(ret, str_head(tail, length - ret->n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF made = BUF(TEXT_BYTES);
    int64_t limit, took = 0;
    Str text;

    if (size < 3)
        return 0;
    text = str_head((Str){ (const char *)data + 3, size - 3 }, TEXT_BYTES);
    if (data[1]) {
        spread(text, data[1] * (size_t)257 * data[2] / 255, data[1] * (size_t)257, &made);
        text = buf_str(&made);
    }
    limit = SLOWER * ((int64_t)text.n * NS_A_BYTE + NS_AT_ALL);
    for (int i = 0; i < TRIES; i++) {
        AUTO(Arena) *a = arena_new();
        int64_t start = clock_thread_ns();

        ASSERT(converters[data[0] % ARRAY_LEN(converters)](a, text) <=
               OUT_FACTOR * text.n + KIB(4));
        took = clock_thread_ns() - start;
        if (took <= limit)
            return 0;
    }
    fprintf(stderr, "converter %zu: %lld ns for %zu bytes\n", data[0] % ARRAY_LEN(converters),
            (long long)took, text.n);
    abort();
}
