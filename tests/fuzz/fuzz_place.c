/* Whatever reads as a place is written so that it reads again as the same place with the same
 * key. */
#include "base/limits.h"
#include "chat/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    KeyFlags flags = KEY_FLAGS;
    ChatAddress first, second;
    Str once;
    Err err;

    if (size > LIMIT_PLACE_BYTES / 16 ||
        !address_parse(a, (Str){ (const char *)data, size }, &first, &err))
        return 0;
    once = address_json(a, &first);
    ASSERT(address_parse(a, once, &second, &err));
    ASSERT(str_eq(address_json(a, &second), once));
    ASSERT(str_eq(address_key(a, &first, &flags), address_key(a, &second, &flags)));
    return 0;
}
