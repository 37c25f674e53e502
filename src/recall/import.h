/* import.h - sessions from elsewhere into our own database, each whole or not at all.
 *
 * Reads the JSON lines of export (lines.h), and transcripts of Claude Code and Codex that were
 * copied from another machine. A session is gathered, checked, compared with what is there and then
 * written in one transaction. What is the same already is skipped; what differs is a conflict,
 * unless it is to be replaced and is ours. A broken line is named and costs its own session, no
 * other. */
#ifndef TALARIA_RECALL_IMPORT_H
#define TALARIA_RECALL_IMPORT_H

#include "recall/history.h"

/* X(id, "name", what is told of it) */
#define IMPORT_OUTCOMES(X)                                                                         \
    X(IMPORT_ADDED, "added", "added")                                                              \
    X(IMPORT_REPLACED, "replaced", "replaced")                                                     \
    X(IMPORT_SAME, "skipped", "is there already")                                                  \
    X(IMPORT_CONFLICT, "conflict", "is there already, and differs")                                \
    X(IMPORT_BROKEN, "broken", "is broken")

typedef enum ImportOutcome {
#define X(id, name, text) id,
    IMPORT_OUTCOMES(X)
#undef X
        IMPORT_OUTCOME_COUNT
} ImportOutcome;

const char *import_outcome_name(ImportOutcome o);
const char *import_outcome_text(ImportOutcome o);

/* Called for each session and for each broken line; id may be empty, why too. */
typedef void ImportTell(void *ctx, ImportOutcome outcome, Str id, const char *why);

typedef struct ImportOptions {
    bool dry_run; /* nothing is written */
    bool replace;
    ImportTell *tell;
    void *ctx;
} ImportOptions;

typedef struct ImportReport {
    int64_t sessions[IMPORT_OUTCOME_COUNT];
    int64_t messages; /* of those that were added or replaced */
    int64_t lines;
} ImportReport;

typedef struct Import Import;

/* Borrows the history, which says what is there already; writes to `data`/talaria.db. */
MUST_CHECK Import *import_open(History *h, const Homes *homes, const ImportOptions *options,
                               Err *err);
Import *import_close(Import *im);
AUTO_FREE(Import, import_close)

/* One file; "-" is standard input. False only where nothing more can be done: the file cannot be
 * read, the disk is full. */
MUST_CHECK bool import_file(Import *im, const char *path, Err *err);

const ImportReport *import_report(const Import *im);

/* -- for the fuzz target -- */

/* A session that is whole. */
typedef bool ImportSession(void *ctx, const Session *s, const Message *messages, size_t n,
                           Err *err);

/* The sessions in bytes; what is broken goes to `tell`. */
MUST_CHECK bool import_parse(Str bytes, ImportSession *fn, ImportTell *tell, void *ctx, Err *err);

#endif
