/* Any bytes as a transcript of Claude Code. */
#include "transcript.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_transcript(SOURCE_CLAUDE, data, size);
}
