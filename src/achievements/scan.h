/* scan.h - the whole history counted, reading only what changed.
 *
 * What was counted of each session is stored packed in index.db (cache.h), with a mark of the
 * session's row. A session is read again when its row differs, when it has messages newer than the
 * last scan saw, or when the rules' version changed (delta.h). One reader a core; a scan that was
 * interrupted continues where it was, since finished work is saved every half second. */
#ifndef TALARIA_ACHIEVEMENTS_SCAN_H
#define TALARIA_ACHIEVEMENTS_SCAN_H

#include "achievements/sum.h"
#include "base/err.h"
#include "store/homes.h"
#include "store/index.h"
#include "store/rows.h"

typedef struct ScanOptions {
    const Homes *homes; /* lanes.h */
    bool all;           /* conversations of every source, not the rows that Hermes' plugin counts */
    int origin;         /* with all: 0, or 1 + Origin of those that the answer is about */
    RowsQuery rows;     /* what is counted beside the ordinary, */
    ScannerOptions count; /* and otherwise */
    Index *index;         /* where what was counted is kept; NULL: nowhere */
    bool full;            /* read everything again */
    int threads;          /* 0: one a core */
    /* Called on the scanning thread now and then; false ends the scan (ERR_INTERRUPTED). */
    bool (*progress)(void *ctx, size_t done, size_t total);
    /* After every 250 sessions: what is counted so far, lent for the call. Optional. */
    void (*partial)(void *ctx, const Totals *totals, size_t total);
    void *ctx;
} ScanOptions;

typedef struct Scan {
    Arena *arena; /* owns what follows; the caller frees it */
    Totals totals;
    Str topic;       /* under which the index keeps the records, */
    uint64_t read;   /* of these homes, a bit each; */
    Record *records; /* newest first: only where there is no index */
    size_t n;
    int64_t rescanned, reused, messages, duration_ms;
    uint64_t stamp; /* differs when any session does */
    bool partial;   /* not everything could be looked at */
} Scan;

MUST_CHECK bool scan_run(const ScanOptions *options, Scan *ret, Err *err);

/* The topic of what is counted so. */
Str scan_topic(Arena *a, const ScanOptions *options);

#endif
