/* transcript.h - transcripts of Claude Code and Codex, for the scan.
 *
 * Which there are is what the history lists: the catalogue, brought up to date on the way. Counting
 * goes through the file once and keeps one message of it at a time. */
#ifndef TALARIA_ACHIEVEMENTS_TRANSCRIPT_H
#define TALARIA_ACHIEVEMENTS_TRANSCRIPT_H

#include "achievements/metrics.h"
#include "store/rows.h"
#include "transcripts/reader.h"

typedef struct TranscriptRow {
    SessionRow row; /* rowid: its key in the catalogue */
    TranscriptFile file;
} TranscriptRow;

/* A session of a home that a conversation of ours represents. */
typedef struct CoveredRow {
    Str home, id; /* path of the home; of its newest part */
    Str conversation;
    bool begun_there;
} CoveredRow;

/* Of all homes among the lanes. Where that cannot be found out they count beside their
 * conversations. */
void covered_rows(Arena *a, const Homes *lanes, const CoveredRow **ret, size_t *ret_n);

/* Turns that are counted in the transcript of the runtime that answered them are not counted in
 * ours as well. Before a home's rows are read; the arena outlives the handle. */
void rows_count_once(Arena *a, const Homes *lanes, const Home *lane, Rows *rows);

/* Those of one lane, in order of the rowids. *ret_partial: some could not be looked at in time. */
MUST_CHECK bool transcript_rows(Arena *a, const Homes *lanes, const Home *lane, TranscriptRow **ret,
                                size_t *ret_n, bool *ret_partial, Err *err);

/* Between scanner_begin and scanner_end. *ret: messages. */
MUST_CHECK bool transcript_count(Reader *reader, Scanner *scanner, const TranscriptFile *file,
                                 int64_t *ret, Err *err);

#endif
