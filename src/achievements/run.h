/* run.h - one scan from beginning to end: count, evaluate, note what is new, remember the answer.
 *
 * What the coordinator does behind a page, and what the command line does at once. Only one process
 * at a time scans: the others wait for the lock and then find everything counted. */
#ifndef TALARIA_ACHIEVEMENTS_RUN_H
#define TALARIA_ACHIEVEMENTS_RUN_H

#include "achievements/scan.h"
#include "achievements/snapshot.h"
#include "text/settings.h"

typedef struct Run {
    ScanOptions scan;
    bool compat;
    bool fresh[MAX_ACHIEVEMENTS]; /* out: badges or tiers that are new since the last time */
    uint64_t mark;                /* out: of the lanes, as lanes_mark gives it */
} Run;

/* Puts in what the settings ask to be counted beside the ordinary, or otherwise. */
void run_settings(ScanOptions *scan, const Settings *settings);

/* state.json is written before this returns; the two large files are not. */
MUST_CHECK Snapshot *run_scan(Run *run, Err *err);

/* The answer of the last scan where nothing changed since, without its sessions; NULL: scan. */
Snapshot *run_known(const ScanOptions *scan, bool compat);

/* The last complete answer: the known one, or else scan_snapshot.json, ours or that of Hermes'
 * plugin, which a page shows until the next scan has ended, and longer where the history cannot be
 * read. NULL: there is none. *ret_mark: of the homes, where nothing changed since; else 0.
 * *ret_sure: no database was written after it was made. */
Snapshot *run_restore(const ScanOptions *scan, bool compat, uint64_t *ret_mark, bool *ret_sure);

/* Where the unlocks of such a scan are kept. */
StatePlace run_place(Arena *a, const ScanOptions *scan);

/* Forgets every unlock, and the two large files; waits for a scan of another process to end. */
MUST_CHECK bool run_reset(const ScanOptions *scan, Err *err);

/* scan_snapshot.json and scan_checkpoint.json of Hermes' plugin, where they say anything else than
 * before; what fails is warned of. Our own figure has neither. */
void run_write_files(const ScanOptions *scan, const Snapshot *s);

#endif
