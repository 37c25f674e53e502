/* check.h - what can be asked of a database without changing it: for `talaria doctor`.
 *
 * The handle is the one of db_open_read, so the rules for a foreign database hold here too. Pages
 * are checked a table at a time, each within the time that a read may take in the journal mode of
 * the file; a table that takes longer counts as not checked, unless everything was asked for. A
 * search index is asked a real question: damage there passes a check of the pages. */
#ifndef TALARIA_STORE_CHECK_H
#define TALARIA_STORE_CHECK_H

#include "base/arena.h"
#include "base/err.h"

/* X(id, what is told of it) */
#define VERDICTS(X)                                                                                \
    X(VERDICT_OK, "sound")                                                                         \
    X(VERDICT_BROKEN, "damaged")                                                                   \
    X(VERDICT_SKIPPED, "not checked (too large)")                                                  \
    X(VERDICT_LOCKED, "not checked (locked)")                                                      \
    X(VERDICT_UNKNOWN, "cannot be checked here")

typedef enum Verdict {
#define X(id, text) id,
    VERDICTS(X)
#undef X
} Verdict;

const char *verdict_text(Verdict v);

typedef struct TableCheck {
    Str name;
    Verdict verdict;
    Str why; /* SQLite's words; empty where sound */
} TableCheck;

typedef struct DbReport {
    bool readable;
    Err trouble; /* why not */
    char journal[16];
    int64_t version;      /* of the schema, as the database says; 0: it does not */
    int64_t bytes;        /* of the file and its log */
    Str missing, unknown; /* columns of sessions and messages, ", " between them */
    TableCheck *tables;   /* its pages: one row a table, or one for the whole file */
    size_t n_tables;
    TableCheck *searches; /* one row a search index */
    size_t n_searches;
} DbReport;

typedef struct CheckOptions {
    bool sessions; /* a Hermes-shaped database: columns are compared */
    bool whole;    /* without a limit of time, in one long read */
} CheckOptions;

/* Never fails as a whole: what went wrong stands in the report. */
void check_database(Arena *a, const char *path, const CheckOptions *options, DbReport *ret);

/* The newest schema of Hermes that this program was written against. */
enum { KNOWN_SCHEMA = 25 };

#endif
