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

/* Fails past LIMIT_TRANSCRIPT_BYTES of text. Meta lines (commands, summaries and interruptions too)
 * and thinking are left out unless asked for; of a line past LIMIT_TRANSCRIPT_LINE the middle of
 * long texts is left out. A tool message whose line says that it failed has the finish_reason
 * "error". Nothing is redacted here. */
typedef struct LoadOptions {
    bool meta, thinking;
    bool inherited; /* of a fork: also what was said before it */
    bool summaries; /* what a compaction made of the messages before it, as MESSAGE_SUMMARY */
} LoadOptions;

#define MESSAGE_SUMMARY "summary" /* a display_kind */

MUST_CHECK bool transcript_load(Arena *a, const TranscriptFile *f, const LoadOptions *options,
                                Loaded *ret, Err *err);

/* The title of a session that begins with these words. */
Str transcript_title(Arena *a, Str words);

#endif
