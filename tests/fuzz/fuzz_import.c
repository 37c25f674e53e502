/* Any bytes as an export: what is broken is told, what is whole is written so that it reads back as
 * the same, and written once more as the same bytes. */
#include "base/limits.h"
#include "recall/import.h"
#include "recall/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Seen {
    Buf text;
    int64_t sessions, broken;
} Seen;

static bool write_again(void *ctx, const Session *s, const Message *messages, size_t n, Err *err)
{
    Seen *seen = ctx;

    (void)err;
    ASSERT(s->id.n && s->source.n);
    seen->sessions++;
    line_put_session(&seen->text, s, true);
    for (size_t i = 0; i < n; i++) {
        ASSERT(messages[i].role.n);
        line_put_message(&seen->text, &messages[i], true);
    }
    line_put_end(&seen->text, (int64_t)n);
    return true;
}

static void count_broken(void *ctx, ImportOutcome outcome, Str id, const char *why)
{
    Seen *seen = ctx;

    (void)id;
    ASSERT(outcome == IMPORT_BROKEN && *why);
    seen->broken++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Seen once = { .text = BUF(LIMIT_OUTPUT_BYTES) }, twice = { .text = BUF(LIMIT_OUTPUT_BYTES) };
    Err err;

    ASSERT(import_parse((Str){ (const char *)data, size }, write_again, count_broken, &once, &err));
    ASSERT(import_parse(buf_str(&once.text), write_again, count_broken, &twice, &err));
    ASSERT(twice.broken == 0 && twice.sessions == once.sessions);
    ASSERT(str_eq(buf_str(&once.text), buf_str(&twice.text)));
    buf_done(&once.text);
    buf_done(&twice.text);
    return 0;
}
