/* Updates of every platform: whatever they say, a message has a platform, a chat and a key, and its
 * files have names that are no paths. */
#include "base/limits.h"
#include "platforms/platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    KeyFlags flags = KEY_FLAGS;

    for (size_t i = 0; shapes_each(i); i++) {
        AUTO(Arena) *a = arena_new();
        Str *pieces;
        size_t n;
        Inbound in;
        bool is;
        Err err;

        if (!shapes_each(i)->parse(a, (Str){ (const char *)data, size }, &(Identity){ 0 }, &in, &is,
                                   &err) ||
            !is)
            continue;
        ASSERT(str_eqz(in.place.platform, shapes_each(i)->name) && in.place.chat_id.n);
        ASSERT(str_starts(address_key(a, &in.place, &flags), STR("agent:main:")));
        ASSERT(in.n_files <= LIMIT_INBOUND_FILES);
        for (size_t k = 0; k < in.n_files; k++)
            ASSERT(in.files[k].name.n && in.files[k].name.n <= LIMIT_FILE_NAME &&
                   !memchr(in.files[k].name.p, '/', in.files[k].name.n));
        shape_split(a, shapes_each(i), in.text, &pieces, &n);
        for (size_t k = 0; k < n; k++)
            ASSERT(shapes_each(i)->measure(pieces[k]) <= shapes_each(i)->max_text);
    }
    return 0;
}
