/* journal.h - transactions that change several live documents, or none.
 *
 * The journal (".adopt-transaction.json" in the night's folder) is written and synced before the
 * first change and removed after the last: removing it is the commit. It holds the previous content
 * of every document, so the next process can roll back with nothing but the journal. A document
 * that another program changed in between keeps that change; the journal is then renamed to
 * ".adopt-transaction.kept.json", which holds the previous bytes and blocks nothing.
 *
 * One adoption or undo runs at a time per data folder, and one per live document whatever the data
 * folder. Both locks are released by the kernel if their holder dies. */
#ifndef TALARIA_SLEEP_ADOPTION_JOURNAL_H
#define TALARIA_SLEEP_ADOPTION_JOURNAL_H

#include "base/file.h"
#include "sleep/adoption/live.h"
#include "sleep/adoption/manifest.h"
#include "sleep/task/places.h"

typedef struct Change {
    ItemKind kind;
    Str name;
    LiveDoc live; /* as it was found under the lock */
    bool to_exist;
    Str to;          /* new content */
    Str backup;      /* file below the night's folder for the previous content; "" for none */
    StrList folders; /* made first if the document is to exist, else removed afterwards if empty */
} Change;

typedef struct Transaction {
    Str folder; /* of the night */
    Str action; /* "adopt" or "undo" */
    const Change *changes;
    size_t n;
    Str receipts_file; /* in the folder */
    Str receipts;      /* its new content */
} Transaction;

/* Makes all changes under the locks of their documents; on failure it has rolled back. The caller
 * holds the lock of the data folder. */
MUST_CHECK bool journal_run(Arena *a, const Transaction *t, Err *err);

typedef struct Recovery {
    size_t found; /* interrupted transactions that were rolled back */
    size_t kept;  /* documents that another program had changed, which were left alone */
    Str note;     /* about the last of those; "" for none */
} Recovery;

/* Takes the lock of the data folder, and rolls back what was interrupted in any night. */
MUST_CHECK FileLock *adopt_begin(Arena *a, const SleepHome *home, Recovery *ret, Err *err);

/* Rolls back what was interrupted, unless an adoption is running. For commands that only read. */
MUST_CHECK bool adopt_recover(Arena *a, const SleepHome *home, Recovery *ret, Err *err);

#endif
