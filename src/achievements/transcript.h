/* transcript.h - transcripts of Claude Code and Codex, for the scan.
 *
 * Which there are is what the history lists: the catalogue, brought up to date on the way. Counting goes
 * through the file once and keeps one message of it at a time. */
#ifndef TALARIA_ACHIEVEMENTS_TRANSCRIPT_H
#define TALARIA_ACHIEVEMENTS_TRANSCRIPT_H

#include "achievements/metrics.h"
#include "store/rows.h"
#include "transcripts/reader.h"

typedef struct TranscriptRow {
    SessionRow row; /* rowid: its key in the catalogue */
    TranscriptFile file;
} TranscriptRow;

/* Those of one lane, in order of the rowids. *ret_partial: some could not be looked at in time. */
MUST_CHECK bool transcript_rows(Arena *a, const Homes *lanes, const Home *lane, TranscriptRow **ret,
                                size_t *ret_n, bool *ret_partial, Err *err);

/* Between scanner_begin and scanner_end. *ret: messages. */
MUST_CHECK bool transcript_count(Reader *reader, Scanner *scanner, const TranscriptFile *file,
                                 int64_t *ret, Err *err);

#endif
