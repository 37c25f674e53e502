/* Any text as Markdown for a chat: entities lie within the text, begin in order, are nested or
 * apart, and code stands in nothing but quotes. */
#include "platforms/telegram/entities.h"

#include "base/limits.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_code(const Entity *e)
{
    return e->kind == ENTITY_CODE || e->kind == ENTITY_PRE;
}

static void check_pair(const Entity *outer, const Entity *inner)
{
    size_t end = outer->at + outer->n;

    ASSERT(inner->at >= outer->at);
    if (inner->at >= end)
        return;
    ASSERT(inner->at + inner->n <= end);
    ASSERT(!is_code(outer));
    ASSERT(!is_code(inner) || outer->kind == ENTITY_QUOTE);
    ASSERT(outer->kind != ENTITY_QUOTE || inner->kind != ENTITY_QUOTE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    EntityText got;

    entities_of(a, (Str){ (const char *)data, size }, &got);
    ASSERT(utf8_valid_prefix(got.text) == got.text.n);
    ASSERT(got.n <= LIMIT_ENTITIES);
    for (size_t i = 0; i < got.n; i++) {
        ASSERT(got.all[i].n > 0 && got.all[i].at + got.all[i].n <= utf16_count(got.text));
        for (size_t k = i + 1; k < got.n; k++)
            check_pair(&got.all[i], &got.all[k]);
    }
    return 0;
}
