/* Any bytes as what a Hermes sends, in each of its dialects. */
#include "runtime_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const dialects[] = { "session", "runs", "responses", "chat" };

    for (size_t i = 0; i < ARRAY_LEN(dialects); i++)
        watch_replay("hermes", dialects[i], (Str){ (const char *)data, size });
    return 0;
}
