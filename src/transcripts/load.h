/* load.h - a transcript as a session and its messages, in the shape that every feature knows.
 *
 * So that `sessions show`, export, templates and the page need no second way: tool calls of a turn
 * become the tool_calls of an assistant message, results become tool messages. Messages carry the
 * byte at which their line begins as id. */
#ifndef TALARIA_TRANSCRIPTS_LOAD_H
#define TALARIA_TRANSCRIPTS_LOAD_H

#include "store/session.h"
#include "transcripts/reader.h"

typedef struct Loaded {
    Session session; /* source "claude" or "codex"; home is not set */
    Message *messages;
    size_t n;
    bool *side_chain; /* one a message */
    ReadStats stats;
} Loaded;

/* Fails past LIMIT_TRANSCRIPT_BYTES of text. Meta lines and thinking are left out unless asked for;
 * what a long result says in the middle is left out past LIMIT_CELL_BYTES. */
typedef struct LoadOptions {
    bool meta, thinking;
} LoadOptions;

MUST_CHECK bool transcript_load(Arena *a, const TranscriptFile *f, const LoadOptions *options,
                                Loaded *ret, Err *err);

#endif
