/* delta.h - what a scan has to read: the sessions that differ from what was counted before.
 *
 * Every session's row is looked at, since a rename or a rewind leaves no trace elsewhere, but only
 * the rows that differ are kept, and only their chunks are fetched from the index. Filled by one
 * thread; afterwards the scan guards it by its lock. */
#ifndef TALARIA_ACHIEVEMENTS_DELTA_H
#define TALARIA_ACHIEVEMENTS_DELTA_H

#include "achievements/cache.h"
#include "achievements/scan.h"
#include "achievements/transcript.h"
#include "store/rows.h"

typedef struct Chunk {
    int64_t number;
    const Sum *sum; /* of the head, or rebuilt; NULL: of no session yet */
    Record *all;    /* known and counted ones, in any order; only where it was touched */
    size_t n, cap;
    ToolTable *tools;
    bool touched; /* differs from what the index has, or will */
    bool unsaved; /* since it was put there last */
    bool stale;   /* the sum is not that of the records */
} Chunk;

typedef struct HomeDelta {
    CacheKey key;
    CacheHead head;    /* as it was */
    bool known;        /* there was one */
    SessionMark *kept; /* sessions that are as they were, in order of the rowids */
    size_t n_kept, cap_kept;
    Chunk *chunks; /* in order of the numbers */
    size_t n_chunks, cap_chunks;
    int64_t last_message;
    Str *newer; /* sessions with messages that were not seen yet; sorted */
    size_t n_newer;
    ChainLink *links; /* where conversations are counted */
    size_t n_links;
    Rows *rows;   /* open, for the first who counts; NULL: taken, or not there */
    bool read;    /* the home is there and could be read */
    bool changed; /* the head is not that of the index any more */
} HomeDelta;

/* One session to be counted. */
typedef struct Work {
    SessionRow row;
    const TranscriptFile *file; /* of a transcript; else NULL */
    size_t home, chunk;
    bool done;
} Work;

typedef struct Delta {
    HomeDelta *homes;
    Work *work; /* newest first */
    size_t n, cap;
    size_t sessions; /* in all */
    bool partial;    /* not everything could be looked at */
    bool one_reader; /* a database is in rollback-journal mode */
} Delta;

MUST_CHECK bool delta_make(Delta *delta, Arena *a, const ScanOptions *options, Err *err);
void delta_close(Delta *delta, size_t n_homes); /* the handles that nobody took */

/* The sums of touched chunks brought up to what is counted. */
void delta_sum(Delta *delta, Arena *a, size_t n_homes);
/* Differs when any session does; of a scan that has ended. */
uint64_t delta_stamp(const Delta *delta, size_t n_homes);
/* What is counted so far, of all homes. */
void delta_totals(Delta *delta, Arena *a, size_t n_homes, Totals *ret);
/* Into the index: chunks that were touched since the last time, and the heads. */
void delta_save(Delta *delta, const ScanOptions *options);

#endif
