/* scan.h - the whole history counted, reading only what changed.
 *
 * What was counted of each session lies packed in index.db (cache.h), with a mark of the session's
 * row. A session is read again when its row differs, when it has messages newer than the last scan
 * saw, or when the rules' version changed (delta.h). One reader a core; a scan that was interrupted
 * goes on where it was, since what is done is put aside every half second. */
#ifndef TALARIA_ACHIEVEMENTS_SCAN_H
#define TALARIA_ACHIEVEMENTS_SCAN_H

#include "achievements/sum.h"
#include "base/err.h"
#include "store/homes.h"
#include "store/index.h"
#include "store/rows.h"

typedef struct ScanOptions {
    const Homes *homes;
    RowsQuery rows;       /* what is counted beside the ordinary, */
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
    Str topic;       /* under which the records lie in the index, */
    uint64_t read;   /* of these homes, a bit each; */
    Record *records; /* newest first: only where there is no index */
    size_t n;
    int64_t rescanned, reused, messages, duration_ms;
    uint64_t stamp; /* differs when any session does */
} Scan;

MUST_CHECK bool scan_run(const ScanOptions *options, Scan *ret, Err *err);

/* Whether the database is there now: a server goes on for long after the homes were found. */
bool scan_home_there(const Home *home);

/* The topic of what is counted so. */
Str scan_topic(Arena *a, const ScanOptions *options);

/* Whether anything of the homes may have changed since `mark` was taken, for the price of a few
 * system calls; *ret_mark is the mark of now. Never opens a database. */
bool scan_unchanged(const Homes *homes, uint64_t mark, uint64_t *ret_mark);

#endif
