/* packed.h - a transcript's bytes, also where Codex has compressed it; inside this room only.
 *
 * Codex can be told to compress rollouts that have not changed for long: "rollout-...jsonl" then
 * becomes "rollout-...jsonl.zst", with the same bytes inside and the same modification time. */
#ifndef TALARIA_TRANSCRIPTS_PACKED_H
#define TALARIA_TRANSCRIPTS_PACKED_H

#include "base/arena.h"
#include "base/err.h"

#define PACKED_SUFFIX ".zst"

bool path_is_packed(Str path);
/* The path without the suffix. */
Str path_unpacked(Str path);

/* A descriptor of the plain bytes: the file itself, or memory that holds its first `max` unpacked
 * bytes (0: all, up to LIMIT_PACKED_BYTES). A file that is damaged or ends too early is as long as
 * it can be read. Symbolic links are not followed. */
MUST_CHECK bool transcript_open(Arena *a, Str path, int64_t max, int *ret, Err *err);

#endif
