/* Any bytes as what the claude program prints. */
#include "runtime_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    watch_replay("claude", "", (Str){ (const char *)data, size });
    return 0;
}
