/* Any bytes as a transcript of Codex. */
#include "transcript.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_transcript(SOURCE_CODEX, data, size);
}
