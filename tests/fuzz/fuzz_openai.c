/* Any bytes as the body of a chat completion: refused in words, or read so that the last message is
 * the user's; and the chain of its messages is that of one message less, and one more. */
#include "http/openai_request.h"

#include "base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(Arena *a, const OpenaiRequest *q)
{
    uint8_t all[SHA256_BYTES], again[SHA256_BYTES], less[SHA256_BYTES];
    OpenaiMessage *copy = ARENA_ARRAY(a, OpenaiMessage, q->n);

    ASSERT(q->n && str_eqz(q->messages[q->n - 1].role, "user"));
    ASSERT(q->max_tokens >= 0 && q->instructions.n <= LIMIT_RUN_ASK);
    for (size_t i = 0; i < q->n; i++) {
        Str text = q->messages[i].text;

        copy[i] = (OpenaiMessage){ q->messages[i].role, str_printf(a, " %.*s\n", STR_FMT(text)) };
        ASSERT(openai_same_words(text, text));
        ASSERT(openai_same_words(text, copy[i].text) || memchr(text.p, 0, text.n));
    }
    openai_chain(q->messages, q->n, all);
    openai_chain(q->messages, q->n, again);
    openai_chain(q->messages, q->n - 1, less);
    ASSERT(memcmp(all, again, sizeof all) == 0 && memcmp(all, less, sizeof all) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    AUTO(JsonDoc) *doc = NULL;
    const char *param;
    OpenaiRequest q;
    Err err;

    doc = json_parse((Str){ (const char *)data, size }, &err);
    if (!doc || json_type(json_root(doc)) != JSON_OBJECT)
        return 0;
    if (openai_read(a, json_root(doc), &q, &param, &err))
        check(a, &q);
    else
        ASSERT((err.kind == ERR_USAGE || err.kind == ERR_INVALID) && err.text[0]);
    return 0;
}
