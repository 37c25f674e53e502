/* restore.h - the last complete answer, from where it was put.
 *
 * Where nothing changed since the last scan the index has it. Otherwise there is scan_snapshot.json,
 * ours or that of Hermes' plugin: what a page shows until the next scan has ended, and what it goes on
 * showing, marked as stale, where the history cannot be read. */
#ifndef TALARIA_ACHIEVEMENTS_RESTORE_H
#define TALARIA_ACHIEVEMENTS_RESTORE_H

#include "achievements/run.h"

/* NULL: there is none that could be used. *ret_mark: of the homes, where nothing changed since; else
 * 0. *ret_sure: no database was written after it was made. */
Snapshot *restore(const ScanOptions *scan, bool compat, uint64_t *ret_mark, bool *ret_sure);

/* From the text of a file. */
Snapshot *restore_text(const ScanOptions *scan, bool compat, Str text);

#endif
