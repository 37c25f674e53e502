/* Whatever loads as a template is written so that it loads again, and as the same. */
#include "base/limits.h"
#include "templates/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_examples(const Template *a, const Template *b)
{
    ASSERT(a->n_examples == b->n_examples);
    for (size_t i = 0; i < a->n_examples; i++) {
        ASSERT(str_eq(a->examples[i].tool, b->examples[i].tool));
        ASSERT(str_eq(a->examples[i].arguments, b->examples[i].arguments));
        ASSERT(str_eq(a->examples[i].result, b->examples[i].result));
        ASSERT(a->examples[i].success == b->examples[i].success);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *arena = arena_new();
    AUTO_BUF once = BUF(LIMIT_OUTPUT_BYTES), twice = BUF(LIMIT_OUTPUT_BYTES);
    Template a, b;
    Err err;

    if (!template_parse(arena, (Str){ (const char *)data, size }, STR("stem"), 1, &a, &err)) {
        ASSERT(err.text[0]);
        return 0;
    }
    template_write(&a, &once);
    ASSERT(template_parse(arena, buf_str(&once), STR("stem"), 2, &b, &err));
    ASSERT(str_eq(a.name, b.name) && a.type == b.type && a.usage_count == b.usage_count);
    ASSERT(str_eq(a.description, b.description) && a.created_at == b.created_at);
    ASSERT(str_eq(a.source_session_id, b.source_session_id));
    ASSERT(!a.source_session_id.p == !b.source_session_id.p);
    same_examples(&a, &b);
    template_write(&b, &twice);
    ASSERT(str_eq(buf_str(&once), buf_str(&twice)));
    return 0;
}
