/* Any bytes as what the codex program prints. */
#include "runtime_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    watch_replay("codex", "", (Str){ (const char *)data, size });
    return 0;
}
